// Grouping walks the nodes in order and puts each into one of the groups it reads from, or into a
// new one. Joining group G is legal when no other group the node reads from depends on G: then no
// cycle can arise. Afterwards map groups whose only readers are in the joined group are absorbed:
//
//     X: mask = a > 0          (map)       G: d = matmul(dy, w)      (contraction)
//     n: where(mask, d, 0) reads X and G, joins G; X has no other reader and is absorbed.
#include "jit/fusion.h"

#include <algorithm>

#include "jit/fuser.h"
#include "jit/place_pieces.h"
#include "kernels/build.h"
#include "src/core/check.h"

namespace groove::jit {

using kernels::ConcatenateLowering;
using kernels::ContractionLowering;
using kernels::ElementwiseLowering;
using kernels::GatherLowering;
using kernels::OverwriteLowering;
using kernels::ReductionLowering;

Fuser::Fuser(const Graph& graph, const FusionOptions& options)
    : graph_(graph), options_(options), uses_(find_uses(graph)), bodies_(graph) {
  fusion_.stage_of = uses_.stage_of;
  fusion_.group_of.assign(graph.nodes.size(), -1);
  fusion_.span_of.assign(graph.nodes.size(), Span::kFull);
  fusion_.is_stored.assign(graph.values.size(), 0);
  fusion_.placements.resize(graph.values.size());
  reads_.resize(graph.nodes.size());
  for (std::size_t i = 0; i < graph.values.size(); ++i) {
    const auto value = static_cast<ValueId>(i);
    const std::int32_t producer = graph.values[i].node;
    roots_.push_back(jit::root_of(graph, value));
    is_splat_.push_back(producer >= 0 && is_splat(node(producer)));
    is_plain_.push_back(memory_geometry(graph, value).strides == contiguous(value).strides);
  }
}

Fusion Fuser::run() {
  if (options_.choices) options_.choices->begin(graph_.nodes.size());
  for (std::int32_t stage = 0; stage < graph_.stages; ++stage) {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (fusion_.stage_of[i] == stage) place(static_cast<std::int32_t>(i));
    }
  }
  if (options_.is_enabled) {
    sink_epilogues();
    lift_epilogues();
    if (options_.merges) merge_groups();
    accumulate_columns();
  }
  mark_stored();
  if (options_.is_enabled) place_pieces(graph_, uses_, fusion_);
  order_groups(graph_, uses_, fusion_);
  return std::move(fusion_);
}

void Fuser::place(std::int32_t index) {
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

std::int32_t Fuser::new_group(GroupKind kind, std::int32_t index, LoopShape loop) {
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
std::vector<std::int32_t> Fuser::producers(std::int32_t index) const {
  std::vector<std::int32_t> found;
  for (const ValueId id : node(index).inputs) {
    if (id == kNoValue) continue;
    const std::int32_t from = group_of_value(root_of(id));
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

LoopShape Fuser::map_loop(std::int32_t index) const {
  const Shape& sizes = graph_.type(node(index).outputs[0]).sizes;
  LoopShape loop{without_ones(sizes), {}};
  // An index along an axis of size 1 needs that axis.
  const auto* how = lowering_as<ElementwiseLowering>(node(index));
  if (how && how->uses_last_index && sizes.back() == 1) loop.sizes.push_back(1);
  return loop;
}

void Fuser::place_map(std::int32_t index) {
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
    group(home).is_fours = pays_by_fours(index);
    has_fours_ |= group(home).is_fours;
  }
  if (!options_.is_enabled) return;
  for (const std::int32_t other : from) {
    if (other != home) absorb(other, home);
  }
}

void Fuser::place_reduction(std::int32_t index) {
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
  const bool is_short = is_row && !is_split && chosen(Choices::Of::kShortRows, {index}, [&] {
                          return row < kShortReduction && rows >= kSplitRows;
                        });
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

bool Fuser::can_split(const Node& n) {
  const auto& how = std::get<ReductionLowering>(n.op->lowering->how);
  for (const kernels::Prim prim : how.reductions) {
    if (prim == kernels::Prim::kReduceArgMax || prim == kernels::Prim::kReduceArgMin) return false;
  }
  return true;
}

// A map group over the same elements becomes rows; a row group over the same rows gets another
// phase.
bool Fuser::joins_row(std::int32_t home, std::int32_t index, const LoopShape& loop) {
  Group& into = group(home);
  if (into.nodes.size() >= kMaxNodes || into.is_update || into.is_split || into.is_fours)
    return false;
  if (is_too_early(into, index)) return false;
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

void Fuser::place_contraction(std::int32_t index) {
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
void Fuser::mark_stored() {
  for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
    const std::int32_t home = fusion_.group_of[i];
    if (home < 0) continue;
    for (const ValueId id : graph_.nodes[i].outputs) {
      bool leaves = uses_.is_output[static_cast<std::size_t>(id)] != 0;
      for (const std::int32_t user : uses_.readers[static_cast<std::size_t>(id)]) {
        const std::int32_t reader = fusion_.group_of[static_cast<std::size_t>(user)];
        const bool is_summed_here =
            reader >= 0 && group(reader).accumulates_in == home && group(reader).seed == user;
        leaves |= reader != home && !is_summed_here;
      }
      fusion_.is_stored[static_cast<std::size_t>(id)] = leaves;
    }
  }
}

double estimate(const Graph& graph, const Fusion& fusion) {
  return Fuser(graph, {}).estimate(fusion);
}

Fusion fuse(const Graph& graph, const FusionOptions& options) {
  return Fuser(graph, options).run();
}

}  // namespace groove::jit
