// Small parts of the operators of control flow.
#include "kernels/ops/control_flow.h"

#include <cstring>

#include "groove/ops/creation.h"
#include "src/core/check.h"
#include "src/core/host_value.h"

namespace groove {

void check_operands(const Signature& s, const Graph& graph, std::size_t first,
                    ArrayRef<Type> types) {
  GROOVE_CHECK(types.size() + first == graph.inputs.size(), "{}: {} operands for a function of {}",
               s.op.name, types.size(), graph.inputs.size() - first);
  for (std::size_t i = 0; i < types.size(); ++i) {
    const Type& wanted = graph.type(graph.inputs[first + i].value);
    GROOVE_CHECK(types[i] == wanted, "{}: operand {} is {}{}, its function takes {}{}", s.op.name,
                 i, short_name(types[i].dtype), to_string(types[i].sizes), short_name(wanted.dtype),
                 to_string(wanted.sizes));
  }
}

std::vector<Type> output_types(const Graph& graph) {
  std::vector<Type> types;
  for (const GraphOutput& output : graph.outputs) types.push_back(graph.type(output.value));
  return types;
}

std::int64_t rearranged(std::int64_t number, ArrayRef<std::int32_t> inputs,
                        ArrayRef<std::int32_t> outputs) {
  const Graph& from = interned_graph(number);
  Graph graph = from;
  graph.inputs.clear();
  for (const std::int32_t index : inputs) {
    graph.inputs.push_back(from.inputs[static_cast<std::size_t>(index)]);
    graph.values[static_cast<std::size_t>(graph.inputs.back().value)].output =
        static_cast<std::int32_t>(graph.inputs.size() - 1);
  }
  graph.outputs.clear();
  for (const std::int32_t index : outputs)
    graph.outputs.push_back(from.outputs[static_cast<std::size_t>(index)]);
  return intern(std::move(graph));
}

bool may_throw(const Graph& graph) {
  for (const Node& node : graph.nodes) {
    if (kernels::looks_at_values(graph, node) || has_limit(node)) return true;
    const AttrReader attr(*node.op, node.attrs);
    for (std::size_t field = 0; field < node.op->attributes.size(); ++field)
      if (node.op->attributes[field].type == AttrType::kGraph &&
          may_throw(interned_graph(attr.integer(field))))
        return true;
  }
  return false;
}

void look_at(const Tensors& outputs) {
  if (!outputs.empty() && !is_dispatch_overridden()) host_read(*outputs[0].impl());
}

Tensors in_their_places(const Tensors& gradients, const std::vector<char>& wanted,
                        std::size_t first) {
  Tensors result(first + wanted.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (wanted[i]) result[first + i] = gradients[next++];
  return result;
}

Tensor nothing_yet(const Type& type) { return full(type.sizes, -0.0, type.dtype); }

double subgraph_nanoseconds(const Graph& graph) {
  double bytes = 0;
  for (const Value& value : graph.values)
    bytes += static_cast<double>(element_count(value.type.sizes)) *
             static_cast<double>(element_size(value.type.dtype));
  return 200.0 + 50.0 * static_cast<double>(graph.nodes.size()) + bytes / 8;
}

void copy_bytes(const Tensor& from, const Tensor& to) {
  const TensorImpl& impl = *from.impl();
  std::memcpy(to.impl()->data(), impl.data(),
              static_cast<std::size_t>(impl.numel) * element_size(impl.dtype));
}

void fill_with_nothing(const Tensor& to) {
  const TensorImpl& impl = *to.impl();
  const std::size_t size = element_size(impl.dtype);
  for (std::int64_t i = 0; i < impl.numel; ++i)
    store_host_value(static_cast<char*>(impl.data()) + static_cast<std::size_t>(i) * size,
                     impl.dtype, Scalar(-0.0));
}

// A sum in f64 rounds to each of the narrower dtypes as theirs does.
void add_elements(const Tensor& a, const Tensor& b, const Tensor& to) {
  const TensorImpl& impl = *to.impl();
  const auto at = [&](const Tensor& tensor, std::int64_t i) {
    return static_cast<char*>(tensor.impl()->data()) +
           static_cast<std::size_t>(i) * element_size(impl.dtype);
  };
  for (std::int64_t i = 0; i < impl.numel; ++i)
    store_host_value(at(to, i), impl.dtype,
                     Scalar(host_value(at(a, i), impl.dtype).to_double() +
                            host_value(at(b, i), impl.dtype).to_double()));
}

}  // namespace groove
