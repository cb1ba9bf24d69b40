// Replaces composites by the ordinary ops that their tensor code dispatches.
// Needs: nothing.  Keeps: inputs, outputs, order, places, stages; run-time numbers stay such.
#include <algorithm>

#include "jit/graph_builder.h"
#include "jit/passes/passes.h"
#include "jit/rewrite.h"
#include "kernels/ops/widen.h"
#include "src/core/check.h"

namespace groove::jit {

bool expand_composites(Graph& graph) {
  const auto is_composite = [](const Node& node) { return node.op->kind == OpKind::kComposite; };
  if (std::none_of(graph.nodes.begin(), graph.nodes.end(), is_composite)) return false;
  Rewriter rewriter(graph);
  Graph& fresh = rewriter.graph();
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    if (!is_composite(node)) {
      rewriter.copy(static_cast<std::int32_t>(i));
      continue;
    }
    GraphBuilder builder(fresh);
    builder.set_context(node.place, node.stage, &node.numbers);
    Tensors inputs;
    for (const ValueId id : node.inputs) inputs.push_back(builder.tensor(rewriter.renamed(id)));
    const std::vector<Type> types = operand_types(graph, node);
    std::vector<Scalar> numbers = recorded_numbers(graph, node);
    for (std::size_t k = 0; k < numbers.size(); ++k) {
      numbers[k] = numbers[k].with_origin(static_cast<int>(k));
    }
    const Tensors results = builder.record([&] {
      return kernels::compose(Signature{*node.op, types, node.attrs, numbers}, inputs);
    });
    GROOVE_ASSERT(results.size() == node.outputs.size(), "{}: results do not fit", node.op->name);
    for (std::size_t k = 0; k < results.size(); ++k) {
      const ValueId value = builder.value(results[k]);
      GROOVE_ASSERT(fresh.type(value) == graph.type(node.outputs[k]),
                    "{}: the type of result {} is not its type rule's", node.op->name, k);
      rewriter.rename(node.outputs[k], value);
      std::string& name = fresh.values[static_cast<std::size_t>(value)].name;
      if (name.empty()) name = graph.values[static_cast<std::size_t>(node.outputs[k])].name;
    }
  }
  graph = rewriter.finish();
  return true;
}

}  // namespace groove::jit
