// The autodiff layer of the dispatcher: runs the op below, then puts it on the tape.
#include "autodiff/arithmetic.h"
#include "autodiff/op_node.h"
#include "autodiff/views.h"
#include "groove/autograd.h"
#include "src/core/check.h"
#include "tracer/calls/tape_hooks.h"

namespace groove::autodiff {
namespace {

bool any_needs_gradient(ArrayRef<Tensor> inputs) {
  for (const Tensor& input : inputs)
    if (input.defined() && needs_gradient(*input.impl())) return true;
  return false;
}

bool is_leaf_with_gradient(const TensorImpl& impl) {
  return impl.requires_grad && !(impl.autograd && impl.autograd->grad_fn);
}

// LibTorch's rule: a leaf's value belongs to the user until no_grad says otherwise.
void check_inplace(const Call& call) {
  const bool is_recorded = any_needs_gradient(call.inputs);
  for (int target : call.op->mutates) {
    const Tensor& self = call.inputs[static_cast<std::size_t>(target)];
    if (!self.defined()) continue;
    const TensorImpl& impl = *self.impl();
    GROOVE_CHECK(!is_recorded || !impl.autograd || !impl.autograd->is_made_without_grad,
                 "{}_: a view {} {} that was created in no_grad mode, or by a custom function, is "
                 "being modified in place with gradients recorded; move both inside of NoGradGuard "
                 "(the change is not to be recorded) or both outside (it is), or write to a clone",
                 call.op->name, groove::name(impl.dtype), to_string(impl.geometry.sizes));
    GROOVE_CHECK(!is_leaf_with_gradient(impl),
                 "{}_: a leaf Variable that requires grad is being used in an in-place operation "
                 "({} {}); wrap the update in NoGradGuard or write to a clone",
                 call.op->name, groove::name(impl.dtype), to_string(impl.geometry.sizes));
    if (!impl.autograd || !impl.autograd->view_base.defined()) continue;
    GROOVE_CHECK(!is_leaf_with_gradient(*impl.autograd->view_base.impl()),
                 "{}_: a view of a leaf Variable that requires grad is being used in an in-place "
                 "operation ({} {}); wrap the update in NoGradGuard or write to a clone",
                 call.op->name, groove::name(impl.dtype), to_string(impl.geometry.sizes));
  }
}

// An op that is differentiated as a whole runs its expansion without a tape.
void run_below(const Call& call, Tensor* outputs) {
  if (call.op->kind == OpKind::kComposite) {
    const AutoGradMode scope(false);
    const InnerViews parts;
    dispatch_below(DispatchLayer::kAutodiff, call, outputs);
  } else {
    dispatch_below(DispatchLayer::kAutodiff, call, outputs);
  }
}

bool is_view_of_another(const TensorImpl& impl) {
  return impl.autograd && impl.autograd->view_base.defined();
}

void attach(const Call& call, const detail::RefPtr<OpNode>& node, Tensor* outputs) {
  // A written view with a base gets its history from the base.
  const bool writes_view =
      call.is_inplace &&
      is_view_of_another(*call.inputs[static_cast<std::size_t>(call.op->mutates[0])].impl());
  for (std::uint32_t k = 0; k < node->output_count; ++k) {
    if (!outputs[k].defined()) continue;
    TensorImpl& output = *outputs[k].impl();
    if (!is_floating(output.dtype)) continue;
    if (writes_view) {
      rebase_through_view(output, node);
    } else {
      set_history(output, TapeNodePtr(node.get()), k);
    }
  }
  node->save_outputs(outputs, writes_view);
  if (call.op->kind == OpKind::kView && !call.is_inplace) track_view(call, outputs[0], true);
}

// Ops whose outputs never need gradients, although an input does.
bool is_differentiable(const Call& call) {
  return call.op->gradient || call.is_inplace ||
         (call.op->kind == OpKind::kView && call.op != &detach_op());
}

// A view of what requires a gradient requires one as well, also without a history.
void run_unrecorded(const Call& call, Tensor* outputs) {
  if (call.op->kind == OpKind::kComposite) {
    const InnerViews parts;
    return dispatch_below(DispatchLayer::kAutodiff, call, outputs);
  }
  dispatch_below(DispatchLayer::kAutodiff, call, outputs);
  if (call.op->kind == OpKind::kView && call.op != &detach_op() && !InnerViews::are_made() &&
      needs_gradient(*call.inputs[0].impl()))
    track_view(call, outputs[0], false);
}

void handle(const Call& call, Tensor* outputs) {
  if (!grad_enabled()) return run_unrecorded(call, outputs);
  if (call.is_inplace) check_inplace(call);
  if (!any_needs_gradient(call.inputs)) {
    dispatch_below(DispatchLayer::kAutodiff, call, outputs);
    if (call.op->kind == OpKind::kView && !call.is_inplace && call.op != &detach_op())
      track_view(call, outputs[0], true);
    return;
  }
  if (!is_differentiable(call)) return dispatch_below(DispatchLayer::kAutodiff, call, outputs);
  Tensor self_before;  // what an in-place op overwrites and its gradient reads
  if (call.is_inplace && (call.op->saves_inputs & 1) && call.op->mutates[0] == 0) {
    AutoGradMode scope(false);
    self_before = copy_of(call.inputs[0]);
    tracer::note_copy(call.inputs[0], self_before);
  }
  // Edges first: an in-place op changes where its own input comes from. Where an operand's history
  // is derived from its base on the way, that lies before the op.
  auto node = OpNode::make(call, 0, std::move(self_before));
  node->sequence = advance_tape_sequence();
  run_below(call, outputs);
  attach(call, node, outputs);
}

[[maybe_unused]] const bool is_registered =
    (register_handler(DispatchLayer::kAutodiff, handle), true);

}  // namespace

void record_call(const Call& call, Tensor* outputs, std::uint64_t sequence) {
  if (!grad_enabled() || !any_needs_gradient(call.inputs) || !is_differentiable(call)) return;
  attach(call, OpNode::make(call, sequence, {}), outputs);
}

}  // namespace groove::autodiff
