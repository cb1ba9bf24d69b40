// May a node be emitted in a group's loop? Values of the group must be read at the loop's own
// index, and memory must collapse to the axes that the group's kernel has.
#include <algorithm>

#include "groove/error.h"
#include "jit/costs.h"
#include "jit/fuser.h"
#include "src/core/faults.h"

namespace groove::jit {

using kernels::ElementwiseLowering;
using kernels::GatherLowering;
using kernels::ReductionLowering;

bool Fuser::counts(const Node& n) {
  const auto* how = lowering_as<ElementwiseLowering>(n);
  return how && (how->uses_flat_index || how->uses_last_index);
}

// Bodies that ask for the index along the last axis need it to be the launch's innermost.
bool Fuser::indices_fit(const Group& into, std::int32_t index) const {
  const auto* how = lowering_as<ElementwiseLowering>(node(index));
  if (!how || !how->uses_last_index) return true;
  const Shape& sizes = graph_.type(node(index).outputs[0]).sizes;
  if (sizes.back() == 1) return into.nodes.size() == 1 && into.nodes[0] == index;
  if (without_ones(sizes) != into.loop.sizes) return false;
  if (into.kind == GroupKind::kRow) {
    return into.loop.reduced_axes() == 1 && into.loop.is_reduced.back();
  }
  if (into.kind == GroupKind::kContraction)
    return std::count(into.matrix_axis.begin(), into.matrix_axis.end(), 0) == 1;
  return into.kind != GroupKind::kColumn || !into.loop.is_reduced.back();
}

bool Fuser::find_span(const Group& into, std::int32_t index, Span& span) const {
  const Shape sizes = without_ones(graph_.type(node(index).outputs[0]).sizes);
  if (sizes == into.loop.sizes) {
    span = Span::kFull;
    return true;
  }
  if (into.loop.is_reduced.empty()) return false;
  span = Span::kKept;
  return sizes == kept_sizes(into.loop);
}

Shape Fuser::kept_sizes(const LoopShape& loop) {
  Shape sizes;
  for (std::size_t i = 0; i < loop.sizes.size(); ++i) {
    if (loop.is_reduced.empty() || !loop.is_reduced[i]) sizes.push_back(loop.sizes[i]);
  }
  return sizes;
}

bool Fuser::joins(std::int32_t home, std::int32_t index) {
  Group& into = group(home);
  if (into.is_update != is_update(index) || into.is_fours || is_too_early(into, index))
    return false;
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
  if (!reads_fit(home, index, span) || crowds(home, {index})) return false;
  fusion_.span_of[static_cast<std::size_t>(index)] = span;
  return true;
}

// A loop over short rows next to something broadcast along them walks row by row, each in part of
// a vector. A dear body over the same elements is better off in a flat loop of its own.
bool Fuser::wants_full_vectors(const Group& into, std::int32_t index) {
  const auto is_short = [&] { return into.loop.sizes.back() < kShortRow; };
  if (into.loop.sizes.size() < 2) return false;
  if (!chosen(Choices::Of::kFullVectors, {into.seed, index}, is_short)) return false;
  if (broadcasts(index) || !bodies_.is_dear(index)) return false;
  return std::any_of(into.nodes.begin(), into.nodes.end(),
                     [&](std::int32_t member) { return broadcasts(member); });
}

// An epilogue walks the product row by row. For a dear body the sums go through memory as they
// would for a loop of its own, which gets the code of the highest tier.
bool Fuser::wants_flat_loop(const Group& product, std::int32_t index) {
  std::int64_t columns = 1;
  for (std::size_t i = 0; i < product.matrix_axis.size(); ++i) {
    if (product.matrix_axis[i] == 0) columns *= product.loop.sizes[i];
  }
  if (product.loop.points() <= columns || !bodies_.is_dear(index)) return false;
  return chosen(Choices::Of::kFlatLoop, {product.seed, index}, [&] {
    return columns < kShortRow || laying_down(product) > costs::kLaunch + costs::kBarrier;
  });
}

// All that was drawn by fours for a group is alive before it runs. One that reads several draws may
// read as much as is still near; larger ones are for groups of their own, so that the next is drawn
// when the one before is not needed any more. Two may be merged after all where one result fewer
// makes up for it.
bool Fuser::crowds(std::int32_t home, const std::vector<std::int32_t>& nodes) {
  if (!has_fours_) return false;
  std::vector<ValueId> drawn = drawn_for(nodes);
  if (drawn.empty()) return false;
  const std::vector<ValueId> before = drawn_for(group(home).nodes);
  if (before.empty() || before == drawn) return false;
  drawn.insert(drawn.end(), before.begin(), before.end());
  std::sort(drawn.begin(), drawn.end());
  drawn.erase(std::unique(drawn.begin(), drawn.end()), drawn.end());
  const auto size = static_cast<std::int64_t>(group(home).nodes.size());
  return chosen(Choices::Of::kCrowd, {group(home).seed, size, nodes[0]}, [&] {
    std::int64_t bytes = 0;
    for (const ValueId value : drawn) {
      const Type& type = graph_.type(value);
      bytes += element_count(type.sizes) * static_cast<std::int64_t>(element_size(type.dtype));
    }
    return bytes > costs::kNearBytes;
  });
}

// Values drawn by fours that the nodes read.
std::vector<ValueId> Fuser::drawn_for(const std::vector<std::int32_t>& nodes) const {
  std::vector<ValueId> drawn;
  for (const std::int32_t index : nodes) {
    for (const ValueId id : node(index).inputs) {
      if (id == kNoValue) continue;
      const std::int32_t from = group_of_value(root_of(id));
      if (from >= 0 && fusion_.groups[static_cast<std::size_t>(from)].is_fours)
        drawn.push_back(root_of(id));
    }
  }
  std::sort(drawn.begin(), drawn.end());
  drawn.erase(std::unique(drawn.begin(), drawn.end()), drawn.end());
  return drawn;
}

bool Fuser::broadcasts(std::int32_t index) const {
  const Shape sizes = without_ones(graph_.type(node(index).outputs[0]).sizes);
  for (const ValueId id : node(index).inputs) {
    if (id == kNoValue) continue;
    const Shape& from = graph_.type(id).sizes;
    if (element_count(from) != 1 && without_ones(from) != sizes) return true;
  }
  return false;
}

// With no axis left to reduce the two spans coincide.
bool Fuser::is_kept(const Group& into, Span span) {
  return span == Span::kKept || into.loop.reduced_axes() == 0;
}

std::size_t Fuser::loop_of(std::int32_t home) {
  const LoopShape& loop = group(home).loop;
  for (std::size_t i = loops_.size(); i-- > 0;) {
    if (loops_[i].shape == loop) return i;
  }
  loops_.emplace_back(graph_, loop);
  return loops_.size() - 1;
}

// Of an operand of a node in group `home`; null where nothing is read. Many groups of few loops are
// proposed, so it is found once. `loop` is the group's. Holds until the next operand of the node is
// asked for.
const Fuser::Read* Fuser::read_of(std::int32_t home, std::size_t loop, std::int32_t index,
                                  std::size_t operand, Span span) {
  const ValueId input = node(index).inputs[operand];
  if (input == kNoValue) return nullptr;
  const ValueId root = root_of(input);
  if (is_splat_[static_cast<std::size_t>(root)]) return nullptr;
  const bool is_inside = group_of_value(root) == home;
  std::vector<Read>& reads = reads_[static_cast<std::size_t>(index)];
  for (const Read& read : reads) {
    if (read.loop == loop && read.operand == operand && read.span == span &&
        read.is_inside == is_inside)
      return &read;
  }
  Read& read = reads.emplace_back(Read{loop, operand, span, is_inside, root, true, {}});
  Chains& chains = loops_[loop].chains;
  try {
    const Chain* chain = operand_chain(graph_, chains, index, operand, chains.end(span));
    resolve(graph_, chains, input, chain);
    read.walk = chains.walk(is_inside ? contiguous(root) : memory_geometry(graph_, root), chain);
  } catch (const Error&) {
    read.is_walked = false;
  }
  return &read;
}

// May the node be emitted in this group's loop? Values of the group must be read at the loop's
// own index, or by a gather along the row; memory must collapse as the loop needs it.
bool Fuser::reads_fit(std::int32_t home, std::int32_t index, Span span, std::size_t others) {
  const Group& into = fusion_.groups[static_cast<std::size_t>(home)];
  if (!indices_fit(into, index) || (into.is_split && counts(node(index)))) return false;
  const Node& n = node(index);
  const std::size_t loop = loop_of(home);
  std::size_t operands = 0;
  for (std::size_t i = 0; i < n.inputs.size(); ++i) {
    const Read* const read = read_of(home, loop, index, i, span);
    if (!read) continue;
    if (!read->is_walked) return false;
    if (read->is_inside ? !reads_inside(into, read->root, span, read->walk)
                        : !collapses(into, read->walk))
      return false;
    ++operands;
  }
  Chains& chains = loops_[loop].chains;
  // A position is counted along the launch's axes, so it must collapse like memory in its order.
  const auto* how = lowering_as<ElementwiseLowering>(n);
  if (how && how->uses_flat_index &&
      !collapses(into, chains.walk(contiguous(n.outputs[0]), chains.end(span))))
    return false;
  // Memory in another order than the value's is written there, too.
  if (!lowering_as<ReductionLowering>(n) && !is_plain_[static_cast<std::size_t>(n.outputs[0])] &&
      !collapses(into, chains.walk(memory_geometry(graph_, n.outputs[0]), chains.end(span))))
    return false;
  return others + operands <= kMaxOperands;
}

bool Fuser::members_fit(std::int32_t home) {
  const std::size_t operands = group_operands(group(home));
  for (const std::int32_t member : group(home).nodes) {
    if (is_product(graph_, node(member))) continue;
    // A reduction reads the full loop whatever its result spans.
    const bool reduces = lowering_as<ReductionLowering>(node(member)) != nullptr;
    const Span span = reduces ? Span::kFull : fusion_.span_of[static_cast<std::size_t>(member)];
    if (!reads_fit(home, member, span, operands)) return false;
  }
  return true;
}

Geometry Fuser::contiguous(ValueId value) const {
  const Shape& sizes = graph_.type(value).sizes;
  return {sizes, contiguous_strides(sizes), 0};
}

bool Fuser::reads_inside(const Group& into, ValueId root, Span reader, const Walk& walk) const {
  if (walk.offset != 0 && has_fault(Fault::kShiftedReadFused)) return true;
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

std::size_t Fuser::group_operands(const Group& of) const {
  std::size_t count = 0;
  for (const std::int32_t member : of.nodes) {
    for (const ValueId id : node(member).inputs) {
      if (id == kNoValue) continue;
      const std::int32_t from = group_of_value(root_of(id));
      count += from < 0 || &fusion_.groups[static_cast<std::size_t>(from)] != &of;
    }
  }
  return count;
}

}  // namespace groove::jit
