// Where what follows a product is computed. An epilogue saves a walk over the product, but what it
// computes has to be stored; a loop that reads it could compute it from the product itself:
//
//     epilogue   m = mm(a, b); p = m * w; q = p * x; r = m * x     loads x, stores p, q, r
//                rows: … p … q … r …                               loads p, q, r
//     sunk       m = mm(a, b)                                      stores m
//                rows: p = m * w; q = p * x; r = m * x; …          loads m, x
//
// Both ways are tried; the estimated time of what is moved to and from memory decides.
#include <algorithm>

#include "jit/costs.h"
#include "jit/fuser.h"
#include "kernels/asmjit/isa.h"

namespace groove::jit {

// Nanoseconds that a group's loads and stores take, the operands of a product left out. What is
// broadcast stays in registers or in the nearest cache.
double Fuser::traffic(std::int32_t id) const {
  const Group& of = fusion_.groups[static_cast<std::size_t>(id)];
  const bool is_product = of.kind == GroupKind::kContraction;
  std::vector<ValueId> loaded;
  double time = 0;
  for (const std::int32_t member : of.nodes) {
    if (!is_product || member != of.seed) {
      for (const ValueId input : node(member).inputs) {
        if (input == kNoValue) continue;
        const ValueId root = root_of(graph_, input);
        if (group_of_value(root) == id) continue;
        if (std::find(loaded.begin(), loaded.end(), root) == loaded.end()) loaded.push_back(root);
      }
    }
    for (const ValueId output : node(member).outputs) {
      const auto& readers = uses_.readers[static_cast<std::size_t>(output)];
      const bool leaves = uses_.is_output[static_cast<std::size_t>(output)] ||
                          std::any_of(readers.begin(), readers.end(), [&](std::int32_t reader) {
                            return fusion_.group_of[static_cast<std::size_t>(reader)] != id;
                          });
      if (leaves)
        time += costs::kNearStore * static_cast<double>(element_count(graph_.type(output).sizes));
    }
  }
  for (const ValueId value : loaded) {
    const std::int64_t count = element_count(graph_.type(value).sizes);
    if (count == of.loop.points()) time += costs::kNearLoad * static_cast<double>(count);
  }
  if (is_product && of.nodes.size() > 1 && !fits_tiles(of)) {
    time += laying_down(of);
  }
  return time;
}

// Sums that are laid down for something else than a tile, and taken up again.
double Fuser::laying_down(const Group& product) {
  return (costs::kNearStore + costs::kNearLoad) * static_cast<double>(product.loop.points());
}

// Tiles apply short bodies over the product's own dtype, and masks where there are registers for
// them, while they hold the sums.
bool Fuser::fits_tiles(const Group& product) const {
  if (!lowering_as<kernels::ContractionLowering>(node(product.seed))) return false;
  const ScalarType dtype = graph_.type(node(product.seed).outputs[0]).dtype;
  const bool has_masks = kernels::isa() == kernels::Isa::kAvx512;
  const auto fits = [&](ScalarType other) {
    return other == ScalarType::Undefined || other == dtype || (has_masks && other == kBool);
  };
  for (const std::int32_t member : product.nodes) {
    if (member == product.seed) continue;
    if (is_dear(graph_, node(member))) return false;
    for (const Type& type : operand_types(graph_, node(member))) {
      if (!fits(type.dtype)) return false;
    }
    for (const ValueId output : node(member).outputs) {
      if (!fits(graph_.type(output).dtype)) return false;
    }
  }
  return true;
}

void Fuser::sink_epilogues() {
  const auto count = static_cast<std::int32_t>(fusion_.groups.size());
  for (std::int32_t id = 0; id < count; ++id) {
    if (group(id).kind != GroupKind::kContraction || group(id).nodes.size() < 2) continue;
    std::vector<std::int32_t> tried;
    for_each_after(id, [&](std::int32_t next) {
      if (std::find(tried.begin(), tried.end(), next) == tried.end()) tried.push_back(next);
    });
    for (const std::int32_t next : tried) {
      if (sinks(id, next)) break;
    }
  }
}

// Moves the whole epilogue of `product` into a loop that reads it, where that is cheaper.
bool Fuser::sinks(std::int32_t product, std::int32_t loop) {
  Group &from = group(product), &into = group(loop);
  if (into.kind != GroupKind::kRow && into.kind != GroupKind::kMap) return false;
  if (into.is_short || into.is_split) return false;
  if (into.stage != from.stage || into.is_update || into.loop.sizes != from.loop.sizes)
    return false;
  if (into.nodes.size() + from.nodes.size() - 1 > kMaxNodes) return false;
  std::vector<std::int32_t> moved;
  for (const std::int32_t member : from.nodes) {
    if (member == from.seed) continue;
    if (is_too_early(into, member) || is_again(member) != is_again(into.seed)) return false;
    moved.push_back(member);
  }
  const double before = traffic(product) + traffic(loop);
  const std::vector<std::int32_t> own = into.nodes, whole = from.nodes;
  for (const std::int32_t member : moved) {
    fusion_.group_of[static_cast<std::size_t>(member)] = loop;
  }
  into.nodes.insert(into.nodes.end(), moved.begin(), moved.end());
  std::sort(into.nodes.begin(), into.nodes.end());
  from.nodes = {from.seed};
  // Whoever else reads what was moved now waits for the loop, which must not wait for them.
  if (members_fit(loop) && traffic(product) + traffic(loop) < before && !reaches_around(loop, loop))
    return true;
  for (const std::int32_t member : moved) {
    fusion_.group_of[static_cast<std::size_t>(member)] = product;
  }
  into.nodes = own;
  from.nodes = whole;
  return false;
}

}  // namespace groove::jit
