// What follows a product that host code computes (kernels/block_product.h) is placed as if that
// were no product; then loops that read it are looked at, and what they compute of each element
// alone may become its epilogue:
//
//     host   d = convolution_backward_data(g, w)       stores d
//     rows   e = masked_fill(d, m); sum(e); …          loads d, m, stores e
//     lifted e = masked_fill(d, m) while d is near     loads m, stores e
//     rows   sum(e); …                                 loads e
//
// An epilogue lays the sums down once more in the nearest cache; less must go through memory.
#include <algorithm>

#include "jit/fuser.h"
#include "src/core/faults.h"

namespace groove::jit {

void Fuser::lift_epilogues() {
  const auto count = static_cast<std::int32_t>(fusion_.groups.size());
  for (std::int32_t id = 0; id < count; ++id) {
    Group& product = group(id);
    if (product.kind != GroupKind::kOpaque || !is_product(graph_, node(product.seed))) continue;
    const Shape& sizes = graph_.type(node(product.seed).outputs[0]).sizes;
    product.kind = GroupKind::kContraction;
    product.loop.sizes = without_ones(sizes);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (sizes[i] != 1) product.matrix_axis.push_back(i == 0 ? 2 : i == 1 ? 1 : 0);
    }
    std::vector<std::int32_t> readers;
    for_each_after(id, [&](std::int32_t next) {
      if (std::find(readers.begin(), readers.end(), next) == readers.end()) readers.push_back(next);
    });
    for (const std::int32_t reader : readers) lift(id, reader);
    if (product.nodes.size() > 1) continue;
    product.kind = GroupKind::kOpaque;
    product.loop = {};
    product.matrix_axis.clear();
  }
}

// Of the loop's nodes the first few become part of the epilogue: as many as leave the least to be
// moved, if that is less than now.
void Fuser::lift(std::int32_t product, std::int32_t loop) {
  Group &from = group(loop), &into = group(product);
  if (from.kind != GroupKind::kMap && from.kind != GroupKind::kRow) return;
  if (from.stage != into.stage || from.is_split || from.is_update) return;
  if (from.loop.sizes != into.loop.sizes) return;
  const Group loop_before = from, product_before = into;
  Group best_loop = from, best_product = into;
  const auto place = [&](const Group& of, std::int32_t id) {
    for (const std::int32_t member : of.nodes)
      fusion_.group_of[static_cast<std::size_t>(member)] = id;
  };
  double least = cost(product) + cost(loop);
  for (const std::int32_t member : loop_before.nodes) {
    std::vector<std::int32_t> moved;
    if (fusion_.group_of[static_cast<std::size_t>(member)] != loop) continue;
    const auto& inputs = node(member).inputs;
    const bool reads_product = std::any_of(inputs.begin(), inputs.end(), [&](ValueId id) {
      return id != kNoValue && group_of_value(root_of(id)) == product;
    });
    if (!reads_product || !gather(product, loop, member, moved)) continue;
    if (into.nodes.size() + moved.size() > kMaxEpilogueNodes + 1) break;
    for (const std::int32_t index : moved) {
      fusion_.group_of[static_cast<std::size_t>(index)] = product;
      from.nodes.erase(std::find(from.nodes.begin(), from.nodes.end(), index));
      into.nodes.push_back(index);
    }
    std::sort(into.nodes.begin(), into.nodes.end());
    if (!from.nodes.empty()) from.seed = from.nodes.front();
    if (!members_fit(product) || !members_fit(loop)) break;
    const double time = cost(product) + cost(loop);
    const auto is_least = [&] { return time < least - kNoDifference; };
    if (!chosen(Choices::Of::kLift, {product, loop, member}, is_least)) continue;
    least = time;
    best_loop = from;
    best_product = into;
  }
  from = std::move(best_loop);
  into = std::move(best_product);
  place(from, loop);
  place(into, product);
}

// The node and what it reads of the loop, ascending; false when some of it must stay.
bool Fuser::gather(std::int32_t product, std::int32_t loop, std::int32_t index,
                   std::vector<std::int32_t>& moved) {
  if (std::find(moved.begin(), moved.end(), index) != moved.end()) return true;
  if (!can_lift(product, loop, index)) return false;
  for (const ValueId id : node(index).inputs) {
    if (id == kNoValue) continue;
    const ValueId root = root_of(id);
    const std::int32_t home = group_of_value(root);
    if (home < 0 || home == product) continue;
    if (home != loop) {
      if (reaches(product, home) && !has_fault(Fault::kCyclicEpilogue)) return false;
    } else if (!gather(product, loop, graph_.values[static_cast<std::size_t>(root)].node, moved)) {
      return false;
    }
  }
  moved.push_back(index);
  return true;
}

bool Fuser::can_lift(std::int32_t product, std::int32_t loop, std::int32_t index) {
  const auto at = static_cast<std::size_t>(index);
  if (!lowering_as<kernels::ElementwiseLowering>(node(index))) return false;
  if (group(loop).kind == GroupKind::kRow && fusion_.span_of[at] != Span::kFull) return false;
  if (is_again(index) != is_again(group(product).seed)) return false;
  if (without_ones(graph_.type(node(index).outputs[0]).sizes) != group(product).loop.sizes)
    return false;
  return !wants_flat_loop(group(product), index);
}

}  // namespace groove::jit
