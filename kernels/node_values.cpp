// Counts the readers of every value.
#include "kernels/node_values.h"

namespace groove::kernels {

NodeValues::NodeValues(const Graph& graph, ArrayRef<Tensor> inputs)
    : uses_(graph.values.size(), 0), values_(graph.values.size()) {
  for (const Node& node : graph.nodes)
    for (const ValueId id : node.inputs)
      if (id != kNoValue) ++uses_[static_cast<std::size_t>(id)];
  for (const GraphOutput& output : graph.outputs) ++uses_[static_cast<std::size_t>(output.value)];
  for (std::size_t i = 0; i < graph.inputs.size(); ++i)
    values_[static_cast<std::size_t>(graph.inputs[i].value)] = inputs[i];
}

Tensors NodeValues::operands(const Node& node) const {
  Tensors read;
  for (const ValueId id : node.inputs) read.push_back(id == kNoValue ? Tensor() : (*this)[id]);
  return read;
}

void NodeValues::finish(const Node& node, Tensors results) {
  for (std::size_t k = 0; k < results.size(); ++k) {
    const auto id = static_cast<std::size_t>(node.outputs[k]);
    if (uses_[id] > 0) values_[id] = std::move(results[k]);
  }
  for (const ValueId id : node.inputs)
    if (id != kNoValue && --uses_[static_cast<std::size_t>(id)] == 0)
      values_[static_cast<std::size_t>(id)].reset();
}

std::vector<Scalar> numbers_of(const Node& node, ArrayRef<Scalar> entries) {
  std::vector<Scalar> numbers;
  for (const NumberRef& number : node.numbers)
    numbers.push_back(number.entry < 0 ? number.constant
                                       : entries[static_cast<std::size_t>(number.entry)]);
  return numbers;
}

}  // namespace groove::kernels
