// Grouping walks the nodes in order and puts each into one of the groups it reads from, or into a
// new one. Joining group G is legal when no other group the node reads from depends on G: then no
// cycle can arise. Afterwards map groups whose only readers are in the joined group are absorbed:
//
//     X: mask = a > 0          (map)       G: d = matmul(dy, w)      (contraction)
//     n: where(mask, d, 0) reads X and G, joins G; X has no other reader and is absorbed.
#include "jit/fusion.h"

#include <algorithm>

#include "jit/place_pieces.h"
#include "kernels/build.h"
#include "kernels/ops/structural.h"
#include "kernels/order.h"
#include "src/core/check.h"

namespace groove::jit {
namespace {

using kernels::ConcatenateLowering;
using kernels::ContractionLowering;
using kernels::ElementwiseLowering;
using kernels::GatherLowering;
using kernels::OverwriteLowering;
using kernels::ReductionLowering;

constexpr std::size_t kMaxNodes = 48;     // of a group: registers and compile time
constexpr std::size_t kMaxOperands = 24;  // loads and stores of a group, roughly
constexpr std::size_t kMaxEpilogueNodes = 8;
constexpr std::int64_t kSplitRow = 4 * kernels::order::kRowChunk;
constexpr std::int64_t kShortRow = 16;  // elements of a vector: shorter ones run in part of one
constexpr std::int64_t kSplitRows = 8;  // fewer rows than this leave threads idle

template <typename How>
const How* lowering_as(const Node& node) {
  return node.op->lowering ? std::get_if<How>(&node.op->lowering->how) : nullptr;
}

class Fuser {
 public:
  Fuser(const Graph& graph, const FusionOptions& options)
      : graph_(graph), options_(options), uses_(find_uses(graph)) {
    fusion_.stage_of = uses_.stage_of;
    fusion_.group_of.assign(graph.nodes.size(), -1);
    fusion_.span_of.assign(graph.nodes.size(), Span::kFull);
    fusion_.is_stored.assign(graph.values.size(), 0);
    fusion_.placements.resize(graph.values.size());
  }

  Fusion run() {
    for (std::int32_t stage = 0; stage < graph_.stages; ++stage) {
      for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
        if (fusion_.stage_of[i] == stage) place(static_cast<std::int32_t>(i));
      }
    }
    mark_stored();
    if (options_.is_enabled) place_pieces(graph_, uses_, fusion_);
    order_groups(graph_, uses_, fusion_);
    return std::move(fusion_);
  }

 private:
  const Node& node(std::int32_t index) const {
    return graph_.nodes[static_cast<std::size_t>(index)];
  }
  Group& group(std::int32_t index) { return fusion_.groups[static_cast<std::size_t>(index)]; }
  std::int32_t group_of_value(ValueId value) const {
    const std::int32_t producer = graph_.values[static_cast<std::size_t>(value)].node;
    return producer < 0 ? -1 : fusion_.group_of[static_cast<std::size_t>(producer)];
  }
  Span span_of_value(ValueId value) const {
    const std::int32_t producer = graph_.values[static_cast<std::size_t>(value)].node;
    return fusion_.span_of[static_cast<std::size_t>(producer)];
  }

  bool is_update(std::int32_t index) const {
    return node(index).op->kind == OpKind::kElementwise &&
           !uses_.feeds_more_than_updates[static_cast<std::size_t>(index)];
  }

  void place(std::int32_t index) {
    const Node& n = node(index);
    if (n.op->kind == OpKind::kView || is_splat(n)) return;
    GROOVE_CHECK(n.op->lowering, "{}: the op has no lowering", n.op->name);
    if (lowering_as<ElementwiseLowering>(n) || lowering_as<GatherLowering>(n)) {
      place_map(index);
    } else if (lowering_as<ReductionLowering>(n)) {
      place_reduction(index);
    } else if (lowering_as<ContractionLowering>(n)) {
      place_contraction(index);
    } else {
      const GroupKind kind = lowering_as<ConcatenateLowering>(n) ? GroupKind::kConcatenate
                             : lowering_as<OverwriteLowering>(n) ? GroupKind::kOverwrite
                                                                 : GroupKind::kOpaque;
      GROOVE_CHECK(!lowering_as<kernels::CompositeLowering>(n),
                   "{}: composites must be expanded before fusion", n.op->name);
      new_group(kind, index, {});
    }
  }

