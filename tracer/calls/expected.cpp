#include "tracer/calls/expected.h"

#include <algorithm>

namespace groove::tracer {
namespace {

bool is_plain(const RecordedCall& call) {
  constexpr std::size_t kMost = 255;
  const auto is_known = [](SlotId id) { return id != kNoSlot; };
  return !call.is_library_call && !call.is_inplace && !call.op->check &&
         call.fixed_numbers.empty() && call.nested_live_ins.empty() &&
         call.written_live_ins.empty() && call.inputs.size() <= kMost &&
         call.outputs.size() <= kMost && call.number_kinds.size() <= kMost &&
         call.attrs.words().size() <= 0xffff && call.tape_nodes <= 0xffffffff &&
         std::all_of(call.inputs.begin(), call.inputs.end(), is_known) &&
         std::all_of(call.outputs.begin(), call.outputs.end(), is_known) &&
         std::find(call.output_is_new.begin(), call.output_is_new.end(), false) ==
             call.output_is_new.end();
}

}  // namespace

ExpectedCalls::ExpectedCalls(const Segment& segment) : calls(segment.calls.size() + 1) {
  std::vector<bool> is_met(segment.slots.size());
  for (std::size_t w = 0; w < segment.calls.size(); ++w) {
    const RecordedCall& recorded = segment.calls[w];
    ExpectedCall& call = calls[w];
    for (const SlotId id : recorded.inputs) {
      if (id == kNoSlot || !segment.slots[static_cast<std::size_t>(id)].is_live_in) continue;
      call.meets_live_in |= !is_met[static_cast<std::size_t>(id)];
      is_met[static_cast<std::size_t>(id)] = true;
    }
    if (!is_plain(recorded)) continue;
    call.op = recorded.op;
    call.ordinal = recorded.site.ordinal;
    call.attrs = recorded.attrs.words().data();
    call.attr_count = static_cast<std::uint16_t>(recorded.attrs.words().size());
    call.inputs = static_cast<std::uint8_t>(recorded.inputs.size());
    call.outputs = static_cast<std::uint8_t>(recorded.outputs.size());
    call.slots = static_cast<std::uint32_t>(slots.size());
    slots.insert(slots.end(), recorded.inputs.begin(), recorded.inputs.end());
    slots.insert(slots.end(), recorded.outputs.begin(), recorded.outputs.end());
    call.number_kinds = recorded.number_kinds.data();
    call.numbers = static_cast<std::uint8_t>(recorded.number_kinds.size());
    call.first_number = recorded.first_number;
    call.tape_nodes = static_cast<std::uint32_t>(recorded.tape_nodes);
    call.grad_enabled = recorded.grad_enabled;
  }
}

void ExpectedCalls::renew_attributes(const Segment& segment) {
  for (std::size_t w = 0; w < segment.calls.size(); ++w)
    if (calls[w].op) calls[w].attrs = segment.calls[w].attrs.words().data();
}

}  // namespace groove::tracer
