// dist, cdist and pdist: norms of differences, in ordinary ops.
#include <cmath>

#include "groove/ops/contractions.h"
#include "groove/ops/creation.h"
#include "groove/ops/index.h"
#include "groove/ops/products.h"
#include "groove/ops/statistics.h"
#include "groove/ops/views.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

constexpr std::int64_t kFewRows = 25;  // up to here LibTorch takes differences, too

// [.., P, M], [.., R, M]: |a|^2 + |b|^2 - 2 a b, whose root has no slope where it is 0.
Tensor through_product(const Tensor& a, const Tensor& b) {
  const Tensor squares = sum(square(a), -1, true) + transpose(sum(square(b), -1, true), -2, -1);
  const Tensor difference = squares - matmul(a, transpose(b, -2, -1)) * 2;
  const Tensor is_apart = gt(difference, 0);
  return masked_fill(sqrt(where(is_apart, difference, 1)), logical_not(is_apart), 0);
}

// The greatest magnitude gives its slope to every element that has it, not to each a share.
Tensor row_norm(const Tensor& difference, double p) {
  if (!std::isinf(p)) return norm(difference, p, -1);
  const Tensor magnitude = abs(difference);
  const Tensor greatest = amax(magnitude.detach(), -1, true);
  const Tensor beyond = where(eq(magnitude, greatest), magnitude - greatest, 0);
  return squeeze(greatest, -1) + sum(beyond, -1);
}

void check_power(const char* op, double p) {
  GROOVE_CHECK(p >= 0, "{}: p is {}; it must not be negative", op, p);
}
void check_rows(const char* op, const Type& type) {
  GROOVE_CHECK(is_floating(type.dtype) && type.sizes.size() >= 2,
               "{}: {} {} must be floating and have rows", op, name(type.dtype),
               to_string(type.sizes));
}

}  // namespace

Tensor dist(Arg self, const Tensor& other, Scalar p) {
  const SiteScope scope(self.site);
  checked("dist", *self.tensor);
  checked("dist", other);
  return norm(sub(*self.tensor, other), p);
}

Tensor cdist(Arg x1, const Tensor& x2, double p, std::optional<std::int64_t> compute_mode) {
  const SiteScope scope(x1.site);
  checked("cdist", *x1.tensor);
  checked("cdist", x2);
  const Type a = type_of(*x1.tensor), b = type_of(x2);
  check_rows("cdist", a);
  check_rows("cdist", b);
  check_power("cdist", p);
  GROOVE_CHECK(a.sizes.back() == b.sizes.back(), "cdist: rows of {} and {} have other lengths",
               to_string(a.sizes), to_string(b.sizes));
  const std::int64_t mode = compute_mode.value_or(0);
  GROOVE_CHECK(mode >= 0 && mode <= 2, "cdist: compute_mode {}; it must be 0, 1 or 2", mode);
  const std::int64_t rows = a.sizes[a.sizes.size() - 2], columns = b.sizes[b.sizes.size() - 2];
  const bool are_many = rows > kFewRows || columns > kFewRows;
  if (p == 2 && (mode == 1 || (mode == 0 && are_many))) return through_product(*x1.tensor, x2);
  return row_norm(sub(unsqueeze(*x1.tensor, -2), unsqueeze(x2, -3)), p);
}

Tensor pdist(Arg self, double p) {
  const SiteScope scope(self.site);
  checked("pdist", *self.tensor);
  const Type type = type_of(*self.tensor);
  check_rows("pdist", type);
  check_power("pdist", p);
  GROOVE_CHECK(type.sizes.size() == 2, "pdist: shape {} is no matrix", to_string(type.sizes));
  const std::int64_t n = type.sizes[0];
  if (n < 2) return sum(*self.tensor, -1).narrow(0, 0, 0);
  // pair k has the last row i whose first pair, (i, i + 1), comes no later
  const Tensor row = arange(Scalar(n - 1));
  const Tensor first = row * (n - 1) - floor_divide(row * (row - 1), 2);
  const Tensor pair = arange(Scalar(n * (n - 1) / 2));
  const Tensor i = searchsorted(first, pair, false, true) - 1;
  const Tensor j = pair - index_select(first, 0, i) + i + 1;
  return row_norm(sub(index_select(*self.tensor, 0, i), index_select(*self.tensor, 0, j)), p);
}

Tensor LinearAlgebraMethods::dist(const Tensor& other, Scalar p, Site site) const {
  return groove::dist({self(), site}, other, p);
}

}  // namespace groove
