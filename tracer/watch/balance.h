// Does a thread's program run faster with the tracer, or without? No account of single runs tells:
// what was compiled may make other calls slower. So steps of the program are timed as a whole, and
// now and then some run with the tracer paused. What steps with it lose against these may be a
// small share of all the time; where it is more, the tracer pauses until it is less.
#pragma once

#include <array>
#include <cstdint>

#include "tracer/watch/savings.h"

namespace groove::tracer {

// Looking at the thread's clock takes a while, so short steps are timed together. How many is told
// by the operators that run in a short time, as far as is known: were it the time itself, slow
// steps would be ones of fewer operators, and never compared with others.
class ShortSteps {
 public:
  /// The last of those that are timed together ran: `operators` and `nanoseconds` (of any clock)
  /// since the one before those. Is that a step?
  bool are_one(std::uint64_t operators, std::int64_t nanoseconds);

 private:
  std::uint64_t operators_ = 0;
  double usual_ = 0;  // operators in a short time, a mean that forgets
};

class Balance {
 public:
  /// A step that ran so many operators is over. `now`: what all steps took (step_clock.h), in
  /// nanoseconds, without what only the first ones take. Is the tracer to be paused in the next
  /// one?
  bool on_step(std::uint64_t operators, std::int64_t now);
  bool is_paused() const { return is_paused_; }
  /// The tracer is there again, whatever the last step said.
  void go_on() { is_paused_ = false; }

 private:
  // Steps are compared with steps of about as many operators.
  struct Kind {
    LastTimes without;
    double with = 0;                 // nanoseconds for an operator, with the tracer
    double operators = 0, took = 0;  // of the last steps with the tracer while that was not known
    // Of the first steps with the tracer since it is known: a program that does other work from
    // then on takes another time with the tracer as well.
    double operators_after = 0, took_after = 0;
    std::uint64_t count_after = 0;
    // Steps that took far longer than the last ones: the first of other work, if so many come in a
    // row, and otherwise some of these.
    static constexpr int kOthers = 3;
    struct Step {
      std::uint64_t operators;
      std::int64_t nanoseconds;
    };
    double last = 0;  // nanoseconds for an operator, a mean of the last few
    std::array<Step, kOthers> slow{};
    int slow_count = 0;
    bool is_judged() const;
    bool is_slow(double nanoseconds);
    double note_with(double nanoseconds);  // gives what is counted of it
  };
  void note(std::uint64_t operators, std::int64_t nanoseconds);
  void note_traced(Kind& kind, std::uint64_t operators, std::int64_t nanoseconds);
  void judge(const Kind& kind);
  void charge(double operators, double took, double without);
  void decide();
  void pause();

  std::array<Kind, kKindsOfSteps> kinds_;
  std::int64_t last_ = -1;       // the clock at the last step's end
  std::int64_t total_ = 0;       // of all steps
  double lost_ = 0;              // by steps with the tracer; below 0: gained
  std::int64_t next_probe_ = 0;  // of `total_`
  std::int64_t probed_at_ = 0;
  int probes_ = 0;
  int least_steps_ = 0;         // that the pause goes on for
  double gained_in_pause_ = 0;  // by the tracer, were it not paused …
  double time_of_pause_ = 0;    // … in so long
  bool is_paused_ = false;
  int cold_ = 1;  // steps to come that count for nothing
  std::uint64_t steps_ = 0;
};

}  // namespace groove::tracer
