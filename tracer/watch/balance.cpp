#include "tracer/watch/balance.h"

#include <algorithm>
#include <utility>

#include "tracer/watch/investment.h"

namespace groove::tracer {
namespace {

// What may be lost: so much, and a share of the time; the tracer goes on when it is a little less.
constexpr double kAtOnce = 5e6, kShare = 0.03, kShareToGoOn = 0.025;
// Less than this part of a step is no loss, and a gain of so large a share leaves no doubt.
constexpr double kNoise = 0.02, kClearGain = 0.01;
// A step that takes more than so many times what such steps take is counted as that. With the
// tracer or without, a program frees all that it had, or writes a file, in some of them; recordings
// and exits have accounts of their own (investment.h, segment_profile.h).
constexpr double kOddStep = 4;
constexpr int kMemory = 32;  // steps
// A probe: steps without the tracer, of which the first find little in the caches; then for so many
// times as long none, but for the first few, as a probe may have been disturbed.
constexpr int kProbe = 9, kCold = 2, kDoubted = 3;
constexpr std::uint64_t kKnown = 6, kAfter = 3;
// Some programs take longer to be as fast as they are without: later probes, which are rarer, wait.
constexpr int kLongProbe = 48, kColdOfLong = 32;
constexpr std::int64_t kFirstProbe = 100'000'000;
// Slow steps: what is compiled must have had the time to show.
constexpr std::uint64_t kFirstSteps = 24;

}  // namespace

bool ShortSteps::are_one(std::uint64_t operators, std::int64_t nanoseconds) {
  constexpr std::int64_t kShort = 200'000, kLeast = kShort / 4, kMost = kShort * 8;
  constexpr double kForgets = 8;  // steps
  if (nanoseconds < kLeast || (operators < operators_ && nanoseconds < kMost)) return false;
  const double now = static_cast<double>(operators) * kShort / static_cast<double>(nanoseconds);
  usual_ += (now - usual_) / (usual_ == 0 ? 1 : kForgets);
  // As long as it is about right it stays: steps are told apart by their operators.
  const auto known = static_cast<double>(operators_);
  if (usual_ > 2 * known || 2 * usual_ < known) operators_ = static_cast<std::uint64_t>(usual_);
  return true;
}

double Balance::Kind::note_with(double nanoseconds) {
  if (with == 0) return with = nanoseconds;
  nanoseconds = std::min(nanoseconds, kOddStep * std::max(with, without.mean()));
  with += (nanoseconds - with) / kMemory;
  return nanoseconds;
}

bool Balance::on_step(std::uint64_t operators, std::int64_t now) {
  const std::int64_t took = last_ < 0 ? 0 : std::max<std::int64_t>(0, now - last_);
  last_ = now;
  total_ += took;
  ++steps_;
  if (is_paused_) investment().pass(took);
  const bool is_cold = cold_ > 0;
  cold_ -= is_cold;
  if (operators > 0 && !is_cold) note(operators, took);
  decide();
  return is_paused_;
}

void Balance::note(std::uint64_t operators, std::int64_t nanoseconds) {
  Kind& kind = kinds_[static_cast<std::size_t>(kind_of_step(operators))];
  const auto count = static_cast<double>(operators);
  const double each = static_cast<double>(nanoseconds) / count;
  if (is_paused_) {
    if (kind.with > 0) {
      gained_in_pause_ += count * (std::min(each, kOddStep * kind.with) - kind.with);
      time_of_pause_ += count * each;
    }
    return kind.without.add(each);
  }
  if (kind.is_slow(each)) {
    kind.slow[static_cast<std::size_t>(kind.slow_count++)] = {operators, nanoseconds};
    if (kind.slow_count < Kind::kOthers) return;
    kind = {};
    next_probe_ = std::min(next_probe_, total_ + kFirstProbe);
    return;
  }
  for (int i = 0; i < kind.slow_count; ++i) {
    const Kind::Step& step = kind.slow[static_cast<std::size_t>(i)];
    note_traced(kind, step.operators, step.nanoseconds);
  }
  kind.slow_count = 0;
  note_traced(kind, operators, nanoseconds);
}

void Balance::note_traced(Kind& kind, std::uint64_t operators, std::int64_t nanoseconds) {
  const auto count = static_cast<double>(operators);
  const double each = static_cast<double>(nanoseconds) / count;
  const double took = count * kind.note_with(each);
  if (kind.is_judged()) {
    charge(count, took, kind.without.mean());
  } else if (kind.without.count() >= kKnown) {
    kind.operators_after += count;
    kind.took_after += took;
    ++kind.count_after;
    if (kind.is_judged()) judge(kind);
  } else {
    // A program's first steps take longer than the later ones whatever runs them.
    constexpr double kKept = 1 - 1.0 / kMemory;
    kind.operators = kKept * kind.operators + count;
    kind.took = kKept * kind.took + took;
  }
}

// Nothing that the tracer does makes one step after the other take so much longer: when the program
// goes on to other work, what its steps took without the tracer is no measure of these.
bool Balance::Kind::is_slow(double nanoseconds) {
  constexpr double kOtherWork = 2, kFew = 4;
  if (last > 0 && nanoseconds > kOtherWork * last) return true;
  last += (nanoseconds - last) / (last == 0 ? 1 : kFew);
  return false;
}

bool Balance::Kind::is_judged() const { return count_after >= kAfter; }

// What steps before and after the first that ran without the tracer lost against these. Where the
// program's work changed meanwhile, the faster ones of both are more like them.
void Balance::judge(const Kind& kind) {
  const double after = kind.took_after / kind.operators_after;
  const double before = kind.operators > 0 ? kind.took / kind.operators : after;
  const double operators = kind.operators + kind.operators_after;
  charge(operators, operators * std::min(before, after), kind.without.mean());
}

void Balance::charge(double operators, double took, double without) {
  const double expected = without * operators;
  if (took > expected * (1 + kNoise))
    lost_ += took - expected * (1 + kNoise);
  else if (took < expected)
    lost_ -= expected - took;
  lost_ = std::max(lost_, -kAtOnce - 2 * kClearGain * static_cast<double>(total_));
}

void Balance::decide() {
  const auto total = static_cast<double>(total_);
  if (is_paused_) {
    if (--least_steps_ > 0) return;
    if (gained_in_pause_ > -kShare * time_of_pause_) lost_ = std::min(lost_, 0.0);
    if (lost_ > kAtOnce / 2 + kShareToGoOn * total) return;
    is_paused_ = false;
    ++probes_;
    const bool is_clear = probes_ > kDoubted && lost_ < -kClearGain * total;
    const int rarity = is_clear ? 1000 : 50 * std::min(probes_, 10);
    next_probe_ = total_ + rarity * (total_ - probed_at_);
  } else if (lost_ > kAtOnce + kShare * total) {
    pause();
  } else if (total_ >= std::max(next_probe_, kFirstProbe) && steps_ >= kFirstSteps) {
    pause();
  }
}

void Balance::pause() {
  is_paused_ = true;
  cold_ = probes_ < kDoubted ? kCold : kColdOfLong;
  least_steps_ = probes_ < kDoubted ? kProbe : kLongProbe;
  gained_in_pause_ = time_of_pause_ = 0;
  // What steps took without the tracer some time ago may be no measure of what they take now.
  for (Kind& kind : kinds_)
    if (kind.is_judged()) kind.without.forget();
  probed_at_ = total_;
}

}  // namespace groove::tracer
