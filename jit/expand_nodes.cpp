// Each node's code runs on tensors without data, and what it dispatches is recorded in its place.
#include "jit/expand_nodes.h"

#include <algorithm>

#include "jit/rewrite.h"
#include "kernels/ops/graph_builder.h"
#include "src/core/check.h"

namespace groove::jit {

bool expand_nodes(Graph& graph, const std::function<bool(const Graph&, const Node&)>& is_meant,
                  const std::function<Tensors(const Signature&, ArrayRef<Tensor>)>& code) {
  if (std::none_of(graph.nodes.begin(), graph.nodes.end(),
                   [&](const Node& node) { return is_meant(graph, node); })) {
    return false;
  }
  Rewriter rewriter(std::move(graph));
  const Graph& from = rewriter.from();
  Graph& fresh = rewriter.graph();
  for (std::size_t i = 0; i < from.nodes.size(); ++i) {
    const Node& node = from.nodes[i];
    if (!is_meant(from, node)) {
      rewriter.copy(static_cast<std::int32_t>(i));
      continue;
    }
    kernels::GraphBuilder builder(fresh);
    builder.set_context(node.place, node.stage, &node.numbers);
    Tensors inputs;
    for (const ValueId id : node.inputs) inputs.push_back(builder.tensor(rewriter.renamed(id)));
    const std::vector<Type> types = operand_types(from, node);
    std::vector<Scalar> numbers = recorded_numbers(from, node);
    for (std::size_t k = 0; k < numbers.size(); ++k)
      numbers[k] = numbers[k].with_origin(static_cast<int>(k));
    const Tensors results = builder.record([&] {
      return code(Signature{*node.op, types, node.attrs, numbers}, inputs);
    });
    GROOVE_ASSERT(results.size() == node.outputs.size(), "{}: results do not fit", node.op->name);
    for (std::size_t k = 0; k < results.size(); ++k) {
      const ValueId value = builder.value(results[k]);
      GROOVE_ASSERT(fresh.type(value) == from.type(node.outputs[k]),
                    "{}: the type of result {} is not its type rule's", node.op->name, k);
      rewriter.rename(node.outputs[k], value);
      std::string& name = fresh.values[static_cast<std::size_t>(value)].name;
      if (name.empty()) name = from.values[static_cast<std::size_t>(node.outputs[k])].name;
    }
  }
  graph = rewriter.finish();
  return true;
}

}  // namespace groove::jit
