// LibTorch's type promotion and broadcasting.
#include "src/core/promotion.h"

#include "src/core/check.h"

namespace groove {
namespace {

ScalarType join(ScalarType a, ScalarType b) {
  if (a == ScalarType::Undefined) return b;
  if (b == ScalarType::Undefined) return a;
  return promote_types(a, b);
}

// A lower rank changes the dtype only when its category is higher.
ScalarType combine(ScalarType higher, ScalarType lower) {
  if (is_complex(higher)) return higher;
  if (is_floating(higher) && is_complex(lower)) return complex_dtype(higher);
  if (is_floating(higher)) return higher;
  if (higher == kBool || is_floating(lower) || is_complex(lower)) return join(higher, lower);
  return higher != ScalarType::Undefined ? higher : lower;
}

}  // namespace

ScalarType result_type(ArrayRef<Operand> operands) {
  ScalarType by_rank[3] = {ScalarType::Undefined, ScalarType::Undefined, ScalarType::Undefined};
  for (const Operand& operand : operands) {
    if (operand.dtype == ScalarType::Undefined) continue;
    ScalarType dtype = operand.dtype;
    if (operand.rank == OperandRank::kNumber && is_floating(dtype)) dtype = get_default_dtype();
    ScalarType& slot = by_rank[static_cast<int>(operand.rank)];
    slot = join(slot, dtype);
  }
  return combine(by_rank[0], combine(by_rank[1], by_rank[2]));
}

ScalarType result_type(ArrayRef<Type> tensors, ArrayRef<Scalar> numbers) {
  SmallVector<Operand, 8> operands;
  for (const Type& type : tensors)
    operands.push_back(
        {type.dtype, type.sizes.empty() ? OperandRank::kZeroDim : OperandRank::kDimensioned});
  for (const Scalar& number : numbers) operands.push_back({number.type(), OperandRank::kNumber});
  return result_type(operands);
}

Shape broadcast_shapes(const std::string& op, IntArrayRef a, IntArrayRef b) {
  const bool a_longer = a.size() >= b.size();
  const IntArrayRef longer = a_longer ? a : b, shorter = a_longer ? b : a;
  const std::size_t lead = longer.size() - shorter.size();
  Shape result(longer);
  for (std::size_t i = 0; i < shorter.size(); ++i) {
    const std::int64_t x = longer[lead + i], y = shorter[i];
    if (x == y || y == 1) continue;
    GROOVE_CHECK(x == 1, "{}: shapes {} and {} do not broadcast ({} against {})", op, to_string(a),
                 to_string(b), a_longer ? x : y, a_longer ? y : x);
    result[lead + i] = y;
  }
  return result;
}

Shape broadcast_shapes(const std::string& op, ArrayRef<Type> inputs) {
  Shape result;
  for (const Type& type : inputs)
    if (type.dtype != ScalarType::Undefined) result = broadcast_shapes(op, result, type.sizes);
  return result;
}

}  // namespace groove
