// Casts around what computes in f32 only.
#include "kernels/ops/widen.h"

#include <algorithm>

#include "src/core/dispatch.h"

namespace groove::kernels {
namespace {

template <typename Body>
Tensors around(const Signature& signature, ArrayRef<Tensor> inputs, const Body& body) {
  const std::vector<Type> outputs = signature.op.type(signature).outputs;
  const std::vector<Type> types = widened(signature.inputs);
  Tensors wide(inputs.begin(), inputs.end());
  for (std::size_t i = 0; i < wide.size(); ++i)
    if (is_half(signature.inputs[i].dtype)) wide[i] = wide[i].to(kFloat);
  Tensors results =
      body(Signature{signature.op, types, signature.attrs, signature.numbers}, wide);
  for (std::size_t k = 0; k < results.size(); ++k)
    if (results[k].defined()) results[k] = results[k].to(outputs[k].dtype);
  return results;
}

}  // namespace

bool needs_widening(const Op& op, ArrayRef<Type> inputs) {
  if (op.kind == OpKind::kOpaque && op.lowering) {
    const auto* host = std::get_if<OpaqueLowering>(&op.lowering->how);
    if (host && host->takes_halves) return false;
  } else if (op.kind != OpKind::kContraction && op.kind != OpKind::kComposite) {
    return false;
  }
  for (const Type& input : inputs)
    if (is_half(input.dtype)) return true;
  return false;
}

std::vector<Type> widened(ArrayRef<Type> inputs) {
  std::vector<Type> types(inputs.begin(), inputs.end());
  for (Type& type : types)
    if (is_half(type.dtype)) type.dtype = kFloat;
  return types;
}

Tensors compose(const Signature& signature, ArrayRef<Tensor> inputs) {
  const auto& how = std::get<CompositeLowering>(signature.op.lowering->how);
  if (!needs_widening(signature.op, signature.inputs)) return how.compose(signature, inputs);
  return around(signature, inputs, how.compose);
}

Tensors gradient_of(const Grad& grad) {
  const auto has_half = [](ArrayRef<Type> types) {
    return std::any_of(types.begin(), types.end(), [](const Type& t) { return is_half(t.dtype); });
  };
  const bool is_composed =
      grad.op.kind == OpKind::kComposite || grad.op.kind == OpKind::kReduction;
  if (!is_composed || (!has_half(grad.input_types) && !has_half(grad.output_types)))
    return grad.op.gradient(grad);
  const auto wide = [](ArrayRef<Tensor> values) {
    Tensors result(values.begin(), values.end());
    for (Tensor& value : result)
      if (value.defined() && is_half(value.scalar_type())) value = value.to(kFloat);
    return result;
  };
  const Tensors inputs = wide(grad.inputs), outputs = wide(grad.outputs),
                cotangents = wide(grad.cotangents);
  const std::vector<Type> input_types = widened(grad.input_types),
                          output_types = widened(grad.output_types);
  Tensors result = grad.op.gradient(Grad{grad.op,
                                         grad.attrs,
                                         grad.numbers,
                                         inputs,
                                         outputs,
                                         cotangents,
                                         input_types,
                                         output_types,
                                         grad.needs,
                                         {},
                                         grad.before_read,
                                         grad.saved});
  for (std::size_t i = 0; i < result.size(); ++i)
    if (result[i].defined()) result[i] = result[i].to(grad.input_types[i].dtype);
  return result;
}

Tensors call_widened(const Signature& signature, ArrayRef<Tensor> inputs) {
  return around(signature, inputs, [](const Signature& wide, ArrayRef<Tensor> operands) {
    Tensors results(output_count(wide.op, wide.attrs));
    const Tensors held(operands.begin(), operands.end());
    dispatch(Call{&wide.op, held, &wide.attrs, wide.numbers, Site::current(), false},
             results.data());
    return results;
  });
}

}  // namespace groove::kernels
