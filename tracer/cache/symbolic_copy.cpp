#include "tracer/cache/symbolic_copy.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "src/core/check.h"
#include "src/core/geometry.h"
#include "tracer/calls/history_types.h"
#include "tracer/calls/recorded_view.h"

namespace groove::tracer {
namespace {

std::size_t slots_before(const Segment& segment, std::size_t call) {
  return call < segment.calls.size() ? static_cast<std::size_t>(segment.calls[call].first_slot)
                                     : segment.slots.size();
}

// What the views of a result, whose memory is one piece, look like.
Shape strides_of(const Segment& segment, const Slot& slot) {
  if (slot.parent == kNoSlot) return contiguous_strides(slot.type.sizes);
  const Slot& parent = segment.slots[static_cast<std::size_t>(slot.parent)];
  const Node& made = segment.graph.nodes[static_cast<std::size_t>(slot.view_call)];
  std::vector<kernels::MovingStart> starts;
  return recorded_view(made, {parent.type.sizes, parent.strides, 0}, parent.type, starts).strides;
}

// `takes_ones`: a size may be 1 where it is more in the recording.
bool has_classes_of(const Shape& sizes, const Shape& known, bool takes_ones) {
  if (sizes.size() != known.size()) return false;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const bool is_one = takes_ones && sizes[i] == 1 && known[i] > 1;
    if (!is_one && size_class(sizes[i]) != size_class(known[i])) return false;
  }
  return true;
}

// A stride along an axis of one element, of what the program never sees.
bool is_for_nothing(const Segment& segment, const TypeNumber& number) {
  if (number.slot == kNoSlot) return false;
  const Slot& slot = segment.slots[static_cast<std::size_t>(number.slot)];
  return !slot.is_live_in && !slot.is_user_visible && number.of == &slot.strides &&
         slot.type.sizes[number.axis] == 1;
}

// Runs the program for the sizes that the copy has now.
class SizedExecutable final : public Executable {
 public:
  /// `history`: null, or what the segment's becomes a copy of.
  SizedExecutable(SymbolicSegmentPtr symbolic, std::shared_ptr<const SizeValues> sizes,
                  Segment& segment, std::shared_ptr<const HistoryPlan> history)
      : symbolic_(std::move(symbolic)),
        sizes_(std::move(sizes)),
        segment_(segment),
        history_(std::move(history)) {}

  bool prepare() override {
    kept_stages_ = std::numeric_limits<std::int32_t>::max();
    if (program_ && made_for_ == *sizes_) return true;
    kept_stages_ = 0;
    const std::shared_ptr<Executable> before = std::exchange(program_, nullptr);
    if (const SegmentPtr known = symbolic_->ready_program(*sizes_, segment_.graph)) {
      program_ = known->executable;
    } else if (auto any_size = symbolic_->any_size_for_run(*sizes_)) {
      auto known = std::find_if(any_sizes_.begin(), any_sizes_.end(),
                                [&](const auto& program) { return program.of() == any_size; });
      if (known == any_sizes_.end()) known = any_sizes_.emplace(known, std::move(any_size));
      const std::int32_t kept = known->take_on(*sizes_);
      program_ = known->executable();
      if (program_ == before) kept_stages_ = kept;
    } else {
      if (!symbolic_->offers(*sizes_, segment_.graph)) return false;
      const SegmentPtr made = symbolic_->program(*sizes_, segment_.graph);
      GROOVE_CHECK(made->is_armed(), "{}", made->failure);
      program_ = made->executable;
    }
    if (history_) segment_.history = symbolic_->history(*sizes_, *history_);
    made_for_ = *sizes_;
    return true;
  }
  std::size_t arena_bytes() const override { return program_ ? program_->arena_bytes() : 0; }
  std::int32_t kept_stages() const override { return kept_stages_; }
  std::int32_t run(void* const* buffers, const std::int64_t* sizes, const std::uint64_t* scalars,
                   ProgramContext& context) const noexcept override {
    return program_->run(buffers, sizes, scalars, context);
  }
  std::string describe() const override { return {}; }

 private:
  SymbolicSegmentPtr symbolic_;
  std::shared_ptr<const SizeValues> sizes_;
  Segment& segment_;  // whose executable this is
  std::shared_ptr<const HistoryPlan> history_;
  SizeValues made_for_;
  std::shared_ptr<Executable> program_;
  std::int32_t kept_stages_ = 0;
  std::vector<AnySize::Program> any_sizes_;
};

}  // namespace

std::string why_sizes_are_fixed(const Segment& segment) {
  if (segment.slot_values.size() != segment.slots.size()) return "slots without values";
  try {
    for (const Slot& slot : segment.slots)
      if (!slot.is_live_in && !(slot.strides == strides_of(segment, slot)))
        return "a result lies otherwise than in one piece";
    if (segment.history && !has_types_of(*segment.history, segment))
      return "a result's history has user code, or types of its own";
  } catch (const Error& error) {
    return error.msg();
  }
  return {};
}

