// Values are looked at in the order of their nodes, so that what is computed from one that is not
// stored any more may follow it:
//
//     rows  t = c - mean; sum(t * t)    stores t        rows  t = c - mean; sum(t * t)
//     map   n = t * inverse             stores n   →
//     rows  sum(g * n)                  loads n         rows  t' = c - mean; sum(g * (t' *
//     inverse))
//
// A value is computed again from one other value of its size, which has memory and so is alive
// longer instead of it, and from values that are small against it.
#include "jit/repeat_cheap.h"

#include <algorithm>
#include <map>

#include "jit/bodies.h"
#include "jit/costs.h"
#include "jit/uses.h"
#include "kernels/lowering.h"

namespace groove::jit {
namespace {

constexpr std::int64_t kLeastBytes = 32 << 10;  // of a value that is worth it
constexpr std::int64_t kSmall = 16;             // times smaller than the value
constexpr std::size_t kMostNodes = 4;           // that compute one value

class Repeater {
 public:
  Repeater(const Graph& graph, const Fusion& fusion)
      : graph_(graph), fusion_(fusion), uses_(find_uses(graph)), bodies_(graph) {}

  std::optional<Graph> run() {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) look_at(static_cast<std::int32_t>(i));
    if (nodes_of_.empty()) return std::nullopt;
    rebuild();
    return std::move(result_);
  }

 private:
  const Node& node(std::int32_t index) const {
    return graph_.nodes[static_cast<std::size_t>(index)];
  }
  std::int32_t producer(ValueId value) const {
    return graph_.values[static_cast<std::size_t>(value)].node;
  }
  std::int32_t group_of(std::int32_t index) const {
    return fusion_.group_of[static_cast<std::size_t>(index)];
  }
  const Group& group(std::int32_t id) const { return fusion_.groups[static_cast<std::size_t>(id)]; }
  std::int32_t stage_of(std::int32_t index) const {
    return uses_.stage_of[static_cast<std::size_t>(index)];
  }

  // ---- which values ----

  void look_at(std::int32_t index) {
    if (group_of(index) < 0 || !is_cheap(index)) return;
    const ValueId value = node(index).outputs[0];
    const auto at = static_cast<std::size_t>(value);
    if (!fusion_.is_stored[at] || uses_.is_output[at]) return;
    if (fusion_.placements[at].whole != kNoValue) return;
    const Type& type = graph_.type(value);
    if (element_count(type.sizes) * size_of(value) < kLeastBytes) return;
    std::vector<std::int32_t> nodes;
    if (!is_at_hand(index, nodes)) return;
    nodes.push_back(index);
    std::vector<std::int32_t> homes;
    for (const std::int32_t reader : uses_.readers[at]) {
      if (!may_compute(reader, value)) return;
      const std::int32_t home = group_of(reader);
      if (home != group_of(index) && std::find(homes.begin(), homes.end(), home) == homes.end())
        homes.push_back(home);
    }
    const std::int64_t bytes = element_count(type.sizes) * size_of(value);
    const double once = bytes > costs::kNearBytes
                            ? costs::kFarByte * static_cast<double>(size_of(value))
                            : costs::kNearStore;
    // A loop of nothing else need not run.
    const double saved = group(group_of(index)).nodes.size() > 1 ? once : 2 * once;
    const double again = costs::kInstruction * static_cast<double>(nodes.size() * homes.size());
    if (nodes.size() <= kMostNodes && again < saved) nodes_of_[value] = nodes;
  }

  bool is_cheap(std::int32_t index) {
    const auto* how = lowering_as<kernels::ElementwiseLowering>(node(index));
    if (!how || how->uses_flat_index || how->uses_last_index || node(index).op->is_random)
      return false;
    return node(index).outputs.size() == 1 && !bodies_.is_dear(index) &&
           !group(group_of(index)).is_update;
  }
  std::int64_t size_of(ValueId value) const {
    return static_cast<std::int64_t>(element_size(graph_.type(value).dtype));
  }

  // Is all that the node reads in memory, or computed again by `nodes`, which are added?
  bool is_at_hand(std::int32_t index, std::vector<std::int32_t>& nodes) const {
    const ValueId value = node(index).outputs[0];
    const Shape& sizes = graph_.type(value).sizes;
    ValueId large = kNoValue;
    for (const ValueId input : node(index).inputs) {
      if (input == kNoValue) continue;
      const ValueId root = root_of(graph_, input);
      const std::int64_t elements = element_count(graph_.type(root).sizes);
      if (elements > 1 && elements > element_count(sizes) / kSmall) {
        if (root != input || graph_.type(root).sizes != sizes) return false;
        if (large != kNoValue && large != root) return false;
        large = root;
        continue;
      }
      if (!is_in_memory(root, index)) return false;
    }
    if (large == kNoValue || size_of(large) > size_of(value)) return false;
    const auto known = nodes_of_.find(large);
    if (known == nodes_of_.end()) return is_in_memory(large, index);
    nodes = known->second;
    return true;
  }
  bool is_in_memory(ValueId root, std::int32_t reader) const {
    const std::int32_t from = producer(root);
    if (from < 0) {
      return std::none_of(graph_.outputs.begin(), graph_.outputs.end(), [&](const auto& output) {
        return output.writes >= 0 &&
               graph_.inputs[static_cast<std::size_t>(output.writes)].value == root;
      });
    }
    if (is_splat(node(from))) return true;
    return stage_of(from) == stage_of(reader) && fusion_.is_stored[static_cast<std::size_t>(root)];
  }

