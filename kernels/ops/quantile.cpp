// quantile and nanquantile: elements in order, read at shares of the way, in ordinary ops.
#include "groove/ops/creation.h"
#include "groove/ops/index.h"
#include "groove/ops/statistics.h"
#include "groove/ops/views.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

Tensor of_shares(const char* op, const Tensor& self, const Tensor& q,
                 std::optional<std::int64_t> dim, bool keepdim, std::string_view interpolation,
                 bool ignores_nan) {
  const Type type{checked(op, self).dtype, type_of(self).sizes};
  checked(op, q);
  const Type shares = type_of(q);
  GROOVE_CHECK(type.dtype == kFloat || type.dtype == kDouble,
               "{}: self is {}; it must be Float or Double", op, name(type.dtype));
  GROOVE_CHECK(shares.dtype == type.dtype && shares.sizes.size() <= 1,
               "{}: q is {} {}; it must be {} and have one axis at most", op, name(shares.dtype),
               to_string(shares.sizes), name(type.dtype));
  GROOVE_CHECK(element_count(type.sizes) > 0, "{}: no elements", op);
  GROOVE_CHECK(interpolation == "linear" || interpolation == "lower" || interpolation == "higher" ||
                   interpolation == "midpoint" || interpolation == "nearest",
               "{}: interpolation \"{}\"; it must be \"linear\", \"lower\", \"higher\", "
               "\"midpoint\" or \"nearest\"",
               op, interpolation);
  // lines as the last axis, all others before it
  const std::size_t rank = type.sizes.size();
  const std::int64_t axis = dim ? normal_dim(op, *dim, rank) : 0;
  Shape kept;
  Tensor lines;
  if (!dim || rank == 0) {
    lines = flatten(self);
    if (keepdim) kept = Shape(rank, 1);
  } else {
    lines = movedim(self, axis, -1);
    kept = type.sizes;
    if (keepdim)
      kept[static_cast<std::size_t>(axis)] = 1;
    else
      kept.erase(static_cast<std::size_t>(axis));
  }
  const Shape line_sizes = type_of(lines).sizes;
  const std::int64_t length = line_sizes.back();
  const Tensor ordered = std::get<0>(sort(lines, -1));
  // the place of each share: [.., k]
  const Tensor numbers = length - sum(isnan(lines.detach()), -1, true);
  const Tensor list = shares.sizes.empty() ? unsqueeze(q, 0) : q;
  Tensor ranks;
  if (ignores_nan) {
    ranks = list * clamp_min(numbers - 1, 0).to(type.dtype);
  } else {
    const Tensor has_nan = lt(numbers, length);
    ranks = where(has_nan, static_cast<double>(length - 1),
                  expand(list * static_cast<double>(length - 1), [&] {
                    Shape sizes = line_sizes;
                    sizes.back() = type_of(list).sizes[0];
                    return sizes;
                  }()));
  }
  if (interpolation == "lower") ranks = floor(ranks);
  if (interpolation == "higher") ranks = ceil(ranks);
  if (interpolation == "nearest") ranks = round(ranks);
  const Tensor below = ranks.detach().to(kLong);
  Tensor result = gather(ordered, -1, below);
  if (interpolation == "linear" || interpolation == "midpoint") {
    const Tensor above = gather(ordered, -1, ceil(ranks.detach()).to(kLong));
    const Tensor weight =
        interpolation == "midpoint" ? full_like(ranks, 0.5) : ranks - below.to(type.dtype);
    const Tensor step = above - result;
    // from the nearer end
    result = where(lt(weight, 0.5), result + weight * step, above - step * (1 - weight));
  }
  if (shares.sizes.empty()) return reshape(squeeze(result, -1), kept);
  Shape sizes = kept;
  sizes.insert(0, shares.sizes[0]);
  return reshape(movedim(result, -1, 0), sizes);
}

Tensor of_share(const char* op, const Tensor& self, double q, std::optional<std::int64_t> dim,
                bool keepdim, std::string_view interpolation, bool ignores_nan) {
  GROOVE_CHECK(q >= 0 && q <= 1, "{}: q is {}; it must be in [0, 1]", op, q);
  const Tensor share = full({}, q, TensorOptions(checked(op, self).dtype));
  return of_shares(op, self, share, dim, keepdim, interpolation, ignores_nan);
}

}  // namespace

Tensor quantile(Arg self, const Tensor& q, std::optional<std::int64_t> dim, bool keepdim,
                std::string_view interpolation) {
  const SiteScope scope(self.site);
  return of_shares("quantile", *self.tensor, q, dim, keepdim, interpolation, false);
}
Tensor quantile(Arg self, double q, std::optional<std::int64_t> dim, bool keepdim,
                std::string_view interpolation) {
  const SiteScope scope(self.site);
  return of_share("quantile", *self.tensor, q, dim, keepdim, interpolation, false);
}
Tensor nanquantile(Arg self, const Tensor& q, std::optional<std::int64_t> dim, bool keepdim,
                   std::string_view interpolation) {
  const SiteScope scope(self.site);
  return of_shares("nanquantile", *self.tensor, q, dim, keepdim, interpolation, true);
}
Tensor nanquantile(Arg self, double q, std::optional<std::int64_t> dim, bool keepdim,
                   std::string_view interpolation) {
  const SiteScope scope(self.site);
  return of_share("nanquantile", *self.tensor, q, dim, keepdim, interpolation, true);
}
Tensor StatisticsMethods::quantile(const Tensor& q, std::optional<std::int64_t> dim, bool keepdim,
                                   std::string_view interpolation, Site site) const {
  return groove::quantile({self(), site}, q, dim, keepdim, interpolation);
}
Tensor StatisticsMethods::quantile(double q, std::optional<std::int64_t> dim, bool keepdim,
                                   std::string_view interpolation, Site site) const {
  return groove::quantile({self(), site}, q, dim, keepdim, interpolation);
}
Tensor StatisticsMethods::nanquantile(const Tensor& q, std::optional<std::int64_t> dim,
                                      bool keepdim, std::string_view interpolation,
                                      Site site) const {
  return groove::nanquantile({self(), site}, q, dim, keepdim, interpolation);
}
Tensor StatisticsMethods::nanquantile(double q, std::optional<std::int64_t> dim, bool keepdim,
                                      std::string_view interpolation, Site site) const {
  return groove::nanquantile({self(), site}, q, dim, keepdim, interpolation);
}

}  // namespace groove
