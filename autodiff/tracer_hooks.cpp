// What the tracer asks of the tape (tracer/tape_hooks.h).
#include "tracer/tape_hooks.h"

#include "autodiff/backward.h"
#include "autodiff/tape.h"
#include "src/core/check.h"

namespace groove::autodiff {
namespace {

// The history of a result whose tape a compiled backward has used up.
struct ReleasedNode final : Node {
  ReleasedNode() { is_released = true; }
  const char* name() const override { return "compiled"; }
  void apply(ArrayRef<Tensor>, ArrayRef<bool>, Tensor*) override {
    throw_error(
        "backward: trying to backward through the graph a second time: its saved tensors are "
        "already freed; give retain_graph=true to the first backward");
  }
};

bool run_again(const Op& op, const Attrs& attrs, ArrayRef<Tensor> inputs) {
  if (op.name != "backward" || op.kind != OpKind::kBig) return false;
  const AttrReader attr(op, attrs);
  const auto tensors = static_cast<std::size_t>(attr.integer(2));
  const auto gradients = static_cast<std::size_t>(attr.integer(3));
  backward_word(
      inputs.slice(0, tensors), inputs.slice(tensors, gradients), attr.boolean(0), attr.boolean(1),
      inputs.slice(tensors + gradients, inputs.size() - tensors - gradients), Site::current());
  return true;
}

const bool registered = [] {
  tracer::TapeHooks& hooks = tracer::tape_hooks();
  hooks.move_history = [](TensorImpl& from, TensorImpl& to) { move_history(from, to); };
  hooks.has_live_history = [](const TensorImpl& impl) {
    return impl.autograd && impl.autograd->grad_fn && !impl.autograd->grad_fn->is_released;
  };
  hooks.run_again = run_again;
  hooks.make_released_node = [] { return TapeNodePtr(new ReleasedNode); };
  hooks.sequence = tape_sequence;
  hooks.set_sequence = set_tape_sequence;
  return true;
}();

}  // namespace
}  // namespace groove::autodiff
