// The records of what works on single bits: integers and bool.
#pragma once

#include "kernels/ops/rules.h"

namespace groove {

std::vector<ScalarType> bit_dtypes();
TypeResult bitwise_result(const Signature& signature);

/// With a tensor, and with a number under the name `<name>_scalar`.
struct BitwiseOps {
  const Op &tensor, &scalar;
};
BitwiseOps define_bitwise(const char* name, const char* scalar_name,
                          kernels::Expr (*body)(kernels::Expr, kernels::Expr),
                          ScalarFunction2 reference);

}  // namespace groove
