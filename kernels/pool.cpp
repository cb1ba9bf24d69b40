// The kernel thread pool. Work is handed out through one 64-bit ticket (epoch, parts, next part),
// so that a worker that wakes late can never claim a part of a region that is over: claiming is a
// compare-and-swap that names the epoch. Waiting spins with `pause` while a core is free for every
// thread and yields otherwise: spinning while oversubscribed delays the very thread waited for.
#include "kernels/pool.h"

#include <immintrin.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <x86intrin.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <climits>
#include <ctime>
#include <mutex>
#include <thread>
#include <utility>

#include "kernels/sharing.h"
#include "src/core/clock.h"
#include "src/core/faults.h"
#include "src/core/trace.h"

namespace groove::kernels {
namespace {

constexpr unsigned kMxcsr = 0x1f80;  // round to nearest, no FTZ, no DAZ, everything masked
constexpr int kMaxParts = 1 << 15;
// About 50 µs at the time-stamp frequencies of current machines.
constexpr std::uint64_t kSpinTicks = 150'000;
// Far longer than it takes to wake a worker.
constexpr std::uint64_t kLongTicks = 4 * kSpinTicks;
constexpr int kMeasured = 64;  // workers whose time can be told

int hardware_threads() {
  static const int count = [] {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  }();
  return count;
}

std::atomic<int> wanted_threads{0};  // 0: as many as the hardware has
std::atomic<bool> is_background_busy{false};
std::atomic<bool> is_never_serial{false};
thread_local bool is_in_region = false;
constinit thread_local LongRegions long_regions;
thread_local std::uint64_t waited_inside = 0;  // ticks, by the region at hand

struct Ticket {
  std::uint32_t epoch;
  int parts, next;
  explicit Ticket(std::uint64_t word)
      : epoch(static_cast<std::uint32_t>(word >> 32)),
        parts(static_cast<int>(word >> 16 & 0xffff)),
        next(static_cast<int>(word & 0xffff)) {}
};

// What a worker's parts took, without the time in which the system had given its core to another
// thread: it is asked for that after long parts, as nobody is waited for so long otherwise.
class Ledger {
 public:
  void note_slept(std::uint64_t ticks) { slept_ += ticks; }
  std::uint64_t counted(std::uint64_t ticks) {
    if (ticks < kLongTicks) return ticks;
    const Reading now;
    const auto passed = static_cast<double>(now.ticks - last_.ticks);
    const auto wall = static_cast<double>(now.wall - last_.wall);
    const double had = static_cast<double>(now.own - last_.own) * passed / std::max(wall, 1.0);
    const double lost = passed - static_cast<double>(slept_) - had;
    last_ = now;
    slept_ = 0;
    return ticks - static_cast<std::uint64_t>(std::clamp(lost, 0.0, static_cast<double>(ticks)));
  }

 private:
  struct Reading {
    std::uint64_t ticks = __rdtsc();
    std::int64_t wall = nanoseconds_now(), own = thread_time();
  };
  Reading last_;
  std::uint64_t slept_ = 0;  // since then
};

class Pool {
 public:
  bool try_enter() { return !is_busy_.exchange(true, std::memory_order_acquire); }
  void leave() { is_busy_.store(false, std::memory_order_release); }

  /// Starts workers until there are `count`; gives how many there are.
  int grow(int count) {
    int now = workers_.load(std::memory_order_relaxed);
    while (now < count && start_worker(now)) workers_.store(++now, std::memory_order_release);
    return now;
  }

  void run(int parts, int threads, void (*body)(void*, int, int), void* context) {
    const std::uint64_t start = __rdtsc();
    body_ = body;
    context_ = context;
    done_.store(0, std::memory_order_relaxed);
    theirs_.store(0, std::memory_order_relaxed);
    is_crowded_ = threads > hardware_threads() - (is_background_busy.load() ? 1 : 0);
    ++epoch_;
    const std::uint64_t word =
        static_cast<std::uint64_t>(epoch_) << 32 | static_cast<std::uint64_t>(parts) << 16 | 1u;
    ticket_.store(word, std::memory_order_seq_cst);
    wake();
    is_in_region = true;
    waited_inside = 0;
    const std::uint64_t begin = __rdtsc();
    body(context, 0, parts);
    done_.fetch_add(1, std::memory_order_acq_rel);
    work(epoch_, nullptr);
    is_in_region = false;
    const std::uint64_t own = __rdtsc() - begin, worked = own - std::min(own, waited_inside);
    wait([&] { return done_.load(std::memory_order_acquire) == parts; });
    const std::uint64_t end = __rdtsc(), all = end - begin;
    if (!is_crowded_) sharing_.note(end, {worked + theirs_.load(), end - start});
    if (all < kLongTicks) return;
    long_regions.all += all;
    long_regions.own += own;
    long_regions.threads = std::max(long_regions.threads, threads);
  }

  WorkersTime time_of_workers(int count) const {
    const int known = std::min({count, workers_.load(std::memory_order_acquire), kMeasured});
    WorkersTime all;
    for (int i = 0; i < known; ++i) {
      const Meter& meter = meters_[static_cast<std::size_t>(i)];
      all.nanoseconds += time_of(meter.clock);
      all.waiting += meter.waiting.load(std::memory_order_relaxed);
    }
    return all;
  }

