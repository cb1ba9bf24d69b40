// The kernel thread pool: one parallel region at a time, spinning briefly, then sleeping. Results
// never depend on the number of threads; only the split of work does.
#pragma once

#include <cstdint>

namespace groove::kernels {

/// Threads a kernel may use, the caller included (GROOVE_NUM_THREADS, set_num_threads()).
int num_threads();
void set_kernel_threads(int threads);
/// One for work that is not worth waking another for, unless a test wants all to take part, as in
/// parallel() where sharing out loses (kernels/sharing.h).
int threads_for(bool is_small);
void set_never_serial(bool is_on);

/// Runs body(context, part, parts) for part = 0 … parts - 1, part 0 on the caller; returns when
/// all are done. When the pool is busy, sharing out loses or a body is already inside a region, runs
/// all parts on the caller, one after the other with the same `parts`: only for bodies without barriers.
void parallel(int parts, void (*body)(void* context, int part, int parts), void* context) noexcept;

template <typename Body>
void parallel(int parts, const Body& body) {
  parallel(
      parts,
      [](void* context, int part, int of) { (*static_cast<const Body*>(context))(part, of); },
      const_cast<void*>(static_cast<const void*>(&body)));
}

/// Runs body(context, level, part, parts) for every level in ascending order and, within a level,
/// for part = 0 … parts - 1; a level begins when all parts of the one before have ended. Up to
/// `parts` threads take part, each preferring the part of its own number; the caller also does
/// what a thread that the system has not scheduled would have done, so that a busy machine costs
/// the parallelism and not a time slice. parts ≤ 32.
void parallel_levels(int levels, int parts,
                     void (*body)(void* context, int level, int part, int parts),
                     void* context) noexcept;

/// What the calling thread's long regions took since it asked last, in ticks of the time-stamp
/// counter: in all, and while it had parts of them to do. `threads`: the most that one was for.
struct LongRegions {
  std::uint64_t all = 0, own = 0;
  int threads = 1;
};
LongRegions take_long_regions();
/// Of the first `count` workers: nanoseconds that they have had a core for, which the system is
/// asked for, and ticks of these in which they waited for work.
struct WorkersTime {
  std::int64_t nanoseconds = 0;
  std::uint64_t waiting = 0;
};
WorkersTime workers_time(int count);

/// While a background compiler runs, the pool gives up one core.
void set_background_busy(bool is_busy);
/// The core that the calling thread is on, or -1.
int core_of_thread();
/// Moves the calling thread to another core if it is on this one and may be elsewhere: the system
/// lets a thread begin where it was made or woken, and finds the idle core milliseconds later.
void leave_core(int core);

/// Sets MXCSR to round-nearest, no FTZ/DAZ, all masked, for this scope.
class FloatEnvironment {
 public:
  FloatEnvironment();
  ~FloatEnvironment();
  FloatEnvironment(const FloatEnvironment&) = delete;
  FloatEnvironment& operator=(const FloatEnvironment&) = delete;

 private:
  unsigned saved_;
};

}  // namespace groove::kernels
