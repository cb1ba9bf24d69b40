// Whether this thread records gradients, where every op asks for it: grad_enabled() without a call.
// It says so in programs that have the tape; autodiff owns it.
#pragma once

namespace groove::detail {

inline constinit thread_local bool is_grad_recorded = true;

}  // namespace groove::detail
