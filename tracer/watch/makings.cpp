#include "tracer/watch/makings.h"

#include <algorithm>

#include "tracer/thread/modes.h"
#include "tracer/watch/investment.h"

namespace groove::tracer {

Makings::How Makings::how(double gain) const {
  // Before any run has told what one gains: so many of those that take little, in all no longer
  // than this, and some in any case.
  constexpr double kMostFree = 32, kLeastFree = 4, kFreeNanoseconds = 2e6, kFoundForOne = 4;
  if (is_compilation_synchronous()) return How::kHere;
  const double cost = milliseconds() * 1e6;
  const double free =
      cost == 0 ? kMostFree : std::clamp(kFreeNanoseconds / cost, kLeastFree, kMostFree);
  const auto found = static_cast<double>(found_.load(std::memory_order_relaxed));
  const double for_one = gain == 0 ? kFoundForOne : cost / gain;
  const bool have_paid = static_cast<double>(begun()) < free + found / for_one;
  if (!have_paid || !investment().affords_here(static_cast<std::int64_t>(cost))) return How::kNot;
  return made() > 0 ? How::kHere : How::kBeside;
}

void Makings::note_made(double milliseconds) {
  const double known = milliseconds_.load(std::memory_order_relaxed);
  milliseconds_.store(milliseconds < known ? milliseconds : known + (milliseconds - known) / 16,
                      std::memory_order_relaxed);
  made_.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace groove::tracer
