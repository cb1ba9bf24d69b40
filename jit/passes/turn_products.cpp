// A matrix product that is only read transposed is made so: (A B)ᵀ = Bᵀ Aᵀ, every element the same
// sum of the same products in the same order. The gradient of a weight that was transposed for its
// product is such a one, and then lies as the weight does.
// Needs: expanded composites.  Keeps: inputs, outputs, order, places; leaves no dead nodes behind.
#include "groove/ops/views.h"
#include "jit/passes/passes.h"
#include "jit/rewrite.h"
#include "jit/uses.h"
#include "kernels/lowering.h"
#include "kernels/ops/graph_builder.h"

namespace groove::jit {
namespace {

const kernels::ContractionLowering* product_of(const Node& node) {
  return node.op->lowering
             ? std::get_if<kernels::ContractionLowering>(&node.op->lowering->how)
             : nullptr;
}

// Does the view exchange the last two axes, and nothing else?
bool is_transpose(const Graph& graph, const Node& view) {
  if (view.op->kind != OpKind::kView) return false;
  for (const NumberRef& number : view.numbers) {
    if (number.entry >= 0) return false;
  }
  const Shape& sizes = graph.type(view.inputs[0]).sizes;
  const std::size_t rank = sizes.size();
  if (rank < 2) return false;
  Geometry turned{sizes, contiguous_strides(sizes), 0};
  const std::vector<Type> types = operand_types(graph, view);
  const std::vector<Scalar> numbers = recorded_numbers(graph, view);
  try {
    const Geometry seen =
        view.op->view(turned, Signature{*view.op, types, view.attrs, numbers});
    std::swap(turned.sizes[rank - 1], turned.sizes[rank - 2]);
    std::swap(turned.strides[rank - 1], turned.strides[rank - 2]);
    return seen == turned;
  } catch (const Error&) {
    return false;
  }
}

class Turner {
 public:
  explicit Turner(const Graph& graph)
      : graph_(graph), readers_(graph.values.size()), is_output_(graph.values.size(), 0) {
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      for (const ValueId id : graph.nodes[i].inputs) {
        if (id != kNoValue)
          readers_[static_cast<std::size_t>(id)].push_back(static_cast<std::int32_t>(i));
      }
    }
    for (const GraphOutput& output : graph.outputs)
      is_output_[static_cast<std::size_t>(output.value)] = 1;
  }

  // All its readers transpose it, and what comes of that is put out or read by something else than
  // products, which take their operands either way.
  bool is_to_turn(const Node& node) const {
    const kernels::ContractionLowering* const how = product_of(node);
    if (!how || (how->has_bias && node.inputs[2] != kNoValue)) return false;
    const auto value = static_cast<std::size_t>(node.outputs[0]);
    if (is_output_[value]) return false;
    bool gains = false;
    for (const std::int32_t reader : readers_[value]) {
      const Node& view = graph_.nodes[static_cast<std::size_t>(reader)];
      if (!is_transpose(graph_, view)) return false;
      gains |= is_walked(view.outputs[0]);
    }
    return gains;
  }
  const std::vector<std::int32_t>& readers(ValueId value) const {
    return readers_[static_cast<std::size_t>(value)];
  }

 private:
  bool is_walked(ValueId value) const {
    if (is_output_[static_cast<std::size_t>(value)]) return true;
    for (const std::int32_t reader : readers(value)) {
      const Node& node = graph_.nodes[static_cast<std::size_t>(reader)];
      if (node.op->kind == OpKind::kView ? is_walked(node.outputs[0]) : !product_of(node))
        return true;
    }
    return false;
  }

  const Graph& graph_;
  std::vector<std::vector<std::int32_t>> readers_;  // per value: nodes
  std::vector<char> is_output_;                     // per value
};

// The product of what it was given, exchanged and transposed.
ValueId turned(Rewriter& rewriter, const Node& node) {
  kernels::GraphBuilder builder(rewriter.graph());
  builder.set_context(node.place, node.stage, nullptr);
  const Tensor left = builder.tensor(rewriter.renamed(node.inputs[0]));
  const Tensor right = builder.tensor(rewriter.renamed(node.inputs[1]));
  Tensor result;
  builder.record([&] {
    Tensors operands{right, left};
    if (!product_of(node)->transpose_b) {
      for (Tensor& operand : operands) operand = transpose(operand, -2, -1);
    }
    operands.resize(node.inputs.size());
    dispatch(Call{node.op, operands, &node.attrs, {}, Site::current()}, &result);
  });
  return builder.value(result);
}

}  // namespace

bool turn_products(Graph& graph) {
  std::vector<std::int32_t> products;
  std::vector<char> is_gone(graph.nodes.size(), 0);
  {
    const Turner turner(graph);
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      if (!turner.is_to_turn(graph.nodes[i])) continue;
      products.push_back(static_cast<std::int32_t>(i));
      for (const std::int32_t view : turner.readers(graph.nodes[i].outputs[0]))
        is_gone[static_cast<std::size_t>(view)] = 1;
    }
  }
  if (products.empty()) return false;
  Rewriter rewriter(std::move(graph));
  const Graph& from = rewriter.from();
  for (std::size_t i = 0, next = 0; i < from.nodes.size(); ++i) {
    const auto index = static_cast<std::int32_t>(i);
    const Node& node = from.nodes[i];
    if (next < products.size() && products[next] == index) {
      ++next;
      rewriter.rename(node.outputs[0], turned(rewriter, node));
    } else if (is_gone[i]) {
      rewriter.rename(node.outputs[0], rewriter.renamed(node.inputs[0]));
    } else {
      rewriter.copy(index);
    }
  }
  graph = rewriter.finish();
  return true;
}

}  // namespace groove::jit
