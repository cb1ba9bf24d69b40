// Differentiable views: how a view knows its base and the way there, so that a write through one
// alias changes the history of all.
#pragma once

#include "autodiff/tape.h"

namespace groove {

// One view op on the way from the base. Lists share their beginnings.
struct ViewStep : detail::RefCounted {
  const Op* op = nullptr;
  Attrs attrs;
  SmallVector<Scalar, 2> numbers;
  Type input;
  detail::RefPtr<ViewStep> before;  // null: applied to the base itself
};

namespace autodiff {

/// Notes that `output` is the view op `call` of its input.
void track_view(const Call& call, Tensor& output);
void drop_view_base(AutogradMeta& meta);
/// The op of Tensor::detach: a view that no gradient passes.
const Op& detach_op();
/// Re-derives the history of a view whose base was written since.
void refresh_view(TensorImpl& view);

/// The same view of another tensor of the base's shape.
Tensor replay_view(const ViewStep& step, const Tensor& base);
/// The gradient of a view op: the cotangent in its place among zeros.
Tensor embed_cotangent(const Op& op, const Attrs& attrs, ArrayRef<Scalar> numbers,
                       const Type& input, const Tensor& cotangent);

/// After an in-place op on a view was recorded as `node` (output `index`): the base's history now
/// goes through the write, and so does every view's.
void rebase_through_view(TensorImpl& view, detail::RefPtr<Node> write, std::uint32_t index);

}  // namespace autodiff
}  // namespace groove
