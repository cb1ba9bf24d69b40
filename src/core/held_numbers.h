// Numbers of the program that a dtype may not hold: kernels would wrap or truncate them.
#pragma once

#include "src/core/op.h"

namespace groove {

/// The greatest finite number of a floating dtype.
double greatest_of(ScalarType dtype);
/// Does LibTorch convert it? An integer below 0 wraps in an unsigned dtype; infinities and NaN are
/// numbers of the floating ones; anything is a truth.
bool is_held(const Scalar& number, ScalarType dtype);
void check_held(const char* op, const Scalar& number, ScalarType dtype);
/// The same for what becomes an element: too large a number is infinity in the 16-bit floats.
void check_element(const char* op, const Scalar& number, ScalarType dtype);
/// Of an integer dtype the number that is nearest, without its fraction; of others itself.
Scalar nearest_held(const Scalar& number, ScalarType dtype);
/// A bound for the elements of a tensor. One that all integers of their dtype keep becomes the
/// outermost of them; throws where none keeps it.
Scalar bound_for(const char* op, const Tensor& x, const Scalar& bound, bool is_lower);

}  // namespace groove
