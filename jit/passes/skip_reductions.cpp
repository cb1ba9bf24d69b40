// Reductions over axes of one element, as gradients of broadcasts often are, become views: a sum
// of one element is that element, since absent ones are -0.0.
// Needs: expanded composites.  Keeps: inputs, outputs, order, places.
#include "groove/ops/views.h"
#include "jit/expand_nodes.h"
#include "jit/passes/passes.h"
#include "jit/passes/scalar_rules.h"
#include "kernels/build.h"

namespace groove::jit {
namespace {

using kernels::Prim;

bool gives_back_one_element(Prim reduction) {
  return reduction == Prim::kReduceSum || reduction == Prim::kReduceProd ||
         reduction == Prim::kReduceMax || reduction == Prim::kReduceMin;
}

// Of one element: does what comes before and after the reduction leave it alone?
bool is_identity(const Graph& graph, const Node& node, const kernels::ReductionLowering& how) {
  if (how.reductions.size() != 1 || node.outputs.size() != 1 ||
      !gives_back_one_element(how.reductions[0])) {
    return false;
  }
  const std::vector<Type> types = operand_types(graph, node);
  const std::vector<Scalar> numbers = recorded_numbers(graph, node);
  const Signature signature{*node.op, types, node.attrs, numbers};
  const TypeResult result = derive_types(graph, node);
  if (!(result.outputs[0].dtype == types[0].dtype)) return false;
  for (const std::int64_t axis : kernels::reduction_axes(signature)) {
    if (types[0].sizes[static_cast<std::size_t>(axis)] != 1) return false;
  }
  kernels::Builder builder;
  const kernels::Expr element = builder.load(types[0].dtype, kernels::StrideClass::kContiguous);
  const kernels::Expr reduced =
      kernels::emit_before_reduction(builder, signature, result, element)[0];
  const kernels::Expr one = builder.constant(result.compute, 1);
  const kernels::Expr whole =
      kernels::emit_after_reduction(builder, signature, result, {reduced}, one)[0];
  return simplified_to_load(builder, whole) == 0;
}

}  // namespace

bool skip_reductions(Graph& graph) {
  const auto is_meant = [](const Graph& from, const Node& node) {
    const auto* const how = node.op->lowering
                                ? std::get_if<kernels::ReductionLowering>(&node.op->lowering->how)
                                : nullptr;
    return how && is_identity(from, node, *how);
  };
  return expand_nodes(graph, is_meant, [](const Signature& s, ArrayRef<Tensor> inputs) {
    return Tensors{reshape(inputs[0], s.op.type(s).outputs[0].sizes)};
  });
}

}  // namespace groove::jit
