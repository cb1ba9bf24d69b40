// Replaces each elementwise node whose operands are constants by its value, computed by the kernel
// interpreter – never by a second definition of the operator. Views of constants are constants.
// Needs: nothing.  Keeps: inputs, outputs, node order, places.
#include "jit/fusion.h"
#include "jit/passes/passes.h"
#include "jit/rewrite.h"
#include "kernels/backend.h"
#include "kernels/build.h"
#include "kernels/ops/structural.h"
#include "kernels/pool.h"
#include "src/core/check.h"

namespace groove::jit {
namespace {

const Node* constant_behind(const Graph& graph, ValueId value) {
  const Node* const node = producer_of(graph, value);
  return node && node->op == &constant_op() ? node : nullptr;
}
std::uint64_t bits_of(const Node& constant) {
  return static_cast<std::uint64_t>(AttrReader(*constant.op, constant.attrs).integer(2));
}
std::uint64_t masked(std::uint64_t bits, ScalarType dtype) {
  const std::size_t size = element_size(dtype);
  return size == 8 ? bits : bits & ((std::uint64_t{1} << 8 * size) - 1);
}

bool is_foldable(const Graph& graph, const Node& node) {
  if (node.op == &constant_op() || node.op->is_random) return false;
  for (const NumberRef& number : node.numbers) {
    if (number.entry >= 0) return false;
  }
  for (const ValueId id : node.inputs) {
    if (id == kNoValue || !constant_behind(graph, id)) return false;
  }
  if (node.op->kind == OpKind::kView) return true;
  if (node.op->kind != OpKind::kElementwise || !node.op->lowering) return false;
  const auto* how = std::get_if<kernels::ElementwiseLowering>(&node.op->lowering->how);
  return how && !how->uses_flat_index && !how->uses_last_index;
}

// One element of every output.
std::vector<std::uint64_t> evaluate(const Graph& graph, const Node& node) {
  const std::vector<Type> types = operand_types(graph, node);
  const std::vector<Scalar> numbers = recorded_numbers(graph, node);
  const Signature signature{*node.op, types, node.attrs, numbers};
  const TypeResult result = derive_types(graph, node);
  const auto& how = std::get<kernels::ElementwiseLowering>(node.op->lowering->how);
  kernels::Builder builder;
  kernels::Exprs inputs, parameters;
  for (const ValueId id : node.inputs) {
    inputs.push_back(
        builder.constant_bits(graph.type(id).dtype, bits_of(*constant_behind(graph, id))));
  }
  std::vector<std::uint64_t> scalars;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const ScalarType dtype = kernels::number_dtype(signature, how, result.compute, i);
    parameters.push_back(builder.param(dtype));
    scalars.push_back(numbers[i].bits_as(dtype));
  }
  const kernels::Exprs results =
      kernels::emit_elementwise(builder, signature, result, inputs, parameters);
  std::vector<std::uint64_t> values(results.size(), 0);
  std::vector<void*> pointers;
  for (std::size_t i = 0; i < results.size(); ++i) {
    builder.store(result.outputs[i].dtype, kernels::StrideClass::kContiguous, results[i]);
    pointers.push_back(&values[i]);
  }
  kernels::Backend* const interpreter = kernels::find_backend("interpreter");
  GROOVE_ASSERT(interpreter, "no interpreter is linked");
  std::vector<std::array<std::int64_t, kernels::kMaxAxes>> strides(results.size());
  for (auto& stride : strides) stride = {1};
  kernels::Launch launch;
  launch.count[0] = 1;
  launch.pointers = pointers.data();
  launch.strides = reinterpret_cast<const std::int64_t(*)[kernels::kMaxAxes]>(strides.data());
  launch.scalars = scalars.data();
  const kernels::FloatEnvironment environment;  // the thread's own may flush denormals
  kernels::compile_cached(*interpreter, builder.finish())->run(launch);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = masked(values[i], result.outputs[i].dtype);
  }
  return values;
}

}  // namespace

bool fold_constants(Graph& graph) {
  bool has_changed = false;
  const std::size_t count = graph.nodes.size();
  std::vector<std::int32_t> before;
  for (std::size_t i = 0; i < count; ++i) {
    if (!is_foldable(graph, graph.nodes[i])) continue;
    has_changed = true;
    const Node folded = graph.nodes[i];
    const std::vector<std::uint64_t> values =
        folded.op->kind == OpKind::kView
            ? std::vector<std::uint64_t>{bits_of(*constant_behind(graph, folded.inputs[0]))}
            : evaluate(graph, folded);
    for (std::size_t k = 0; k < folded.outputs.size(); ++k) {
      const ValueId id = folded.outputs[k];
      const Type& type = graph.type(id);
      Node constant;
      constant.op = &constant_op();
      constant.attrs.add(IntArrayRef(type.sizes)).add(type.dtype);
      constant.attrs.add(static_cast<std::int64_t>(values[k]));
      constant.source = folded.source;
      constant.stage = folded.stage;
      constant.outputs = {id};
      Value& value = graph.values[static_cast<std::size_t>(id)];
      value.output = 0;
      if (k == 0) {
        graph.nodes[i] = std::move(constant);
        continue;
      }
      value.node = static_cast<std::int32_t>(graph.nodes.size());
      graph.nodes.push_back(std::move(constant));
      before.push_back(static_cast<std::int32_t>(i + 1));
    }
  }
  move_before(graph, before);
  return has_changed;
}

}  // namespace groove::jit
