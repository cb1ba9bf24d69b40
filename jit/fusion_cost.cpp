// What a group costs: its launch, what it loads and stores, the ends of the rows that it walks, and
// vectors that rows do not fill. What no grouping changes is left out: bodies in full vectors, and
// the operands of products.
#include <algorithm>

#include "groove/error.h"
#include "jit/costs.h"
#include "jit/fuser.h"
#include "kernels/fours.h"

namespace groove::jit {
namespace {

// From here on a row's end does not matter, and how full its last vector is.
constexpr std::int64_t kLongRun = 256;

// All of a value, once, from or to memory.
double moved(const Type& type, double near) {
  const std::int64_t count = element_count(type.sizes);
  const std::int64_t bytes = count * static_cast<std::int64_t>(element_size(type.dtype));
  return near * static_cast<double>(count) +
         (bytes > costs::kNearBytes ? costs::kFarByte * static_cast<double>(bytes) : 0);
}

template <typename List, typename Item>
bool add(List& list, const Item& item) {
  if (std::find(list.begin(), list.end(), item) != list.end()) return false;
  list.push_back(item);
  return true;
}

}  // namespace

double Fuser::estimate(const Fusion& fusion) {
  fusion_ = fusion;
  double time = 0;
  for (std::size_t i = 0; i < fusion_.groups.size(); ++i) time += cost(static_cast<std::int32_t>(i));
  return time;
}

bool Fuser::leaves(std::int32_t id, ValueId value) const {
  if (uses_.is_output[static_cast<std::size_t>(value)]) return true;
  const auto& readers = uses_.readers[static_cast<std::size_t>(value)];
  return std::any_of(readers.begin(), readers.end(), [&](std::int32_t reader) {
    return fusion_.group_of[static_cast<std::size_t>(reader)] != id;
  });
}

// A phase of a row walks it once: what a reduction leaves is there from the next one on. A value is
// loaded in each phase that reads it, and one that the group made in an earlier phase is kept in
// the nearest cache. What is broadcast stays in registers or there.
double Fuser::cost(std::int32_t id) {
  const Group& of = group(id);
  const bool is_product = of.kind == GroupKind::kContraction;
  const bool is_loop = of.kind == GroupKind::kMap || of.kind == GroupKind::kRow;
  const std::int64_t points = of.loop.points();
  std::vector<std::int32_t> ready(of.nodes.size(), 0);  // the phase from which its result is there
  const auto ready_at = [&](ValueId value) {
    const std::int32_t producer = graph_.values[static_cast<std::size_t>(value)].node;
    const auto at = std::lower_bound(of.nodes.begin(), of.nodes.end(), producer);
    return ready[static_cast<std::size_t>(at - of.nodes.begin())];
  };
  std::vector<std::pair<ValueId, std::int32_t>> loaded;
  std::int32_t phases = 1;
  double time = of.nodes.empty() ? 0 : costs::kLaunch;
  for (std::size_t i = 0; i < of.nodes.size(); ++i) {
    const std::int32_t member = of.nodes[i];
    const bool reduces = lowering_as<kernels::ReductionLowering>(node(member)) != nullptr;
    std::int32_t phase = 0;
    std::vector<std::pair<ValueId, bool>> read;
    for (const ValueId input : node(member).inputs) {
      if (input == kNoValue || (is_product && member == of.seed)) continue;
      const ValueId root = root_of(input);
      const bool is_inside = group_of_value(root) == id;
      add(read, std::make_pair(root, is_inside));
      if (is_inside) phase = std::max(phase, ready_at(root));
    }
    for (const auto& [root, is_inside] : read) {
      if (element_count(graph_.type(root).sizes) != points) continue;
      if (is_inside) {
        if (ready_at(root) == phase) continue;
        if (!add(loaded, std::make_pair(root, phase))) continue;
        time += costs::kNearLoad * static_cast<double>(points);
        if (!leaves(id, root) && add(loaded, std::make_pair(root, -1)))
          time += costs::kNearStore * static_cast<double>(points);
      } else if (add(loaded, std::make_pair(root, phase))) {
        const bool is_first = add(loaded, std::make_pair(root, -1));
        time += is_first ? moved(graph_.type(root), costs::kNearLoad)
                         : costs::kNearLoad * static_cast<double>(points);
      }
    }
    for (const ValueId output : node(member).outputs) {
      if (leaves(id, output)) time += moved(graph_.type(output), costs::kNearStore);
    }
    ready[i] = phase + (reduces ? 1 : 0);
    phases = std::max(phases, phase + 1);
  }
  if (is_product && of.nodes.size() > 1 && !fits_tiles(of)) time += laying_down(of);
  const std::int64_t run = is_loop && !of.nodes.empty() ? run_length(id) : points;
  if (run == 0 || run == points || run >= kLongRun) return time;
  time += costs::kRow * phases * static_cast<double>(points / run);
  const std::int64_t lanes = options_.machine.isa == kernels::Isa::kAvx512 ? 16 : 8;
  if (run % lanes == 0) return time;
  const auto walked = static_cast<double>((run + lanes - 1) / lanes * lanes * (points / run));
  for (const std::int32_t member : of.nodes) {
    if (fusion_.span_of[static_cast<std::size_t>(member)] != Span::kFull) continue;
    time += costs::kInstruction * bodies_.instructions(member) *
            (walked - static_cast<double>(points));
  }
  return time;
}

// Does the node save more by computing four elements at once than it takes to have launches of its
// own, one for the elements left over, and to go through memory?
bool Fuser::pays_by_fours(std::int32_t index) {
  if (!options_.is_enabled || !kernels::fours_of(*node(index).op)) return false;
  return chosen(Choices::Of::kFours, {index}, [&] {
    const Type& type = graph_.type(node(index).outputs[0]);
    const double saved = costs::kInstruction * bodies_.saved_by_fours(index) *
                         static_cast<double>(element_count(type.sizes));
    return saved > 2 * costs::kLaunch + costs::kBarrier + moved(type, costs::kNearStore) +
                       moved(type, costs::kNearLoad);
  });
}

// How many elements a loop walks before an operand makes it begin another row.
std::int64_t Fuser::run_length(std::int32_t id) {
  const Group& of = group(id);
  const LoopShape& loop = of.loop;
  std::size_t first = 0;  // of the axes that make one
  if (of.kind == GroupKind::kRow) {
    std::int64_t row = 1;
    for (std::size_t i = 0; i < loop.sizes.size(); ++i) row *= loop.is_reduced[i] ? loop.sizes[i] : 1;
    return row;
  }
  const std::size_t at = loop_of(id);
  Chains& chains = loops_[at].chains;
  const auto bound = [&](const Walk& walk) {
    std::vector<char> axes(loop.sizes.size(), 1);
    for (std::size_t i = 0; i < first; ++i) axes[i] = 0;
    while (first + 1 < axes.size() && !is_collapsible(loop, walk, axes)) axes[first++] = 0;
  };
  try {
    for (const std::int32_t member : of.nodes) {
      for (std::size_t i = 0; i < node(member).inputs.size(); ++i) {
        const Read* const read = read_of(id, at, member, i, Span::kFull);
        if (!read) continue;
        if (!read->is_walked) return 1;
        if (!read->is_inside) bound(read->walk);
      }
      for (const ValueId output : node(member).outputs) {
        // Memory that is walked in order has no ends of rows.
        const bool is_plain = is_plain_[static_cast<std::size_t>(output)] != 0;
        if (is_plain && without_ones(graph_.type(output).sizes) == loop.sizes) continue;
        bound(chains.walk(memory_geometry(graph_, output), chains.end(Span::kFull)));
      }
    }
  } catch (const Error&) {
    return 1;
  }
  std::int64_t run = 1;
  for (std::size_t i = first; i < loop.sizes.size(); ++i) run *= loop.sizes[i];
  return run;
}

// Sums that are laid down for something else than a tile, and taken up again.
double Fuser::laying_down(const Group& product) {
  return (costs::kNearStore + costs::kNearLoad) * static_cast<double>(product.loop.points());
}

// Tiles apply short bodies over the product's own dtype, and masks where there are registers for
// them, while they hold the sums.
bool Fuser::fits_tiles(const Group& product) {
  if (!lowering_as<kernels::ContractionLowering>(node(product.seed))) return false;
  const ScalarType dtype = graph_.type(node(product.seed).outputs[0]).dtype;
  const bool has_masks = options_.machine.isa == kernels::Isa::kAvx512;
  const auto fits = [&](ScalarType other) {
    return other == ScalarType::Undefined || other == dtype || (has_masks && other == kBool);
  };
  for (const std::int32_t member : product.nodes) {
    if (member == product.seed) continue;
    if (bodies_.is_dear(member)) return false;
    for (const Type& type : operand_types(graph_, node(member))) {
      if (!fits(type.dtype)) return false;
    }
    for (const ValueId output : node(member).outputs) {
      if (!fits(graph_.type(output).dtype)) return false;
    }
  }
  return true;
}

}  // namespace groove::jit
