// A piece that nothing but the concatenation reads is stored in its region of the whole by the
// kernel that computes it, where that kernel can walk the region.
#include "jit/place_pieces.h"

#include <algorithm>

#include "kernels/lowering.h"
#include "kernels/ops/structural.h"
#include "src/core/check.h"
#include "src/core/view_strides.h"

namespace groove::jit {
namespace {

class Placer {
 public:
  Placer(const Graph& graph, const Uses& uses, Fusion& fusion)
      : graph_(graph), uses_(uses), fusion_(fusion) {}

  void place_pieces_of(std::int32_t index) {
    const Node& node = graph_.nodes[static_cast<std::size_t>(index)];
    const Geometry whole = memory_geometry(graph_, node.outputs[0]);
    const auto axis = static_cast<std::size_t>(AttrReader(*node.op, node.attrs).integer(0));
    std::vector<ValueId> sources;  // a view of a piece is another reader of its memory
    for (const ValueId input : node.inputs) sources.push_back(source_of(input));
    std::int64_t at = 0;
    for (const ValueId input : node.inputs) {
      const Type& type = graph_.type(input);
      if (type.sizes.size() != whole.sizes.size()) continue;  // LibTorch's empty 1-d tensors
      const Geometry region{type.sizes, whole.strides, at * whole.strides[axis]};
      at += type.sizes[axis];
      if (type.dtype != graph_.type(node.outputs[0]).dtype) continue;
      if (std::count(sources.begin(), sources.end(), source_of(input)) != 1) continue;
      place(input, region, node.outputs[0], index);
    }
  }

 private:
  void place(ValueId piece, const Geometry& region, ValueId whole, std::int32_t reader) {
    const ValueId root = behind_reshapes(piece);
    if (root == kNoValue) return;
    const std::int32_t producer = graph_.values[static_cast<std::size_t>(root)].node;
    const auto& readers = uses_.readers[static_cast<std::size_t>(root)];
    if (producer < 0 || uses_.is_output[static_cast<std::size_t>(root)] || readers.size() != 1 ||
        readers[0] != reader) {
      return;
    }
    const Node& node = graph_.nodes[static_cast<std::size_t>(producer)];
    const std::int32_t home = fusion_.group_of[static_cast<std::size_t>(producer)];
    if (home < 0 || node.op == &materialize_op()) return;
    const Shape& sizes = graph_.type(root).sizes;
    const std::optional<Shape> strides = view_strides(region, sizes);
    if (!strides) return;
    const Geometry seen{sizes, *strides, region.offset};
    const Span span = fusion_.span_of[static_cast<std::size_t>(producer)];
    if (!can_walk(fusion_.groups[static_cast<std::size_t>(home)], seen, span)) return;
    fusion_.placements[static_cast<std::size_t>(root)] = {whole, seen};
  }

  ValueId source_of(ValueId piece) const {
    Geometry seen;
    std::vector<Start> starts;
    return locate(graph_, piece, seen, starts);
  }

  // The value whose elements, in order, the piece shows; none when a view reorders them.
  ValueId behind_reshapes(ValueId piece) const {
    Geometry seen;
    std::vector<Start> starts;
    const ValueId root = locate(graph_, piece, seen, starts);
    const bool is_whole = element_count(seen.sizes) == element_count(graph_.type(root).sizes);
    return is_whole && starts.empty() && seen.offset == 0 && seen.is_contiguous() ? root : kNoValue;
  }

  bool can_walk(const Group& group, const Geometry& region, Span span) const {
    const bool has_kernel = group.kind == GroupKind::kMap || group.kind == GroupKind::kRow ||
                            group.kind == GroupKind::kContraction;
    if (!has_kernel || group.is_split || !group.columns.empty()) return false;
    Chains chains(graph_, group.loop);
    Walk walk;
    try {
      walk = chains.walk(region, chains.end(span));
    } catch (const Error&) {
      return false;
    }
    if (!collapses(group, walk)) return false;
    if (group.is_fours &&
        !is_collapsible(group.loop, walk, std::vector<char>(walk.strides.size(), 1)))
      return false;
    // Results of a product are written along rows.
    for (std::size_t i = group.matrix_axis.size(); i-- > 0;) {
      if (group.matrix_axis[i] == 0) return walk.strides[i] == 1;
    }
    return true;
  }

  const Graph& graph_;
  const Uses& uses_;
  Fusion& fusion_;
};

}  // namespace

void place_pieces(const Graph& graph, const Uses& uses, Fusion& fusion) {
  Placer placer(graph, uses, fusion);
  for (const Group& group : fusion.groups) {
    if (group.kind == GroupKind::kConcatenate) placer.place_pieces_of(group.seed);
  }
}

}  // namespace groove::jit
