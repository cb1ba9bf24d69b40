// unique_consecutive, unique_dim and _unique2: rows that differ from the one before are found by
// comparing, which rows these are is read on the host, and everything else follows in ordinary ops.
#include "groove/ops/creation.h"
#include "groove/ops/index.h"
#include "groove/ops/statistics.h"
#include "groove/ops/views.h"
#include "kernels/ops/rules.h"
#include "kernels/tensor/index_tensors.h"

namespace groove {
namespace {

struct Found {
  Tensor places, inverse, counts;  // of the first row of each run; the run of each row; lengths
};

// rows: [n, m]
Found runs_of(const Tensor& rows, bool inverse, bool counts) {
  const std::int64_t n = rows.size(0);
  const TensorOptions options(kLong);
  Found found{empty({0}, options), empty({0}, options), empty({0}, options)};
  if (n == 0) return found;
  const Tensor unequal = ne(narrow(rows, 0, 1, n - 1), narrow(rows, 0, 0, n - 1));
  const Tensor differs = rows.size(1) == 1 ? flatten(unequal) : any(unequal, 1);
  const Tensor begins = cat({ones({1}, TensorOptions(kBool)), differs});
  found.places = selected_positions(begins, Site::current());
  if (inverse) found.inverse = cumsum(begins.to(kLong), 0) - 1;
  if (counts) found.counts = diff(found.places, 1, 0, std::nullopt, full({1}, n, options));
  return found;
}

// The order of rows by their columns from the first on: by the last one first, equal ones staying.
Tensor ascending(const Tensor& rows) {
  if (rows.size(1) == 1) return argsort(flatten(rows), 0);
  Tensor order = arange(Scalar(rows.size(0)));
  for (std::int64_t column = rows.size(1); column-- > 0;) {
    const Tensor keys = index_select(select(rows, 1, column), 0, order);
    order = index_select(order, 0, argsort(keys, 0));
  }
  return order;
}

Tensor as_rows(const Tensor& x) {
  const std::int64_t n = x.size(0);
  return reshape(x, {n, n == 0 ? 0 : x.numel() / n});
}

// Slices without elements cannot be told apart.
std::int64_t slice_axis(const char* op, const Shape& sizes, std::int64_t dim) {
  GROOVE_CHECK(!sizes.empty(), "{}: dim {} of a 0-d tensor, which has no slices", op, dim);
  const std::int64_t axis = normal_dim(op, dim, sizes.size());
  for (std::size_t i = 0; i < sizes.size(); ++i)
    GROOVE_CHECK(sizes[i] != 0 || static_cast<std::int64_t>(i) == axis,
                 "{}: the slices of shape {} along dim {} have no elements", op, to_string(sizes),
                 dim);
  return axis;
}

// Of slices the inverse and the counts are there in any case, as in LibTorch.
std::tuple<Tensor, Tensor, Tensor> consecutive(const char* op, const Tensor& self, bool inverse,
                                               bool counts, std::optional<std::int64_t> dim) {
  const Shape sizes = checked(op, self).geometry.sizes;
  const Tensor plain = self.detach();
  if (!dim) {
    const Tensor flat = flatten(plain);
    const Found found = runs_of(unsqueeze(flat, 1), inverse, counts);
    return {index_select(flat, 0, found.places),
            inverse ? reshape(found.inverse, sizes) : found.inverse, found.counts};
  }
  const std::int64_t axis = slice_axis(op, sizes, *dim);
  const Found found = runs_of(as_rows(movedim(plain, axis, 0)), true, true);
  return {index_select(plain, axis, found.places), found.inverse, found.counts};
}

// Of rows in ascending order; positions are those of rows as they were.
Found sorted_runs(const Tensor& rows, bool inverse, bool counts) {
  const Tensor order = ascending(rows);
  Found found = runs_of(index_select(rows, 0, order), inverse, counts);
  found.places = index_select(order, 0, found.places);
  if (inverse && rows.size(0) > 0)
    found.inverse = index_copy(zeros_like(found.inverse), 0, order, found.inverse);
  return found;
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> unique_consecutive(Arg self, bool return_inverse,
                                                      bool return_counts,
                                                      std::optional<std::int64_t> dim) {
  const SiteScope scope(self.site);
  return consecutive("unique_consecutive", *self.tensor, return_inverse, return_counts, dim);
}
std::tuple<Tensor, Tensor, Tensor> unique_dim_consecutive(Arg self, std::int64_t dim,
                                                          bool return_inverse, bool return_counts) {
  const SiteScope scope(self.site);
  return consecutive("unique_dim_consecutive", *self.tensor, return_inverse, return_counts, dim);
}

std::tuple<Tensor, Tensor, Tensor> unique_dim(Arg self, std::int64_t dim, bool, bool, bool) {
  const SiteScope scope(self.site);
  const Shape sizes = checked("unique_dim", *self.tensor).geometry.sizes;
  const std::int64_t axis = slice_axis("unique_dim", sizes, dim);
  const Tensor x = self.tensor->detach();
  const Found found = sorted_runs(as_rows(movedim(x, axis, 0)), true, true);
  return {index_select(x, axis, found.places), found.inverse, found.counts};
}

std::tuple<Tensor, Tensor> _unique(Arg self, bool sorted, bool return_inverse) {
  const SiteScope scope(self.site);
  const auto [values, inverse, counts] = _unique2(self, sorted, return_inverse, false);
  return {values, inverse};
}

std::tuple<Tensor, Tensor, Tensor> _unique2(Arg self, bool, bool return_inverse,
                                            bool return_counts) {
  const SiteScope scope(self.site);
  const Shape sizes = checked("_unique2", *self.tensor).geometry.sizes;
  const Tensor flat = flatten(self.tensor->detach());
  const Found found = sorted_runs(unsqueeze(flat, 1), return_inverse, return_counts);
  return {index_select(flat, 0, found.places),
          return_inverse ? reshape(found.inverse, sizes) : found.inverse, found.counts};
}

}  // namespace groove
