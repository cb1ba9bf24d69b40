#include "kernels/build.h"

#include "src/core/check.h"

namespace groove::kernels {
namespace {

bool bit(std::uint32_t mask, std::size_t index) { return index < 32 && (mask >> index & 1); }

Body make_body(Builder& builder, const Signature& signature, ScalarType compute) {
  return Body{builder, signature, compute, {}, {}, {}};
}

Exprs converted_outputs(const TypeResult& types, Exprs results) {
  GROOVE_ASSERT(results.size() == types.outputs.size());
  for (std::size_t i = 0; i < results.size(); ++i)
    results[i] = convert(results[i], types.outputs[i].dtype);
  return results;
}

}  // namespace

ScalarType number_dtype(const Signature& signature, const ElementwiseLowering& how,
                        ScalarType compute, std::size_t index) {
  if (!bit(how.raw_numbers, index)) return compute;
  return signature.numbers[index].isFloatingPoint() ? kDouble : kLong;
}

Exprs emit_elementwise(Builder& builder, const Signature& signature, const TypeResult& types,
                       const Exprs& inputs, const Exprs& numbers,
                       std::function<Expr()> flat_index) {
  const auto& how = std::get<ElementwiseLowering>(signature.op.lowering->how);
  Body body = make_body(builder, signature, types.compute);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].defined()) {
      body.inputs.emplace_back();
      continue;
    }
    const bool is_raw = bit(how.raw_inputs, i);  // except for what has no arithmetic
    body.inputs.push_back(
        convert(inputs[i], is_raw ? ComputeDtype(inputs[i].dtype()) : types.compute));
  }
  body.numbers = numbers;
  body.flat_index = std::move(flat_index);
  return converted_outputs(types, how.body(body));
}

Exprs emit_before_reduction(Builder& builder, const Signature& signature, const TypeResult& types,
                            Expr input) {
  const auto& how = std::get<ReductionLowering>(signature.op.lowering->how);
  Body body = make_body(builder, signature, types.compute);
  body.inputs.push_back(convert(input, types.compute));
  if (how.before) return how.before(body);
  return Exprs(how.reductions.size(), body.inputs[0]);
}

Exprs emit_after_reduction(Builder& builder, const Signature& signature, const TypeResult& types,
                           const Exprs& reduced, Expr count) {
  const auto& how = std::get<ReductionLowering>(signature.op.lowering->how);
  if (!how.after) return converted_outputs(types, reduced);
  Body body = make_body(builder, signature, types.compute);
  return converted_outputs(types, how.after(body, reduced, count));
}

Order reduction_order(std::size_t rank, IntArrayRef axes) {
  for (std::size_t i = 0; i < axes.size(); ++i)
    if (axes[i] != static_cast<std::int64_t>(rank - axes.size() + i)) return Order::kColumn;
  return Order::kRow;
}

Shape reduction_axes(const Signature& signature) {
  const IntArrayRef listed = signature.attr().integers(0);
  if (!listed.empty()) return Shape(listed);
  Shape all;
  for (std::size_t i = 0; i < signature.inputs[0].sizes.size(); ++i)
    all.push_back(static_cast<std::int64_t>(i));
  return all;
}

}  // namespace groove::kernels
