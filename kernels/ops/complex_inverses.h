// Inverse circular and hyperbolic functions of complex numbers, with the branch cuts of C99.
#pragma once

#include "kernels/ops/complex_rules.h"

namespace groove::complex_rules {

Tensor arc_sine(const Tensor& z);
Tensor arc_cosine(const Tensor& z);
Tensor arc_tangent(const Tensor& z);
Tensor hyperbolic_arc_sine(const Tensor& z);
Tensor hyperbolic_arc_cosine(const Tensor& z);
Tensor hyperbolic_arc_tangent(const Tensor& z);

}  // namespace groove::complex_rules
