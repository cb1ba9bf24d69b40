// What eigh and svd share.
#pragma once

#include "kernels/ops/matrices.h"

namespace groove {

/// Turns each column so that its element of greatest magnitude is positive, and with it the column
/// of `others`.
void settle_signs(Matrix& vectors, Matrix* others = nullptr);
/// [.., n] -> [.., n, n], 0 beside the diagonal.
Tensor on_diagonal(const Tensor& values);
/// x / gaps beside the diagonal, 0 on it.
Tensor divided_by_gaps(const Tensor& x, const Tensor& gaps);

/// Singular values of a matrix, differentiable.
Tensor singular_values(const char* name, const Tensor& a);

}  // namespace groove
