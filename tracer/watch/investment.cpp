#include "tracer/watch/investment.h"

#include <algorithm>

#include "src/core/fork.h"

namespace groove::tracer {

// Threads beside one another, some of which spin, have run no longer than the clock on the wall
// says.
std::int64_t Investment::time_run() const {
  constexpr std::int64_t kOld = 20'000;  // nanoseconds
  const std::int64_t now = nanoseconds_now();
  if (now - looked_at_.load(std::memory_order_relaxed) > kOld) {
    had_.store(process_time(), std::memory_order_relaxed);
    looked_at_.store(now, std::memory_order_relaxed);
  }
  return std::min(
      now - born_.load(std::memory_order_relaxed),
      had_.load(std::memory_order_relaxed) - had_when_born_.load(std::memory_order_relaxed));
}

bool Investment::allows(const Terms& terms, std::int64_t spent) const {
  const std::int64_t time =
      std::max<std::int64_t>(0, time_run() - passed_.load(std::memory_order_relaxed));
  return spent <= terms.at_once + time / terms.share_of_time +
                      saved_.load(std::memory_order_relaxed) / terms.share_of_saved;
}

void Investment::spend_here(std::int64_t nanoseconds) {
  spend(nanoseconds);
  spent_here_.fetch_add(nanoseconds, std::memory_order_relaxed);
  const std::int64_t now = time_run();
  std::int64_t until = paid_until_.load(std::memory_order_relaxed);
  while (!paid_until_.compare_exchange_weak(
      until, std::max(until, now) + kShareOfLate * nanoseconds, std::memory_order_relaxed)) {
  }
}

std::int64_t Investment::reserved() const {
  const std::int64_t all = reserved_.load(std::memory_order_relaxed);
  return all == 0 || nanoseconds_now() > reserved_until_.load(std::memory_order_relaxed) ? 0 : all;
}

bool Investment::affords(std::int64_t more) const {
  return allows(kBeside, spent_.load(std::memory_order_relaxed) + reserved() + more);
}

bool Investment::affords(const void* what, std::int64_t more, double gain) {
  constexpr std::int64_t kPatience = 20'000'000;  // nanoseconds between two askings
  const std::int64_t now = nanoseconds_now();
  const ForkGate gate;
  const std::lock_guard lock(claims_mutex_);
  const auto is_over = [&](const Claim& claim) { return now > claim.asked_at + kPatience; };
  auto mine = std::find_if(claims_.begin(), claims_.end(),
                           [&](const Claim& claim) { return claim.what == what; });
  if (mine == claims_.end())
    mine = std::min_element(claims_.begin(), claims_.end(),
                            [](const Claim& a, const Claim& b) { return a.asked_at < b.asked_at; });
  if (mine->what != what || is_over(*mine)) *mine = {what, more, now, 0};
  mine->cost = std::max<std::int64_t>(more, 1);
  mine->asked_at = now;
  mine->gain += gain;
  std::int64_t better = 0, proven = 0;
  for (Claim& claim : claims_) {
    if (claim.what && is_over(claim)) claim = {};
    if (!claim.what || !claim.is_proven()) continue;
    proven += claim.cost;
    if (claim.return_on_cost() > mine->return_on_cost()) better += claim.cost;
  }
  const bool is_affordable =
      allows(kBeside, spent_.load(std::memory_order_relaxed) + better + more);
  if (is_affordable) {
    if (mine->is_proven()) proven -= mine->cost;
    *mine = {};
  }
  reserved_.store(proven, std::memory_order_relaxed);
  reserved_until_.store(now + kPatience, std::memory_order_relaxed);
  return is_affordable;
}

bool Investment::affords_here(std::int64_t more) const {
  return affords(more) && allows(kHere, spent_here_.load(std::memory_order_relaxed) + more);
}

// What it takes must be a small share of the time by itself; beside what was spent it need not fit,
// or what takes much would wait for ever where much comes that takes little.
bool Investment::affords_new(std::int64_t here) const {
  const auto with_reserve = [](std::int64_t spent) {
    return spent + std::max(spent, std::int64_t{0}) / 10;
  };
  return time_run() >= paid_until_.load(std::memory_order_relaxed) &&
         allows(kBeside, with_reserve(spent_.load(std::memory_order_relaxed)) + reserved()) &&
         allows(kHere, std::max(with_reserve(spent_here_.load(std::memory_order_relaxed)), here));
}

bool Investment::affords_recording(std::size_t calls, bool goes_on) const {
  const double price = kToRecord + kToRecordACall * static_cast<double>(calls);
  return affords_new(static_cast<std::int64_t>(goes_on ? price : kIfItEnds * price));
}

bool Investment::affords_search(std::int64_t more) const {
  return affords_new(static_cast<std::int64_t>(kIfItEnds * kToSearch)) &&
         allows(kBeside,
                reserved() + 4 * (spent_searching_.load(std::memory_order_relaxed) + more));
}

std::int64_t Investment::advance(std::size_t operators) {
  const std::int64_t cost = expected(operators);
  spend(cost);
  return cost;
}

void Investment::settle(std::int64_t advanced, std::size_t operators, std::int64_t nanoseconds) {
  constexpr std::int64_t kMemory = 8;  // segments, of which the first count for more
  spend(nanoseconds - advanced);
  if (operators == 0) return;
  const std::int64_t before = settled_.fetch_add(1, std::memory_order_relaxed);
  const std::int64_t known = of_an_operator_.load(std::memory_order_relaxed);
  const std::int64_t now =
      std::max<std::int64_t>(nanoseconds - kOfAny, 0) / static_cast<std::int64_t>(operators);
  of_an_operator_.store(known + (now - known) / std::min(before + 2, kMemory),
                        std::memory_order_relaxed);
}

void Investment::go_on_in_child() {
  const std::int64_t ran =
      had_.load(std::memory_order_relaxed) - had_when_born_.load(std::memory_order_relaxed);
  had_.store(process_time(), std::memory_order_relaxed);
  had_when_born_.store(had_.load(std::memory_order_relaxed) - ran, std::memory_order_relaxed);
}

void Investment::forget() {
  born_.store(nanoseconds_now(), std::memory_order_relaxed);
  had_.store(process_time(), std::memory_order_relaxed);
  had_when_born_.store(had_.load(std::memory_order_relaxed), std::memory_order_relaxed);
  for (std::atomic<std::int64_t>* const sum :
       {&spent_, &spent_here_, &spent_searching_, &saved_, &paid_until_, &passed_})
    sum->store(0, std::memory_order_relaxed);
  reserved_.store(0, std::memory_order_relaxed);
  const ForkGate gate;
  const std::lock_guard lock(claims_mutex_);
  claims_ = {};
}

Investment& investment() {
  static Investment& instance = *new Investment;  // never destroyed: other threads may compile yet
  return instance;
}

}  // namespace groove::tracer
