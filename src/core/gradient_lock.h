// Several threads may add to the gradient of one leaf. Whether it has one, and who adds to it next,
// is settled by one thread at a time.
#pragma once

#include <optional>
#include <utility>

#include "src/core/spin_lock.h"

namespace groove {

class GradientLock {
 public:
  GradientLock() {
    if (!std::exchange(is_mine_, true)) lock_.emplace(is_taken_);
  }
  ~GradientLock() {
    if (lock_) is_mine_ = false;
  }
  /// By this thread, which then waits for no other.
  static bool is_held() { return is_mine_; }
  GradientLock(const GradientLock&) = delete;
  GradientLock& operator=(const GradientLock&) = delete;

 private:
  static inline constinit std::atomic_flag is_taken_;
  // The last reference to an old gradient may go here, and user code run that frees its memory.
  static inline constinit thread_local bool is_mine_ = false;
  std::optional<SpinLock> lock_;  // of the outermost
};

}  // namespace groove