  std::int32_t new_group(GroupKind kind, std::int32_t index, LoopShape loop) {
    Group fresh;
    fresh.kind = kind;
    fresh.loop = std::move(loop);
    fresh.nodes.push_back(index);
    fresh.seed = index;
    fresh.stage = fusion_.stage_of[static_cast<std::size_t>(index)];
    fresh.is_update = is_update(index);
    fusion_.groups.push_back(std::move(fresh));
    const auto id = static_cast<std::int32_t>(fusion_.groups.size() - 1);
    fusion_.group_of[static_cast<std::size_t>(index)] = id;
    return id;
  }

  // Groups of this stage that the node reads from.
  std::vector<std::int32_t> producers(std::int32_t index) const {
    std::vector<std::int32_t> found;
    for (const ValueId id : node(index).inputs) {
      if (id == kNoValue) continue;
      const std::int32_t from = group_of_value(root_of(graph_, id));
      if (from < 0) continue;
      if (fusion_.groups[static_cast<std::size_t>(from)].stage !=
          fusion_.stage_of[static_cast<std::size_t>(index)]) {
        continue;
      }
      if (std::find(found.begin(), found.end(), from) == found.end()) found.push_back(from);
    }
    // Where a node may choose, it goes to where data is dearest to move: rows, then products.
    const auto preference = [&](std::int32_t id) {
      switch (fusion_.groups[static_cast<std::size_t>(id)].kind) {
        case GroupKind::kRow:
          return 0;
        case GroupKind::kContraction:
          return 1;
        case GroupKind::kColumn:
          return 2;
        default:
          return 3;
      }
    };
    std::sort(found.begin(), found.end(), [&](std::int32_t a, std::int32_t b) {
      return std::make_pair(preference(a), -a) < std::make_pair(preference(b), -b);
    });
    return found;
  }

  LoopShape map_loop(std::int32_t index) const {
    const Shape& sizes = graph_.type(node(index).outputs[0]).sizes;
    LoopShape loop{without_ones(sizes), {}};
    // An index along an axis of size 1 needs that axis.
    const auto* how = lowering_as<ElementwiseLowering>(node(index));
    if (how && how->uses_last_index && sizes.back() == 1) loop.sizes.push_back(1);
    return loop;
  }

  static bool counts(const Node& n) {
    const auto* how = lowering_as<ElementwiseLowering>(n);
    return how && (how->uses_flat_index || how->uses_last_index);
  }
  // Bodies that ask for the index along the last axis need it to be the launch's innermost.
  bool indices_fit(const Group& into, std::int32_t index) const {
    const auto* how = lowering_as<ElementwiseLowering>(node(index));
    if (!how || !how->uses_last_index) return true;
    const Shape& sizes = graph_.type(node(index).outputs[0]).sizes;
    if (sizes.back() == 1) return into.nodes.size() == 1 && into.nodes[0] == index;
    if (without_ones(sizes) != into.loop.sizes) return false;
    if (into.kind == GroupKind::kRow) {
      return into.loop.reduced_axes() == 1 && into.loop.is_reduced.back();
    }
    return into.kind != GroupKind::kColumn || !into.loop.is_reduced.back();
  }

  void place_map(std::int32_t index) {
    const std::vector<std::int32_t> from = producers(index);
    std::int32_t home = -1;
    if (options_.is_enabled) {
      for (const std::int32_t candidate : from) {
        if (home < 0 && is_acyclic(candidate, from) && joins(candidate, index)) home = candidate;
      }
    }
    if (home >= 0) {
      group(home).nodes.push_back(index);
      fusion_.group_of[static_cast<std::size_t>(index)] = home;
    } else {
      home = new_group(GroupKind::kMap, index, map_loop(index));
    }
    if (!options_.is_enabled) return;
    for (const std::int32_t other : from) {
      if (other != home) absorb(other, home);
    }
  }

