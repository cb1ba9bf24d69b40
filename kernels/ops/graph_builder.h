// Runs ordinary tensor code on tensors without data and records what it dispatches into a graph:
// how composites are expanded, how gradient rules run over a stored graph, and how the functions
// given to control flow become graphs.
#pragma once

#include <functional>
#include <unordered_map>
#include <vector>

#include "src/core/graph.h"

namespace groove::kernels {

class GraphBuilder {
 public:
  enum class Composites : std::uint8_t { kExpand, kKeep };
  explicit GraphBuilder(Graph& graph, Composites composites = Composites::kExpand);

  /// A tensor that stands for a value. Its memory looks contiguous; it has none.
  Tensor tensor(ValueId value) const;
  bool is_own(const Tensor& tensor) const;
  /// The value of a tensor that came from this builder; of any other what `adopt` gives, or
  /// groove::Error.
  ValueId value(const Tensor& tensor) const;
  std::function<ValueId(const Tensor&)> adopt;
  /// When set, numbers that nothing but kernels looks at become entry numbers of the graph, and
  /// their values are added here.
  std::vector<Scalar>* entries = nullptr;
  /// Source, stage and numbers of what is recorded next: a number with origin k is `origins[k]`.
  void set_context(Source source, std::int32_t stage, const std::vector<NumberRef>* origins);

  /// Calls `body()` with every dispatched op recorded.
  template <typename Body>
  auto record(const Body& body) {
    const DispatchOverride override_(&GraphBuilder::handle, this);
    const NoAutocast as_given;
    return body();
  }
  /// Records one call.
  void add(const Call& call, Tensor* outputs);

 private:
  static void handle(void* self, const Call& call, Tensor* outputs);
  std::vector<NumberRef> number_refs(const Call& call, ArrayRef<ValueId> operands);

  // A view: a write to it is one to the base, and once the base has another value the view is read
  // from that.
  struct View {
    Tensor base, parent;
    Tensor view;  // alive, since it is known by its address
    ValueId base_value = kNoValue;  // of which the view's value was taken
    Node made;
  };
  void note_view(const Call& call, const Node& made, const Tensor& view);
  void write_base(const Tensor& view);
  void refresh(const Tensor& view, View& known) const;
  // Where a tensor lies in its base seen as contiguous memory, with run-time starts at 0.
  struct Region {
    Geometry geometry;
    std::vector<NumberRef> starts;
    std::vector<std::int64_t> steps, extents;
  };
  Region place_in_base(const Tensor& tensor) const;

  Graph& graph_;
  Composites composites_;
  std::uint64_t session_;
  Source source_;
  std::int32_t stage_ = 0;
  const std::vector<NumberRef>* origins_ = nullptr;
  mutable std::unordered_map<const TensorImpl*, View> views_;
};

/// Does this tensor stand for a value of a graph that is being built? Then it has no data.
bool stands_for_value(const TensorImpl& impl);

}  // namespace groove::kernels
