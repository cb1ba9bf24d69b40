#include "tracer/watch/segment_profile.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "src/core/check.h"
#include "src/core/keep_loaded.h"
#include "tracer/cache/shared_locks.h"
#include "tracer/tell/inspect.h"
#include "tracer/tell/report.h"

namespace groove::tracer {
namespace {

constexpr double kMillisecond = 1e6;  // nanoseconds
constexpr double kMargin = 1.1;       // of times that are about the same

// An iteration that is recorded runs slower than eager mode, its data and code being driven out of
// the caches: how much time of the one is time of the other, as trials have told.
std::atomic<float> share_of_recorded{0.6f};

void note_share(double share) {
  constexpr float kMemory = 8;
  const float before = share_of_recorded.load(std::memory_order_relaxed);
  const auto now = static_cast<float>(std::clamp(share, 0.1, 1.0));
  share_of_recorded.store(before + (now - before) / kMemory, std::memory_order_relaxed);
}

}  // namespace

std::string Came::text() const {
  return op ? fmt::format("{} at {}", op->name, short_source(site.file_name(), site.line()))
            : std::string();
}

void SegmentProfile::note_eager(std::int64_t nanoseconds) {
  const std::lock_guard lock(profile_locks().of(this));
  recorded_ = std::max(0.0, static_cast<double>(nanoseconds) / kMillisecond);
  eager_ = recorded_ * share_of_recorded.load(std::memory_order_relaxed);
}

std::uint64_t SegmentProfile::note_compiled(std::int64_t nanoseconds, std::uint64_t hits) {
  const double time = static_cast<double>(nanoseconds) / kMillisecond;
  const std::lock_guard lock(profile_locks().of(this));
  // Another thread may have told of later ones.
  const std::uint64_t before = std::exchange(runs_told_, std::max(runs_told_, hits + 1));
  const std::uint64_t runs = runs_told_ - before;
  const double usual_time = usual(compiled_, timed_, time);
  const double taken = usual_time * static_cast<double>(runs);
  taken_ += taken;
  taken_since_ += taken;
  const bool are_few = hits < kFirst || (has_many_sizes() && timed_ < 2 * kManySizes);
  next_time_.store(hits + (are_few ? 1 : kSeldom), std::memory_order_relaxed);
  timed_sizes_.add(usual_time);
  compiled_[timed_++ % compiled_.size()] = time;
  find_gain();
  return runs;
}

SegmentProfile::Spread::Mean SegmentProfile::Spread::mean() const {
  auto sorted = times_;
  const auto all = sorted.begin() + static_cast<std::ptrdiff_t>(count());
  std::sort(sorted.begin(), all);
  const auto end = all - static_cast<std::ptrdiff_t>(count() / 4);
  const auto n = static_cast<double>(end - sorted.begin());
  const double mean = std::accumulate(sorted.begin(), end, 0.0) / n;
  const double squares = std::accumulate(sorted.begin(), end, 0.0, [mean](double sum, double time) {
    return sum + (time - mean) * (time - mean);
  });
  return {mean, std::sqrt(squares / (n * (n - 1)))};
}

// The doubt is Student's at one in twenty, roughly.
SegmentProfile::Gain SegmentProfile::gain_at_many_sizes() const {
  const auto least = static_cast<double>(std::min(tried_sizes_.count(), timed_sizes_.count()));
  if (least < 3) return {0, std::numeric_limits<double>::infinity(), 0};
  const Spread::Mean eager = tried_sizes_.mean(), compiled = timed_sizes_.mean();
  const double errors = std::hypot(eager.error, compiled.error);
  return {eager.mean - compiled.mean, (2 + 4 / (least - 1)) * errors, eager.mean};
}

void SegmentProfile::find_gain() {
  double gain = eager_ - quartile();
  if (has_many_sizes()) {
    const Gain found = gain_at_many_sizes();
    const bool are_all = tried_sizes_.count() == kManySizes && timed_sizes_.count() == kManySizes;
    if (std::abs(found.gain) <= found.doubt && !are_all) return;
    gain = found.gain;
  } else if (tried_ < 1 || timed_ < 1) {
    return;
  }
  is_known_.store(true, std::memory_order_relaxed);
  const bool is_loss = gain < -(kMargin - 1) * eager_;
  gain_.store(gain > 0 || is_loss ? static_cast<float>(gain * kMillisecond) : 0,
              std::memory_order_relaxed);
}

// Texts take longer to make than most exits. A place in a header has a name in every file.
Exit& SegmentProfile::exit_at(std::int32_t call, Reason reason, const Came& came) {
  for (Exit& known : exits_)
    if (known.call == call && known.reason == reason && known.what == came) return known;
  const std::string text = came.text();
  for (Exit& known : exits_)
    if (known.call == call && known.reason == reason && known.came == text) return known;
  keep_loaded(came.site.file_name());
  // Of very many ways out, the later ones are counted with the last.
  if (exits_.size() < kMostExits) {
    Exit& exit = exits_.emplace_back(Exit{call, reason, came, text});
    if (const Came::Input input = std::exchange(exit.what.input, {}); input.came) {
      exit.expected_input = type_text(*input.expected);
      exit.came_input = type_text(*input.came);
    }
  }
  return exits_.back();
}

double SegmentProfile::note_exit(std::size_t ran, std::size_t matched, std::size_t calls,
                                 Reason reason, const Came& came, std::int64_t again,
                                 std::int64_t passed) {
  const std::lock_guard lock(profile_locks().of(this));
  Exit& exit = exit_at(static_cast<std::int32_t>(matched), reason, came);
  const auto part = [calls](std::size_t of) {
    return calls == 0 ? 1 : static_cast<double>(of) / static_cast<double>(calls);
  };
  // The rest of the iteration runs eagerly too; compiled, all of it would have taken less.
  const double left = std::max(0.0, 1 - part(matched));
  const double of_run = timed_ > 0 ? quartile() : eager_;
  const double lost = static_cast<double>(again) / kMillisecond + left * eager_ - of_run;
  ++exit.count;
  exit.lost += std::clamp(lost, 0.0, static_cast<double>(passed) / kMillisecond);
  // To begin a run and to leave it, and to match a call; what ran compiled was for nothing where
  // its results were not what came next.
  constexpr double kEntry = 500, kMatch = 20;
  const double compiled = part(ran) * of_run;
  const double whole = kEntry + kMatch * static_cast<double>(matched) + static_cast<double>(again) +
                       compiled * kMillisecond;
  return std::max(kEntry, whole - (1 - left) * eager_ * kMillisecond);
}

// Times that are shorter than the clock's own are 0, and cannot be compared.
double SegmentProfile::times_as_long(double eager, double compiled) {
  return compiled > 0 ? eager / compiled : 1;
}

double SegmentProfile::tried_speedup() const {
  if (has_many_sizes())
    return times_as_long(taken_by_trials_ / static_cast<double>(tried_),
                         taken_ / static_cast<double>(runs_told_));
  return quartile(speedups_, tried_);
}

double SegmentProfile::speedup() const {
  const std::lock_guard lock(profile_locks().of(this));
  return tried_ > 0 && runs_told_ > 0 ? tried_speedup() : 0;
}

double SegmentProfile::saved(std::uint64_t hits, double of_loop) const {
  const std::lock_guard lock(profile_locks().of(this));
  if (runs_told_ == 0) return 0;
  const auto told = static_cast<double>(runs_told_);
  double saved = 0;
  if (tried_ > 0)
    saved = has_many_sizes() ? taken_ * (tried_speedup() - 1)
                             : saved_before_ + taken_since_ * (tried_speedup() - 1);
  else
    saved = of_loop > 0 ? taken_ * (of_loop - 1) : eager_ > 0 ? eager_ * told - taken_ : 0;
  return saved * static_cast<double>(hits) / told;
}

double SegmentProfile::eager() const {
  const std::lock_guard lock(profile_locks().of(this));
  return eager_;
}

// Where a time stands for many runs, no more than such runs may take: in one of them the thread may
// have waited for the system.
double SegmentProfile::usual(const Times& before, std::uint64_t count, double time) {
  constexpr double kOdd = 4;
  if (count == 0) return time;
  const auto end = before.begin() + static_cast<std::ptrdiff_t>(std::min(count, before.size()));
  return std::min(time, kOdd * std::accumulate(before.begin(), end, 0.0) /
                            static_cast<double>(end - before.begin()));
}

double SegmentProfile::quartile(const Times& times, std::uint64_t count) {
  count = std::min<std::uint64_t>(count, times.size());
  if (count == 0) return 0;
  Times sorted = times;
  const auto at = (count - 1) / 4;
  std::nth_element(sorted.begin(), sorted.begin() + at, sorted.begin() + count);
  return sorted[at];
}

bool SegmentProfile::take_trial(std::uint64_t hits) {
  constexpr std::uint64_t kOften = 128, kSeldom = 4096;  // runs between two
  constexpr double kNoDoubt = 4;                         // times as fast as eager mode
  const std::lock_guard lock(profile_locks().of(this));
  const std::uint64_t least = tried_ < kEnoughTrials ? 2 : 8;
  const bool are_few =
      has_many_sizes() && (tried_ < trials_.size() || (tried_ < kManySizes && !is_known_.load()));
  next_trial_.store(
      hits + std::clamp(are_few ? least : hits, least, hits < 4 * kOften ? kOften : kSeldom),
      std::memory_order_relaxed);
  return tried_ < kEnoughTrials || quartile() * kNoDoubt > eager_;
}

bool SegmentProfile::note_trial(std::int64_t nanoseconds) {
  const std::lock_guard lock(profile_locks().of(this));
  const double time = static_cast<double>(nanoseconds) / kMillisecond;
  speedups_[tried_ % speedups_.size()] = times_as_long(time, quartile());
  const double usual_time = usual(trials_, tried_, time);
  taken_by_trials_ += usual_time;
  tried_sizes_.add(usual_time);
  trials_[tried_++ % trials_.size()] = time;
  if (runs_told_ > 0) saved_before_ += std::exchange(taken_since_, 0) * (tried_speedup() - 1);
  if (tried_ == 1 && recorded_ > 0) note_share(trials_[0] / recorded_);
  eager_ = quartile(trials_, tried_);
  find_gain();
  if (has_many_sizes()) {
    if (tried_ < trials_.size() || timed_ < compiled_.size()) return false;
    const Gain found = gain_at_many_sizes();
    return -found.gain - found.doubt > (kMargin - 1) * found.eager;
  }
  return tried_ >= kToLetGo && quartile() > kMargin * eager_;
}

double SegmentProfile::compiled() const {
  const std::lock_guard lock(profile_locks().of(this));
  return quartile();
}

std::vector<Exit> SegmentProfile::exits() const {
  const std::lock_guard lock(profile_locks().of(this));
  std::vector<Exit> all = exits_;
  std::stable_sort(all.begin(), all.end(), [](const Exit& a, const Exit& b) {
    return a.lost != b.lost ? a.lost > b.lost : a.count > b.count;
  });
  return all;
}

}  // namespace groove::tracer
