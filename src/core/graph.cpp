// Building a graph: values and nodes are appended in topological order, and every node's types
// come from the type rule of its op, never from the caller.
#include "src/core/graph.h"

#include <utility>

#include "src/core/check.h"

namespace groove {

ValueId Graph::add_value(Type type, std::int32_t node, std::int32_t output) {
  values.push_back(Value{std::move(type), node, output, {}});
  return static_cast<ValueId>(values.size() - 1);
}

ValueId Graph::add_input(Type type, Shape strides) {
  const ValueId value = add_value(std::move(type), -1, static_cast<std::int32_t>(inputs.size()));
  inputs.push_back({value, std::move(strides)});
  return value;
}

std::int32_t Graph::add_node(const Op& op, std::vector<ValueId> operands, Attrs attrs,
                             std::vector<NumberRef> number_refs, Source source,
                             std::int32_t stage) {
  Node node;
  node.op = &op;
  node.inputs = std::move(operands);
  node.attrs = std::move(attrs);
  node.numbers = std::move(number_refs);
  node.source = source;
  node.stage = stage;
  const TypeResult result = derive_types(*this, node);
  const auto index = static_cast<std::int32_t>(nodes.size());
  for (const Type& type : result.outputs) {
    node.outputs.push_back(add_value(type, index, static_cast<std::int32_t>(node.outputs.size())));
  }
  nodes.push_back(std::move(node));
  return index;
}

std::vector<Type> operand_types(const Graph& graph, const Node& node) {
  std::vector<Type> types;
  types.reserve(node.inputs.size());
  for (const ValueId value : node.inputs) {
    types.push_back(value == kNoValue ? Type{ScalarType::Undefined, {}} : graph.type(value));
  }
  return types;
}

std::vector<Scalar> recorded_numbers(const Graph& graph, const Node& node) {
  std::vector<Scalar> numbers;
  numbers.reserve(node.numbers.size());
  for (const NumberRef& number : node.numbers) {
    const Scalar& value = number.constant;
    const bool is_entry = number.entry >= 0;
    if (is_entry && graph.numbers[static_cast<std::size_t>(number.entry)] == kDouble) {
      numbers.push_back(Scalar(value.to_double()));
    } else if (is_entry) {
      numbers.push_back(Scalar(value.to_int()));
    } else {
      numbers.push_back(value);
    }
  }
  return numbers;
}

TypeResult derive_types(const Signature& signature) {
  const Op& op = signature.op;
  if (op.type) return op.type(signature);
  GROOVE_CHECK(op.view && !signature.inputs.empty(), "{}: the op has no type rule", op.name);
  const Type& type = signature.inputs[0];
  const Geometry input{type.sizes, contiguous_strides(type.sizes), 0};
  TypeResult result;
  result.outputs.push_back(Type{type.dtype, op.view(input, signature).sizes});
  result.compute = type.dtype;
  return result;
}

TypeResult derive_types(const Graph& graph, const Node& node) {
  const std::vector<Type> types = operand_types(graph, node);
  const std::vector<Scalar> numbers = recorded_numbers(graph, node);
  return derive_types(Signature{*node.op, types, node.attrs, numbers});
}

}  // namespace groove