  bool is_acyclic(std::int32_t home, const std::vector<std::int32_t>& from) {
    for (const std::int32_t other : from) {
      if (other != home && reaches(home, other)) return false;
    }
    return true;
  }
  // Does group `to` depend on group `from`?
  bool reaches(std::int32_t from, std::int32_t to) {
    seen_.resize(fusion_.groups.size(), 0);
    ++search_;
    std::vector<std::int32_t> open{from};
    while (!open.empty()) {
      const std::int32_t at = open.back();
      open.pop_back();
      if (at == to) return true;
      if (seen_[static_cast<std::size_t>(at)] == search_) continue;
      seen_[static_cast<std::size_t>(at)] = search_;
      for (const std::int32_t member : group(at).nodes) {
        for (const ValueId id : node(member).outputs) {
          for (const std::int32_t user : uses_.readers[static_cast<std::size_t>(id)]) {
            const std::int32_t next = fusion_.group_of[static_cast<std::size_t>(user)];
            if (next >= 0 && seen_[static_cast<std::size_t>(next)] != search_) open.push_back(next);
          }
        }
      }
    }
    return false;
  }

  bool find_span(const Group& into, std::int32_t index, Span& span) const {
    const Shape sizes = without_ones(graph_.type(node(index).outputs[0]).sizes);
    if (sizes == into.loop.sizes) {
      span = Span::kFull;
      return true;
    }
    if (into.loop.is_reduced.empty()) return false;
    span = Span::kKept;
    return sizes == kept_sizes(into.loop);
  }
  static Shape kept_sizes(const LoopShape& loop) {
    Shape sizes;
    for (std::size_t i = 0; i < loop.sizes.size(); ++i) {
      if (loop.is_reduced.empty() || !loop.is_reduced[i]) sizes.push_back(loop.sizes[i]);
    }
    return sizes;
  }

  bool joins(std::int32_t home, std::int32_t index) {
    Group& into = group(home);
    if (into.is_update != is_update(index)) return false;
    const std::size_t limit = into.kind == GroupKind::kContraction ? kMaxEpilogueNodes : kMaxNodes;
    if (into.nodes.size() >= limit) return false;
    Span span = Span::kFull;
    if (!find_span(into, index, span)) return false;
    switch (into.kind) {
      case GroupKind::kMap:
        if (wants_full_vectors(into, index)) return false;
        break;
      case GroupKind::kContraction:
        if (lowering_as<GatherLowering>(node(index)) || wants_flat_loop(into, index)) return false;
        break;
      case GroupKind::kRow:
        if (into.is_short || (into.is_split && !is_kept(into, span))) return false;
        break;
      case GroupKind::kColumn:
        if (!is_kept(into, span)) return false;
        span = Span::kKept;
        if (lowering_as<GatherLowering>(node(index))) return false;
        break;
      default:
        return false;
    }
    if (!reads_fit(home, index, span)) return false;
    fusion_.span_of[static_cast<std::size_t>(index)] = span;
    return true;
  }
  // A loop over short rows next to something broadcast along them walks row by row, each in part of
  // a vector. A dear body over the same elements is better off in a flat loop of its own.
  bool wants_full_vectors(const Group& into, std::int32_t index) const {
    if (into.loop.sizes.size() < 2 || into.loop.sizes.back() >= kShortRow) return false;
    if (broadcasts(index) || !is_dear(graph_, node(index))) return false;
    return std::any_of(into.nodes.begin(), into.nodes.end(),
                       [&](std::int32_t member) { return broadcasts(member); });
  }
  // An epilogue walks the product row by row.
  bool wants_flat_loop(const Group& product, std::int32_t index) const {
    std::int64_t columns = 1;
    for (std::size_t i = 0; i < product.matrix_axis.size(); ++i) {
      if (product.matrix_axis[i] == 0) columns *= product.loop.sizes[i];
    }
    return columns < kShortRow && product.loop.points() > columns && is_dear(graph_, node(index));
  }
  bool broadcasts(std::int32_t index) const {
    const Shape sizes = without_ones(graph_.type(node(index).outputs[0]).sizes);
    for (const ValueId id : node(index).inputs) {
      if (id == kNoValue) continue;
      const Shape& from = graph_.type(id).sizes;
      if (element_count(from) != 1 && without_ones(from) != sizes) return true;
    }
    return false;
  }

