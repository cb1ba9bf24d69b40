// Several threads may add to the gradient of one leaf. Whether it has one, and who adds to it next,
// is settled by one thread at a time; what they add, each of them computes before.
#pragma once

#include <sched.h>

#include <atomic>
#include <utility>

namespace groove {

class GradientLock {
 public:
  GradientLock() : is_outermost_(!std::exchange(is_mine_, true)) {
    while (is_outermost_ && is_taken_.test_and_set(std::memory_order_acquire)) sched_yield();
  }
  ~GradientLock() {
    if (!is_outermost_) return;
    is_taken_.clear(std::memory_order_release);
    is_mine_ = false;
  }
  GradientLock(const GradientLock&) = delete;
  GradientLock& operator=(const GradientLock&) = delete;

 private:
  static inline constinit std::atomic_flag is_taken_;
  // The last reference to an old gradient may go here, and user code run that frees its memory.
  static inline constinit thread_local bool is_mine_ = false;
  const bool is_outermost_;
};

}  // namespace groove
