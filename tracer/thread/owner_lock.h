// A lock that its owner, one thread, takes for every op, and others hardly ever. The owner pays two
// plain stores and a load; a visitor says that it is coming, makes all threads of the process pass
// a memory barrier, and waits until the owner is out.
#pragma once

#include <atomic>

namespace groove::tracer {

class OwnerLock {
 public:
  /// A thread is named by an address that is its own.
  explicit OwnerLock(const void* owner);

  /// For the owner: false when it is inside already, or a visitor is or wants to be.
  bool try_enter() noexcept {
    if (is_owner_inside_.load(std::memory_order_relaxed)) return false;
    if (has_barrier_) [[likely]]
      is_owner_inside_.store(true, std::memory_order_relaxed);
    else
      is_owner_inside_.exchange(true);
    // The processor may still load before it stores; the barrier that visitors send finds that out.
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (!visitor_.load(std::memory_order_acquire)) [[likely]]
      return true;
    release();
    return false;
  }
  /// For the owner.
  void release() noexcept { is_owner_inside_.store(false, std::memory_order_release); }

  /// For the owner.
  bool is_owner_inside() const noexcept { return is_owner_inside_.load(std::memory_order_relaxed); }

  /// For any thread: waits, and gives false when the thread is inside already.
  bool lock(const void* thread) noexcept;
  void unlock(const void* thread) noexcept;

  bool is_held() const noexcept { return is_owner_inside_.load() || visitor_.load(); }

 private:
  const void* const owner_;
  const bool has_barrier_;
  std::atomic<bool> is_owner_inside_{false};
  std::atomic<const void*> visitor_{nullptr};
};

}  // namespace groove::tracer
