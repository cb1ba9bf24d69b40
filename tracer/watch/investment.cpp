#include "tracer/watch/investment.h"

#include <algorithm>
#include <ctime>

namespace groove::tracer {

bool Investment::allows(const Terms& terms, std::int64_t spent) const {
  return spent <=
         terms.at_once +
             (nanoseconds_now() - born_.load(std::memory_order_relaxed)) / terms.share_of_time +
             saved_.load(std::memory_order_relaxed) / terms.share_of_saved;
}

bool Investment::affords(std::int64_t more) const {
  return allows(kBeside, spent_.load(std::memory_order_relaxed) + more);
}

bool Investment::affords_here(std::int64_t more) const {
  return affords(more) && allows(kHere, spent_here_.load(std::memory_order_relaxed) + more);
}

bool Investment::affords_recording() const {
  const auto with_reserve = [](std::int64_t spent) {
    return spent + std::max(spent, std::int64_t{0}) / 10;
  };
  return allows(kBeside, with_reserve(spent_.load(std::memory_order_relaxed))) &&
         allows(kHere, with_reserve(spent_here_.load(std::memory_order_relaxed)));
}

bool Investment::affords_search(std::int64_t more) const {
  return affords_recording() &&
         allows(kBeside, 4 * (spent_searching_.load(std::memory_order_relaxed) + more));
}

std::int64_t Investment::advance(std::size_t operators) {
  const std::int64_t cost = expected(operators);
  spend(cost);
  return cost;
}

void Investment::settle(std::int64_t advanced, std::size_t operators, std::int64_t nanoseconds) {
  constexpr std::int64_t kMemory = 8;  // segments
  spend(nanoseconds - advanced);
  if (operators == 0) return;
  const std::int64_t known = of_an_operator_.load(std::memory_order_relaxed);
  const std::int64_t now =
      std::max<std::int64_t>(nanoseconds - kOfAny, 0) / static_cast<std::int64_t>(operators);
  of_an_operator_.store(known + (now - known) / kMemory, std::memory_order_relaxed);
}

void Investment::forget() {
  born_.store(nanoseconds_now(), std::memory_order_relaxed);
  for (std::atomic<std::int64_t>* const sum : {&spent_, &spent_here_, &spent_searching_, &saved_})
    sum->store(0, std::memory_order_relaxed);
}

Investment& investment() {
  static Investment& instance = *new Investment;  // never destroyed: other threads may compile yet
  return instance;
}

std::int64_t thread_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace groove::tracer
