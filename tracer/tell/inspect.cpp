// Calls and guards of a segment in readable form; the compiler adds what it made of the graph.
#include "tracer/tell/inspect.h"

#include <fmt/format.h>

#include <bit>

#include "src/core/geometry.h"
#include "tracer/cache/registry.h"
#include "tracer/tell/report.h"

namespace groove::tracer {
namespace {

// visit(call, position, output) for each output that a call makes.
template <typename Visit>
void for_each_result(const SegmentContent& segment, const Visit& visit) {
  for (std::size_t w = 0; w < segment.calls.size(); ++w) {
    const RecordedCall& call = segment.calls[w];
    for (std::size_t k = 0; k < call.outputs.size(); ++k)
      if (call.gives_new(k)) visit(call, w, k);
  }
}

// Of every tensor object that takes part; empty for what only exists inside a library call.
std::vector<std::string> slot_names(const Segment& segment) {
  std::vector<std::string> names(segment.slots.size());
  for (std::size_t i = 0; i < segment.live_ins.size(); ++i)
    names[static_cast<std::size_t>(segment.live_ins[i])] = input_name(segment, i);
  for_each_result(segment, [&](const RecordedCall& call, std::size_t w, std::size_t k) {
    names[static_cast<std::size_t>(call.outputs[k])] = result_name(call, w, k);
  });
  return names;
}

template <typename Names>
std::string joined(const std::vector<SlotId>& slots, const Names& names) {
  std::string text;
  for (const SlotId id : slots) {
    text += text.empty() ? "" : ", ";
    const std::string name = id == kNoSlot ? "_" : names[static_cast<std::size_t>(id)];
    text += name.empty() ? "?" : name;
  }
  return text;
}

std::string number_name(const RecordedCall& call, std::size_t index) {
  return index < call.op->number_names.size() ? call.op->number_names[index] : "";
}

std::string number_text(ScalarType kind, std::uint64_t bits) {
  return kind == kDouble ? fmt::format("{}", std::bit_cast<double>(bits))
                         : fmt::format("{}", static_cast<std::int64_t>(bits));
}

std::string call_text(const RecordedCall& call, const std::vector<std::string>& names) {
  std::string text = call.outputs.empty() ? "" : joined(call.outputs, names) + " = ";
  text += call.op->name + (call.is_inplace ? "_(" : "(") + joined(call.inputs, names);
  for (std::size_t i = 0; i < call.number_kinds.size(); ++i) {
    const std::string name = number_name(call, i);
    text += fmt::format("{}{}{}#{}", i || !call.inputs.empty() ? ", " : "", name,
                        name.empty() ? "" : ": ", static_cast<std::size_t>(call.first_number) + i);
  }
  text += ")";
  if (!call.op->attributes.empty()) text += fmt::format(" {}", print(*call.op, call.attrs));
  return text;
}

// "mul, sum, 4 sgd_step": neighbours of one name are counted.
std::string expansion_text(const RecordedCall& call) {
  std::string text;
  for (std::size_t i = 0; i < call.nested.size();) {
    std::size_t end = i + 1;
    while (end < call.nested.size() && call.nested[end].op == call.nested[i].op) ++end;
    text += text.empty() ? "" : ", ";
    if (end - i > 1) text += fmt::format("{} ", end - i);
    text += call.nested[i].op->name;
    i = end;
  }
  return text;
}

std::vector<jit::CallView> calls_of(const Segment& segment, const std::vector<std::string>& names) {
  std::vector<jit::CallView> calls;
  for (std::size_t w = 0; w < segment.calls.size(); ++w) {
    const RecordedCall& call = segment.calls[w];
    jit::CallView view;
    view.file = call.site.file ? call.site.file : "";
    view.line = call.site.line;
    view.call = call_text(call, names);
    view.expands_to = expansion_text(call);
    for (const StageEnd& end : segment.stage_ends)
      view.ends_stage |= end.after == static_cast<std::int32_t>(w) + 1;
    calls.push_back(std::move(view));
  }
  return calls;
}

std::string type_text(const Type& type, const Shape& strides, bool requires_grad, bool is_leaf) {
  std::string text = short_name(type.dtype) + to_string(type.sizes);
  text += strides == contiguous_strides(type.sizes) ? ", contiguous"
                                                    : ", strides " + to_string(strides);
  if (requires_grad) text += ", requires grad";
  if (!is_leaf) text += ", with a history";
  return text;
}

std::string live_in_text(const Segment& segment, SlotId id, const std::vector<std::string>& names) {
  const Slot& slot = segment.slots[static_cast<std::size_t>(id)];
  const std::string text = type_text(slot);
  if (slot.grad_of != kNoSlot) {
    return text + "; the gradient of " + names[static_cast<std::size_t>(slot.grad_of)];
  }
  return text + "; any tensor like that";
}

std::string guards_of(const Segment& segment, const std::vector<std::string>& names) {
  std::string text =
      "each call is the expected one: operator, line, attributes, operands, gradient mode\n";
  for (const SlotId id : segment.live_ins) {
    text += fmt::format("{}: {}\n", names[static_cast<std::size_t>(id)],
                        live_in_text(segment, id, names));
  }
  std::string moving;
  for (const RecordedCall& call : segment.calls) {
    const std::string who = fmt::format("{} in line {}:", call.op->name, call.site.line);
    std::string walked;
    for (std::size_t k = 0; k < call.nested_live_ins.size(); ++k)
      if (call.nested_places[k] >= 0)
        walked += (walked.empty() ? " walks " : ", ") +
                  names[static_cast<std::size_t>(call.nested_live_ins[k])];
    if (!walked.empty()) text += who + walked + ", with the structure it had\n";
    for (const LeafGrad& known : call.grads_before) {
      if (known.grad != kNoSlot) continue;
      text += fmt::format("{} {} has no gradient yet\n", who,
                          names[static_cast<std::size_t>(known.leaf)]);
    }
    std::vector<bool> is_fixed(call.number_kinds.size());
    for (const auto& [index, bits] : call.fixed_numbers) {
      const auto at = static_cast<std::size_t>(index);
      is_fixed[at] = true;
      text += fmt::format("{} number {} {} is {}\n", who, at, number_name(call, at),
                          number_text(call.number_kinds[at], bits));
    }
    std::string free;
    for (std::size_t i = 0; i < is_fixed.size(); ++i) {
      if (!is_fixed[i])
        free += fmt::format(" #{}", static_cast<std::size_t>(call.first_number) + i);
    }
    if (!free.empty()) moving += fmt::format("{} numbers{} are given to each run\n", who, free);
  }
  return text + moving;
}

}  // namespace

std::string input_name(const SegmentContent& segment, std::size_t i) {
  const Slot& slot = segment.slots[static_cast<std::size_t>(segment.live_ins[i])];
  const char* role = slot.is_walked ? "state" : "input";
  if (slot.requires_grad) role = "parameter";
  if (slot.grad_of != kNoSlot) role = "grad";
  return fmt::format("{}{}", role, i);
}

void name_values(Graph& graph, const SegmentContent& segment) {
  for (std::size_t i = 0; i < segment.live_ins.size(); ++i)
    graph.values[static_cast<std::size_t>(graph.inputs[i].value)].name = input_name(segment, i);
  for_each_result(segment, [&](const RecordedCall& call, std::size_t w, std::size_t k) {
    const ValueId value = segment.slot_values[static_cast<std::size_t>(call.outputs[k])];
    std::string& name = graph.values[static_cast<std::size_t>(value)].name;
    if (name.empty()) name = result_name(call, w, k);
  });
}

std::string result_name(const RecordedCall& call, std::size_t position, std::size_t k) {
  return call.outputs.size() > 1 ? fmt::format("{}{}_{}", call.op->name, position, k)
                                 : fmt::format("{}{}", call.op->name, position);
}

std::string type_text(const Slot& slot) {
  return type_text(slot.type, slot.strides, slot.requires_grad, slot.is_leaf);
}
std::string type_text(const TensorImpl& tensor) {
  return type_text({tensor.dtype, tensor.geometry.sizes}, tensor.geometry.strides,
                   tensor.requires_grad, !tensor.autograd || !tensor.autograd->grad_fn);
}

std::string with_input(const std::string& call, const std::string& input) {
  return input.empty() ? call : call + " of " + input;
}

std::vector<GuardedInput> guarded_inputs(const Segment& segment) {
  const std::vector<std::string> names = slot_names(segment);
  std::vector<GuardedInput> inputs;
  for (const SlotId id : segment.live_ins)
    inputs.push_back({id, names[static_cast<std::size_t>(id)], live_in_text(segment, id, names)});
  return inputs;
}

jit::SegmentView inspect(const Segment& segment) {
  const State state = segment.state.load(std::memory_order_acquire);
  jit::SegmentView view;
  view.id = segment.id;
  view.source = segment.source;
  view.state = state_name(state);
  if (state != State::kCompiling) {
    view.compile_milliseconds = segment.statistics.compile_milliseconds;
  }
  const std::vector<std::string> names = slot_names(segment);
  view.calls = calls_of(segment, names);
  view.guards = guards_of(segment, names);
  // Until then it may be in the making.
  if (state != State::kCompiling) view.graph = print(segment.graph);
  if (state == State::kArmed && segment.executable) {
    view.program = segment.executable->describe();
    segment.executable->inspect(segment.graph, view);
  }
  return view;
}

}  // namespace groove::tracer

namespace groove {

void Executable::inspect(const Graph&, jit::SegmentView&) const {}

std::vector<jit::SegmentView> jit::inspect() {
  std::vector<SegmentView> views;
  for (const tracer::SegmentPtr& segment : tracer::all_segments())
    views.push_back(tracer::inspect(*segment));
  return views;
}

}  // namespace groove
