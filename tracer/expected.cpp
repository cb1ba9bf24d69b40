#include "tracer/expected.h"

#include <algorithm>
#include <cstring>

#include "tracer/numbers.h"
#include "tracer/replay.h"

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

bool is_same_place(const ExpectedCall& expected, const SiteKey& site) {
  return expected.file == site.file && expected.line == site.line &&
         expected.column == site.column && expected.ordinal == site.ordinal;
}

}  // namespace

ExpectedCalls::ExpectedCalls(const Segment& segment) : calls(segment.words.size()) {
  for (std::size_t w = 0; w < calls.size(); ++w) {
    const Word& word = segment.words[w];
    if (!is_plain(word)) continue;
    ExpectedCall& call = calls[w];
    call.op = word.op;
    call.file = word.site.file;
    call.line = word.site.line;
    call.column = word.site.column;
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

// Gives the handle of the last iteration again, when it is as it was made and only this replay has
// it; otherwise handle() makes one.
void Replay::hand_out_again(SlotId id, Tensor& output) {
  Live& live = live_[static_cast<std::size_t>(id)];
  TensorImpl* const impl = live.impl.get();
  if (!impl || impl->use_count() != 1 || impl->metadata_epoch != live.epoch || impl->autograd) {
    output = Tensor(&handle(id));
    return;
  }
  impl->requires_grad = live.requires_grad;
  impl->trace_session = session_;
  impl->trace_id = id;
  impl->is_pending = true;
  live.object = impl;
  live.run = run_;
  live.is_filled = false;
  live.is_exposed = false;
  live.snapshot.clear();
  // Nothing on the tape knows it, so no reference to it can appear meanwhile.
  impl->retain_from_only_owner();
  output = Tensor(groove::detail::RefPtr<TensorImpl>::adopt(impl));
}

bool Replay::match_plainly(const Call& call, const SiteKey& site, Tensor* outputs) {
  if (matched_ == expected_.calls.size() || has_exposed_) return false;
  const ExpectedCall& expected = expected_.calls[matched_];
  const auto& attrs = call.attrs->words();
  if (expected.op != call.op || !is_same_place(expected, site) || call.is_inplace ||
      expected.inputs != call.inputs.size() || expected.numbers != call.numbers.size() ||
      expected.attr_count != attrs.size() || expected.grad_enabled != grad_enabled() ||
      (expected.attr_count > 0 &&
       std::memcmp(expected.attrs, attrs.data(), attrs.size() * sizeof(std::int64_t)) != 0))
    return false;
  const SlotId* slot = expected_.slots.data() + expected.slots;
  for (const Tensor& input : call.inputs) {
    const Live& live = live_[static_cast<std::size_t>(*slot++)];
    if (live.run != run_ || live.object != input.impl())
      return false;
  }
  for (std::size_t i = 0; i < expected.numbers; ++i)
    if (call.numbers[i].type() != expected.number_kinds[i])
      return false;
  std::uint64_t* scalar = scalars_.data() + expected.first_number;
  for (const Scalar& number : call.numbers) *scalar++ = word_of(number);
  for (std::size_t k = 0; k < expected.outputs; ++k) hand_out_again(*slot++, outputs[k]);
  tape_nodes_ += expected.tape_nodes;
  ++matched_;
  return true;
}

}  // namespace groove::tracer
