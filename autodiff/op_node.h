// The tape node of an op: one allocation with its edges, types and saved values behind it.
#pragma once

#include "autodiff/saved.h"

namespace groove::autodiff {

class OpNode final : public Node {
 public:
  /// Before the op runs: edges, types and saved inputs. `keep_self`: a copy of input 0 to save
  /// in its place (an in-place op is about to overwrite it).
  static detail::RefPtr<OpNode> make(const Call& call, std::uint64_t sequence, Tensor keep_self);
  /// After it ran. An output of an in-place op on a view is saved under another impl, since the
  /// view's own history will be derived from its base.
  void save_outputs(const Tensor* outputs, bool is_owned);

  const char* name() const override { return op_->name.c_str(); }
  void apply(ArrayRef<Tensor> cotangents, ArrayRef<bool> needs, Tensor* gradients) override;
  void release_saved() override;
  bool is_spent() const override { return is_released && has_saved_; }
  const Type* edge_type(std::uint32_t edge) const override { return &types_[edge]; }
  void adopt_output(std::uint32_t index) override;
  void move_output(std::uint32_t index, TensorImpl& impl) override;
  ~OpNode() override;

  void operator delete(void* memory) { ::operator delete(memory); }

 private:
  OpNode(const Call& call, std::uint64_t node_sequence);
  SavedValue& saved(std::size_t i) { return saved_[i]; }
  Tensor unpack_output(std::uint32_t index);

  const Op* op_;
  Attrs attrs_;
  SmallVector<Scalar, 2> numbers_;
  Type* types_ = nullptr;        // inputs, then outputs
  SavedValue* saved_ = nullptr;  // inputs, then outputs
  bool has_saved_ = false;
  std::atomic_flag lock_;  // an output may die on another thread while it is read
};

}  // namespace groove::autodiff
