// What the tape hangs on a tensor. The node type is complete in autodiff/.
#pragma once

#include <memory>
#include <vector>

#include "groove/autograd.h"
#include "src/core/pooled.h"
#include "src/core/tensor_impl.h"

namespace groove {

// Base of every tape node. Destroyed iteratively by autodiff (a chain of 10,000,000 must not
// overflow the stack), hence a virtual destroy() instead of nested destructors.
struct TapeNode : detail::RefCounted {
  virtual ~TapeNode() = default;
  virtual const char* name() const = 0;
  std::uint64_t sequence = 0;  // position on the tape of its thread
  bool is_released = false;    // its saved values are gone: a second backward is an error
  bool is_deferred = false;    // an autodiff DeferredNode: materialize() before use
  AtomicValue<bool> is_shown;  // grad_fn() has given the program a view of it
};
void destroy(TapeNode* node);
using TapeNodePtr = detail::RefPtr<TapeNode>;

struct ViewStep;  // autodiff/views.h
void destroy(ViewStep* step);

struct AutogradMeta : FromPool {
  Tensor grad;                     // leaves (and retained results)
  TapeNodePtr grad_fn;             // null for leaves
  std::uint32_t output_index = 0;  // which output of grad_fn this tensor is
  bool retains_grad = false;
  TapeNodePtr accumulator;  // leaves: the node that adds into grad (weak ownership inside)
  AtomicValue<bool> has_accumulator;   // for threads that use a leaf for the first time
  Tensor view_base;                    // differentiable views: the tensor whose storage this is
  std::uint32_t view_version = 0;      // storage version at which grad_fn was made (views only)
  detail::RefPtr<ViewStep> view_step;  // how view_base becomes this view: a list of view ops
  bool is_saved_by_producer = false;   // grad_fn saved this very output (without owning it)
  bool is_made_without_grad = false;   // a view made while no gradients were recorded
  // Gradient hooks that hang on it, and how many ever have: what the next one is called. Results
  // know it also while a replay stands for their place on the tape.
  std::uint32_t hooks = 0, hooks_ever = 0;
  // The tracer's session whose run has changed `grad`, a flag or the hooks, and takes it back while
  // it is left; 0: none. The run may be over.
  AtomicValue<std::uint64_t> changed_by;
  AtomicValue<bool> has_changed_flags;  // … flags or hooks, which every use of the leaf sees
};

AutogradMeta& autograd_meta(TensorImpl& impl);  // made when absent

// A backward that has stopped at user code: what to call now, and where the backward goes on. The
// caller of the big word calls it and goes on with another word.
struct Script {
  TapeNodePtr user_code;  // null when the backward is done
  std::vector<Tensor> arguments;
  std::shared_ptr<void> walk;  // null while a replay stands for it
};

/// Call before the program, or the library for it, looks at `.grad` or a flag of a leaf: what
/// another thread's run has changed there is settled.
inline void settle_gradient(TensorImpl& leaf) {
  if (leaf.autograd && leaf.autograd->changed_by != 0) [[unlikely]]
    pending_hooks().settle_gradient(leaf);
}
/// Tells a recording tracer that an expansion is about to read or write `.grad` of this leaf.
void use_grad(TensorImpl& leaf);
/// Sets or clears `.grad` of a leaf and tells a recording tracer.
void set_grad(TensorImpl& leaf, Tensor grad);

/// Per-thread gradient recording (NoGradGuard, AutoGradMode).
bool grad_enabled();
void set_grad_enabled(bool is_enabled);

}  // namespace groove
