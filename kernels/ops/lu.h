// LU factors for those who solve with them.
#pragma once

#include "kernels/ops/matrices.h"

namespace groove {

struct LuFactors {
  Tensor factors;    // L below the diagonal, U on and above it
  Tensor exchanges;  // of rows, counted from 1
  Tensor info;       // the first pivot that is 0, counted from 1
};
LuFactors lu_factors(const char* name, const Tensor& a, bool pivots, bool is_square);
/// The row of A in each place of P^T A: [.., rows] (i64).
Tensor exchanged_rows(const Tensor& exchanges, std::int64_t rows);
/// P, in the dtype of `like`.
Tensor exchange_matrix(const Tensor& exchanges, std::int64_t rows, const Tensor& like);

}  // namespace groove
