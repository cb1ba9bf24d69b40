// A segment as text, for jit::inspect().
#pragma once

#include <string>

#include "groove/jit.h"
#include "tracer/segment.h"

namespace groove::tracer {

/// What result k of a word is called in words and graphs: the operator and the word's position.
std::string result_name(const Word& word, std::size_t position, std::size_t k);

// A live-in and what is compared before compiled code may run.
struct GuardedInput {
  SlotId slot = kNoSlot;
  std::string name, type;
};
std::vector<GuardedInput> guarded_inputs(const Segment& segment);

jit::SegmentView inspect(const Segment& segment);

}  // namespace groove::tracer
