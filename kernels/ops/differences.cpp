// diff, gradient and integrals by trapezia, in ordinary ops.
#include "groove/ops/statistics.h"
#include "groove/ops/views.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

// Elements from `start` on, and from the end counted `stop` ones less.
Tensor part(const Tensor& x, std::int64_t dim, std::int64_t start, std::int64_t stop) {
  return narrow(x, dim, start, std::max<std::int64_t>(x.size(dim) - start - stop, 0));
}

Tensor difference(const Tensor& x, std::int64_t dim) {
  if (x.size(dim) == 0) return x;
  const Tensor ahead = part(x, dim, 1, 0), behind = part(x, dim, 0, 1);
  return type_of(x).dtype == kBool ? logical_xor(ahead, behind) : ahead - behind;
}

Tensor along(const Tensor& values, std::int64_t dim, std::size_t rank) {
  Shape sizes(rank, 1);
  sizes[static_cast<std::size_t>(dim)] = values.size(0);
  return reshape(values, sizes);
}

// The parabola through three points has, at the first of them, at the middle and at the last one,
// a slope that is this much of each.
struct Shares {
  Tensor a, b, c;
};
Shares at_first(const Tensor& h, const Tensor& k) {
  return {neg(h * 2 + k) / (h * (h + k)), (h + k) / (h * k), neg(h) / (k * (h + k))};
}
Shares at_middle(const Tensor& h, const Tensor& k) {
  return {neg(k) / (h * (h + k)), (k - h) / (h * k), h / (k * (h + k))};
}
Shares at_last(const Tensor& h, const Tensor& k) {
  return {k / (h * (h + k)), neg(h + k) / (h * k), (k * 2 + h) / (k * (h + k))};
}
Tensor slope(const Tensor& x, std::int64_t dim, std::int64_t from, std::int64_t count,
             const Shares& shares) {
  return narrow(x, dim, from, count) * shares.a + narrow(x, dim, from + 1, count) * shares.b +
         narrow(x, dim, from + 2, count) * shares.c;
}

Tensor slopes_between(const Tensor& x, std::int64_t dim, const Tensor& coordinates,
                      std::int64_t edge_order) {
  const std::int64_t n = x.size(dim);
  const Tensor steps = along(difference(coordinates, 0), dim, type_of(x).sizes.size());
  const auto step = [&](std::int64_t from, std::int64_t count) {
    return narrow(steps, dim, from, count);
  };
  Tensor first, last;
  if (edge_order == 1) {
    first = difference(narrow(x, dim, 0, 2), dim) / step(0, 1);
    last = difference(narrow(x, dim, n - 2, 2), dim) / step(n - 2, 1);
  } else {
    first = slope(x, dim, 0, 1, at_first(step(0, 1), step(1, 1)));
    last = slope(x, dim, n - 3, 1, at_last(step(n - 3, 1), step(n - 2, 1)));
  }
  if (n == 2) return cat({first, last}, dim);
  const Tensor middle = slope(x, dim, 0, n - 2, at_middle(step(0, n - 2), step(1, n - 2)));
  return cat({first, middle, last}, dim);
}

Tensor slopes(const Tensor& x, std::int64_t dim, Scalar distance, std::int64_t edge_order) {
  const std::int64_t n = x.size(dim);
  const auto at = [&](std::int64_t i) { return narrow(x, dim, i, 1); };
  Tensor first, last;
  if (edge_order == 1) {
    first = at(1) - at(0);
    last = at(n - 1) - at(n - 2);
  } else {
    first = at(1) * 2 - at(0) * 1.5 - at(2) * 0.5;
    last = at(n - 1) * 1.5 - at(n - 2) * 2 + at(n - 3) * 0.5;
  }
  if (n == 2) return cat({first, last}, dim) / distance;
  const Tensor middle = (part(x, dim, 2, 0) - part(x, dim, 0, 2)) * 0.5;
  return cat({first, middle, last}, dim) / distance;
}

// The axes of a gradient: those given, or all.
std::vector<std::int64_t> slope_axes(const Tensor& x, OptionalIntArrayRef dim,
                                     std::int64_t edge_order) {
  const std::size_t rank = checked("gradient", x).geometry.sizes.size();
  GROOVE_CHECK(edge_order == 1 || edge_order == 2, "gradient: edge_order {}; it must be 1 or 2",
               edge_order);
  std::vector<std::int64_t> axes;
  if (dim) {
    normal_dims("gradient", *dim, rank);  // throws on a double one
    for (const std::int64_t one : *dim) axes.push_back(normal_dim("gradient", one, rank));
  }
  for (std::size_t axis = 0; !dim && axis < rank; ++axis)
    axes.push_back(static_cast<std::int64_t>(axis));
  for (const std::int64_t axis : axes)
    GROOVE_CHECK(x.size(axis) > edge_order, "gradient: dim {} of {} needs at least {} elements",
                 axis, to_string(type_of(x).sizes), edge_order + 1);
  return axes;
}

