// Chains and walks: geometry seen through views, broadcasts and gathers.
#include "jit/index_map.h"

#include "jit/fusion.h"
#include "kernels/launch.h"
#include "kernels/lowering.h"
#include "kernels/moving_view.h"
#include "src/core/check.h"

namespace groove::jit {
namespace {

Geometry apply_view(const Graph& graph, const Geometry& geometry, std::int32_t index,
                    std::vector<Start>& starts) {
  const Node& node = graph.nodes[static_cast<std::size_t>(index)];
  const std::vector<Type> types = operand_types(graph, node);
  std::vector<bool> moving;
  for (const NumberRef& number : node.numbers) moving.push_back(number.entry >= 0);
  std::vector<kernels::MovingStart> found;
  const Geometry result = kernels::view_at_zero(*node.op, geometry, types, node.attrs,
                                                recorded_numbers(graph, node), moving, found);
  for (const kernels::MovingStart& start : found)
    starts.push_back({node.numbers[start.number].entry, start.stride, start.size});
  return result;
}

}  // namespace

std::size_t LoopShape::reduced_axes() const {
  std::size_t count = 0;
  for (const bool is : is_reduced) count += is;
  return count;
}

Shape without_ones(IntArrayRef sizes) {
  Shape kept;
  for (const std::int64_t size : sizes) {
    if (size != 1) kept.push_back(size);
  }
  return kept;
}

Shape identity_strides(const LoopShape& loop, Span span) {
  Shape strides(loop.sizes.size(), 0);
  std::int64_t stride = 1;
  for (std::size_t i = loop.sizes.size(); i-- > 0;) {
    if (span == Span::kKept && loop.is_reduced[i]) continue;
    strides[i] = stride;
    stride *= loop.sizes[i];
  }
  return strides;
}

bool is_view(const Graph& graph, ValueId value) {
  const Value& v = graph.values[static_cast<std::size_t>(value)];
  return v.node >= 0 && graph.nodes[static_cast<std::size_t>(v.node)].op->kind == OpKind::kView;
}

ValueId root_of(const Graph& graph, ValueId value) {
  while (is_view(graph, value)) {
    const Value& v = graph.values[static_cast<std::size_t>(value)];
    value = graph.nodes[static_cast<std::size_t>(v.node)].inputs[0];
  }
  return value;
}

ValueId locate(const Graph& graph, ValueId value, Geometry& geometry, std::vector<Start>& starts) {
  if (!is_view(graph, value)) {
    geometry = memory_geometry(graph, value);
    return value;
  }
  const std::int32_t node = graph.values[static_cast<std::size_t>(value)].node;
  const ValueId root =
      locate(graph, graph.nodes[static_cast<std::size_t>(node)].inputs[0], geometry, starts);
  geometry = apply_view(graph, geometry, node, starts);
  return root;
}

Chains::Chains(const Graph& graph, const LoopShape& loop) : graph_(graph), loop_(loop) {
  kept_.span = Span::kKept;
}

const Chain* Chains::intern(Chain chain) {
  chain.has_pick = chain.kind == Chain::Kind::kPick || chain.rest->has_pick;
  for (const Chain& known : chains_) {
    if (known.kind == chain.kind && known.node == chain.node && known.target == chain.target &&
        known.rest == chain.rest) {
      return &known;
    }
  }
  chains_.push_back(chain);
  return &chains_.back();
}

const Chain* Chains::broadcast(ValueId from, ValueId target, const Chain* rest) {
  if (graph_.type(from).sizes == graph_.type(target).sizes) return rest;
  return intern({Chain::Kind::kBroadcast, Span::kFull, -1, target, rest, false});
}
const Chain* Chains::view(std::int32_t node, const Chain* rest) {
  return intern({Chain::Kind::kView, Span::kFull, node, kNoValue, rest, false});
}
const Chain* Chains::pick(std::int32_t node, const Chain* rest) {
  return intern({Chain::Kind::kPick, Span::kFull, node, kNoValue, rest, false});
}
const Chain* Chains::align(std::int32_t node, const Chain* rest) {
  return intern({Chain::Kind::kAlign, Span::kFull, node, kNoValue, rest, false});
}

// The geometry has the loop's shape up to axes of size 1.
void Chains::fit(const Geometry& geometry, Span span, Walk& walk) const {
  walk.offset = geometry.offset;
  walk.strides = Shape(loop_.sizes.size(), 0);
  std::size_t axis = 0;
  for (std::size_t i = 0; i < loop_.sizes.size(); ++i) {
    if (span == Span::kKept && loop_.is_reduced[i]) continue;
    if (loop_.sizes[i] == 1) continue;
    while (axis < geometry.sizes.size() && geometry.sizes[axis] == 1) ++axis;
    GROOVE_CHECK(axis < geometry.sizes.size() && geometry.sizes[axis] == loop_.sizes[i],
                 "shape {} is not that of the loop {}", to_string(geometry.sizes),
                 to_string(loop_.sizes));
    walk.strides[i] = geometry.strides[axis++];
  }
  while (axis < geometry.sizes.size() && geometry.sizes[axis] == 1) ++axis;
  GROOVE_CHECK(axis == geometry.sizes.size(), "shape {} is not that of the loop {}",
               to_string(geometry.sizes), to_string(loop_.sizes));
}

Walk Chains::walk(Geometry geometry, const Chain* chain) {
  Walk walk;
  for (; chain->kind != Chain::Kind::kEnd; chain = chain->rest) {
    switch (chain->kind) {
      case Chain::Kind::kEnd:
        break;
      case Chain::Kind::kBroadcast: {
        const Shape& to = graph_.type(chain->target).sizes;
        geometry.strides = kernels::broadcast_strides(geometry.sizes, geometry.strides, to);
        geometry.sizes = to;
        break;
      }
      case Chain::Kind::kView:
        geometry = apply_view(graph_, geometry, chain->node, walk.starts);
        break;
      case Chain::Kind::kPick: {
        const Node& node = graph_.nodes[static_cast<std::size_t>(chain->node)];
        const auto& how = std::get<kernels::GatherLowering>(node.op->lowering->how);
        const auto axis = static_cast<std::size_t>(AttrReader(*node.op, node.attrs).integer(0));
        const Chain* const from_index =
            how.index_is_full ? chain->rest : align(chain->node, chain->rest);
        walk.picked.push_back({node.inputs[1], from_index, geometry.strides[axis]});
        geometry.strides[axis] = 0;
        geometry.sizes = graph_.type(node.outputs[0]).sizes;
        break;
      }
      case Chain::Kind::kAlign: {
        const Node& node = graph_.nodes[static_cast<std::size_t>(chain->node)];
        const auto axis = static_cast<std::size_t>(AttrReader(*node.op, node.attrs).integer(0));
        const Shape& to = graph_.type(node.outputs[0]).sizes;
        Shape strides(to.size(), 0);
        if (!geometry.strides.empty()) strides[axis] = geometry.strides[0];
        geometry.strides = std::move(strides);
        geometry.sizes = to;
        break;
      }
    }
  }
  fit(geometry, chain->span, walk);
  return walk;
}

}  // namespace groove::jit
