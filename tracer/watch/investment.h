// What the process may spend on recording and compiling: a little at once, a share of the time it
// has run (not of that in which others had the cores, or the tracer was paused), and half of what compiled code has saved so
// far. What the program's own threads spend, which nothing hides, is less, and nothing at once: a
// program that ends before a recording is a small share of its time gets none. One that never comes
// to repeat itself loses no more than that. Any thread may add and ask.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "src/core/clock.h"

namespace groove::tracer {

class Investment {
 public:
  /// About what it takes to watch a call, in nanoseconds (bench/overheads.cpp).
  static constexpr std::int64_t kToWatch = 15;
  /// An operator is about two calls.
  static constexpr std::int64_t kToWatchOperator = 2 * kToWatch;
  /// May something be begun that takes about so long, in nanoseconds, on a thread beside the
  /// program's …
  bool affords(std::int64_t more) const;
  /// The same of `what`, which now would have gained so much if it were there. What pays best is
  /// paid first: once it would have gained a tenth of what it takes, whatever pays less waits.
  bool affords(const void* what, std::int64_t more, double gain);
  /// … or on the program's own?
  bool affords_here(std::int64_t more) const;
  /// … or something new of so many calls, of which nobody knows what it will bring, nor, unless it
  /// `goes_on`, whether the program will not end soon? A tenth is left for what is known to be
  /// cheap: programs at other sizes of what was recorded.
  bool affords_recording(std::size_t calls, bool goes_on) const;
  /// … or a search for what repeats? A quarter of all at most.
  bool affords_search(std::int64_t more) const;
  void spend_searching(std::int64_t nanoseconds) {
    spend(nanoseconds);
    spent_searching_.fetch_add(nanoseconds, std::memory_order_relaxed);
  }
  void spend(std::int64_t nanoseconds) { spent_.fetch_add(nanoseconds, std::memory_order_relaxed); }
  void spend_here(std::int64_t nanoseconds);
  /// Steps of that long ran with the tracer paused, as it only lost: nothing is paid from them.
  void pass(std::int64_t nanoseconds) {
    passed_.fetch_add(nanoseconds, std::memory_order_relaxed);
  }
  /// What the program's own threads spent so far.
  std::int64_t spent_here() const { return spent_here_.load(std::memory_order_relaxed); }
  /// Below 0 for what was lost.
  void save(double nanoseconds) {
    saved_.fetch_add(static_cast<std::int64_t>(nanoseconds), std::memory_order_relaxed);
  }
  /// What it takes to compile a loop of so many operators, as far as is known …
  std::int64_t expected(std::size_t operators) const {
    return kOfAny +
           of_an_operator_.load(std::memory_order_relaxed) * static_cast<std::int64_t>(operators);
  }
  /// … and that is spent from now on.
  std::int64_t advance(std::size_t operators);
  /// … and what it took.
  void settle(std::int64_t advanced, std::size_t operators, std::int64_t nanoseconds);
  /// As if the process began now: for tests.
  void forget();
  /// In a child of fork(), whose processor time begins anew.
  void go_on_in_child();

 private:
  // A share is one part of so many.
  struct Terms {
    std::int64_t at_once, share_of_time, share_of_saved;
  };
  static constexpr Terms kBeside = {2'000'000, 10, 2}, kHere = {0, 12, 4};
  // What long phases of a program saved is not for a short one to pay with: of no stretch of time
  // is more than one part of so many spent on what is new on the program's own threads.
  static constexpr std::int64_t kShareOfLate = 8;
  // What these take of the program's own thread.
  static constexpr std::int64_t kToRecord = 60'000, kToRecordACall = 3'000, kToSearch = 200'000;
  static constexpr double kIfItEnds = 14;  // times as much must be there
  bool allows(const Terms& terms, std::int64_t spent) const;
  bool affords_new(std::int64_t here) const;
  std::int64_t time_run() const;
  // What waits until it can be paid, for as long as it is asked for.
  struct Claim {
    const void* what = nullptr;
    std::int64_t cost = 0, asked_at = 0;
    double gain = 0;  // that it would have brought so far
    /// What would have gained that much goes on to.
    bool is_proven() const { return 10 * gain >= static_cast<double>(cost); }
    double return_on_cost() const { return gain / static_cast<double>(cost); }
  };
  std::int64_t reserved() const;

  std::atomic<std::int64_t> born_{nanoseconds_now()}, had_when_born_{process_time()};
  // Processor time, as it was some microseconds ago: the system has to be asked for it.
  mutable std::atomic<std::int64_t> had_{had_when_born_.load()}, looked_at_{born_.load()};
  std::atomic<std::int64_t> spent_{0}, spent_here_{0}, spent_searching_{0}, saved_{0};
  std::atomic<std::int64_t> paid_until_{0};  // of time_run(), by what was spent here
  std::mutex claims_mutex_;
  std::array<Claim, 8> claims_;
  std::atomic<std::int64_t> reserved_{0}, reserved_until_{0};  // for proven claims
  static constexpr std::int64_t kOfAny = 100'000;              // to compile whatever it is, and …
  std::atomic<std::int64_t> of_an_operator_{10'000};           // … of late
  std::atomic<std::int64_t> settled_{0};                       // segments that this is of
  std::atomic<std::int64_t> passed_{0};
};

/// Of the process.
Investment& investment();

}  // namespace groove::tracer
