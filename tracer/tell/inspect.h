// A segment as text, for jit::inspect().
#pragma once

#include <string>

#include "groove/jit.h"
#include "tracer/calls/segment.h"

namespace groove::tracer {

/// What result k of a call is called in calls and graphs: the operator and the call's position.
std::string result_name(const RecordedCall& call, std::size_t position, std::size_t k);
/// … and its input number i.
std::string input_name(const SegmentContent& segment, std::size_t i);
/// Names the values of a segment's graph as its calls name them.
void name_values(Graph& graph, const SegmentContent& segment);

/// "f32[64, 8], contiguous, requires grad": what is compared of a tensor that existed before.
std::string type_text(const Slot& slot);
std::string type_text(const TensorImpl& tensor);
/// "linear at model.cpp:31 of f32[64, 8], contiguous"; without an input just the call.
std::string with_input(const std::string& call, const std::string& input);

// A live-in and what is compared before compiled code may run.
struct GuardedInput {
  SlotId slot = kNoSlot;
  std::string name, type;
};
std::vector<GuardedInput> guarded_inputs(const Segment& segment);

jit::SegmentView inspect(const Segment& segment);

}  // namespace groove::tracer
