// Ranks, quantiles, histograms and differences. NaN counts greatest where elements are ordered.
// Axes out of range throw groove::Error.
#pragma once

#include <concepts>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "groove/optional_array_ref.h"
#include "groove/tensor.h"

namespace groove {

/// The greatest (smallest) element up to each along `dim` and its position (i64), of equal ones the
/// last; NaN from the first one on.
std::tuple<Tensor, Tensor> cummax(Arg self, std::int64_t dim);
std::tuple<Tensor, Tensor> cummin(Arg self, std::int64_t dim);
/// log of the sum of exp up to each element along `dim`, without overflow.
Tensor logcumsumexp(Arg self, std::int64_t dim);

/// The lower of the middle elements, NaN if there is one; nanmedian leaves NaN out. With an axis
/// also the position (i64).
Tensor median(Arg self);
std::tuple<Tensor, Tensor> median(Arg self, std::int64_t dim, bool keepdim = false);
Tensor nanmedian(Arg self);
std::tuple<Tensor, Tensor> nanmedian(Arg self, std::int64_t dim, bool keepdim = false);
/// The k-th smallest element (k from 1) and its position.
std::tuple<Tensor, Tensor> kthvalue(Arg self, std::int64_t k, std::int64_t dim = -1,
                                    bool keepdim = false);
/// The most frequent element, the smallest of several, and the last position of it.
std::tuple<Tensor, Tensor> mode(Arg self, std::int64_t dim = -1, bool keepdim = false);
/// The value at the share q (in [0, 1]; [] or [k], which becomes a first axis) of the elements in
/// order, of all or along `dim`. interpolation between two: "linear", "lower", "higher",
/// "midpoint" or "nearest". nanquantile leaves NaN out.
Tensor quantile(Arg self, const Tensor& q, std::optional<std::int64_t> dim = std::nullopt,
                bool keepdim = false, std::string_view interpolation = "linear");
Tensor quantile(Arg self, double q, std::optional<std::int64_t> dim = std::nullopt,
                bool keepdim = false, std::string_view interpolation = "linear");
Tensor nanquantile(Arg self, const Tensor& q, std::optional<std::int64_t> dim = std::nullopt,
                   bool keepdim = false, std::string_view interpolation = "linear");
Tensor nanquantile(Arg self, double q, std::optional<std::int64_t> dim = std::nullopt,
                   bool keepdim = false, std::string_view interpolation = "linear");

/// The smallest and the greatest element.
std::tuple<Tensor, Tensor> aminmax(Arg self, std::optional<std::int64_t> dim = std::nullopt,
                                   bool keepdim = false);
/// Without the elements that are NaN.
Tensor nansum(Arg self, OptionalIntArrayRef dim = std::nullopt, bool keepdim = false,
              std::optional<ScalarType> dtype = std::nullopt);
Tensor nanmean(Arg self, OptionalIntArrayRef dim = std::nullopt, bool keepdim = false,
               std::optional<ScalarType> dtype = std::nullopt);
/// std and mean, var and mean. The number of elements is lessened by `correction` (1).
std::tuple<Tensor, Tensor> std_mean(Arg self, OptionalIntArrayRef dim, bool unbiased,
                                    bool keepdim = false);
std::tuple<Tensor, Tensor> std_mean(Arg self, OptionalIntArrayRef dim = std::nullopt,
                                    const std::optional<Scalar>& correction = std::nullopt,
                                    bool keepdim = false);
template <std::same_as<bool> Flag>
std::tuple<Tensor, Tensor> std_mean(Arg self, Flag unbiased) {
  return std_mean(self, OptionalIntArrayRef(), unbiased);
}
std::tuple<Tensor, Tensor> var_mean(Arg self, OptionalIntArrayRef dim, bool unbiased,
                                    bool keepdim = false);
std::tuple<Tensor, Tensor> var_mean(Arg self, OptionalIntArrayRef dim = std::nullopt,
                                    const std::optional<Scalar>& correction = std::nullopt,
                                    bool keepdim = false);
template <std::same_as<bool> Flag>
std::tuple<Tensor, Tensor> var_mean(Arg self, Flag unbiased) {
  return var_mean(self, OptionalIntArrayRef(), unbiased);
}
/// The covariances of the rows of self [n, k] (or the variance of [k]); fweights (whole numbers)
/// and aweights count observations, [k].
Tensor cov(Arg self, std::int64_t correction = 1,
           const std::optional<Tensor>& fweights = std::nullopt,
           const std::optional<Tensor>& aweights = std::nullopt);
/// The same divided by the standard deviations, in [-1, 1].
Tensor corrcoef(Arg self);

/// Where each element of self would be put into the ascending last axis of sorted_sequence: before
/// equal ones, or after them where `right` (side "right"). i64, or i32. `sorter` sorts the
/// sequence.
Tensor searchsorted(Arg sorted_sequence, const Tensor& self, bool out_int32 = false,
                    bool right = false, std::optional<std::string_view> side = std::nullopt,
                    const std::optional<Tensor>& sorter = std::nullopt);
Tensor searchsorted(Arg sorted_sequence, Scalar self, bool out_int32 = false, bool right = false,
                    std::optional<std::string_view> side = std::nullopt,
                    const std::optional<Tensor>& sorter = std::nullopt);
Tensor bucketize(Arg self, const Tensor& boundaries, bool out_int32 = false, bool right = false);
Tensor bucketize(Scalar self, Arg boundaries, bool out_int32 = false, bool right = false);
/// How often each number from 0 on occurs in self (1-d, not negative), or the sum of its weights.
/// Waits for self.
Tensor bincount(Arg self, const std::optional<Tensor>& weights = std::nullopt,
                std::int64_t minlength = 0);
/// How many elements lie in each of `bins` equal parts of [min, max] (of the elements' own range
/// where both are equal).
Tensor histc(Arg self, std::int64_t bins = 100, Scalar min = 0, Scalar max = 0);

/// Elements (slices along `dim`) without those equal to the one before; where each went; how many
/// there were. What is not asked for is empty. These wait for self.
std::tuple<Tensor, Tensor, Tensor> unique_consecutive(
    Arg self, bool return_inverse = false, bool return_counts = false,
    std::optional<std::int64_t> dim = std::nullopt);
std::tuple<Tensor, Tensor, Tensor> unique_dim_consecutive(Arg self, std::int64_t dim,
                                                          bool return_inverse = false,
                                                          bool return_counts = false);
/// Likewise of the slices in ascending order, and of the elements.
std::tuple<Tensor, Tensor, Tensor> unique_dim(Arg self, std::int64_t dim, bool sorted = true,
                                              bool return_inverse = false,
                                              bool return_counts = false);
std::tuple<Tensor, Tensor, Tensor> _unique2(Arg self, bool sorted = true,
                                            bool return_inverse = false,
                                            bool return_counts = false);
std::tuple<Tensor, Tensor> _unique(Arg self, bool sorted = true, bool return_inverse = false);
/// Slices along `axis` brought together, one result for each segment: reduce is "sum", "mean",
/// "max", "min" or "prod", from `initial` on. Segments have `lengths` [n], or lie between `offsets`
/// [n + 1], which are waited for. An empty one gives `initial`, or 0, NaN, -infinity, infinity, 1.
Tensor segment_reduce(Arg data, std::string_view reduce,
                      const std::optional<Tensor>& lengths = std::nullopt,
                      const std::optional<Tensor>& indices = std::nullopt,
                      const std::optional<Tensor>& offsets = std::nullopt, std::int64_t axis = 0,
                      bool unsafe = false, const std::optional<Scalar>& initial = std::nullopt);

/// Each element less the one before it along `dim`, n times over.
Tensor diff(Arg self, std::int64_t n = 1, std::int64_t dim = -1,
            const std::optional<Tensor>& prepend = std::nullopt,
            const std::optional<Tensor>& append = std::nullopt);
/// Slopes along each axis (all without `dim`) by central differences, of one side at the ends, over
/// 2 (edge_order 1) or 3 points. `spacing` is one distance, one for each axis, or coordinates.
std::vector<Tensor> gradient(Arg self, const std::optional<Scalar>& spacing = std::nullopt,
                             std::optional<std::int64_t> dim = std::nullopt,
                             std::int64_t edge_order = 1);
std::vector<Tensor> gradient(Arg self, Scalar spacing, IntArrayRef dim,
                             std::int64_t edge_order = 1);
std::vector<Tensor> gradient(Arg self, IntArrayRef dim, std::int64_t edge_order = 1);
std::vector<Tensor> gradient(Arg self, ArrayRef<Scalar> spacing,
                             std::optional<std::int64_t> dim = std::nullopt,
                             std::int64_t edge_order = 1);
std::vector<Tensor> gradient(Arg self, ArrayRef<Scalar> spacing, IntArrayRef dim,
                             std::int64_t edge_order = 1);
std::vector<Tensor> gradient(Arg self, TensorList spacing,
                             std::optional<std::int64_t> dim = std::nullopt,
                             std::int64_t edge_order = 1);
std::vector<Tensor> gradient(Arg self, TensorList spacing, IntArrayRef dim,
                             std::int64_t edge_order = 1);
/// The integral along `dim` of the lines through the points (x, y), or with distance dx between
/// them.
Tensor trapezoid(Arg y, const Tensor& x, std::int64_t dim = -1);
Tensor trapezoid(Arg y, Scalar dx = 1, std::int64_t dim = -1);
Tensor trapz(Arg y, const Tensor& x, std::int64_t dim = -1);
Tensor trapz(Arg y, double dx = 1, std::int64_t dim = -1);
/// … up to each point but the first.
Tensor cumulative_trapezoid(Arg y, const Tensor& x, std::int64_t dim = -1);
Tensor cumulative_trapezoid(Arg y, Scalar dx = 1, std::int64_t dim = -1);

}  // namespace groove
