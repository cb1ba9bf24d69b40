// The tape node of an op: one allocation with its edges, types and saved values behind it.
#pragma once

#include "autodiff/saved.h"
#include "tracer/calls/history.h"

namespace groove::autodiff {

class OpNode final : public Node {
 public:
  /// Before the op runs: edges, types and saved inputs. `keep_self`: a copy of input 0 to save
  /// in its place (an in-place op is about to overwrite it).
  static detail::RefPtr<OpNode> make(const Call& call, std::uint64_t sequence, Tensor keep_self);
  /// After it ran. An output of an in-place op on a view is saved under another impl, since the
  /// view's own history will be derived from its base.
  void save_outputs(const Tensor* outputs, bool is_owned);

  /// The node of a call known from a plan; its edges and saved values are for the caller to set.
  static detail::RefPtr<OpNode> make_planned(const tracer::HistoryPlan::Node& planned,
                                             ArrayRef<Scalar> numbers, std::uint64_t sequence);
  /// A saved value known from a plan: `place` counts inputs, then outputs.
  void save_planned(std::size_t place, const Tensor& value, std::uint32_t version);
  /// This node as part of a plan, without edges; `place_of` turns a saved tensor into a plan's.
  template <typename PlaceOf>
  tracer::HistoryPlan::Node describe(const PlaceOf& place_of) const {
    tracer::HistoryPlan::Node planned;
    planned.op = op_;
    planned.attrs = attrs_;
    for (const Scalar& number : numbers_)
      planned.numbers.push_back({number.origin(), number.with_origin(-1)});
    const std::size_t count = edge_count + output_count;
    planned.types.assign(types_, types_ + count);
    for (std::size_t i = 0; i < count; ++i) planned.saved.push_back(place_of(saved_[i]));
    planned.is_released = is_released;
    planned.has_saved = has_saved_;
    return planned;
  }

  const char* name() const override { return op_->name.c_str(); }
  void apply(ArrayRef<Tensor> cotangents, ArrayRef<bool> needs, Tensor* gradients) override;
  void release_saved() override;
  bool is_spent() const override { return is_released && has_saved_; }
  const Type* edge_type(std::uint32_t edge) const override { return &types_[edge]; }
  bool accumulates() const override { return op_->accumulates; }
  std::optional<AxisPart> part() const override;
  void adopt_output(std::uint32_t index) override;
  void move_output(std::uint32_t index, TensorImpl& impl) override;
  ~OpNode() override;

  void operator delete(void* memory) { ::operator delete(memory); }

 private:
  OpNode(const Call& call, std::uint64_t node_sequence);
  SavedValue& saved(std::size_t i) { return saved_[i]; }
  Tensor unpack_output(std::uint32_t index);
  static void check_saved(const void* self, std::size_t place);

  const Op* op_;
  Attrs attrs_;
  SmallVector<Scalar, 2> numbers_;
  Type* types_ = nullptr;        // inputs, then outputs
  SavedValue* saved_ = nullptr;  // inputs, then outputs
  bool has_saved_ = false;
  mutable std::atomic_flag lock_;  // an output may die on another thread while it is read
};

}  // namespace groove::autodiff