  // With no axis left to reduce the two spans coincide.
  static bool is_kept(const Group& into, Span span) {
    return span == Span::kKept || into.loop.reduced_axes() == 0;
  }

  // May the node be emitted in this group's loop? Values of the group must be read at the loop's
  // own index, or by a gather along the row; memory must collapse as the loop needs it.
  bool reads_fit(std::int32_t home, std::int32_t index, Span span) {
    const Group& into = fusion_.groups[static_cast<std::size_t>(home)];
    if (!indices_fit(into, index) || (into.is_split && counts(node(index)))) return false;
    Chains chains(graph_, into.loop);
    const Node& n = node(index);
    std::size_t operands = 0;
    for (std::size_t i = 0; i < n.inputs.size(); ++i) {
      if (n.inputs[i] == kNoValue) continue;
      const Chain* chain = operand_chain(graph_, chains, index, i, chains.end(span));
      const ValueId root = resolve(graph_, chains, n.inputs[i], chain);
      const std::int32_t producer = graph_.values[static_cast<std::size_t>(root)].node;
      if (producer >= 0 && is_splat(node(producer))) continue;
      const bool is_inside = group_of_value(root) == home;
      try {
        const Walk walk =
            chains.walk(is_inside ? contiguous(root) : memory_geometry(graph_, root), chain);
        if (is_inside ? !reads_inside(into, root, span, walk) : !collapses(into, walk))
          return false;
      } catch (const Error&) {
        return false;
      }
      ++operands;
    }
    // A position is counted along the launch's axes, so it must collapse like memory in its order.
    const auto* how = lowering_as<ElementwiseLowering>(n);
    if (how && how->uses_flat_index &&
        !collapses(into, chains.walk(contiguous(n.outputs[0]), chains.end(span))))
      return false;
    // Memory in another order than the value's is written there, too.
    if (!lowering_as<ReductionLowering>(n)) {
      const Geometry memory = memory_geometry(graph_, n.outputs[0]);
      if (!(memory.strides == contiguous(n.outputs[0]).strides) &&
          !collapses(into, chains.walk(memory, chains.end(span))))
        return false;
    }
    return group_operands(into) + operands <= kMaxOperands;
  }
  Geometry contiguous(ValueId value) const {
    const Shape& sizes = graph_.type(value).sizes;
    return {sizes, contiguous_strides(sizes), 0};
  }
  bool reads_inside(const Group& into, ValueId root, Span reader, const Walk& walk) const {
    if (walk.offset != 0 || !walk.starts.empty()) return false;
    const Span written = span_of_value(root);
    Shape expected = identity_strides(into.loop, written);
    if (!walk.picked.empty()) {
      // A pick from the row: allowed where the picked value is not itself a pick.
      if (into.kind != GroupKind::kRow || reader != Span::kKept || written != Span::kFull) {
        return false;
      }
      for (const std::int32_t member : into.nodes) {
        if (counts(node(member))) return false;
      }
      for (std::size_t i = 0; i < expected.size(); ++i) {
        if (into.loop.is_reduced[i]) expected[i] = 0;
      }
      return walk.picked.size() == 1 && into.loop.reduced_axes() == 1 && walk.strides == expected;
    }
    return walk.strides == expected;
  }
  std::size_t group_operands(const Group& of) const {
    std::size_t count = 0;
    for (const std::int32_t member : of.nodes) {
      for (const ValueId id : node(member).inputs) {
        if (id == kNoValue) continue;
        const std::int32_t from = group_of_value(root_of(graph_, id));
        count += from < 0 || &fusion_.groups[static_cast<std::size_t>(from)] != &of;
      }
    }
    return count;
  }

