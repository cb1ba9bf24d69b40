// renorm, msort and sum_to_size, spelled with norms, sort and sums.
#include "groove/ops/parts.h"
#include "groove/ops/reductions.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

Tensor bounded(const char* op, const Tensor& self, Scalar p, std::int64_t dim, Scalar maxnorm,
               Site site) {
  const std::size_t rank = checked(op, self).geometry.sizes.size();
  GROOVE_CHECK(rank >= 2, "{}: {} axes; there must be at least 2", op, rank);
  GROOVE_CHECK(p.to_double() > 0, "{}: p {} must be positive", op, p.to_double());
  GROOVE_CHECK(maxnorm.to_double() >= 0, "{}: maxnorm {} must not be negative", op,
               maxnorm.to_double());
  const std::int64_t kept = normal_dim(op, dim, rank);
  Shape others;
  for (std::int64_t axis = 0; axis < static_cast<std::int64_t>(rank); ++axis)
    if (axis != kept) others.push_back(axis);
  const Tensor lengths = norm({self, site}, p, others, true);
  const Tensor share = mul(reciprocal(lengths + 1e-7), maxnorm);  // as LibTorch
  return mul({self, site}, where(gt(lengths, maxnorm), share, 1));
}

}  // namespace

Tensor renorm(Arg self, Scalar p, std::int64_t dim, Scalar maxnorm) {
  const SiteScope scope(self.site);
  return bounded("renorm", *self.tensor, p, dim, maxnorm, self.site);
}
Tensor PartMethods::renorm(Scalar p, std::int64_t dim, Scalar maxnorm, Site site) const {
  return groove::renorm({self(), site}, p, dim, maxnorm);
}
Tensor& PartMethods::renorm_(Scalar p, std::int64_t dim, Scalar maxnorm, Site site) const {
  const SiteScope scope(site);
  return self().copy_(bounded("renorm_", self(), p, dim, maxnorm, site), false, site);
}

Tensor msort(Arg self) {
  const SiteScope scope(self.site);
  checked("msort", *self.tensor);
  return std::get<0>(sort(self, 0));
}
Tensor PartMethods::msort(Site site) const { return groove::msort({self(), site}); }

Tensor PartMethods::sum_to_size(IntArrayRef size, Site site) const {
  const CallFrame frame(site);
  const Shape& own = checked("sum_to_size", self()).geometry.sizes;
  GROOVE_CHECK(broadcast_of("sum_to_size", own, size) == own,
               "sum_to_size: shape {} does not broadcast to {}", to_string(size), to_string(own));
  return sum_to({self(), site}, size);
}

}  // namespace groove
