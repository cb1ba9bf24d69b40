// What eigh and svd share.
#pragma once

#include "kernels/ops/matrices.h"

namespace groove {

/// The lines in another order, of length 1 again: each rotation's rounding moves it a little.
Matrix unit_lines(const Matrix& vectors, const std::vector<std::size_t>& order);
/// Turns each line so that its element of greatest magnitude is positive, and with it the line of
/// `others`.
void settle_signs(Matrix& vectors, Matrix* others = nullptr);
/// [.., n] -> [.., n, n], 0 beside the diagonal.
Tensor on_diagonal(const Tensor& values);
/// x / gaps beside the diagonal, 0 on it.
Tensor divided_by_gaps(const Tensor& x, const Tensor& gaps);

/// A = U S V^T, differentiable. Of full U and V there are more columns than values.
struct Singular {
  Tensor u, s, v;
};
Singular singular_decomposition(const char* name, const Tensor& a, bool is_full = false);

}  // namespace groove
