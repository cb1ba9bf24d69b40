#include "tracer/cache/promotion.h"

#include "tracer/cache/registry.h"
#include "tracer/watch/investment.h"

namespace groove::tracer {

// A loop is taken to go on for as long as it has gone on: by then tier 2 must have gained what it
// takes. With synchronous compilation nothing depends on the clock.
void promote_if_it_pays(const SegmentPtr& segment, std::uint64_t runs, bool is_synchronous) {
  constexpr double kOfTier2 = 0.1, kOfDearPasses = 0.3;  // of the time that it takes before
  const Executable& program = *segment->executable;
  const double gain = program.is_quick() ? kOfDearPasses : kOfTier2;
  const double price = program.promotion_milliseconds();
  if (price == 0) return;
  if (!is_synchronous) {
    const double measured = segment->profile.compiled();
    const double one = measured > 0 ? measured : program.expected_milliseconds();
    if (static_cast<double>(runs) * one * gain < price ||
        !investment().affords(static_cast<std::int64_t>(price * 1e6)))
      return;
  }
  if (!segment->is_promoted.exchange(true)) promote(segment, is_synchronous);
}

}  // namespace groove::tracer
