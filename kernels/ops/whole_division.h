// What remainder, fmod and the rounded divisions share: the rest after whole multiples, and that
// integers divide by nothing that is 0.
#pragma once

#include "kernels/ops/reference.h"
#include "kernels/ops/rules.h"

namespace groove {

/// a - q b with q = a / b towards 0, exact: the rest has the sign of a.
kernels::Expr rest_of_division(kernels::Expr a, kernels::Expr b);

/// promoted(), not for bool.
TypeResult whole_division_type(const Signature& signature);
/// As define(BinarySpec), for whole numbers with divisors that are checked.
const Op& define_whole_division(BinarySpec spec);
/// Throws groove::Error when a number divides integers and is 0.
void check_divisor(const char* op, const Tensor& self, const Scalar& divisor);

}  // namespace groove
