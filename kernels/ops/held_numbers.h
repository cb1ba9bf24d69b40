// Numbers of the program that a dtype may not hold: kernels would wrap or truncate them.
#pragma once

#include "kernels/ops/rules.h"

namespace groove {

/// Throws where LibTorch does: a number beyond all that the dtype holds. An integer below 0 wraps
/// in an unsigned dtype; infinities and NaN are numbers of the floating ones; anything is a truth.
void check_held(const char* op, const Scalar& number, ScalarType dtype);
/// Of an integer dtype the number that is nearest, without its fraction; of others itself.
Scalar nearest_held(const Scalar& number, ScalarType dtype);
/// A bound for the elements of a tensor. One that all integers of their dtype keep becomes the
/// outermost of them; throws where none keeps it.
Scalar bound_for(const char* op, const Tensor& x, const Scalar& bound, bool is_lower);

}  // namespace groove