  // Does the reader's group walk the value as it is, element by element?
  bool may_compute(std::int32_t reader, ValueId value) const {
    const std::int32_t index = producer(value);
    if (stage_of(reader) != stage_of(index)) return false;
    const Group& home = group(group_of(reader));
    if (home.kind != GroupKind::kMap && home.kind != GroupKind::kRow) return false;
    if (home.is_update || home.loop.sizes != without_ones(graph_.type(value).sizes)) return false;
    const Node& n = node(reader);
    if (std::find(n.inputs.begin(), n.inputs.end(), value) == n.inputs.end()) return false;
    // Not through a view as well.
    return std::none_of(n.inputs.begin(), n.inputs.end(), [&](ValueId input) {
      return input != kNoValue && input != value && root_of(graph_, input) == value;
    });
  }

  // ---- the new graph ----

  void rebuild() {
    result_ = graph_;
    result_.nodes.clear();
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      Node n = graph_.nodes[i];
      const std::int32_t home = group_of(static_cast<std::int32_t>(i));
      for (ValueId& input : n.inputs) {
        if (home < 0 || !nodes_of_.count(input)) continue;
        if (group_of(producer(input)) != home) input = own_of(input, home);
      }
      emit(std::move(n));
    }
  }
  ValueId own_of(ValueId value, std::int32_t home) {
    const std::vector<std::int32_t>& nodes = nodes_of_.at(value);
    for (const std::int32_t index : nodes) {
      Node n = node(index);
      const ValueId old = n.outputs[0];
      if (own_.count({old, home})) continue;
      for (ValueId& input : n.inputs) {
        if (const auto own = own_.find({input, home}); own != own_.end()) input = own->second;
      }
      n.outputs[0] =
          result_.add_value(graph_.type(old), static_cast<std::int32_t>(result_.nodes.size()), 0);
      own_[{old, home}] = n.outputs[0];
      emit(std::move(n));
    }
    return own_.at({value, home});
  }
  void emit(Node&& n) {
    for (const ValueId id : n.outputs)
      result_.values[static_cast<std::size_t>(id)].node =
          static_cast<std::int32_t>(result_.nodes.size());
    result_.nodes.push_back(std::move(n));
  }

  const Graph& graph_;
  const Fusion& fusion_;
  const Uses uses_;
  Bodies bodies_;
  std::map<ValueId, std::vector<std::int32_t>> nodes_of_;  // per repeated value, ascending
  Graph result_;
  std::map<std::pair<ValueId, std::int32_t>, ValueId> own_;  // of a value in a group
};

}  // namespace

std::optional<Graph> repeat_cheap(const Graph& graph, const Fusion& fusion) {
  return Repeater(graph, fusion).run();
}

std::int64_t moved_bytes(const Graph& graph, const Fusion& fusion) {
  std::int64_t bytes = 0;
  const auto size_of = [&](ValueId value) {
    const Type& type = graph.type(value);
    return element_count(type.sizes) * static_cast<std::int64_t>(element_size(type.dtype));
  };
  for (std::size_t id = 0; id < fusion.groups.size(); ++id) {
    std::vector<ValueId> loaded;
    for (const std::int32_t member : fusion.groups[id].nodes) {
      const Node& n = graph.nodes[static_cast<std::size_t>(member)];
      for (const ValueId input : n.inputs) {
        if (input != kNoValue) loaded.push_back(root_of(graph, input));
      }
      for (const ValueId output : n.outputs) {
        if (fusion.is_stored[static_cast<std::size_t>(output)]) bytes += size_of(output);
      }
    }
    std::sort(loaded.begin(), loaded.end());
    loaded.erase(std::unique(loaded.begin(), loaded.end()), loaded.end());
    for (const ValueId value : loaded) {
      const std::int32_t from = graph.values[static_cast<std::size_t>(value)].node;
      const bool is_inside = from >= 0 && fusion.group_of[static_cast<std::size_t>(from)] ==
                                              static_cast<std::int32_t>(id);
      if (!is_inside) bytes += size_of(value);
    }
  }
  return bytes;
}

}  // namespace groove::jit
