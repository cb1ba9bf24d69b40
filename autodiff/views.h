// Differentiable views: how a view knows its base and the way there, so that a write through one
// alias changes the history of all.
#pragma once

#include "autodiff/op_node.h"

namespace groove {

// One view op on the way from the base. Lists share their beginnings.
struct ViewStep : detail::RefCounted, FromPool {
  const Op* op = nullptr;
  Attrs attrs;
  SmallVector<Scalar, 2> numbers;
  Type input;
  detail::RefPtr<ViewStep> before;  // null: applied to the base itself
};

namespace autodiff {

// A view's history derived from its base: back along the list of view ops.
struct ViewNode final : Node {
  ViewNode(detail::RefPtr<ViewStep> last, std::uint64_t position);
  const char* name() const override { return "view"; }
  void apply(ArrayRef<Tensor> cotangents, ArrayRef<bool> needs, Tensor* gradients) override;
  detail::RefPtr<ViewStep> last;
  Edge edge;
};

// The base's history after an in-place op on a view of it: the written part of the cotangent goes
// through the op, the rest to what the base was before.
struct CopySlices final : Node {
  /// Takes the edges of `write`; the first, from where the base came, is for the caller to set.
  CopySlices(detail::RefPtr<ViewStep> last, detail::RefPtr<OpNode> write, Type base);
  const char* name() const override { return write->name(); }
  void apply(ArrayRef<Tensor> cotangents, ArrayRef<bool> needs, Tensor* gradients) override;
  void release_saved() override {
    is_released = true;
    write->release_saved();
  }
  bool is_spent() const override { return write->is_spent(); }
  const Type* edge_type(std::uint32_t index) const override {
    return index == 0 ? &base : write->edge_type(index);
  }
  detail::RefPtr<ViewStep> last;
  detail::RefPtr<OpNode> write;
  Type base;
  std::vector<Edge> own_edges;
};

/// What a plan must know to make such a node again: false when `node` is none of the two.
bool describe_view(const Node& node, tracer::HistoryPlan::Node& planned);
/// Turns the node that a plan's kind has at its place, made as an op's, into what it stands for.
detail::RefPtr<Node> make_planned_view(const tracer::HistoryPlan::Node& planned,
                                       ArrayRef<Scalar> step_numbers,
                                       detail::RefPtr<OpNode> write, std::uint64_t sequence);

/// Notes that `output` is the view op `call` of its input, made while gradients were recorded or
/// not.
void track_view(const Call& call, Tensor& output, bool with_grad);
// While one lives, views are not the program's: those in gradient rules and in parts of composites.
// Made without recording, they are nothing to the tape.
class InnerViews {
 public:
  InnerViews();
  ~InnerViews();
  InnerViews(const InnerViews&) = delete;
  InnerViews& operator=(const InnerViews&) = delete;
  static bool are_made();

 private:
  bool previous_;
};
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

/// After an in-place op on a view was recorded as `write`: the base's history now goes through it,
/// and so does every view's.
void rebase_through_view(TensorImpl& view, detail::RefPtr<OpNode> write);

}  // namespace autodiff
}  // namespace groove
