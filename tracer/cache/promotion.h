// When tier 2 is made: the one place that decides, for segments and for what runs without calls of
// its own.
#pragma once

#include <cstdint>

#include "tracer/calls/segment.h"

namespace groove::tracer {

/// Is now the time to ask, after so many runs?
inline bool may_be_promoted(const Segment& segment, std::uint64_t runs) {
  constexpr std::uint64_t kFirst = 16, kSeldom = 64;
  const bool is_asked = runs == kFirst || (runs > kFirst && runs % kSeldom == kSeldom - 1);
  return is_asked && !segment.is_promoted.load(std::memory_order_relaxed);
}
/// Makes tier 2 for it, at once or on the compile thread, if that pays.
void promote_if_it_pays(const SegmentPtr& segment, std::uint64_t runs, bool is_synchronous);

}  // namespace groove::tracer