  // What is waited for takes microseconds, unless the system has put another thread in the place of
  // the one that does it. How long a `pause` takes differs tenfold between machines, so time
  // counts.
  template <typename Condition>
  void wait(const Condition& condition) {
    const std::uint64_t start = __rdtsc();
    const std::uint64_t spin = is_crowded_ ? 0 : kSpinTicks;
    while (!condition()) {
      _mm_pause();
      if (__rdtsc() - start >= spin) sched_yield();
    }
    waited_inside += __rdtsc() - start;
  }

  /// Would other threads not get a core?
  bool is_sharing_paused() const {
    return sharing_.is_paused(__rdtsc()) && !is_never_serial.load(std::memory_order_relaxed);
  }

 private:
  struct alignas(64) Meter {
    Pool* pool = nullptr;
    clockid_t clock = CLOCK_THREAD_CPUTIME_ID;
    std::atomic<std::uint64_t> waiting{0};  // ticks that it has spun
  };

  // Runs parts of region `epoch` until none is left. `ledger`: a worker's.
  void work(std::uint32_t epoch, Ledger* ledger) {
    std::uint64_t word = ticket_.load(std::memory_order_acquire);
    for (;;) {
      const Ticket ticket(word);
      if (ticket.epoch != epoch || ticket.next >= ticket.parts) return;
      if (!ticket_.compare_exchange_weak(word, word + 1, std::memory_order_acq_rel)) continue;
      if (ledger) {
        waited_inside = 0;
        const std::uint64_t begin = __rdtsc();
        body_(context_, ticket.next, ticket.parts);
        const std::uint64_t took = __rdtsc() - begin;
        theirs_.fetch_add(ledger->counted(took - std::min(took, waited_inside)));
      } else {
        body_(context_, ticket.next, ticket.parts);
      }
      done_.fetch_add(1, std::memory_order_acq_rel);
      word = ticket_.load(std::memory_order_acquire);
    }
  }

  // The epoch, in the upper half of the ticket, is what sleepers wait on.
  std::uint32_t* epoch_word() { return reinterpret_cast<std::uint32_t*>(&ticket_) + 1; }

