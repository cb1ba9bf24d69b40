#include "tracer/makings.h"

#include "tracer/investment.h"
#include "tracer/modes.h"

namespace groove::tracer {

Makings::How Makings::how() const {
  constexpr std::uint64_t kFree = 32, kFoundForOne = 4;
  if (is_compilation_synchronous()) return How::kHere;
  const bool are_found = begun_.load(std::memory_order_relaxed) <
                         kFree + found_.load(std::memory_order_relaxed) / kFoundForOne;
  if (!are_found || !investment().affords_here(static_cast<std::int64_t>(milliseconds() * 1e6)))
    return How::kNot;
  return made() > 0 ? How::kHere : How::kBeside;
}

void Makings::note_made(double milliseconds) {
  const double known = milliseconds_.load(std::memory_order_relaxed);
  milliseconds_.store(milliseconds < known ? milliseconds : known + (milliseconds - known) / 16,
                      std::memory_order_relaxed);
  made_.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace groove::tracer