SymbolicCopy::SymbolicCopy(SymbolicSegmentPtr symbolic)
    : symbolic_(std::move(symbolic)), segment_(std::make_shared<Segment>()) {
  static_cast<SegmentContent&>(*segment_) = *symbolic_->original();
  segment_->original = symbolic_->original();
  segment_->state.store(State::kArmed);
  // A proof that a check always passes may rest on sizes: it is made anew at every match.
  constexpr std::uint64_t kNoNumber = 0x7ff4'dead'dead'deadu;
  for (RecordedCall& call : segment_->calls)
    if (call.checked.value != kNoValue) call.checked.numbers.emplace_back(0, kNoNumber);
  if (segment_->history)
    segment_->history = history_ = segment_->history->copy(symbolic_->backwards());
  numbers_ = size_numbers(*segment_);
  sizes_ = std::make_shared<SizeValues>();
  for (const SymbolicSegment::Symbol& symbol : symbolic_->symbols())
    sizes_->push_back(numbers_.numbers[symbol.number].value());
  types_ = type_numbers(*segment_);
  segment_->executable = std::make_unique<SizedExecutable>(symbolic_, sizes_, *segment_, history_);
}

SymbolicCopy::~SymbolicCopy() = default;

bool SymbolicCopy::sizes_shown(std::size_t at, const SizeValues& shown, SizeValues& sizes) const {
  const std::size_t begin = numbers_.shown[at];
  if (begin + shown.size() != numbers_.shown[at + 1]) return false;
  const std::vector<SymbolicSegment::Symbol>& symbols = symbolic_->symbols();
  for (std::size_t i = 0; i < symbols.size(); ++i)
    if (symbols[i].call == at) sizes[i] = shown[symbols[i].number - begin];
  return true;
}

bool SymbolicCopy::resize(const SizeValues& sizes, std::size_t first_call) {
  const SizeValues before = *sizes_;
  if (sizes == before) return true;
  if (take_on(sizes, slots_before(*segment_, first_call))) return true;
  take_on(before, segment_->slots.size());
  return false;
}

std::optional<SizeValues> SymbolicCopy::types_with_ones(const SizeValues& sizes) {
  set_numbers(sizes);
  if (!derive_all_types(segment_->slots.size(), true)) return std::nullopt;
  SizeValues types;
  for (const TypeNumber& number : types_)
    types.push_back(is_for_nothing(*segment_, number) ? AnySize::kAny : number.value());
  return types;
}

void SymbolicCopy::set_numbers(const SizeValues& sizes) {
  *sizes_ = sizes;
  const std::vector<SizeExpression>& expressions = symbolic_->expressions();
  for (const std::size_t number : symbolic_->moving())
    numbers_.numbers[number].set(expressions[number].value(sizes));
}

bool SymbolicCopy::take_on(const SizeValues& sizes, std::size_t first_slot) {
  const AnySize::Ones changed = AnySize::changed(*sizes_, sizes);
  set_numbers(sizes);
  const std::shared_ptr<const AnySize> before = any_size_;
  if (!any_size_ || !any_size_->covers(sizes, symbolic_->ones()))
    any_size_ = symbolic_->any_size(sizes);
  if (!any_size_) return derive_all_types(first_slot);
  // The sizes there are known to be such that nothing else needs to be asked.
  const bool are_all_new = first_slot >= segment_->slots.size();
  return any_size_->set_types(sizes, types_, changed, any_size_ != before,
                              are_all_new ? 0 : static_cast<SlotId>(first_slot));
}

bool SymbolicCopy::derive_all_types(std::size_t first_slot, bool takes_ones) {
  Segment& segment = *segment_;
  const Segment& original = *symbolic_->original();
  Graph& graph = segment.graph;
  const auto is_alike = [&](const Type& type, ValueId value) {
    const Type& known = original.graph.type(value);
    return type.dtype == known.dtype && has_classes_of(type.sizes, known.sizes, takes_ones);
  };
  try {
    for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
      const Slot& slot = segment.slots[static_cast<std::size_t>(segment.live_ins[i])];
      GraphInput& input = graph.inputs[i];
      if (!is_alike(slot.type, input.value)) return false;
      graph.values[static_cast<std::size_t>(input.value)].type = slot.type;
      input.strides = slot.strides;
    }
    for (const Node& node : graph.nodes) {
      const TypeResult types = derive_types(graph, node);
      for (std::size_t k = 0; k < node.outputs.size(); ++k) {
        if (!is_alike(types.outputs[k], node.outputs[k])) return false;
        graph.values[static_cast<std::size_t>(node.outputs[k])].type = types.outputs[k];
      }
    }
    for (const GraphOutput& output : graph.outputs)
      if (output.writes >= 0 &&
          !(graph.type(output.value) ==
            graph.type(graph.inputs[static_cast<std::size_t>(output.writes)].value)))
        return false;
    for (std::size_t id = 0; id < segment.slots.size(); ++id) {
      Slot& slot = segment.slots[id];
      if (slot.is_live_in) continue;
      const Type& type = graph.type(segment.slot_values[id]);
      if (id < first_slot && first_slot < segment.slots.size() && !(slot.type == type))
        return false;
      slot.type = type;
      slot.strides = strides_of(segment, slot);
    }
    for (const RecordedCall& call : segment.calls)
      for (const LeafGrad& effect : call.effects)
        if (effect.grad != kNoSlot &&
            !(segment.slots[static_cast<std::size_t>(effect.leaf)].type.sizes ==
              segment.slots[static_cast<std::size_t>(effect.grad)].type.sizes))
          return false;
    return !history_ || has_types_of(*history_, segment);
  } catch (const Error&) {
    return false;
  }
}

}  // namespace groove::tracer
