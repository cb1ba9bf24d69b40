// The time axis is that of the schedule: groups in levels by longest path. At the level where most
// bytes are alive the value is dropped whose second computation costs least for what it frees; then
// the next level is looked at, until nothing is left to drop or enough time is spent:
//
//     level   1    2    3    4    5         level   1    2    3    4    5
//     h       ■----+----+----■              h       ■----+----+----■
//     gelu    ■----■----+----■       →      gelu    ■----■
//                                           again                  ■         = gelu(h)
//
// What a second computation reads is alive at the peak anyway, or is itself computed again.
#include "jit/rematerialise.h"

#include <algorithm>
#include <map>
#include <optional>

#include "jit/bodies.h"
#include "jit/uses.h"
#include "kernels/contraction/operands.h"
#include "kernels/lowering.h"

namespace groove::jit {
namespace {

constexpr std::int32_t kNever = -1;
constexpr std::size_t kMostNodes = 24;  // that one value is computed again by
// Nanoseconds on one thread: a byte that is stored or loaded, an element of a short and of a long
// body, an operation of a product.
constexpr double kByte = 0.05, kElement = 0.1, kDearElement = 1.0, kOperation = 1.0 / 70;

class Rematerialiser {
 public:
  Rematerialiser(Graph& graph, const Fusion& fusion, const RematerialiseOptions& options)
      : graph_(graph), fusion_(fusion), options_(options), uses_(find_uses(graph)), bodies_(graph) {}

  bool run(std::vector<char>& is_again) {
    find_levels();
    find_lives();
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (fusion_.group_of[i] >= 0) left_ += options_.share * cost(static_cast<std::int32_t>(i));
    }
    while (drop_one()) {
    }
    if (dropped_.empty()) return false;
    rebuild(is_again);
    return true;
  }

 private:
  // A stored value: in which levels its memory is needed.
  struct Life {
    std::int64_t bytes = 0;
    std::int32_t first = kNever, last = kNever;
  };
  struct Plan {
    std::vector<std::int32_t> nodes;  // to be computed again
    std::vector<ValueId> leaves;      // read where they are
    double cost = 0;
  };

  const Node& node(std::int32_t index) const {
    return graph_.nodes[static_cast<std::size_t>(index)];
  }
  std::int32_t producer(ValueId value) const {
    return graph_.values[static_cast<std::size_t>(value)].node;
  }
  std::int32_t level_of(std::int32_t index) const {
    const std::int32_t group = fusion_.group_of[static_cast<std::size_t>(index)];
    return group < 0 ? kNever : level_[static_cast<std::size_t>(group)];
  }
  Life& life(ValueId value) { return lives_[static_cast<std::size_t>(value)]; }
  std::int64_t bytes_of(ValueId value) const {
    const Type& type = graph_.type(value);
    return element_count(type.sizes) * static_cast<std::int64_t>(element_size(type.dtype));
  }

  // ---- what is alive when ----

  void find_levels() {
    level_.assign(fusion_.groups.size(), 0);
    std::int32_t begin = 0;
    for (std::int32_t stage = 0; stage < graph_.stages; ++stage) {
      std::int32_t end = begin;
      for (std::size_t g = 0; g < level_.size(); ++g) {
        const Group& group = fusion_.groups[g];
        if (group.stage != stage) continue;
        level_[g] = begin;
        for (const std::int32_t index : group.nodes) {
          for (const ValueId input : node(index).inputs) {
            if (input == kNoValue) continue;
            const std::int32_t from = producer(root_of(graph_, input));
            const std::int32_t before = from < 0 ? kNever : group_of(from);
            if (before < 0 || before == static_cast<std::int32_t>(g)) continue;
            level_[g] = std::max(level_[g], level_[static_cast<std::size_t>(before)] + 1);
          }
        }
        end = std::max(end, level_[g] + 1);
      }
      stage_.resize(static_cast<std::size_t>(end), stage);
      begin = end;
    }
    alive_.assign(static_cast<std::size_t>(begin), 0);
  }
  std::int32_t group_of(std::int32_t index) const {
    return fusion_.group_of[static_cast<std::size_t>(index)];
  }

  bool has_arena_memory(ValueId value) const {
    const auto at = static_cast<std::size_t>(value);
    return fusion_.is_stored[at] && !uses_.is_output[at] &&
           fusion_.placements[at].whole == kNoValue;
  }
  void find_lives() {
    lives_.resize(graph_.values.size());
    for (std::size_t i = 0; i < lives_.size(); ++i) {
      const auto value = static_cast<ValueId>(i);
      if (producer(value) < 0 || !has_arena_memory(value)) continue;
      Life& own = lives_[i];
      own.bytes = bytes_of(value);
      own.first = own.last = level_of(producer(value));
      for (const std::int32_t reader : uses_.readers[i])
        own.last = std::max(own.last, level_of(reader));
      count(own.bytes, own.first, own.last);
    }
  }
  void count(std::int64_t bytes, std::int32_t first, std::int32_t last) {
    for (std::int32_t level = first; level <= last; ++level)
      alive_[static_cast<std::size_t>(level)] += bytes;
  }

