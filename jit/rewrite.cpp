// Copies nodes into a new graph under new names.
#include "jit/rewrite.h"

#include <utility>

namespace groove::jit {

Rewriter::Rewriter(const Graph& from) : from_(from), names_(from.values.size(), kNoValue) {
  to_.numbers = from.numbers;
  to_.stages = from.stages;
  to_.values.reserve(from.values.size());
  to_.nodes.reserve(from.nodes.size());
  for (const GraphInput& input : from.inputs) {
    const ValueId fresh = to_.add_input(from.type(input.value), input.strides);
    to_.values[static_cast<std::size_t>(fresh)].name =
        from.values[static_cast<std::size_t>(input.value)].name;
    rename(input.value, fresh);
  }
}

std::int32_t Rewriter::copy(std::int32_t index) {
  const Node& old = from_.nodes[static_cast<std::size_t>(index)];
  const auto fresh = static_cast<std::int32_t>(to_.nodes.size());
  Node node;
  node.op = old.op;
  node.attrs = old.attrs;
  node.numbers = old.numbers;
  node.place = old.place;
  node.stage = old.stage;
  for (const ValueId id : old.inputs) node.inputs.push_back(renamed(id));
  for (const ValueId id : old.outputs) {
    const Value& value = from_.values[static_cast<std::size_t>(id)];
    const ValueId copied = to_.add_value(value.type, fresh, value.output);
    to_.values[static_cast<std::size_t>(copied)].name = value.name;
    node.outputs.push_back(copied);
    rename(id, copied);
  }
  to_.nodes.push_back(std::move(node));
  return fresh;
}

Graph Rewriter::finish() {
  for (const GraphOutput& output : from_.outputs) {
    to_.outputs.push_back({renamed(output.value), output.writes, output.stage});
  }
  return std::move(to_);
}

}  // namespace groove::jit
