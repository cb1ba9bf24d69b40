// What a thread's steps took less, or more, than they would have taken without the tracer. That is
// known from steps before anything was compiled and from those in which the tracer was paused
// (balance.h); no account of single runs tells, as these leave out what the program does between.
#pragma once

#include <array>
#include <cstdint>

namespace groove::tracer {

/// Times for one operator, of the last steps that are alike.
class LastTimes {
 public:
  void add(double nanoseconds);
  /// None of them is counted any more; what is told stays what it is until the next one.
  void forget() { count_ = 0; }
  std::uint64_t count() const { return count_; }
  /// Of the last ones, where none counts as more than a little longer than the middle one: a few
  /// should not hang on one in which a program frees all that it had, or writes a file. 0: none.
  double mean() const { return mean_; }
  /// What a quarter of them are below.
  double quartile() const { return quartile_; }

 private:
  std::array<float, 16> times_{};  // a ring
  std::uint64_t count_ = 0;
  double mean_ = 0, quartile_ = 0;
};

// Steps of about as many operators are of one kind.
inline constexpr int kKindsOfSteps = 96;
int kind_of_step(std::uint64_t operators);

class Savings {
 public:
  struct Step {
    std::uint64_t operators, compiled;  // all, and those of them that ran compiled
    std::int64_t nanoseconds;           // as step_clock.h has it, without what recordings took
    bool is_paused;                     // no tracer
  };
  void on_step(const Step& step);

 private:
  struct Kind {
    LastTimes alone;                 // with the tracer paused
    LastTimes watched;               // with nothing compiled
    double operators = 0, took = 0;  // of steps of which something ran compiled
    double told = 0;                 // saved by these
    double for_one() const;
  };
  void tell(Kind& kind);

  std::array<Kind, kKindsOfSteps> kinds_;
  int cold_ = 0;  // steps of a pause that find little in the caches
};

/// Of all threads: steps, those in which the tracer was paused, operators of the others, and of how
/// many of these it is known what they took less than without the tracer, in nanoseconds.
struct Steps {
  std::uint64_t steps = 0, paused = 0, operators = 0, compared = 0;
  double gained = 0;
};
Steps steps();

}  // namespace groove::tracer
