// Stages, readers and updates of a graph, and the order of its groups.
#include "jit/uses.h"

#include <algorithm>

#include "src/core/check.h"

namespace groove::jit {
namespace {

// A node runs in the earliest stage that needs it, never before its own.
void find_stages(const Graph& graph, Uses& uses) {
  constexpr std::int32_t kNever = 1 << 30;
  std::vector<std::int32_t> needed(graph.values.size(), kNever);
  for (const GraphOutput& output : graph.outputs) {
    auto& stage = needed[static_cast<std::size_t>(output.value)];
    stage = std::min(stage, output.stage);
  }
  uses.stage_of.assign(graph.nodes.size(), -1);
  for (std::size_t i = graph.nodes.size(); i-- > 0;) {
    const Node& node = graph.nodes[i];
    std::int32_t stage = kNever;
    for (const ValueId id : node.outputs) {
      stage = std::min(stage, needed[static_cast<std::size_t>(id)]);
    }
    if (stage == kNever) continue;
    stage = std::max(stage, node.stage);
    uses.stage_of[i] = stage;
    for (const ValueId id : node.inputs) {
      if (id == kNoValue) continue;
      auto& need = needed[static_cast<std::size_t>(id)];
      need = std::min(need, stage);
    }
  }
}

bool feeds_more(const Graph& graph, const Uses& uses, std::size_t index) {
  for (const ValueId id : graph.nodes[index].outputs) {
    for (const std::int32_t reader : uses.readers[static_cast<std::size_t>(id)]) {
      const auto at = static_cast<std::size_t>(reader);
      if (uses.feeds_more_than_updates[at]) return true;
      // What a product reads is not an update, even where the product feeds only one.
      if (graph.nodes[at].op->kind != OpKind::kElementwise) return true;
    }
  }
  return false;
}

}  // namespace

Uses find_uses(const Graph& graph) {
  Uses uses;
  find_stages(graph, uses);
  uses.readers.resize(graph.values.size());
  uses.is_output.assign(graph.values.size(), 0);
  uses.feeds_more_than_updates.assign(graph.nodes.size(), 0);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (uses.stage_of[i] < 0 || graph.nodes[i].op->kind == OpKind::kView) continue;
    for (const ValueId id : graph.nodes[i].inputs) {
      if (id == kNoValue) continue;
      auto& readers = uses.readers[static_cast<std::size_t>(root_of(graph, id))];
      if (readers.empty() || readers.back() != static_cast<std::int32_t>(i)) {
        readers.push_back(static_cast<std::int32_t>(i));
      }
    }
  }
  for (const GraphOutput& output : graph.outputs) {
    uses.is_output[static_cast<std::size_t>(output.value)] = 1;
    const std::int32_t producer = graph.values[static_cast<std::size_t>(output.value)].node;
    if (producer >= 0 && output.writes < 0) {
      uses.feeds_more_than_updates[static_cast<std::size_t>(producer)] = 1;
    }
  }
  for (std::size_t i = graph.nodes.size(); i-- > 0;) {
    if (feeds_more(graph, uses, i)) uses.feeds_more_than_updates[i] = 1;
  }
  return uses;
}

void order_groups(const Graph& graph, const Uses& uses, Fusion& fusion) {
  const std::size_t count = fusion.groups.size();
  std::vector<std::vector<std::int32_t>> after(count);
  std::vector<std::int32_t> missing(count, 0), ready;
  const auto edge = [&](std::int32_t from, std::int32_t to) {
    auto& list = after[static_cast<std::size_t>(from)];
    if (to < 0 || to == from || std::find(list.begin(), list.end(), to) != list.end()) return;
    list.push_back(to);
    ++missing[static_cast<std::size_t>(to)];
  };
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const std::int32_t from = fusion.group_of[i];
    if (from < 0) continue;
    for (const ValueId id : graph.nodes[i].outputs) {
      for (const std::int32_t reader : uses.readers[static_cast<std::size_t>(id)]) {
        const std::int32_t to = fusion.group_of[static_cast<std::size_t>(reader)];
        edge(from, to);
        if (to < 0) continue;
        const Group& columns = fusion.groups[static_cast<std::size_t>(to)];
        if (columns.seed == reader) edge(from, columns.accumulates_in);
      }
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    for (const std::int32_t columns : fusion.groups[i].columns) {
      edge(static_cast<std::int32_t>(i), columns);
    }
  }
  for (std::size_t i = count; i-- > 0;) {
    if (missing[i] == 0) ready.push_back(static_cast<std::int32_t>(i));
  }
  std::vector<std::int32_t> renamed(count, -1);
  std::vector<Group> ordered;
  std::size_t done = 0;
  while (!ready.empty()) {
    const auto at = static_cast<std::size_t>(ready.back());
    ready.pop_back();
    ++done;
    for (const std::int32_t next : after[at]) {
      if (--missing[static_cast<std::size_t>(next)] == 0) ready.push_back(next);
    }
    if (fusion.groups[at].nodes.empty()) continue;
    renamed[at] = static_cast<std::int32_t>(ordered.size());
    ordered.push_back(std::move(fusion.groups[at]));
  }
  GROOVE_ASSERT(done == count, "fused groups depend on each other in a circle");
  for (std::int32_t& id : fusion.group_of) {
    if (id >= 0) id = renamed[static_cast<std::size_t>(id)];
  }
  fusion.groups = std::move(ordered);
  for (Group& group : fusion.groups) {
    for (std::int32_t& columns : group.columns) columns = renamed[static_cast<std::size_t>(columns)];
    if (group.accumulates_in < 0) continue;
    group.accumulates_in = renamed[static_cast<std::size_t>(group.accumulates_in)];
  }
}

}  // namespace groove::jit
