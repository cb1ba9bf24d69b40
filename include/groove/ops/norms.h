// Norms of vectors and matrices as torch.linalg defines them; floating dtypes only. Axes out of
// range, unknown orders and tensors without elements where there is no norm throw groove::Error.
#pragma once

#include <optional>
#include <string_view>

#include "groove/optional_array_ref.h"
#include "groove/tensor.h"

namespace groove {

/// (sum of |self|^ord)^(1/ord) along `dim`, or of all elements.
Tensor linalg_vector_norm(Arg self, Scalar ord = 2, OptionalIntArrayRef dim = std::nullopt,
                          bool keepdim = false, std::optional<ScalarType> dtype = std::nullopt);
/// ord is 1, 2, infinity (greatest sum of a column, greatest singular value, greatest sum of a row)
/// or their negatives (smallest), "fro" (of all elements) or "nuc" (the sum of singular values).
Tensor linalg_matrix_norm(Arg self, Scalar ord, IntArrayRef dim = {-2, -1}, bool keepdim = false,
                          std::optional<ScalarType> dtype = std::nullopt);
Tensor linalg_matrix_norm(Arg self, std::string_view ord = "fro", IntArrayRef dim = {-2, -1},
                          bool keepdim = false, std::optional<ScalarType> dtype = std::nullopt);
/// Of vectors where `dim` is one axis, of matrices where it is two. Without axes of all elements,
/// or, with an ord, of self, which is a vector or a matrix.
Tensor linalg_norm(Arg self, const std::optional<Scalar>& ord = std::nullopt,
                   OptionalIntArrayRef dim = std::nullopt, bool keepdim = false,
                   std::optional<ScalarType> dtype = std::nullopt);
Tensor linalg_norm(Arg self, std::string_view ord, OptionalIntArrayRef dim = std::nullopt,
                   bool keepdim = false, std::optional<ScalarType> dtype = std::nullopt);
Tensor nuclear_norm(Arg self, bool keepdim = false);
Tensor nuclear_norm(Arg self, IntArrayRef dim, bool keepdim = false);
Tensor frobenius_norm(Arg self, IntArrayRef dim, bool keepdim = false);
/// norm(self) * norm(inverse(self)); with p 2 or -2, or without one, the ratio of the greatest and
/// the smallest singular value.
Tensor linalg_cond(Arg self, const std::optional<Scalar>& p = std::nullopt);
Tensor linalg_cond(Arg self, std::string_view p);

}  // namespace groove