  // ---- what computing again costs ----

  double cost(std::int32_t index) {
    const Node& n = node(index);
    const double results = static_cast<double>(element_count(graph_.type(n.outputs[0]).sizes));
    const auto& how = n.op->lowering->how;
    if (const auto* product = std::get_if<kernels::ContractionLowering>(&how)) {
      Geometry of[2];
      std::vector<Start> ignored;
      for (std::size_t i = 0; i < 2; ++i) locate(graph_, n.inputs[i], of[i], ignored);
      const kernels::ContractionShape shape =
          kernels::contraction_operands(*product, of[0], of[1], graph_.type(n.outputs[0]).sizes)
              .shape;
      return results * 2 * static_cast<double>(shape.k) * kOperation;
    }
    if (std::holds_alternative<kernels::ReductionLowering>(how)) {
      return static_cast<double>(element_count(graph_.type(n.inputs[0]).sizes)) * kElement;
    }
    return results * (bodies_.is_dear(index) ? kDearElement : kElement);
  }
  static bool may_run_again(const Node& n) {
    if (!n.op->lowering || n.op->is_random || n.outputs.size() != 1) return false;
    const auto& how = n.op->lowering->how;
    return std::holds_alternative<kernels::ElementwiseLowering>(how) ||
           std::holds_alternative<kernels::GatherLowering>(how) ||
           std::holds_alternative<kernels::ReductionLowering>(how) ||
           std::holds_alternative<kernels::ContractionLowering>(how);
  }
  // An input's memory may hold something else by then.
  bool is_overwritten_before(ValueId input, std::int32_t late) const {
    for (const GraphOutput& output : graph_.outputs) {
      if (output.writes < 0 ||
          graph_.inputs[static_cast<std::size_t>(output.writes)].value != input)
        continue;
      if (output.stage < stage_[static_cast<std::size_t>(late)]) return true;
    }
    return false;
  }

  // Adds to the plan what gives `value` (not a view) at level `late`, if it is gone by then.
  bool provide(ValueId value, std::int32_t peak, std::int32_t late, bool is_dropped, Plan& plan) {
    const std::int32_t index = producer(value);
    if (!is_dropped) {
      const bool is_alive = index < 0 ? !is_overwritten_before(value, late)
                                      : uses_.is_output[static_cast<std::size_t>(value)] ||
                                            (life(value).last > peak && life(value).first <= peak);
      if (is_alive) {
        plan.leaves.push_back(value);
        return true;
      }
      if (index < 0) return false;
      if (is_splat(node(index)) || again_.count(index)) return true;
    }
    if (std::find(plan.nodes.begin(), plan.nodes.end(), index) != plan.nodes.end()) return true;
    const Node& n = node(index);
    if (!may_run_again(n) || plan.nodes.size() == kMostNodes) return false;
    plan.nodes.push_back(index);
    plan.cost += cost(index);
    if (plan.cost > left_) return false;
    return std::all_of(n.inputs.begin(), n.inputs.end(), [&](ValueId input) {
      return input == kNoValue || provide(root_of(graph_, input), peak, late, false, plan);
    });
  }

  // ---- dropping ----

  struct Candidate {
    ValueId value = kNoValue;
    std::int32_t early = kNever, late = kNever;  // last reader before, first one after
    Plan plan;
    double price = 0;  // nanoseconds a byte
  };

  bool drop_one() {
    const auto most = std::max_element(alive_.begin(), alive_.end());
    if (most == alive_.end() || *most < options_.least_bytes) return false;
    const auto peak = static_cast<std::int32_t>(most - alive_.begin());
    std::optional<Candidate> best;
    for (std::size_t i = 0; i < lives_.size(); ++i) {
      const Life& own = lives_[i];
      if (own.bytes < options_.least_value || own.first >= peak || own.last <= peak + 1) continue;
      Candidate candidate;
      candidate.value = static_cast<ValueId>(i);
      candidate.early = own.first;
      candidate.late = own.last;
      const auto look = [&](std::int32_t level) {
        if (level <= peak) candidate.early = std::max(candidate.early, level);
        if (level > peak) candidate.late = std::min(candidate.late, level);
      };
      for (const std::int32_t reader : uses_.readers[i]) look(level_of(reader));
      const auto more = again_readers_.find(candidate.value);
      if (more != again_readers_.end()) {
        for (const std::int32_t level : more->second) look(level);
      }
      if (candidate.early >= peak || candidate.late <= peak + 1) continue;
      if (!provide(candidate.value, peak, candidate.late, true, candidate.plan)) continue;
      candidate.price = (candidate.plan.cost + kByte * static_cast<double>(own.bytes)) /
                        static_cast<double>(own.bytes);
      if (candidate.price > options_.price) continue;
      if (!best || candidate.price < best->price) best = std::move(candidate);
    }
    if (!best) return false;
    drop(*best, peak);
    return true;
  }