  // Moves the nodes of map group `from` into `home`, which reads from it, where nothing in between
  // reads them too.
  bool absorb(std::int32_t from, std::int32_t home) {
    if (group(from).kind != GroupKind::kMap || group(from).stage != group(home).stage) return false;
    if (group(from).is_update != group(home).is_update) return false;
    const bool stores_nothing = group(home).kind == GroupKind::kColumn ||
                                group(home).kind == GroupKind::kContraction || group(home).is_split;
    const std::size_t limit =
        group(home).kind == GroupKind::kContraction ? kMaxEpilogueNodes : kMaxNodes;
    if (group(from).nodes.size() + group(home).nodes.size() > limit) return false;
    const bool is_product = group(home).kind == GroupKind::kContraction;
    for (const std::int32_t member : group(from).nodes) {
      if (is_product && wants_flat_loop(group(home), member)) return false;
      for (const ValueId id : node(member).outputs) {
        if (stores_nothing && uses_.is_output[static_cast<std::size_t>(id)]) return false;
        for (const std::int32_t user : uses_.readers[static_cast<std::size_t>(id)]) {
          const std::int32_t reader = fusion_.group_of[static_cast<std::size_t>(user)];
          if (reader != from && reader != home) return false;
          // The product itself reads memory, not what its epilogue has.
          if (user == group(home).seed && group(home).kind == GroupKind::kContraction) return false;
        }
      }
    }
    if (reaches(home, from)) return false;
    // Try it; take it back when some read does not fit.
    const std::vector<std::int32_t> moved = group(from).nodes;
    const std::vector<std::int32_t> before = group(home).nodes;
    bool fits = true;
    for (const std::int32_t member : moved) {
      Span span = Span::kFull;
      fits = fits && find_span(group(home), member, span);
      fusion_.group_of[static_cast<std::size_t>(member)] = home;
      fusion_.span_of[static_cast<std::size_t>(member)] = span;
    }
    group(home).nodes.insert(group(home).nodes.end(), moved.begin(), moved.end());
    std::sort(group(home).nodes.begin(), group(home).nodes.end());
    for (const std::int32_t member : group(home).nodes) {
      if (!fits) break;
      const Node& n = node(member);
      if (lowering_as<ContractionLowering>(n)) continue;
      // A reduction reads the full loop whatever its result spans.
      const bool reduces = lowering_as<ReductionLowering>(n);
      fits = reads_fit(home, member,
                       reduces ? Span::kFull : fusion_.span_of[static_cast<std::size_t>(member)]);
    }
    if (fits) {
      group(from).nodes.clear();
      return true;
    }
    for (const std::int32_t member : moved) {
      fusion_.group_of[static_cast<std::size_t>(member)] = from;
      fusion_.span_of[static_cast<std::size_t>(member)] = Span::kFull;
    }
    group(home).nodes = before;
    return false;
  }