Tensors slopes_by(const Tensor& x, ArrayRef<Scalar> spacing, OptionalIntArrayRef dim,
                  std::int64_t edge_order) {
  const std::vector<std::int64_t> axes = slope_axes(x, dim, edge_order);
  GROOVE_CHECK(spacing.size() == 1 || spacing.size() == axes.size(),
               "gradient: {} distances for {} axes", spacing.size(), axes.size());
  Tensors result;
  for (std::size_t i = 0; i < axes.size(); ++i)
    result.push_back(slopes(x, axes[i], spacing[spacing.size() == 1 ? 0 : i], edge_order));
  return result;
}
Tensors slopes_by(const Tensor& x, TensorList coordinates, OptionalIntArrayRef dim,
                  std::int64_t edge_order) {
  const std::vector<std::int64_t> axes = slope_axes(x, dim, edge_order);
  GROOVE_CHECK(coordinates.size() == axes.size(), "gradient: {} lists of coordinates for {} axes",
               coordinates.size(), axes.size());
  Tensors result;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const Shape& sizes = checked("gradient", coordinates[i]).geometry.sizes;
    GROOVE_CHECK(sizes == Shape{x.size(axes[i])}, "gradient: coordinates {} for dim {} of {}",
                 to_string(sizes), axes[i], to_string(type_of(x).sizes));
    result.push_back(slopes_between(x, axes[i], coordinates[i], edge_order));
  }
  return result;
}

OptionalIntArrayRef as_list(const std::optional<std::int64_t>& dim) {
  return dim ? OptionalIntArrayRef(*dim) : OptionalIntArrayRef();
}

void check_numbers(const char* op, const Tensor& y) {
  GROOVE_CHECK(checked(op, y).dtype != kBool,
               "{}: not defined for Bool tensors; convert with to(kInt)", op);
}

bool has_no_values(const char* op, const Tensor& y, std::int64_t dim) {
  const Shape& sizes = checked(op, y).geometry.sizes;
  GROOVE_CHECK(!sizes.empty(), "{}: y has no axis", op);
  return sizes[static_cast<std::size_t>(normal_dim(op, dim, sizes.size()))] == 0;
}

// Areas of twice the height between neighbours.
Tensor areas(const char* op, const Tensor& y, const Tensor& x, std::int64_t dim) {
  const Shape sizes = checked(op, y).geometry.sizes;
  const Shape own = checked(op, x).geometry.sizes;
  const std::int64_t axis = normal_dim(op, dim, sizes.size());
  GROOVE_CHECK(!sizes.empty(), "{}: y has no axis", op);
  Tensor places = x;
  if (own.size() == 1) {
    GROOVE_CHECK(own[0] == sizes[static_cast<std::size_t>(axis)],
                 "{}: {} places for {} values along dim {}", op, own[0],
                 sizes[static_cast<std::size_t>(axis)], dim);
    places = along(x, axis, sizes.size());
  } else {
    while (places.dim() < y.dim()) places = unsqueeze(places, 0);
  }
  return difference(places, axis) * (part(y, axis, 1, 0) + part(y, axis, 0, 1));
}
Tensor areas(const char* op, const Tensor& y, std::int64_t dim) {
  const std::size_t rank = checked(op, y).geometry.sizes.size();
  GROOVE_CHECK(rank > 0, "{}: y has no axis", op);
  const std::int64_t axis = normal_dim(op, dim, rank);
  if (y.size(axis) == 0) return y;
  return part(y, axis, 1, 0) + part(y, axis, 0, 1);
}

Tensor differences(const Tensor& self, std::int64_t n, std::int64_t dim,
                   const std::optional<Tensor>& prepend, const std::optional<Tensor>& append) {
  const std::size_t rank = checked("diff", self).geometry.sizes.size();
  GROOVE_CHECK(rank > 0 && n >= 0, "diff: {} times over {}", n, to_string(type_of(self).sizes));
  const std::int64_t axis = normal_dim("diff", dim, rank);
  Tensors parts;
  for (const Tensor& x : {prepend.value_or(Tensor()), self, append.value_or(Tensor())})
    if (x.defined()) parts.push_back(x);
  Tensor result = parts.size() == 1 ? self : cat(parts, axis);
  if (n == 0) return clone(result);
  for (std::int64_t i = 0; i < n && result.size(axis) > 0; ++i) result = difference(result, axis);
  return result;
}

}  // namespace

