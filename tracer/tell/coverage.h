// How much of the program's work runs compiled: operators that launch a kernel, counted once where
// they run. Views, host reads and library calls themselves do not count, what they expand to does.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "src/core/dispatch.h"
#include "src/core/trace.h"

namespace groove::tracer {

// Of one thread; others only read it.
struct Tally {
  std::atomic<std::uint64_t> eager{0}, compiled{0}, compiled_nanoseconds{0};
  int uncounted = 0;  // scopes in which nothing counts: a composite is one, whatever it is made of

  static void add(std::atomic<std::uint64_t>& to, std::uint64_t count) {
    to.store(to.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
  }
};

namespace counting {
inline constinit thread_local Tally* tally = nullptr;
inline constinit std::atomic<bool> is_detailed{false};
Tally& make_tally();
void run_composite(const Call& call, Tensor* outputs);
void count_source(const Call& call);
}  // namespace counting

inline Tally& tally() {
  Tally* const mine = counting::tally;
  return mine ? *mine : counting::make_tally();
}

/// Is it one of the operators that count, where the thread is now? A composite has its own rule.
inline bool is_counted(const Op& op) { return op.kind != OpKind::kView && tally().uncounted == 0; }

/// A composite without a gradient of its own that lies on the tape is seen there as its parts.
bool is_seen_through(const Call& call);

/// Continues below the tracer and counts the operator as one that ran eagerly.
inline void run_eager(const Call& call, Tensor* outputs) {
  const TraceSpan span(call.op->name.c_str(), call.site);
  if (call.op->kind == OpKind::kComposite) return counting::run_composite(call, outputs);
  if (is_counted(*call.op)) {
    Tally::add(tally().eager, 1);
    if (counting::is_detailed.load(std::memory_order_relaxed)) [[unlikely]]
      counting::count_source(call);
  }
  dispatch_below(DispatchLayer::kTracer, call, outputs);
}

// What runs while one lives is part of something else that counts, or stands for nothing that eager
// mode does (false: counts).
class Uncounted {
 public:
  explicit Uncounted(bool is_uncounted = true) : depth_(tally().uncounted), is_(is_uncounted) {
    depth_ += is_;
  }
  ~Uncounted() { depth_ -= is_; }
  Uncounted(const Uncounted&) = delete;
  Uncounted& operator=(const Uncounted&) = delete;

 private:
  int& depth_;
  bool is_;
};

/// Compiled code that stands for so many operators has run on this thread and is kept.
inline void count_compiled(std::uint64_t operators) {
  Tally& mine = tally();
  Tally::add(mine.compiled, operators);
}

// Times compiled code on this thread's clock while details are counted; otherwise costs one load.
class CompiledTime {
 public:
  CompiledTime();
  ~CompiledTime();
  CompiledTime(const CompiledTime&) = delete;
  CompiledTime& operator=(const CompiledTime&) = delete;

 private:
  std::int64_t start_;  // -1: not timed
};

struct Coverage {
  std::uint64_t compiled = 0, eager = 0;
  std::uint64_t compiled_nanoseconds = 0;  // of the threads' own clocks; only with details
};
/// Of all threads since the process began.
Coverage coverage();

/// With details, eager operators are also counted by the user's line and compiled code is timed.
void count_details(bool is_on);
struct EagerCalls {
  std::string source;  // "file:line operator"
  std::uint64_t count = 0;
};
/// Since details were switched on, the most frequent first.
std::vector<EagerCalls> eager_calls();

}  // namespace groove::tracer
