// Where what follows a product is computed. An epilogue saves a walk over the product, but what it
// computes has to be stored; a loop that reads it could compute it from the product itself:
//
//     epilogue   m = mm(a, b); p = m * w; q = p * x; r = m * x     loads x, stores p, q, r
//                rows: … p … q … r …                               loads p, q, r
//     sunk       m = mm(a, b)                                      stores m
//                rows: p = m * w; q = p * x; r = m * x; …          loads m, x
//
// Both ways are tried; their estimated time decides.
#include <algorithm>

#include "jit/fuser.h"

namespace groove::jit {

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
  const auto both = [&] { return cost(product) + cost(loop); };
  const double before = both();
  const std::vector<std::int32_t> own = into.nodes, whole = from.nodes;
  for (const std::int32_t member : moved) {
    fusion_.group_of[static_cast<std::size_t>(member)] = loop;
  }
  into.nodes.insert(into.nodes.end(), moved.begin(), moved.end());
  std::sort(into.nodes.begin(), into.nodes.end());
  from.nodes = {from.seed};
  // Whoever else reads what was moved now waits for the loop, which must not wait for them.
  const auto is_cheaper = [&] { return both() < before - kNoDifference; };
  if (members_fit(loop) && chosen(Choices::Of::kSink, {product, loop}, is_cheaper) &&
      !reaches_around(loop, loop))
    return true;
  for (const std::int32_t member : moved) {
    fusion_.group_of[static_cast<std::size_t>(member)] = product;
  }
  into.nodes = own;
  from.nodes = whole;
  return false;
}

}  // namespace groove::jit