  void drop(const Candidate& candidate, std::int32_t peak) {
    Life& own = life(candidate.value);
    left_ -= candidate.price * static_cast<double>(own.bytes);
    dropped_[candidate.value] = peak;
    const std::int32_t level = candidate.late - 1;
    count(-own.bytes, candidate.early + 1, level - 1);
    own.last = candidate.early;
    for (const std::int32_t index : candidate.plan.nodes) {
      again_[index] = level;
      // Fused or not, what is computed on the way is rarely stored for long; products are.
      const ValueId result = node(index).outputs[0];
      if (result != candidate.value && has_arena_memory(result))
        count(bytes_of(result), std::max(level - 1, 0), level);
    }
    for (const ValueId leaf : candidate.plan.leaves) {
      again_readers_[leaf].push_back(level);
      Life& read = life(leaf);
      if (read.first == kNever || read.last >= level) continue;
      count(read.bytes, read.last + 1, level);
      read.last = level;
    }
  }

  // ---- the new graph ----

  // Does who runs in this level read the second result?
  bool is_read_again(ValueId value, std::int32_t level) const {
    const auto found = dropped_.find(value);
    return found != dropped_.end() && level > found->second;
  }

  void rebuild(std::vector<char>& is_again) {
    is_again_ = &is_again;
    is_again.clear();
    for (const Value& value : graph_.values) old_node_.push_back(value.node);
    old_ = std::move(graph_.nodes);
    graph_.nodes.clear();
    for (std::size_t i = 0; i < old_.size(); ++i) {
      const auto index = static_cast<std::int32_t>(i);
      Node n = old_[i];
      const std::int32_t level = old_[i].op->kind == OpKind::kView ? kNever : level_of(index);
      for (ValueId& input : n.inputs) {
        if (input != kNoValue && level >= 0) input = seen_at(input, level, false);
      }
      emit(std::move(n), false);
    }
  }
  void emit(Node&& n, bool again) {
    for (const ValueId id : n.outputs)
      graph_.values[static_cast<std::size_t>(id)].node =
          static_cast<std::int32_t>(graph_.nodes.size());
    graph_.nodes.push_back(std::move(n));
    is_again_->push_back(again);
  }
  // The value as who runs at that level reads it: views and all computed again, if it is.
  ValueId seen_at(ValueId value, std::int32_t level, bool by_again) {
    const std::int32_t index = old_node_[static_cast<std::size_t>(value)];
    if (index < 0) return value;
    const Node& n = old_[static_cast<std::size_t>(index)];
    if (n.op->kind == OpKind::kView) {
      const ValueId base = seen_at(n.inputs[0], level, by_again);
      if (base == n.inputs[0]) return value;
      return copied(value, base);
    }
    const bool is_intermediate = by_again && again_.count(index) && !dropped_.count(value);
    if (!is_read_again(value, level) && !is_intermediate) return value;
    return second(value, index);
  }
  ValueId copied(ValueId view, ValueId base) {
    const auto key = std::make_pair(view, base);
    if (const auto found = views_.find(key); found != views_.end()) return found->second;
    Node n = old_[static_cast<std::size_t>(old_node_[static_cast<std::size_t>(view)])];
    n.inputs[0] = base;
    return views_[key] = add(std::move(n), false);
  }
  ValueId second(ValueId value, std::int32_t index) {
    if (const auto found = seconds_.find(value); found != seconds_.end()) return found->second;
    const std::int32_t level = again_.at(index);
    Node n = old_[static_cast<std::size_t>(index)];
    for (ValueId& input : n.inputs) {
      if (input != kNoValue) input = seen_at(input, level, true);
    }
    return seconds_[value] = add(std::move(n), true);
  }
  ValueId add(Node&& n, bool again) {
    const ValueId fresh = graph_.add_value(graph_.type(n.outputs[0]),
                                           static_cast<std::int32_t>(graph_.nodes.size()), 0);
    n.outputs[0] = fresh;
    emit(std::move(n), again);
    return fresh;
  }

  Graph& graph_;
  const Fusion& fusion_;
  const RematerialiseOptions& options_;
  const Uses uses_;
  Bodies bodies_;
  std::vector<std::int32_t> level_;             // per group
  std::vector<std::int32_t> stage_;             // per level
  std::vector<std::int64_t> alive_;             // bytes per level
  std::vector<Life> lives_;                     // per value
  double left_ = 0;                             // nanoseconds
  std::map<ValueId, std::int32_t> dropped_;     // after which level
  std::map<std::int32_t, std::int32_t> again_;  // by node: the level of its second run
  std::map<ValueId, std::vector<std::int32_t>> again_readers_;  // levels
  std::vector<Node> old_;
  std::vector<std::int32_t> old_node_;  // per value
  std::map<std::pair<ValueId, ValueId>, ValueId> views_;
  std::map<ValueId, ValueId> seconds_;
  std::vector<char>* is_again_ = nullptr;
};

}  // namespace

bool rematerialise(Graph& graph, const Fusion& fusion, std::vector<char>& is_again,
                   const RematerialiseOptions& options) {
  return Rematerialiser(graph, fusion, options).run(is_again);
}

}  // namespace groove::jit
