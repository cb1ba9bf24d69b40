// The rare side of the lock: visitors, and an owner that finds one.
//
//   owner                      visitor
//   is_owner_inside_ = true    visitor_ = itself
//   look at visitor_           barrier on every running thread, and so on the owner's processor
//                              look at is_owner_inside_
//
// When the owner looks before the barrier, its store is out before the visitor looks; when it looks
// after, it sees the visitor. So at least one of them sees the other.
#include "tracer/thread/owner_lock.h"

#include <immintrin.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace groove::tracer {
namespace {

bool membarrier(int command) { return syscall(SYS_membarrier, command, 0, 0) == 0; }

// Without it (an old kernel, a filter on system calls) owners pay for a barrier of their own.
bool is_barrier_known() {
  static const bool is_known = membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) &&
                               membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
  return is_known;
}

// A commit may take long: spin, then give way, then sleep.
void wait_a_while(int turn) {
  if (turn < 64) {
    _mm_pause();
  } else if (turn < 256) {
    sched_yield();
  } else {
    const timespec pause{0, 50'000};
    nanosleep(&pause, nullptr);
  }
}

void send_barrier() {
  if (membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED)) return;
  // Only a filter that was set up since can refuse it. No store waits for a millisecond.
  const timespec pause{0, 1'000'000};
  nanosleep(&pause, nullptr);
}

}  // namespace

OwnerLock::OwnerLock(const void* owner) : owner_(owner), has_barrier_(is_barrier_known()) {}

bool OwnerLock::lock(const void* thread) noexcept {
  if (thread == owner_) {
    if (is_owner_inside_.load(std::memory_order_relaxed)) return false;
    for (int turn = 0; !try_enter(); ++turn) wait_a_while(turn);
    return true;
  }
  if (visitor_.load(std::memory_order_relaxed) == thread) return false;
  const void* nobody = nullptr;
  for (int turn = 0; !visitor_.compare_exchange_weak(nobody, thread); ++turn) {
    nobody = nullptr;
    wait_a_while(turn);
  }
  if (has_barrier_) send_barrier();
  for (int turn = 0; is_owner_inside_.load(); ++turn) wait_a_while(turn);
  return true;
}

void OwnerLock::unlock(const void* thread) noexcept {
  if (thread == owner_)
    release();
  else
    visitor_.store(nullptr, std::memory_order_release);
}

}  // namespace groove::tracer
