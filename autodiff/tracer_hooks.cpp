// What the tracer asks of the tape (tracer/tape_hooks.h).
#include "tracer/tape_hooks.h"

#include <algorithm>

#include "autodiff/backward.h"
#include "autodiff/tape.h"

namespace groove::autodiff {
namespace {

bool has_hook(const TensorImpl& leaf, const TapeNode* code) {
  const TapeNode* const place = leaf.autograd ? leaf.autograd->accumulator.get() : nullptr;
  if (!place) return false;
  const auto& hooks = static_cast<const Node&>(*place).hooks;
  return hooks && std::any_of(hooks->begin(), hooks->end(),
                              [code](const Node::Hook& hook) { return hook.code.get() == code; });
}

const bool registered = [] {
  tracer::TapeHooks& hooks = tracer::tape_hooks();
  hooks.move_history = [](TensorImpl& from, TensorImpl& to) { move_history(from, to); };
  hooks.needs_gradient = needs_gradient;
  hooks.run_again = [](const Op& op, const Attrs& attrs, ArrayRef<Tensor> inputs,
                       TapeNode* user_code, std::shared_ptr<Script>& script, Tensors* results) {
    return run_part(op, attrs, inputs, script, results) ||
           attach_hook(op, inputs, user_code) || attach_function(op, attrs, inputs, user_code);
  };
  hooks.release = [](TapeNode& node) {
    if (auto* const function = dynamic_cast<Node*>(&node)) function->release_saved();
  };
  hooks.has_hook = has_hook;
  hooks.sequence = tape_sequence;
  hooks.set_sequence = set_tape_sequence;
  hooks.tape = tape_number;
  hooks.set_tape = set_tape_number;
  return true;
}();

}  // namespace
}  // namespace groove::autodiff
