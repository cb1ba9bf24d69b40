#include "tracer/record/graph_log.h"

#include "src/core/check.h"

namespace groove::tracer {

ValueId GraphLog::add_input() {
  inputs_.push_back(values_);
  return values_++;
}

std::int32_t GraphLog::add_node(const Op& op, ArrayRef<ValueId> operands, const Attrs& attrs,
                                ArrayRef<NumberRef> numbers, std::size_t outputs, Source source,
                                std::int32_t stage) {
  entries_.push_back(
      {&op, attrs, source, stage, static_cast<std::uint32_t>(operands_.size()),
       static_cast<std::uint32_t>(operands.size()), static_cast<std::uint32_t>(numbers_.size()),
       static_cast<std::uint32_t>(numbers.size()), values_, static_cast<std::uint32_t>(outputs)});
  operands_.insert(operands_.end(), operands.begin(), operands.end());
  numbers_.insert(numbers_.end(), numbers.begin(), numbers.end());
  values_ += static_cast<ValueId>(outputs);
  return static_cast<std::int32_t>(entries_.size() - 1);
}

Node GraphLog::node(std::int32_t index) const {
  const Entry& entry = at(index);
  Node node;
  node.op = entry.op;
  const ValueId* const operands = operands_.data() + entry.first_operand;
  node.inputs.assign(operands, operands + entry.operands);
  node.attrs = entry.attrs;
  const ArrayRef<NumberRef> known = numbers(index);
  node.numbers.assign(known.begin(), known.end());
  node.source = entry.source;
  node.stage = entry.stage;
  return node;
}

// Values come in the order in which they were noted.
void GraphLog::build(Graph& graph, const SegmentContent& segment) {
  const auto add_inputs_before = [&](ValueId end) {
    while (graph.inputs.size() < inputs_.size() && inputs_[graph.inputs.size()] < end) {
      const SlotId id = segment.live_ins[graph.inputs.size()];
      const Slot& slot = segment.slots[static_cast<std::size_t>(id)];
      graph.add_input(slot.type, slot.strides);
    }
  };
  for (auto index = static_cast<std::int32_t>(graph.nodes.size());
       index < static_cast<std::int32_t>(entries_.size()); ++index) {
    const Entry& entry = at(index);
    add_inputs_before(entry.first_output);
    Node made = node(index);
    graph.add_node(*entry.op, std::move(made.inputs), entry.attrs, std::move(made.numbers),
                   entry.source, entry.stage);
    GROOVE_CHECK(graph.nodes.back().outputs.size() == entry.outputs &&
                     static_cast<ValueId>(graph.values.size()) ==
                         entry.first_output + static_cast<ValueId>(entry.outputs),
                 "{}: the type rule gives another number of results than the call", entry.op->name);
  }
  add_inputs_before(values_);
}

}  // namespace groove::tracer
