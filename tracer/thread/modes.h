// Process-wide settings of the tracer, and what is in force on this thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "groove/jit.h"
#include "src/core/dispatch.h"
#include "src/core/untraced.h"
#include "tracer/thread/threads.h"

namespace groove::tracer {

class Context;

int hot_repeats();
bool is_compilation_synchronous();
bool is_strict();
/// By all threads; for tests.
inline constinit std::atomic<std::uint64_t> recordings_begun{0};
/// The tracer pauses in every second stretch of so many steps; 0: where it loses time.
std::int64_t forced_pauses();
/// Every how many-th complete run is compared with eager mode; 0: none.
std::int64_t check_every();
inline constinit std::atomic<std::int64_t> forced{-1};
inline std::int64_t forced_exit() { return forced.load(std::memory_order_relaxed); }
inline constinit std::atomic<std::int64_t> failing{-1};
inline std::int64_t failing_live_in() { return failing.load(std::memory_order_relaxed); }
/// The tracer's layer of dispatch (fast_path.cpp).
void handle_call(const Call& call, Tensor* outputs);

namespace settings {
inline constinit thread_local int eager_guards = 0;
inline constinit std::atomic<int> mode{-1};  // a jit::Mode; -1: as the environment says
int mode_of_environment();
}  // namespace settings

inline jit::Mode mode_in_force() {
  const int chosen = settings::mode.load(std::memory_order_relaxed);
  return static_cast<jit::Mode>(chosen >= 0 ? chosen : settings::mode_of_environment());
}
/// Is it on, on this thread?
inline bool is_tracing_on() {
  return settings::eager_guards == 0 && !groove::detail::is_untraced() &&
         mode_in_force() != jit::Mode::kEager;
}
/// The same without a call; false as long as the mode is not known.
inline bool is_surely_tracing() {
  return (settings::eager_guards | groove::detail::untraced_depth) == 0 &&
         settings::mode.load(std::memory_order_relaxed) > static_cast<int>(jit::Mode::kEager);
}
/// Tracing is off on this thread, which may still have something pending.
void stop_tracing();

/// This thread's context when tracing is on; otherwise null.
inline Context* active_context() {
  if (is_tracing_on()) [[likely]]
    return own_context();
  if (known_context()) stop_tracing();
  return nullptr;
}

}  // namespace groove::tracer
