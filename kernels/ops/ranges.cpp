// logspace, range, positions in triangles, and memory with strides: factories spelled with others.
#include "groove/ops/ranges.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "groove/ops/index.h"
#include "groove/ops/views.h"
#include "kernels/ops/spelled.h"
#include "src/core/geometry.h"

namespace groove {
namespace {

ScalarType dtype_in(const TensorOptions& options) {
  return options.dtype_opt().value_or(get_default_dtype());
}

Tensor finished(const Tensor& values, const TensorOptions& options, Site site) {
  const Tensor result = values.to(dtype_in(options), false, false, site);
  if (options.requires_grad()) result.requires_grad_(true, site);
  return result;
}

// In row-major order. `lengths` of the rows, which begin at the columns `first`: an element is in
// the row whose number is that of the rows that end before it.
Tensor triangle_indices(std::int64_t rows, const Tensor& lengths, const Tensor& first,
                        std::int64_t total) {
  if (total == 0) return zeros({2, 0}, kLong);
  const Tensor ends = cumsum(lengths, 0);
  const Tensor ended = index_add(zeros({total + 1}, kLong), 0, ends, ones({rows}, kLong));
  const Tensor row = cumsum(ended.slice(0, 0, total), 0);
  const Tensor before = index_select(ends - lengths - first, 0, row);
  return stack({row, arange(Scalar(total), kLong) - before});
}

void check_triangle(const char* op, std::int64_t row, std::int64_t col) {
  GROOVE_CHECK(row >= 0 && col >= 0, "{}: {} rows and {} columns must not be negative", op, row,
               col);
}

Tensor strided(const char* op, IntArrayRef size, IntArrayRef stride, const TensorOptions& options,
               Site site) {
  GROOVE_CHECK(size.size() == stride.size(), "{}: {} sizes and {} strides", op, size.size(),
               stride.size());
  check_sizes(op, size);
  std::vector<std::size_t> order(size.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return stride[a] > stride[b]; });
  Shape sorted, back(size.size(), 0);
  for (std::size_t i = 0; i < order.size(); ++i) {
    sorted.push_back(size[order[i]]);
    back[order[i]] = static_cast<std::int64_t>(i);
  }
  const Shape steps = contiguous_strides(sorted);
  for (std::size_t i = 0; i < order.size(); ++i)
    GROOVE_CHECK(size[order[i]] == 1 || element_count(size) == 0 || steps[i] == stride[order[i]],
                 "{}: strides {} of {} are not those of a contiguous tensor with its axes in some "
                 "order",
                 op, to_string(stride), to_string(size));
  return permute({empty(sorted, options, site), site}, back);
}

}  // namespace

Tensor logspace(Scalar start, Scalar end, std::int64_t steps, double base, TensorOptions options,
                Site site) {
  const SiteScope scope(site);
  GROOVE_CHECK(steps >= 0, "logspace: {} steps; the number must not be negative", steps);
  const Tensor exponents = linspace(start.to_double(), end.to_double(), steps, kDouble, site);
  return finished(pow(Scalar(base), exponents), options, site);
}

Tensor logspace(Arg start, const Tensor& end, std::int64_t steps, double base,
                TensorOptions options) {
  const SiteScope scope(start.site);
  return logspace(value_at("logspace", *start.tensor, start.site),
                  value_at("logspace", end, start.site), steps, base, options, start.site);
}
Tensor logspace(Arg start, Scalar end, std::int64_t steps, double base, TensorOptions options) {
  const SiteScope scope(start.site);
  return logspace(value_at("logspace", *start.tensor, start.site), end, steps, base, options,
                  start.site);
}
Tensor logspace(Scalar start, Arg end, std::int64_t steps, double base, TensorOptions options) {
  const SiteScope scope(end.site);
  return logspace(start, value_at("logspace", *end.tensor, end.site), steps, base, options,
                  end.site);
}

Tensor range(Scalar start, Scalar end, Scalar step, TensorOptions options, Site site) {
  const SiteScope scope(site);
  const double first = start.to_double(), last = end.to_double(), by = step.to_double();
  GROOVE_CHECK(by != 0 && (by > 0 ? last >= first : last <= first),
               "range: step {} does not lead from {} to {}", by, first, last);
  const auto count = static_cast<std::int64_t>(std::floor((last - first) / by)) + 1;
  return finished(arange(Scalar(count), kDouble, site) * by + first, options, site);
}
Tensor range(Scalar start, Scalar end, TensorOptions options, Site site) {
  return range(start, end, 1, options, site);
}

Tensor tril_indices(std::int64_t row, std::int64_t col, std::int64_t offset, TensorOptions options,
                    Site site) {
  const SiteScope scope(site);
  check_triangle("tril_indices", row, col);
  std::int64_t total = 0;
  for (std::int64_t i = 0; i < row; ++i) total += std::clamp<std::int64_t>(i + 1 + offset, 0, col);
  const Tensor lengths = clamp(arange(Scalar(row), kLong) + (offset + 1), 0, col);
  return triangle_indices(row, lengths, zeros_like(lengths), total)
      .to(options.dtype_opt().value_or(kLong), false, false, site);
}
Tensor triu_indices(std::int64_t row, std::int64_t col, std::int64_t offset, TensorOptions options,
                    Site site) {
  const SiteScope scope(site);
  check_triangle("triu_indices", row, col);
  std::int64_t total = 0;
  for (std::int64_t i = 0; i < row; ++i)
    total += col - std::clamp<std::int64_t>(i + offset, 0, col);
  const Tensor first = clamp(arange(Scalar(row), kLong) + offset, 0, col);
  return triangle_indices(row, col - first, first, total)
      .to(options.dtype_opt().value_or(kLong), false, false, site);
}

Tensor empty_strided(IntArrayRef size, IntArrayRef stride, TensorOptions options, Site site) {
  const SiteScope scope(site);
  return strided("empty_strided", size, stride, options, site);
}
Tensor PartMethods::new_empty_strided(IntArrayRef size, IntArrayRef stride, TensorOptions options,
                                      Site site) const {
  const SiteScope scope(site);
  const ScalarType own = checked("new_empty_strided", self()).dtype;
  return strided("new_empty_strided", size, stride,
                 options.dtype(options.dtype_opt().value_or(own)), site);
}

}  // namespace groove
