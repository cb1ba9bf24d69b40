// A matrix product that is only read transposed is made so: (A B)' = B' A', every element the same
// sum of the same products in the same order. The gradient of a weight that was transposed for its
// product is such a one, and then lies as the weight does. What is done to its elements one by one
// before (16-bit floats are converted) is turned with it.
// Needs: expanded composites.  Keeps: inputs, outputs, order, places; leaves no dead nodes behind.
#include <algorithm>

#include "groove/ops/views.h"
#include "jit/passes/passes.h"
#include "jit/rewrite.h"
#include "kernels/lowering.h"
#include "kernels/ops/graph_builder.h"
#include "kernels/ops/structural.h"

namespace groove::jit {
namespace {

const kernels::ContractionLowering* product_of(const Node& node) {
  return node.op->lowering ? std::get_if<kernels::ContractionLowering>(&node.op->lowering->how)
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
    const Geometry seen = view.op->view(turned, Signature{*view.op, types, view.attrs, numbers});
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
    return how && !(how->has_bias && node.inputs[2] != kNoValue) && has_wide_rows(node) &&
           is_only_transposed(last_of_chain(node).outputs[0]);
  }
  // Of the nodes after the product that read one operand element by element.
  const Node& last_of_chain(const Node& node) const {
    const ValueId value = node.outputs[0];
    if (is_output_[static_cast<std::size_t>(value)] || readers(value).size() != 1) return node;
    const Node& reader = graph_.nodes[static_cast<std::size_t>(readers(value)[0])];
    return is_unary(reader) ? last_of_chain(reader) : node;
  }
  const std::vector<std::int32_t>& readers(ValueId value) const {
    return readers_[static_cast<std::size_t>(value)];
  }

 private:
  // Turned, its columns become rows: less than two vectors would leave the tiles narrow.
  bool has_wide_rows(const Node& node) const {
    constexpr std::int64_t kNarrow = 16;
    const Shape& sizes = graph_.type(node.outputs[0]).sizes;
    const std::size_t rank = sizes.size();
    return rank >= 2 && sizes[rank - 2] >= std::min(kNarrow, sizes[rank - 1]);
  }
  bool is_only_transposed(ValueId value) const {
    if (is_output_[static_cast<std::size_t>(value)]) return false;
    bool gains = false;
    for (const std::int32_t reader : readers(value)) {
      const Node& view = graph_.nodes[static_cast<std::size_t>(reader)];
      if (!is_transpose(graph_, view)) return false;
      gains |= is_walked(view.outputs[0]);
    }
    return gains;
  }
  // Element by element, of one operand and nothing else.
  static bool is_unary(const Node& node) {
    const auto* const how = node.op->kind == OpKind::kElementwise && node.op->lowering
                                ? std::get_if<kernels::ElementwiseLowering>(&node.op->lowering->how)
                                : nullptr;
    return how && node.inputs.size() == 1 && node.outputs.size() == 1 && node.numbers.empty() &&
           !node.op->is_random && !how->uses_flat_index && !how->uses_last_index &&
           node.op != &materialize_op();
  }
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
  builder.set_context(node.source, node.stage, nullptr);
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
  // Most graphs have no such view.
  const auto is_view_of_computed = [&](const Node& node) {
    if (node.op->kind != OpKind::kView) return false;
    const std::int32_t from = graph.values[static_cast<std::size_t>(node.inputs[0])].node;
    if (from < 0) return false;
    const OpKind kind = graph.nodes[static_cast<std::size_t>(from)].op->kind;
    return (kind == OpKind::kContraction || kind == OpKind::kElementwise) &&
           is_transpose(graph, node);
  };
  if (std::none_of(graph.nodes.begin(), graph.nodes.end(), is_view_of_computed)) return false;
  // Products and what is turned with them keep their places; the views of the last are left out.
  enum class Change : char { kNone, kProduct, kUnary, kView };
  std::vector<Change> changes(graph.nodes.size(), Change::kNone);
  bool has_changed = false;
  {
    const Turner turner(graph);
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      if (!turner.is_to_turn(graph.nodes[i])) continue;
      has_changed = true;
      changes[i] = Change::kProduct;
      ValueId value = graph.nodes[i].outputs[0];
      const ValueId last = turner.last_of_chain(graph.nodes[i]).outputs[0];
      while (value != last) {
        const auto next = static_cast<std::size_t>(turner.readers(value)[0]);
        changes[next] = Change::kUnary;
        value = graph.nodes[next].outputs[0];
      }
      for (const std::int32_t view : turner.readers(last))
        changes[static_cast<std::size_t>(view)] = Change::kView;
    }
  }
  if (!has_changed) return false;
  Rewriter rewriter(std::move(graph));
  const Graph& from = rewriter.from();
  for (std::size_t i = 0; i < from.nodes.size(); ++i) {
    const Node& node = from.nodes[i];
    switch (changes[i]) {
      case Change::kNone:
        rewriter.copy(static_cast<std::int32_t>(i));
        break;
      case Change::kProduct:
        rewriter.rename(node.outputs[0], turned(rewriter, node));
        break;
      case Change::kUnary: {
        const std::int32_t copy = rewriter.graph().add_node(
            *node.op, {rewriter.renamed(node.inputs[0])}, node.attrs, {}, node.source, node.stage);
        rewriter.rename(node.outputs[0],
                        rewriter.graph().nodes[static_cast<std::size_t>(copy)].outputs[0]);
        break;
      }
      case Change::kView:
        rewriter.rename(node.outputs[0], rewriter.renamed(node.inputs[0]));
    }
  }
  graph = rewriter.finish();
  return true;
}

}  // namespace groove::jit
