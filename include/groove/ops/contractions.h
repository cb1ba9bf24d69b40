// Products of matrices. Operands must have one dtype; inner sizes that differ throw
// groove::Error.
#pragma once

#include "groove/tensor.h"

namespace groove {

/// 1-d and 2-d operands as in linear algebra; more axes are batches, which broadcast.
Tensor matmul(Arg self, const Tensor& other);
/// [m, k] x [k, n] -> [m, n]
Tensor mm(Arg self, const Tensor& other);
/// [b, m, k] x [b, k, n] -> [b, m, n]
Tensor bmm(Arg self, const Tensor& other);
/// [k] x [k] -> []
Tensor dot(Arg self, const Tensor& other);
/// input [..., k], weight [n, k], bias [n] or undefined -> input * weight^T + bias, [..., n]
Tensor linear(Arg input, const Tensor& weight, const Tensor& bias = Tensor());

}  // namespace groove
