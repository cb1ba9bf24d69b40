// Puts casts around contractions and host code on 16-bit floats, which compute in f32.
// Needs: no composites.  Keeps: inputs, outputs, order, places, stages; run-time numbers stay such.
#include <algorithm>

#include "jit/graph_builder.h"
#include "jit/passes/passes.h"
#include "jit/rewrite.h"
#include "kernels/ops/widen.h"

namespace groove::jit {

bool widen_halves(Graph& graph) {
  const auto is_narrow = [&graph](const Node& node) {
    return kernels::needs_widening(*node.op, operand_types(graph, node));
  };
  if (std::none_of(graph.nodes.begin(), graph.nodes.end(), is_narrow)) return false;
  Rewriter rewriter(graph);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    if (!is_narrow(node)) {
      rewriter.copy(static_cast<std::int32_t>(i));
      continue;
    }
    GraphBuilder builder(rewriter.graph());
    builder.set_context(node.place, node.stage, &node.numbers);
    Tensors inputs;
    for (const ValueId id : node.inputs) inputs.push_back(builder.tensor(rewriter.renamed(id)));
    const std::vector<Type> types = operand_types(graph, node);
    std::vector<Scalar> numbers = recorded_numbers(graph, node);
    for (std::size_t k = 0; k < numbers.size(); ++k) {
      numbers[k] = numbers[k].with_origin(static_cast<int>(k));
    }
    const Tensors results = builder.record([&] {
      return kernels::call_widened(Signature{*node.op, types, node.attrs, numbers}, inputs);
    });
    for (std::size_t k = 0; k < results.size(); ++k) {
      const ValueId value = builder.value(results[k]);
      rewriter.rename(node.outputs[k], value);
      rewriter.graph().values[static_cast<std::size_t>(value)].name =
          graph.values[static_cast<std::size_t>(node.outputs[k])].name;
    }
  }
  graph = rewriter.finish();
  return true;
}

}  // namespace groove::jit
