// Strip loops of the arithmetic and bit primitives.
#include "kernels/interpreter/scalar.h"
#include "kernels/interpreter/steps.h"

namespace groove::kernels::interpreter {
namespace {

template <typename T, auto kBody>
constexpr StepFunction kUnary = unary_loop<T, T, kBody>;
template <typename T, auto kBody>
constexpr StepFunction kBinary = binary_loop<T, T, kBody>;

template <typename T>
void fma_loop(void* out, const void* a, const void* b, const void* c, std::int64_t count) {
  auto* __restrict result = static_cast<T*>(out);
  const auto* __restrict x = static_cast<const T*>(a);
  const auto* __restrict y = static_cast<const T*>(b);
  const auto* __restrict z = static_cast<const T*>(c);
  for (std::int64_t i = 0; i < count; ++i) result[i] = std::fma(x[i], y[i], z[i]);
}

template <typename T>
StepFunction floating_step(Prim prim) {
  switch (prim) {
    case Prim::kSqrt:
      return kUnary<T, [](T x) -> T { return std::sqrt(x); }>;
    case Prim::kFma:
      return fma_loop<T>;
    case Prim::kFloor:
      return kUnary<T, scalar::floor<T>>;
    case Prim::kCeil:
      return kUnary<T, scalar::ceil<T>>;
    case Prim::kTrunc:
      return kUnary<T, scalar::trunc<T>>;
    case Prim::kRoundEven:
      return kUnary<T, scalar::round_even<T>>;
    default:
      return nullptr;
  }
}

}  // namespace

StepFunction arithmetic_step(Prim prim, ScalarType dtype) {
  return visit_dtype(dtype, [&]<typename T>() -> StepFunction {
    switch (prim) {
      case Prim::kAdd:
        return kBinary<T, scalar::add<T>>;
      case Prim::kSub:
        return kBinary<T, scalar::sub<T>>;
      case Prim::kMul:
        return kBinary<T, scalar::mul<T>>;
      case Prim::kDiv:
        return kBinary<T, scalar::div<T>>;
      case Prim::kNeg:
        return kUnary<T, scalar::neg<T>>;
      case Prim::kAbs:
        return kUnary<T, scalar::abs<T>>;
      case Prim::kMax:
        return kBinary<T, scalar::max<T>>;
      case Prim::kMin:
        return kBinary<T, scalar::min<T>>;
      default:
        break;
    }
    if constexpr (scalar::kFloats<T>) {
      return floating_step<T>(prim);
    } else {
      return nullptr;
    }
  });
}

StepFunction bit_step(Prim prim, ScalarType dtype) {
  if (prim == Prim::kMulHigh) return kBinary<std::int32_t, scalar::mul_high>;
  if (prim == Prim::kNot && dtype == kBool) {
    return kUnary<std::uint8_t, [](std::uint8_t x) -> std::uint8_t { return x ^ 1; }>;
  }
  return visit_dtype(dtype, [&]<typename T>() -> StepFunction {
    if constexpr (!scalar::kFloats<T>) {
      switch (prim) {
        case Prim::kAnd:
          return kBinary<T, [](T a, T b) { return static_cast<T>(a & b); }>;
        case Prim::kOr:
          return kBinary<T, [](T a, T b) { return static_cast<T>(a | b); }>;
        case Prim::kXor:
          return kBinary<T, [](T a, T b) { return static_cast<T>(a ^ b); }>;
        case Prim::kNot:
          return kUnary<T, [](T a) { return static_cast<T>(~a); }>;
        case Prim::kShiftLeft:
          return kBinary<T, scalar::shift_left<T>>;
        case Prim::kShiftRightLogical:
          return kBinary<T, scalar::shift_right_logical<T>>;
        case Prim::kShiftRightArithmetic:
          return kBinary<T, scalar::shift_right_arithmetic<T>>;
        default:
          break;
      }
    }
    return nullptr;
  });
}

}  // namespace groove::kernels::interpreter
