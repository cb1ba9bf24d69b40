// Reductions. `dim` lists axes (negative ones count from the end; empty: all of them); `keepdim`
// leaves reduced axes with size 1. An axis out of range or listed twice throws groove::Error.
#pragma once

#include <concepts>
#include <optional>
#include <tuple>

#include "groove/optional_array_ref.h"
#include "groove/tensor.h"

namespace groove {

/// Integers and bool are summed as i64 unless a dtype is given. 0 over nothing.
Tensor sum(Arg self);
Tensor sum(Arg self, ScalarType dtype);
Tensor sum(Arg self, OptionalIntArrayRef dim, bool keepdim = false,
           std::optional<ScalarType> dtype = std::nullopt);
/// The sum divided once by the number of elements; floating dtypes only. NaN over nothing.
Tensor mean(Arg self);
Tensor mean(Arg self, ScalarType dtype);
Tensor mean(Arg self, OptionalIntArrayRef dim, bool keepdim = false,
            std::optional<ScalarType> dtype = std::nullopt);
/// The greatest (smallest) element; NaN if one is. Throws over nothing.
Tensor max(Arg self);
Tensor min(Arg self);
Tensor amax(Arg self, IntArrayRef dim = {}, bool keepdim = false);
Tensor amin(Arg self, IntArrayRef dim = {}, bool keepdim = false);
/// Elementwise, as maximum and minimum.
Tensor max(Arg self, const Tensor& other);
Tensor min(Arg self, const Tensor& other);
/// Values and i64 positions along one axis; ties take the lowest position, NaN counts greatest
/// (for min: as smallest).
std::tuple<Tensor, Tensor> max(Arg self, std::int64_t dim, bool keepdim = false);
std::tuple<Tensor, Tensor> min(Arg self, std::int64_t dim, bool keepdim = false);
/// i64 positions, along one axis or in the flattened tensor.
Tensor argmax(Arg self, std::optional<std::int64_t> dim = std::nullopt, bool keepdim = false);
Tensor argmin(Arg self, std::optional<std::int64_t> dim = std::nullopt, bool keepdim = false);

/// The product; integers and bool as i64 unless a dtype is given. 1 over nothing.
Tensor prod(Arg self);
Tensor prod(Arg self, ScalarType dtype);
Tensor prod(Arg self, std::int64_t dim, bool keepdim = false,
            std::optional<ScalarType> dtype = std::nullopt);
/// Is any (every) element true? bool; false (true) over nothing.
Tensor any(Arg self);
Tensor any(Arg self, std::int64_t dim, bool keepdim = false);
Tensor any(Arg self, OptionalIntArrayRef dim, bool keepdim = false);
Tensor all(Arg self);
Tensor all(Arg self, std::int64_t dim, bool keepdim = false);
Tensor all(Arg self, OptionalIntArrayRef dim, bool keepdim = false);
/// The mean squared deviation from the mean, in two passes; `unbiased` divides by one less than the
/// number of elements. Floating dtypes only. var(x, 0) is about axis 0: a bool alone says
/// `unbiased`, a whole number never does.
Tensor var(Arg self);
Tensor var(Arg self, OptionalIntArrayRef dim, bool unbiased = true, bool keepdim = false);
/// The number of elements is lessened by `correction` (1).
Tensor var(Arg self, OptionalIntArrayRef dim, const std::optional<Scalar>& correction,
           bool keepdim = false);
template <std::same_as<bool> Flag>
Tensor var(Arg self, Flag unbiased) {
  return var(self, OptionalIntArrayRef(), unbiased);
}
/// The square root of var.
Tensor std(Arg self);
Tensor std(Arg self, OptionalIntArrayRef dim, bool unbiased = true, bool keepdim = false);
Tensor std(Arg self, OptionalIntArrayRef dim, const std::optional<Scalar>& correction,
           bool keepdim = false);
template <std::same_as<bool> Flag>
Tensor std(Arg self, Flag unbiased) {
  return std(self, OptionalIntArrayRef(), unbiased);
}
/// (sum of |self|^p)^(1/p); p = 0 counts nonzero elements, p = inf is the greatest magnitude.
Tensor norm(Arg self, Scalar p = 2);
Tensor norm(Arg self, std::optional<Scalar> p, IntArrayRef dim, bool keepdim = false);
/// Of the elements in another dtype.
Tensor norm(Arg self, std::optional<Scalar> p, ScalarType dtype);
Tensor norm(Arg self, std::optional<Scalar> p, IntArrayRef dim, bool keepdim, ScalarType dtype);
/// Sums (products) of all elements up to each along one axis, in ascending order one at a time.
Tensor cumsum(Arg self, std::int64_t dim, std::optional<ScalarType> dtype = std::nullopt);
Tensor cumprod(Arg self, std::int64_t dim, std::optional<ScalarType> dtype = std::nullopt);
/// log(sum(exp(self))) without overflow.
Tensor logsumexp(Arg self, IntArrayRef dim, bool keepdim = false);
/// How many elements differ from 0 (i64).
Tensor count_nonzero(Arg self, OptionalIntArrayRef dim = std::nullopt);
/// (input - mean) / sqrt(var + eps) over the last axes `normalized_shape`, times weight plus bias
/// where given (Ba, Kiros, Hinton 2016).
Tensor layer_norm(Arg input, IntArrayRef normalized_shape, const Tensor& weight = Tensor(),
                  const Tensor& bias = Tensor(), double eps = 1e-5, bool cudnn_enable = false);
/// input / sqrt(mean(input^2) + eps) over the last axes `normalized_shape`, times weight where
/// given; eps is the dtype's epsilon unless given (Zhang and Sennrich 2019).
Tensor rms_norm(Arg input, IntArrayRef normalized_shape, const Tensor& weight = Tensor(),
                std::optional<double> eps = std::nullopt);

/// exp(self) / sum(exp(self)) along one axis, without overflow; floating dtypes only.
Tensor softmax(Arg self, std::int64_t dim, std::optional<ScalarType> dtype = std::nullopt);
Tensor log_softmax(Arg self, std::int64_t dim, std::optional<ScalarType> dtype = std::nullopt);

/// `self` summed over the axes that broadcasting added or stretched, in shape `sizes`.
Tensor sum_to(Arg self, IntArrayRef sizes);

}  // namespace groove