Tensor diff(Arg self, std::int64_t n, std::int64_t dim, const std::optional<Tensor>& prepend,
            const std::optional<Tensor>& append) {
  const SiteScope scope(self.site);
  return differences(*self.tensor, n, dim, prepend, append);
}

std::vector<Tensor> gradient(Arg self, const std::optional<Scalar>& spacing,
                             std::optional<std::int64_t> dim, std::int64_t edge_order) {
  const SiteScope scope(self.site);
  return slopes_by(*self.tensor, spacing.value_or(1), as_list(dim), edge_order);
}
std::vector<Tensor> gradient(Arg self, Scalar spacing, IntArrayRef dim, std::int64_t edge_order) {
  const SiteScope scope(self.site);
  return slopes_by(*self.tensor, spacing, dim, edge_order);
}
std::vector<Tensor> gradient(Arg self, IntArrayRef dim, std::int64_t edge_order) {
  const SiteScope scope(self.site);
  return slopes_by(*self.tensor, Scalar(1), dim, edge_order);
}
std::vector<Tensor> gradient(Arg self, ArrayRef<Scalar> spacing, std::optional<std::int64_t> dim,
                             std::int64_t edge_order) {
  const SiteScope scope(self.site);
  return slopes_by(*self.tensor, spacing, as_list(dim), edge_order);
}
std::vector<Tensor> gradient(Arg self, ArrayRef<Scalar> spacing, IntArrayRef dim,
                             std::int64_t edge_order) {
  const SiteScope scope(self.site);
  return slopes_by(*self.tensor, spacing, dim, edge_order);
}
std::vector<Tensor> gradient(Arg self, TensorList spacing, std::optional<std::int64_t> dim,
                             std::int64_t edge_order) {
  const SiteScope scope(self.site);
  return slopes_by(*self.tensor, spacing, as_list(dim), edge_order);
}
std::vector<Tensor> gradient(Arg self, TensorList spacing, IntArrayRef dim,
                             std::int64_t edge_order) {
  const SiteScope scope(self.site);
  return slopes_by(*self.tensor, spacing, dim, edge_order);
}

Tensor trapezoid(Arg y, const Tensor& x, std::int64_t dim) {
  const SiteScope scope(y.site);
  check_numbers("trapezoid", *y.tensor);
  check_numbers("trapezoid", x);
  if (has_no_values("trapezoid", *y.tensor, dim))
    return sum(*y.tensor, dim, false, type_of(*y.tensor).dtype);
  return sum(areas("trapezoid", *y.tensor, x, dim), dim) / 2;
}
Tensor trapezoid(Arg y, Scalar dx, std::int64_t dim) {
  const SiteScope scope(y.site);
  check_numbers("trapezoid", *y.tensor);
  const bool is_empty = has_no_values("trapezoid", *y.tensor, dim);
  if (is_empty) return sum(*y.tensor, dim, false, type_of(*y.tensor).dtype);
  const Tensor ends = select(y, dim, 0) + select(y, dim, -1);
  return (sum(y, dim) - ends * 0.5) * dx.to_double();
}
Tensor trapz(Arg y, const Tensor& x, std::int64_t dim) {
  const CallFrame frame(y.site);
  return trapezoid(y, x, dim);
}
Tensor trapz(Arg y, double dx, std::int64_t dim) {
  const CallFrame frame(y.site);
  return trapezoid(y, Scalar(dx), dim);
}
Tensor cumulative_trapezoid(Arg y, const Tensor& x, std::int64_t dim) {
  const SiteScope scope(y.site);
  return cumsum(areas("cumulative_trapezoid", *y.tensor, x, dim), dim) / 2;
}
Tensor cumulative_trapezoid(Arg y, Scalar dx, std::int64_t dim) {
  const SiteScope scope(y.site);
  return cumsum(areas("cumulative_trapezoid", *y.tensor, dim), dim) * dx / 2;
}

Tensor StatisticsMethods::diff(std::int64_t n, std::int64_t dim, Site site) const {
  return groove::diff({self(), site}, n, dim);
}
Tensor StatisticsMethods::diff(std::int64_t n, std::int64_t dim,
                               const std::optional<Tensor>& prepend, Site site) const {
  return groove::diff({self(), site}, n, dim, prepend);
}
Tensor StatisticsMethods::diff(std::int64_t n, std::int64_t dim,
                               const std::optional<Tensor>& prepend,
                               const std::optional<Tensor>& append, Site site) const {
  return groove::diff({self(), site}, n, dim, prepend, append);
}

}  // namespace groove
