// beta * self + alpha * product.
#pragma once

#include "kernels/ops/rules.h"

namespace groove {

/// self broadcasts to the product's shape; a factor of 0 leaves it out, even where it is NaN.
Tensor added_product(const char* op, const Tensor& self, const Tensor& product, Scalar beta,
                     Scalar alpha);

}  // namespace groove
