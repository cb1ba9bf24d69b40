// What the tracer asks of the tape (tracer/calls/tape_hooks.h).
#include "tracer/calls/tape_hooks.h"

#include <algorithm>

#include "autodiff/backward.h"
#include "autodiff/tape.h"

namespace groove::autodiff {
namespace {

// Calls visit(index, code) for the hooks that hang on a leaf, until it gives true.
template <typename Visit>
void visit_hooks(const TensorImpl& leaf, const Visit& visit) {
  const TapeNode* const place = leaf.autograd ? leaf.autograd->accumulator.get() : nullptr;
  if (!place || !static_cast<const Node&>(*place).hooks) return;
  std::int32_t index = 0;
  for (const Node::Hook& hook : *static_cast<const Node&>(*place).hooks)
    if (hook.code && visit(index++, hook.code)) return;
}

std::int32_t index_of_hook(const TensorImpl& leaf, const TapeNode* code) {
  std::int32_t result = -1;
  visit_hooks(leaf, [&](std::int32_t index, const TapeNodePtr& hook) {
    if (hook.get() == code) result = index;
    return result >= 0;
  });
  return result;
}

TapeNodePtr hook_at(const TensorImpl& leaf, std::int32_t wanted) {
  TapeNodePtr result;
  visit_hooks(leaf, [&](std::int32_t index, const TapeNodePtr& hook) {
    if (index == wanted) result = hook;
    return index == wanted;
  });
  return result;
}

const bool registered = [] {
  tracer::TapeHooks& hooks = tracer::tape_hooks();
  hooks.move_history = [](TensorImpl& from, TensorImpl& to) { move_history(from, to); };
  hooks.needs_gradient = needs_gradient;
  hooks.run_again = [](const Op& op, const Attrs& attrs, ArrayRef<Tensor> inputs,
                       TapeNode* user_code, std::shared_ptr<Script>& script, Tensors* results) {
    return run_part(op, attrs, inputs, script, results) || attach_hook(op, inputs, user_code) ||
           attach_function(op, attrs, inputs, user_code);
  };
  hooks.release = [](TapeNode& node) {
    if (auto* const function = dynamic_cast<Node*>(&node)) function->release_saved();
  };
  hooks.part_with_saved = part_with_saved;
  hooks.has_changed_saved = has_changed_saved;
  hooks.index_of_hook = index_of_hook;
  hooks.hook_at = hook_at;
  hooks.change_hooks = change_leaf_hooks;
  hooks.sequence = tape_sequence;
  hooks.set_sequence = set_tape_sequence;
  hooks.tape = tape_number;
  hooks.set_tape = set_tape_number;
  return true;
}();

}  // namespace
}  // namespace groove::autodiff
