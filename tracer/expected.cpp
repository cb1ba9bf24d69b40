#include "tracer/expected.h"

#include <algorithm>

namespace groove::tracer {
namespace {

bool is_plain(const Word& word) {
  constexpr std::size_t kMost = 255;
  const auto is_known = [](SlotId id) { return id != kNoSlot; };
  return !word.is_big && !word.is_inplace && !word.op->check && word.fixed_numbers.empty() &&
         word.nested_live_ins.empty() && word.written_live_ins.empty() &&
         word.inputs.size() <= kMost && word.outputs.size() <= kMost &&
         word.number_kinds.size() <= kMost && word.attrs.words().size() <= 0xffff &&
         word.tape_nodes <= 0xffffffff &&
         std::all_of(word.inputs.begin(), word.inputs.end(), is_known) &&
         std::all_of(word.outputs.begin(), word.outputs.end(), is_known) &&
         std::find(word.output_is_new.begin(), word.output_is_new.end(), false) ==
             word.output_is_new.end();
}

}  // namespace

void ExpectedCalls::renew(const Segment& segment) {
  calls.resize(segment.words.size() + 1);
  slots.clear();
  std::vector<bool> is_met(segment.slots.size());
  for (std::size_t w = 0; w < segment.words.size(); ++w) {
    const Word& word = segment.words[w];
    ExpectedCall& call = calls[w];
    call.op = nullptr;
    call.meets_live_in = false;
    for (const SlotId id : word.inputs) {
      if (id == kNoSlot || !segment.slots[static_cast<std::size_t>(id)].is_live_in) continue;
      call.meets_live_in |= !is_met[static_cast<std::size_t>(id)];
      is_met[static_cast<std::size_t>(id)] = true;
    }
    if (!is_plain(word)) continue;
    call.op = word.op;
    call.ordinal = word.site.ordinal;
    call.attrs = word.attrs.words().data();
    call.attr_count = static_cast<std::uint16_t>(word.attrs.words().size());
    call.inputs = static_cast<std::uint8_t>(word.inputs.size());
    call.outputs = static_cast<std::uint8_t>(word.outputs.size());
    call.slots = static_cast<std::uint32_t>(slots.size());
    slots.insert(slots.end(), word.inputs.begin(), word.inputs.end());
    slots.insert(slots.end(), word.outputs.begin(), word.outputs.end());
    call.number_kinds = word.number_kinds.data();
    call.numbers = static_cast<std::uint8_t>(word.number_kinds.size());
    call.first_number = word.first_number;
    call.tape_nodes = static_cast<std::uint32_t>(word.tape_nodes);
    call.grad_enabled = word.grad_enabled;
  }
}

}  // namespace groove::tracer
