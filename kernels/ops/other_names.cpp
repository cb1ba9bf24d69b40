// Other names of methods: the same calls, told by the names that were written.
#include "kernels/ops/spelled.h"

namespace groove {

Tensor InPlaceMethods::greater(const Tensor& other, Site site) const {
  const CallFrame frame(site);
  return gt(other, site);
}
Tensor& InPlaceMethods::greater_(const Tensor& other, Site site) const {
  const CallFrame frame(site);
  return gt_(other, site);
}
Tensor InPlaceMethods::greater(Scalar other, Site site) const {
  const CallFrame frame(site);
  return gt(other, site);
}
Tensor& InPlaceMethods::greater_(Scalar other, Site site) const {
  const CallFrame frame(site);
  return gt_(other, site);
}
Tensor InPlaceMethods::greater_equal(const Tensor& other, Site site) const {
  const CallFrame frame(site);
  return ge(other, site);
}
Tensor& InPlaceMethods::greater_equal_(const Tensor& other, Site site) const {
  const CallFrame frame(site);
  return ge_(other, site);
}
Tensor InPlaceMethods::greater_equal(Scalar other, Site site) const {
  const CallFrame frame(site);
  return ge(other, site);
}
Tensor& InPlaceMethods::greater_equal_(Scalar other, Site site) const {
  const CallFrame frame(site);
  return ge_(other, site);
}
Tensor InPlaceMethods::less(const Tensor& other, Site site) const {
  const CallFrame frame(site);
  return lt(other, site);
}
Tensor& InPlaceMethods::less_(const Tensor& other, Site site) const {
  const CallFrame frame(site);
  return lt_(other, site);
}
Tensor InPlaceMethods::less(Scalar other, Site site) const {
  const CallFrame frame(site);
  return lt(other, site);
}
Tensor& InPlaceMethods::less_(Scalar other, Site site) const {
  const CallFrame frame(site);
  return lt_(other, site);
}
Tensor InPlaceMethods::less_equal(const Tensor& other, Site site) const {
  const CallFrame frame(site);
  return le(other, site);
}
Tensor& InPlaceMethods::less_equal_(const Tensor& other, Site site) const {
  const CallFrame frame(site);
  return le_(other, site);
}
Tensor InPlaceMethods::less_equal(Scalar other, Site site) const {
  const CallFrame frame(site);
  return le(other, site);
}
Tensor& InPlaceMethods::less_equal_(Scalar other, Site site) const {
  const CallFrame frame(site);
  return le_(other, site);
}
Tensor InPlaceMethods::not_equal(const Tensor& other, Site site) const {
  const CallFrame frame(site);
  return ne(other, site);
}
Tensor& InPlaceMethods::not_equal_(const Tensor& other, Site site) const {
  const CallFrame frame(site);
  return ne_(other, site);
}
Tensor InPlaceMethods::not_equal(Scalar other, Site site) const {
  const CallFrame frame(site);
  return ne(other, site);
}
Tensor& InPlaceMethods::not_equal_(Scalar other, Site site) const {
  const CallFrame frame(site);
  return ne_(other, site);
}
Tensor InPlaceMethods::multiply(const Tensor& other, Site site) const {
  const CallFrame frame(site);
  return mul(other, site);
}
Tensor& InPlaceMethods::multiply_(const Tensor& other, Site site) const {
  const CallFrame frame(site);
  return mul_(other, site);
}
Tensor InPlaceMethods::multiply(Scalar other, Site site) const {
  const CallFrame frame(site);
  return mul(other, site);
}
Tensor& InPlaceMethods::multiply_(Scalar other, Site site) const {
  const CallFrame frame(site);
  return mul_(other, site);
}
Tensor InPlaceMethods::divide(const Tensor& other, Site site) const {
  const CallFrame frame(site);
  return div(other, site);
}
Tensor& InPlaceMethods::divide_(const Tensor& other, Site site) const {
  const CallFrame frame(site);
  return div_(other, site);
}
Tensor InPlaceMethods::divide(Scalar other, Site site) const {
  const CallFrame frame(site);
  return div(other, site);
}
Tensor& InPlaceMethods::divide_(Scalar other, Site site) const {
  const CallFrame frame(site);
  return div_(other, site);
}
Tensor InPlaceMethods::true_divide(const Tensor& other, Site site) const {
  const CallFrame frame(site);
  return div(other, site);
}
Tensor& InPlaceMethods::true_divide_(const Tensor& other, Site site) const {
  const CallFrame frame(site);
  return div_(other, site);
}
Tensor InPlaceMethods::true_divide(Scalar other, Site site) const {
  const CallFrame frame(site);
  return div(other, site);
}
Tensor& InPlaceMethods::true_divide_(Scalar other, Site site) const {
  const CallFrame frame(site);
  return div_(other, site);
}
Tensor InPlaceMethods::divide(const Tensor& other, std::optional<std::string_view> rounding_mode,
                              Site site) const {
  const CallFrame frame(site);
  return div(other, rounding_mode, site);
}
Tensor& InPlaceMethods::divide_(const Tensor& other, std::optional<std::string_view> rounding_mode,
                                Site site) const {
  const CallFrame frame(site);
  return div_(other, rounding_mode, site);
}
Tensor InPlaceMethods::divide(Scalar other, std::optional<std::string_view> rounding_mode,
                              Site site) const {
  const CallFrame frame(site);
  return div(other, rounding_mode, site);
}
Tensor& InPlaceMethods::divide_(Scalar other, std::optional<std::string_view> rounding_mode,
                                Site site) const {
  const CallFrame frame(site);
  return div_(other, rounding_mode, site);
}
Tensor InPlaceMethods::subtract(const Tensor& other, Scalar alpha, Site site) const {
  const CallFrame frame(site);
  return sub(other, alpha, site);
}
Tensor& InPlaceMethods::subtract_(const Tensor& other, Scalar alpha, Site site) const {
  const CallFrame frame(site);
  return sub_(other, alpha, site);
}
Tensor InPlaceMethods::subtract(Scalar other, Scalar alpha, Site site) const {
  const CallFrame frame(site);
  return sub(other, alpha, site);
}
Tensor& InPlaceMethods::subtract_(Scalar other, Scalar alpha, Site site) const {
  const CallFrame frame(site);
  return sub_(other, alpha, site);
}
Tensor InPlaceMethods::negative(Site site) const {
  const CallFrame frame(site);
  return neg(site);
}
Tensor& InPlaceMethods::negative_(Site site) const {
  const CallFrame frame(site);
  return neg_(site);
}
Tensor InPlaceMethods::absolute(Site site) const {
  const CallFrame frame(site);
  return abs(site);
}
Tensor& InPlaceMethods::absolute_(Site site) const {
  const CallFrame frame(site);
  return abs_(site);
}
Tensor InPlaceMethods::fix(Site site) const {
  const CallFrame frame(site);
  return trunc(site);
}
Tensor& InPlaceMethods::fix_(Site site) const {
  const CallFrame frame(site);
  return trunc_(site);
}
Tensor InPlaceMethods::arccos(Site site) const {
  const CallFrame frame(site);
  return acos(site);
}
Tensor& InPlaceMethods::arccos_(Site site) const {
  const CallFrame frame(site);
  return acos_(site);
}
Tensor InPlaceMethods::arcsin(Site site) const {
  const CallFrame frame(site);
  return asin(site);
}
Tensor& InPlaceMethods::arcsin_(Site site) const {
  const CallFrame frame(site);
  return asin_(site);
}
Tensor InPlaceMethods::arctan(Site site) const {
  const CallFrame frame(site);
  return atan(site);
}
Tensor& InPlaceMethods::arctan_(Site site) const {
  const CallFrame frame(site);
  return atan_(site);
}
Tensor InPlaceMethods::arctan2(const Tensor& other, Site site) const {
  const CallFrame frame(site);
  return atan2(other, site);
}
Tensor& InPlaceMethods::arctan2_(const Tensor& other, Site site) const {
  const CallFrame frame(site);
  return atan2_(other, site);
}
Tensor InPlaceMethods::clip(std::optional<Scalar> min, std::optional<Scalar> max, Site site) const {
  const CallFrame frame(site);
  return clamp(min, max, site);
}
Tensor& InPlaceMethods::clip_(std::optional<Scalar> min, std::optional<Scalar> max,
                              Site site) const {
  const CallFrame frame(site);
  return clamp_(min, max, site);
}
Tensor InPlaceMethods::clip(const std::optional<Tensor>& min, const std::optional<Tensor>& max,
                            Site site) const {
  const CallFrame frame(site);
  return clamp(min, max, site);
}
Tensor& InPlaceMethods::clip_(const std::optional<Tensor>& min, const std::optional<Tensor>& max,
                              Site site) const {
  const CallFrame frame(site);
  return clamp_(min, max, site);
}
Tensor ElementwiseMethods::arccosh(Site site) const {
  const CallFrame frame(site);
  return acosh(site);
}
Tensor& ElementwiseMethods::arccosh_(Site site) const {
  const CallFrame frame(site);
  return acosh_(site);
}
Tensor ElementwiseMethods::arcsinh(Site site) const {
  const CallFrame frame(site);
  return asinh(site);
}
Tensor& ElementwiseMethods::arcsinh_(Site site) const {
  const CallFrame frame(site);
  return asinh_(site);
}
Tensor ElementwiseMethods::arctanh(Site site) const {
  const CallFrame frame(site);
  return atanh(site);
}
Tensor& ElementwiseMethods::arctanh_(Site site) const {
  const CallFrame frame(site);
  return atanh_(site);
}

}  // namespace groove
