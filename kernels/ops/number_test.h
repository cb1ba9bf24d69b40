// The record of a question about one number; integers have no other answer than for finite ones.
#pragma once

#include "kernels/ops/rules.h"

namespace groove {

inline const Op& define_number_test(const char* name, kernels::Expr (*body)(kernels::Expr),
                                    ScalarFunction reference, ComplexRule complex = nullptr) {
  return define(UnarySpec{
      .name = name,
      .body = body,
      .complex = complex,
      .reference = reference,
      .type = truth_result,
      .dtypes = all_dtypes(),
      .tolerance_ulp = 0,
  });
}

/// |x|, at most infinity; 0 for integers.
inline kernels::Expr float_magnitude(kernels::Expr x) {
  return is_floating(x.dtype()) ? kernels::abs(x) : x.builder().constant(kFloat, 0);
}

}  // namespace groove
