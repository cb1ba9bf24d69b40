// Runs ordinary tensor code on tensors without data and records what it dispatches into a graph:
// how composites are expanded and how gradient rules run over a stored graph.
#pragma once

#include <vector>

#include "src/core/graph.h"

namespace groove::jit {

class GraphBuilder {
 public:
  explicit GraphBuilder(Graph& graph);

  /// A tensor that stands for a value. Its memory looks contiguous; it has none.
  Tensor tensor(ValueId value) const;
  /// The value of a tensor that came from this builder. Throws groove::Error for any other.
  ValueId value(const Tensor& tensor) const;
  /// Place, stage and numbers of what is recorded next: a number with origin k is `origins[k]`.
  void set_context(Place place, std::int32_t stage, const std::vector<NumberRef>* origins);

  /// Calls `body()` with every dispatched op recorded.
  template <typename Body>
  auto record(const Body& body) {
    const DispatchOverride override_(&GraphBuilder::handle, this);
    return body();
  }

 private:
  static void handle(void* self, const Call& call, Tensor* outputs);
  void add(const Call& call, Tensor* outputs);

  Graph& graph_;
  std::uint64_t session_;
  Place place_;
  std::int32_t stage_ = 0;
  const std::vector<NumberRef>* origins_ = nullptr;
};

}  // namespace groove::jit
