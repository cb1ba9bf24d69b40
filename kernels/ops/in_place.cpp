// In-place forms of what is computed aside and copied back.
#include "groove/ops/reductions.h"
#include "groove/ops/views.h"
#include "kernels/ops/spelled.h"

namespace groove {

Tensor& InPlaceMethods::frac_(Site site) const {
  const SiteScope scope(site);
  return write_back("frac_", self(), groove::frac({self(), site}), site);
}
Tensor& InPlaceMethods::tril_(std::int64_t diagonal, Site site) const {
  const SiteScope scope(site);
  return write_back("tril_", self(), groove::tril({self(), site}, diagonal), site);
}
Tensor& InPlaceMethods::triu_(std::int64_t diagonal, Site site) const {
  const SiteScope scope(site);
  return write_back("triu_", self(), groove::triu({self(), site}, diagonal), site);
}
Tensor& InPlaceMethods::polygamma_(std::int64_t order, Site site) const {
  const SiteScope scope(site);
  return write_back("polygamma_", self(), groove::polygamma(order, {self(), site}), site);
}
Tensor& InPlaceMethods::cumsum_(std::int64_t dim, std::optional<ScalarType> dtype,
                                Site site) const {
  const SiteScope scope(site);
  const ScalarType own = checked("cumsum_", self()).dtype;
  GROOVE_CHECK(!dtype || *dtype == own, "cumsum_: dtype {} is not the {} of the tensor",
               name(*dtype), name(own));
  return self().copy_(groove::cumsum({self(), site}, dim, own), false, site);
}
Tensor& InPlaceMethods::cumprod_(std::int64_t dim, std::optional<ScalarType> dtype,
                                 Site site) const {
  const SiteScope scope(site);
  const ScalarType own = checked("cumprod_", self()).dtype;
  GROOVE_CHECK(!dtype || *dtype == own, "cumprod_: dtype {} is not the {} of the tensor",
               name(*dtype), name(own));
  return self().copy_(groove::cumprod({self(), site}, dim, own), false, site);
}
Tensor InPlaceMethods::polygamma(std::int64_t order, Site site) const {
  return groove::polygamma(order, {self(), site});
}

}  // namespace groove
