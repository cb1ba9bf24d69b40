// A segment as text, for jit::inspect().
#pragma once

#include <string>

#include "groove/jit.h"
#include "tracer/segment.h"

namespace groove::tracer {

/// What result k of a word is called in words and graphs: the operator and the word's position.
std::string result_name(const Word& word, std::size_t position, std::size_t k);
/// … and its input number i.
std::string input_name(const SegmentContent& segment, std::size_t i);
/// Names the values of a segment's graph as its words name them.
void name_values(Graph& graph, const SegmentContent& segment);

// A live-in and what is compared before compiled code may run.
struct GuardedInput {
  SlotId slot = kNoSlot;
  std::string name, type;
};
std::vector<GuardedInput> guarded_inputs(const Segment& segment);

jit::SegmentView inspect(const Segment& segment);

}  // namespace groove::tracer
