// Strip loops of comparisons, select, conversions and bitcasts, and the choice among all steps.
#include <cstring>

#include "kernels/interpreter/scalar.h"
#include "kernels/interpreter/steps.h"
#include "src/core/half.h"

namespace groove::kernels::interpreter {
namespace {

// By size alone: selecting never looks at the value.
template <typename T>
void select_loop(void* out, const void* mask, const void* yes, const void* no, std::int64_t count) {
  auto* __restrict result = static_cast<T*>(out);
  const auto* __restrict m = static_cast<const std::uint8_t*>(mask);
  const auto* __restrict y = static_cast<const T*>(yes);
  const auto* __restrict n = static_cast<const T*>(no);
  for (std::int64_t i = 0; i < count; ++i) {
    const T when_set = y[i], otherwise = n[i];
    result[i] = m[i] != 0 ? when_set : otherwise;
  }
}

StepFunction select_step(std::size_t size) {
  switch (size) {
    case 1:
      return select_loop<std::uint8_t>;
    case 2:
      return select_loop<std::uint16_t>;
    case 4:
      return select_loop<std::uint32_t>;
    default:
      return select_loop<std::uint64_t>;
  }
}

template <std::size_t kSize>
void copy_loop(void* out, const void* a, const void*, const void*, std::int64_t count) {
  std::memcpy(out, a, static_cast<std::size_t>(count) * kSize);
}

}  // namespace

StepFunction compare_step(Prim prim, ScalarType operand) {
  return visit_dtype(operand, [&]<typename T>() -> StepFunction {
    using Byte = std::uint8_t;
    switch (prim) {
      case Prim::kEq:
        return binary_loop<Byte, T, [](T a, T b) -> Byte { return a == b; }>;
      case Prim::kNe:
        return binary_loop<Byte, T, [](T a, T b) -> Byte { return a != b; }>;
      case Prim::kLt:
        return binary_loop<Byte, T, [](T a, T b) -> Byte { return a < b; }>;
      case Prim::kLe:
        return binary_loop<Byte, T, [](T a, T b) -> Byte { return a <= b; }>;
      case Prim::kGt:
        return binary_loop<Byte, T, [](T a, T b) -> Byte { return (a > b); }>;
      case Prim::kGe:
        return binary_loop<Byte, T, [](T a, T b) -> Byte { return (a >= b); }>;
      default:
        return nullptr;
    }
  });
}

StepFunction convert_step(ScalarType to, ScalarType from) {
  if (from == kHalf) return unary_loop<float, std::uint16_t, float_from_half>;
  if (from == kBFloat16) return unary_loop<float, std::uint16_t, float_from_bfloat16>;
  if (to == kHalf) return unary_loop<std::uint16_t, float, half_from_float>;
  if (to == kBFloat16) return unary_loop<std::uint16_t, float, bfloat16_from_float>;
  return visit_dtype(from, [&]<typename From>() -> StepFunction {
    if (to == kBool) {
      return unary_loop<std::uint8_t, From, [](From x) -> std::uint8_t { return x != From{0}; }>;
    }
    return visit_dtype(to, [&]<typename To>() -> StepFunction {
      return unary_loop<To, From, scalar::convert<To, From>>;
    });
  });
}

StepFunction step_function(Prim prim, ScalarType dtype, ScalarType operand) {
  switch (prim) {
    case Prim::kAdd:
    case Prim::kSub:
    case Prim::kMul:
    case Prim::kDiv:
    case Prim::kSqrt:
    case Prim::kFma:
    case Prim::kNeg:
    case Prim::kAbs:
    case Prim::kMax:
    case Prim::kMin:
    case Prim::kFloor:
    case Prim::kCeil:
    case Prim::kTrunc:
    case Prim::kRoundEven:
      return arithmetic_step(prim, dtype);
    case Prim::kMulHigh:
    case Prim::kAnd:
    case Prim::kOr:
    case Prim::kXor:
    case Prim::kNot:
    case Prim::kShiftLeft:
    case Prim::kShiftRightLogical:
    case Prim::kShiftRightArithmetic:
      return bit_step(prim, dtype);
    case Prim::kEq:
    case Prim::kNe:
    case Prim::kLt:
    case Prim::kLe:
    case Prim::kGt:
    case Prim::kGe:
      return compare_step(prim, operand);
    case Prim::kSelect:
      return select_step(element_size(dtype));
    case Prim::kConvert:
      return convert_step(dtype, operand);
    case Prim::kBitcast:
      return element_size(dtype) == 4 ? copy_loop<4> : copy_loop<8>;
    default:
      return nullptr;
  }
}

}  // namespace groove::kernels::interpreter
