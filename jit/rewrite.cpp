// Copies nodes into a new graph under new names.
#include "jit/rewrite.h"

#include <iterator>
#include <utility>

namespace groove::jit {
namespace {

constexpr ValueId kGone = -2;

}  // namespace

Rewriter::Rewriter(Graph&& from) : from_(std::move(from)), names_(from_.values.size(), kNoValue) {
  to_.numbers = from_.numbers;
  to_.stages = from_.stages;
  to_.values.reserve(from_.values.size());
  to_.nodes.reserve(from_.nodes.size());
  for (const GraphInput& input : from_.inputs) {
    const ValueId fresh = to_.add_input(from_.type(input.value), input.strides);
    to_.values[static_cast<std::size_t>(fresh)].name =
        std::move(from_.values[static_cast<std::size_t>(input.value)].name);
    rename(input.value, fresh);
  }
}

std::int32_t Rewriter::copy(std::int32_t index) {
  const auto fresh = static_cast<std::int32_t>(to_.nodes.size());
  Node node = std::move(from_.nodes[static_cast<std::size_t>(index)]);
  for (ValueId& id : node.inputs) id = renamed(id);
  for (ValueId& id : node.outputs) {
    Value& value = from_.values[static_cast<std::size_t>(id)];
    const ValueId copied = to_.add_value(value.type, fresh, value.output);
    to_.values[static_cast<std::size_t>(copied)].name = std::move(value.name);
    rename(id, copied);
    id = copied;
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

void move_before(Graph& graph, const std::vector<std::int32_t>& before) {
  if (before.empty()) return;
  std::vector<Node> moved(
      std::make_move_iterator(graph.nodes.end() - static_cast<std::ptrdiff_t>(before.size())),
      std::make_move_iterator(graph.nodes.end()));
  // From the back, so that every node has left its place before another one comes there.
  std::size_t from = graph.nodes.size() - before.size(), left = before.size();
  for (std::size_t to = graph.nodes.size(); left > 0;) {
    const bool is_moved = static_cast<std::size_t>(before[left - 1]) >= from;
    graph.nodes[--to] = std::move(is_moved ? moved[--left] : graph.nodes[--from]);
    for (const ValueId id : graph.nodes[to].outputs)
      graph.values[static_cast<std::size_t>(id)].node = static_cast<std::int32_t>(to);
  }
}

void remove_nodes(Graph& graph, const std::vector<char>& stays) {
  std::vector<ValueId> names(graph.values.size(), kNoValue);
  std::size_t nodes = 0;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (stays[i]) {
      for (const ValueId id : graph.nodes[i].outputs)
        graph.values[static_cast<std::size_t>(id)].node = static_cast<std::int32_t>(nodes);
      if (nodes != i) graph.nodes[nodes] = std::move(graph.nodes[i]);
      ++nodes;
    } else {
      for (const ValueId id : graph.nodes[i].outputs) names[static_cast<std::size_t>(id)] = kGone;
    }
  }
  graph.nodes.resize(nodes);
  std::size_t values = 0;
  for (std::size_t i = 0; i < graph.values.size(); ++i) {
    if (names[i] == kGone) continue;
    names[i] = static_cast<ValueId>(values);
    if (values != i) graph.values[values] = std::move(graph.values[i]);
    ++values;
  }
  graph.values.resize(values);
  const auto rename = [&](ValueId& id) {
    if (id != kNoValue) id = names[static_cast<std::size_t>(id)];
  };
  for (Node& node : graph.nodes) {
    for (ValueId& id : node.inputs) rename(id);
    for (ValueId& id : node.outputs) rename(id);
  }
  for (GraphInput& input : graph.inputs) rename(input.value);
  for (GraphOutput& output : graph.outputs) rename(output.value);
}

}  // namespace groove::jit
