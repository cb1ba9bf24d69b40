#include "tracer/watch/savings.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>

#include "tracer/watch/investment.h"

namespace groove::tracer {
namespace {

std::atomic<std::uint64_t> all_steps{0}, all_paused{0}, all_operators{0}, all_compared{0};
std::atomic<std::int64_t> all_gained{0};

void count(std::atomic<std::uint64_t>& all, std::uint64_t more) {
  all.fetch_add(more, std::memory_order_relaxed);
}
void count_gain(double nanoseconds) {
  all_gained.fetch_add(static_cast<std::int64_t>(nanoseconds), std::memory_order_relaxed);
}

}  // namespace

void LastTimes::add(double nanoseconds) {
  constexpr double kUsual = 1.5;
  times_[count_++ % times_.size()] = static_cast<float>(nanoseconds);
  const std::size_t known = std::min<std::size_t>(count_, times_.size());
  std::array<float, 16> sorted = times_;
  std::sort(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(known));
  quartile_ = sorted[known / 4];
  const double most = kUsual * static_cast<double>(sorted[known / 2]);
  double all = 0;
  for (std::size_t i = 0; i < known; ++i) all += std::min<double>(times_[i], most);
  mean_ = all / static_cast<double>(known);
}

int kind_of_step(std::uint64_t operators) {
  constexpr int kParts = 4;  // of an octave
  const int octave = std::bit_width(operators) - 1;
  const std::uint64_t rest = operators - (std::uint64_t{1} << octave);
  const int part = static_cast<int>(rest * kParts >> octave);
  return std::min(octave * kParts + part, kKindsOfSteps - 1);
}

void Savings::on_step(const Step& step) {
  constexpr int kCold = 2;
  count(all_steps, 1);
  count(all_paused, step.is_paused);
  count(all_operators, step.is_paused ? 0 : step.operators);
  const bool is_cold = step.is_paused && cold_ > 0;
  cold_ = step.is_paused ? cold_ - is_cold : kCold;
  if (is_cold || step.operators == 0 || step.nanoseconds <= 0) return;
  const auto operators = static_cast<double>(step.operators);
  const auto took = static_cast<double>(step.nanoseconds);
  Kind& kind = kinds_[static_cast<std::size_t>(kind_of_step(step.operators))];
  if (step.is_paused) {
    kind.alone.add(took / operators);
    return tell(kind);
  }
  if (step.compiled == 0) {
    constexpr double kToWatch = Investment::kToWatchOperator;
    kind.watched.add(std::max(0.0, took / operators - kToWatch));
    count(all_compared, step.operators);
    return count_gain(-kToWatch * operators);
  }
  if (kind.for_one() == 0) return;
  kind.operators += operators;
  kind.took += took;
  count(all_compared, step.operators);
  tell(kind);
}

// The first steps that are run without the tracer are among those that find least in the caches,
// and the first steps of a program take longer than the later ones whatever runs them.
double Savings::Kind::for_one() const {
  constexpr std::uint64_t kFew = 16;
  const double before = watched.quartile();
  if (alone.count() == 0 || before == 0) return alone.mean() + before;
  return alone.count() < kFew ? std::min(before, alone.mean()) : alone.mean();
}

void Savings::tell(Kind& kind) {
  const double told = kind.for_one() * kind.operators - kind.took;
  count_gain(told - kind.told);
  kind.told = told;
}

Steps steps() {
  return {all_steps.load(), all_paused.load(), all_operators.load(), all_compared.load(),
          static_cast<double>(all_gained.load())};
}

}  // namespace groove::tracer
