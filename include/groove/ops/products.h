// Products of tensors spelled with products of matrices, powers of matrices and distances between
// rows. Shapes that do not fit throw groove::Error.
#pragma once

#include <optional>
#include <string_view>

#include "groove/optional_array_ref.h"
#include "groove/tensor.h"

namespace groove {

/// Einstein's summation: "ij,jk->ik". A letter names an axis; one that the result lacks is summed
/// over; one that an operand has twice takes its diagonal; "..." stands for axes that broadcast.
/// Without "->" the result has the letters that occur once, in order, after the axes of "...".
/// Operands are multiplied in pairs, each time the two whose product is smallest against them; or
/// as `path` says: pairs of positions, whose product goes to the end.
Tensor einsum(std::string_view equation, TensorList tensors,
              OptionalIntArrayRef path = std::nullopt, Site site = Site::current());
/// The sum of products over the axes dims_self of self and dims_other of other; the axes left stand
/// in order, those of self first.
Tensor tensordot(Arg self, const Tensor& other, IntArrayRef dims_self, IntArrayRef dims_other);
/// [.., k], [.., k] -> the axes left of both; a product with a number where one is 0-d.
Tensor inner(Arg self, const Tensor& other);
/// [k] x [k] -> []
Tensor vdot(Arg self, const Tensor& other);
/// The blocks self[i..] * other, of size self.size(i) * other.size(i) along axis i.
Tensor kron(Arg self, const Tensor& other);
/// The product of vectors of 3 elements along `dim` (without one: the first axis of size 3).
Tensor cross(Arg self, const Tensor& other, std::optional<std::int64_t> dim = std::nullopt);
Tensor linalg_cross(Arg self, const Tensor& other, std::int64_t dim = -1);

// beta * self + alpha * product; self broadcasts to the product and is left out where beta is 0.
/// mat [m, k], vec [k]
Tensor addmv(Arg self, const Tensor& mat, const Tensor& vec, Scalar beta = 1, Scalar alpha = 1);
/// vec1 [m], vec2 [n]
Tensor addr(Arg self, const Tensor& vec1, const Tensor& vec2, Scalar beta = 1, Scalar alpha = 1);
/// batch1 [b, m, k], batch2 [b, k, n]; the products are summed.
Tensor addbmm(Arg self, const Tensor& batch1, const Tensor& batch2, Scalar beta = 1,
              Scalar alpha = 1);
/// batch1 [b, m, k], batch2 [b, k, n] -> [b, m, n]
Tensor baddbmm(Arg self, const Tensor& batch1, const Tensor& batch2, Scalar beta = 1,
               Scalar alpha = 1);
/// As outer.
Tensor ger(Arg self, const Tensor& vec2);

/// The product of all, in the order that takes the fewest multiplications. The first and the last
/// one of linalg_multi_dot may be vectors.
Tensor chain_matmul(TensorList matrices, Site site = Site::current());
Tensor linalg_multi_dot(TensorList tensors, Site site = Site::current());
Tensor linalg_matmul(Arg self, const Tensor& other);
/// [.., n, n]; negative powers are those of the inverse.
Tensor matrix_power(Arg self, std::int64_t n);
Tensor linalg_matrix_power(Arg self, std::int64_t n);
/// The sum of all self^k / k!, [.., n, n].
Tensor matrix_exp(Arg self);
Tensor linalg_matrix_exp(Arg self);

Tensor linalg_diagonal(Arg self, std::int64_t offset = 0, std::int64_t dim1 = -2,
                       std::int64_t dim2 = -1);
/// The sum of products along `dim`.
Tensor linalg_vecdot(Arg x, const Tensor& y, std::int64_t dim = -1);

/// The p-norm of self - other.
Tensor dist(Arg self, const Tensor& other, Scalar p = 2);
/// x1 [.., P, M], x2 [.., R, M] -> the p-norm of every difference of rows, [.., P, R]. Between many
/// rows p = 2 goes through a product of matrices; compute_mode 2 forbids that and 1 asks for it.
Tensor cdist(Arg x1, const Tensor& x2, double p = 2,
             std::optional<std::int64_t> compute_mode = std::nullopt);
/// [n, m] -> the distances of rows i < j, [n (n - 1) / 2].
Tensor pdist(Arg self, double p = 2);

}  // namespace groove
