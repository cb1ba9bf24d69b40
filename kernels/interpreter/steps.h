// One step of the interpreter: a loop that applies one pure primitive to a strip of elements.
#pragma once

#include <cstdint>
#include <utility>

#include "kernels/ir.h"
#include "src/core/check.h"

namespace groove::kernels::interpreter {

// Arrays of `count` elements; `out` overlaps none of the others.
using StepFunction = void (*)(void* out, const void* a, const void* b, const void* c,
                              std::int64_t count);

/// The loop for a pure primitive that needs neither memory nor indices nor tables; null for the
/// others. `operand` is the dtype of the last operand, which differs from the instruction's in
/// comparisons and conversions.
StepFunction step_function(Prim prim, ScalarType dtype, ScalarType operand);

StepFunction arithmetic_step(Prim prim, ScalarType dtype);
StepFunction bit_step(Prim prim, ScalarType dtype);
StepFunction compare_step(Prim prim, ScalarType operand);
StepFunction convert_step(ScalarType to, ScalarType from);

/// Calls visit.template operator()<T>() with the C++ type that stores the dtype; bool is u8. Not for
/// 16-bit floats, which no primitive computes with.
template <typename Visit>
decltype(auto) visit_dtype(ScalarType dtype, Visit&& visit) {
  switch (dtype) {
    case kBool:
    case kByte:
      return std::forward<Visit>(visit).template operator()<std::uint8_t>();
    case kChar:
      return std::forward<Visit>(visit).template operator()<std::int8_t>();
    case kShort:
      return std::forward<Visit>(visit).template operator()<std::int16_t>();
    case kInt:
      return std::forward<Visit>(visit).template operator()<std::int32_t>();
    case kLong:
      return std::forward<Visit>(visit).template operator()<std::int64_t>();
    case kFloat:
      return std::forward<Visit>(visit).template operator()<float>();
    case kDouble:
      return std::forward<Visit>(visit).template operator()<double>();
    default:
      throw_error("interpreter: unsupported dtype");
  }
}

// The loops that all steps are made of; `body` is a captureless lambda, so each inlines.
template <typename Out, typename A, auto kBody>
void unary_loop(void* out, const void* a, const void*, const void*, std::int64_t count) {
  auto* __restrict result = static_cast<Out*>(out);
  const auto* __restrict x = static_cast<const A*>(a);
  for (std::int64_t i = 0; i < count; ++i) result[i] = kBody(x[i]);
}
template <typename Out, typename A, auto kBody>
void binary_loop(void* out, const void* a, const void* b, const void*, std::int64_t count) {
  auto* __restrict result = static_cast<Out*>(out);
  const auto* __restrict x = static_cast<const A*>(a);
  const auto* __restrict y = static_cast<const A*>(b);
  for (std::int64_t i = 0; i < count; ++i) result[i] = kBody(x[i], y[i]);
}

}  // namespace groove::kernels::interpreter