  void wake() {
    if (sleepers_.load(std::memory_order_seq_cst) == 0) return;
    syscall(SYS_futex, epoch_word(), FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
  }

  // The first that is not `seen`.
  std::uint32_t next_epoch(std::uint32_t seen, Meter& meter, Ledger& ledger) {
    const auto now = [&] { return Ticket(ticket_.load(std::memory_order_acquire)).epoch; };
    std::uint32_t epoch = now();
    if (epoch != seen) return epoch;
    const std::uint64_t start = __rdtsc();
    std::uint64_t waited = 0;
    while (epoch == seen && waited < kSpinTicks) {
      if (is_crowded_) sched_yield();
      _mm_pause();
      epoch = now();
      waited = __rdtsc() - start;
    }
    meter.waiting.fetch_add(std::min(waited, kSpinTicks), std::memory_order_relaxed);
    while (epoch == seen) {
      const std::uint64_t begin = __rdtsc();
      sleepers_.fetch_add(1, std::memory_order_seq_cst);
      syscall(SYS_futex, epoch_word(), FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0);
      sleepers_.fetch_sub(1, std::memory_order_seq_cst);
      ledger.note_slept(__rdtsc() - begin);
      epoch = now();
    }
    return epoch;
  }

  void serve(Meter& meter) {
    Ledger ledger;
    for (std::uint32_t epoch = 0;;) {
      epoch = next_epoch(epoch, meter, ledger);
      work(epoch, &ledger);
    }
  }

  static void* enter(void* given) {
    _mm_setcsr(kMxcsr);
    is_in_region = true;
    name_thread("groove worker");
    Meter& meter = *static_cast<Meter*>(given);
    meter.pool->serve(meter);
    return nullptr;
  }

  bool start_worker(int index) {
    // Signals belong to the program's own threads.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread;
    Meter& meter = meters_[static_cast<std::size_t>(std::min(index, kMeasured))];
    meter.pool = this;
    const bool is_started = pthread_create(&thread, nullptr, &Pool::enter, &meter) == 0;
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (!is_started) return false;
    if (pthread_getcpuclockid(thread, &meter.clock) != 0) meter.clock = CLOCK_THREAD_CPUTIME_ID;
    pthread_detach(thread);
    return true;
  }

  alignas(64) std::atomic<std::uint64_t> ticket_{0};
  alignas(64) std::atomic<int> done_{0};
  std::atomic<std::uint64_t> theirs_{0};  // ticks of the workers' parts of this region
  alignas(64) std::atomic<int> sleepers_{0};
  std::atomic<bool> is_busy_{false};
  std::atomic<bool> is_crowded_{false};
  void (*body_)(void*, int, int) = nullptr;
  void* context_ = nullptr;
  std::uint32_t epoch_ = 0;  // 0 is what a new worker has seen
  Sharing sharing_;
  std::atomic<int> workers_{0};
  std::array<Meter, kMeasured + 1> meters_;  // of the first workers, and of all others
};

// Never destroyed: workers run until the process ends. A forked child has none of them, so it
// starts over with a pool of its own.
std::atomic<Pool*> the_pool{nullptr};

Pool& pool() {
  Pool* now = the_pool.load(std::memory_order_acquire);
  if (now) return *now;
  static std::once_flag once;
  std::call_once(once, [] { pthread_atfork(nullptr, nullptr, [] { the_pool = nullptr; }); });
  Pool* fresh = new Pool;
  if (the_pool.compare_exchange_strong(now, fresh)) return *fresh;
  delete fresh;
  return *now;
}

void run_alone(int parts, void (*body)(void*, int, int), void* context) {
  for (int part = 0; part < parts; ++part) body(context, part, parts);
}

}  // namespace

int num_threads() {
  const int wanted = wanted_threads.load(std::memory_order_relaxed);
  const int threads = wanted > 0 ? wanted : hardware_threads();
  return std::max(1, threads - (is_background_busy.load(std::memory_order_relaxed) ? 1 : 0));
}

void set_kernel_threads(int threads) {
  wanted_threads.store(std::clamp(threads, 0, kMaxParts - 1), std::memory_order_relaxed);
}

int threads_for(bool is_small) {
  return is_small && !is_never_serial.load(std::memory_order_relaxed) ? 1 : num_threads();
}
void set_never_serial(bool is_on) { is_never_serial.store(is_on); }

LongRegions take_long_regions() { return std::exchange(long_regions, {}); }

WorkersTime workers_time(int count) { return pool().time_of_workers(count); }

void set_background_busy(bool is_busy) { is_background_busy.store(is_busy); }

int core_of_thread() { return sched_getcpu(); }

void leave_core(int core) {
  cpu_set_t allowed;
  if (core < 0 || core >= CPU_SETSIZE || core_of_thread() != core ||
      sched_getaffinity(0, sizeof allowed, &allowed) != 0)
    return;
  cpu_set_t others = allowed;
  CPU_CLR(static_cast<std::size_t>(core), &others);
  // The second call leaves it where the first has put it.
  if (CPU_COUNT(&others) > 0 && sched_setaffinity(0, sizeof others, &others) == 0)
    sched_setaffinity(0, sizeof allowed, &allowed);
}

void parallel(int parts, void (*body)(void* context, int part, int parts), void* context) noexcept {
  const int threads = std::min(parts, num_threads());
  if (threads < 2 || parts > kMaxParts || is_in_region || pool().is_sharing_paused() ||
      !pool().try_enter()) {
    return run_alone(parts, body, context);
  }
  Pool& shared = pool();
  if (shared.grow(threads - 1) == 0) {
    run_alone(parts, body, context);
  } else {
    shared.run(parts, threads, body, context);
  }
  shared.leave();
}

namespace {

// The levels of one parallel_levels() call. A part is taken by setting its bit.
struct Levels {
  static constexpr int kMost = 64;
  struct Level {
    std::atomic<std::uint32_t> taken{0};
    std::atomic<std::uint32_t> done{0};
  };
  Level level[kMost];
  int first, count, parts;
  void (*body)(void*, int, int, int);
  void* context;

  void take_part(int me) {
    const auto all = static_cast<std::uint32_t>(parts);
    for (int l = 0; l < count; ++l) {
      Level& now = level[l];
      for (int k = 0; k < parts; ++k) {
        const int part = me + k < parts ? me + k : me + k - parts;
        const std::uint32_t bit = 1u << part;
        if (now.taken.load(std::memory_order_relaxed) & bit) continue;
        if (now.taken.fetch_or(bit, std::memory_order_acq_rel) & bit) continue;
        body(context, first + l, part, parts);
        now.done.fetch_add(1, std::memory_order_acq_rel);
      }
      if (!has_fault(Fault::kMissingBarrier) && now.done.load(std::memory_order_acquire) != all)
        pool().wait([&] { return now.done.load(std::memory_order_acquire) == all; });
    }
  }
};

}  // namespace

void parallel_levels(int levels, int parts, void (*body)(void*, int, int, int),
                     void* context) noexcept {
  const int threads = std::min({parts, num_threads(), 32});
  if (threads < 2) {
    for (int level = 0; level < levels; ++level) body(context, level, 0, 1);
    return;
  }
  for (int first = 0; first < levels; first += Levels::kMost) {
    Levels state{{}, first, std::min(levels - first, Levels::kMost), threads, body, context};
    parallel(
        threads, [](void* given, int part, int) { static_cast<Levels*>(given)->take_part(part); },
        &state);
  }
}

FloatEnvironment::FloatEnvironment() : saved_(_mm_getcsr()) {
  if (!has_fault(Fault::kFloatModeInherited)) _mm_setcsr(kMxcsr);
}
FloatEnvironment::~FloatEnvironment() { _mm_setcsr(saved_); }

}  // namespace groove::kernels