  void place_reduction(std::int32_t index) {
    const Node& n = node(index);
    const std::vector<Type> types = operand_types(graph_, n);
    const std::vector<Scalar> numbers = recorded_numbers(graph_, n);
    const Signature signature{*n.op, types, n.attrs, numbers};
    const Shape axes = kernels::reduction_axes(signature);
    const Shape& sizes = types[0].sizes;
    const bool is_row = kernels::reduction_order(sizes.size(), axes) == kernels::Order::kRow;
    LoopShape loop;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (sizes[i] == 1) continue;
      loop.sizes.push_back(sizes[i]);
      loop.is_reduced.push_back(std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(i)) !=
                                axes.end());
    }
    std::int64_t row = 1, rows = 1;
    for (std::size_t i = 0; i < loop.sizes.size(); ++i) {
      (loop.is_reduced[i] ? row : rows) *= loop.sizes[i];
    }
    const bool is_split =
        is_row && row > kSplitRow && rows < kSplitRows && can_split(n) && options_.is_enabled;
    const std::vector<std::int32_t> from = producers(index);
    const bool is_short = is_row && row < kShortRow && rows >= kSplitRows;
    if (options_.is_enabled && is_row && !is_split && !is_short && !from.empty() &&
        joins_row(from[0], index, loop)) {
      group(from[0]).nodes.push_back(index);
      fusion_.group_of[static_cast<std::size_t>(index)] = from[0];
      fusion_.span_of[static_cast<std::size_t>(index)] = Span::kKept;
      return;
    }
    const std::int32_t home =
        new_group(is_row ? GroupKind::kRow : GroupKind::kColumn, index, std::move(loop));
    group(home).is_split = is_split;
    fusion_.span_of[static_cast<std::size_t>(index)] = Span::kKept;
    group(home).is_short = is_short;
    if (!options_.is_enabled || is_short) return;
    for (const std::int32_t other : from) absorb(other, home);
  }
  static bool can_split(const Node& n) {
    const auto& how = std::get<ReductionLowering>(n.op->lowering->how);
    for (const kernels::Prim prim : how.reductions) {
      if (prim == kernels::Prim::kReduceArgMax || prim == kernels::Prim::kReduceArgMin)
        return false;
    }
    return true;
  }

  // A map group over the same elements becomes rows; a row group over the same rows gets another
  // phase.
  bool joins_row(std::int32_t home, std::int32_t index, const LoopShape& loop) {
    Group& into = group(home);
    if (into.nodes.size() >= kMaxNodes || into.is_update || into.is_split) return false;
    if (into.kind == GroupKind::kMap && into.loop.sizes == loop.sizes) {
      const LoopShape before = into.loop;
      into.kind = GroupKind::kRow;
      into.loop = loop;
      bool fits = reads_fit(home, index, Span::kFull);
      for (const std::int32_t member : into.nodes) {
        fits = fits && reads_fit(home, member, Span::kFull);
      }
      if (fits) return true;
      into.kind = GroupKind::kMap;
      into.loop = before;
      return false;
    }
    return into.kind == GroupKind::kRow && into.loop == loop && reads_fit(home, index, Span::kFull);
  }

  void place_contraction(std::int32_t index) {
    const Shape& sizes = graph_.type(node(index).outputs[0]).sizes;
    const auto& how = std::get<ContractionLowering>(node(index).op->lowering->how);
    LoopShape loop;
    std::vector<std::uint8_t> matrix;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (sizes[i] == 1) continue;
      loop.sizes.push_back(sizes[i]);
      const std::size_t from_inner = sizes.size() - 1 - i;
      // linear treats all leading axes as rows.
      const std::size_t axis = from_inner >= 2 && how.transpose_b ? 1 : from_inner;
      matrix.push_back(static_cast<std::uint8_t>(std::min<std::size_t>(axis, 2)));
    }
    const std::int32_t home = new_group(GroupKind::kContraction, index, std::move(loop));
    group(home).matrix_axis = std::move(matrix);
  }

  // A value has memory when it leaves its group: as an output, or to a reader elsewhere.
  void mark_stored() {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const std::int32_t home = fusion_.group_of[i];
      if (home < 0) continue;
      for (const ValueId id : graph_.nodes[i].outputs) {
        bool leaves = uses_.is_output[static_cast<std::size_t>(id)] != 0;
        for (const std::int32_t user : uses_.readers[static_cast<std::size_t>(id)]) {
          leaves |= fusion_.group_of[static_cast<std::size_t>(user)] != home;
        }
        fusion_.is_stored[static_cast<std::size_t>(id)] = leaves;
      }
    }
  }

  const Graph& graph_;
  const FusionOptions& options_;
  const Uses uses_;
  Fusion fusion_;
  std::vector<std::int32_t> seen_;  // per group: the last search that came by
  std::int32_t search_ = 0;
};

}  // namespace

Fusion fuse(const Graph& graph, const FusionOptions& options) {
  return Fuser(graph, options).run();
}

}  // namespace groove::jit
