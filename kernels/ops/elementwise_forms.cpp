// Elementwise functions that are spelled with others.
#include <cmath>
#include <numbers>

#include "kernels/ops/reference.h"
#include "kernels/ops/spelled.h"

namespace groove {
namespace {

// One operand, or the other where the one is NaN.
Tensor over_nan(const char* op, const Tensor& x, const Tensor& y,
                Tensor (*pick)(Arg, const Tensor&)) {
  checked(op, x);
  checked(op, y);
  return where(isnan(x), y, where(isnan(y), x, pick(x, y)));
}

Tensor doubles(const char* op, const Tensor& x, Site site) {
  const bool has_parts = is_complex(checked(op, x).dtype);
  return x.to(has_parts ? kComplexDouble : kDouble, false, false, site);
}

// Integers compute as the default dtype does, before anything of theirs wraps.
Tensor as_floating(const char* op, const Tensor& x, Site site) {
  const ScalarType dtype = checked(op, x).dtype;
  const bool is_whole = !is_floating(dtype) && !is_complex(dtype);
  return is_whole ? x.to(get_default_dtype(), false, false, site) : x;
}

}  // namespace

Tensor sinc(Arg self) {
  const SiteScope scope(self.site);
  checked("sinc", *self.tensor);
  const Tensor is_zero = eq(self, 0);
  const Tensor angle = masked_fill(self, is_zero, 1) * std::numbers::pi;
  return masked_fill(sin(angle) / angle, is_zero, 1);
}

Tensor logit(Arg self, std::optional<double> eps) {
  const SiteScope scope(self.site);
  const Tensor given = as_floating("logit", *self.tensor, self.site);
  if (!eps) return log(given / (1 - given));
  const Tensor raised = masked_fill(given, lt(given, *eps), *eps);  // with its slope at the bounds
  const Tensor x = masked_fill(raised, gt(raised, 1 - *eps), 1 - *eps);
  return log(x / (1 - x));
}

Tensor deg2rad(Arg self) {
  const SiteScope scope(self.site);
  checked("deg2rad", *self.tensor);
  return mul(self, std::numbers::pi / 180);
}
Tensor rad2deg(Arg self) {
  const SiteScope scope(self.site);
  checked("rad2deg", *self.tensor);
  return mul(self, 180 / std::numbers::pi);
}

Tensor float_power(Arg self, const Tensor& exponent) {
  const SiteScope scope(self.site);
  return pow(doubles("float_power", *self.tensor, self.site),
             doubles("float_power", exponent, self.site));
}
Tensor float_power(Arg self, Scalar exponent) {
  const SiteScope scope(self.site);
  return pow(doubles("float_power", *self.tensor, self.site), exponent);
}
Tensor float_power(Scalar self, Arg exponent) {
  const SiteScope scope(exponent.site);
  return pow(self, doubles("float_power", *exponent.tensor, exponent.site));
}

Tensor ldexp(Arg self, const Tensor& other) {
  const SiteScope scope(self.site);
  checked("ldexp", *self.tensor);
  checked("ldexp", other);
  return mul(self, pow(Scalar(2.0), other));
}

Tensor sgn(Arg self) {
  const CallFrame frame(self.site);
  return sign(self);
}

Tensor heaviside(Arg self, const Tensor& values) {
  const SiteScope scope(self.site);
  const ScalarType dtype = checked("heaviside", *self.tensor).dtype;
  GROOVE_CHECK(dtype == checked("heaviside", values).dtype,
               "heaviside: self is {}, values are {}; convert one of them", name(dtype),
               name(values.impl()->dtype));
  return where(eq(self, 0), values, gt(self, 0).to(dtype));
}

namespace {

enum { kNan, kPositive, kNegative };

// One of several parts, so that it is fused where no tape runs through it.
const Op& op_nan_to_num = define({
    .name = "nan_to_num",
    .kind = OpKind::kComposite,
    .attributes = {{"nan", AttrType::kDouble},
                   {"posinf", AttrType::kDouble},
                   {"neginf", AttrType::kDouble}},
    .type = floating_only,
    .lowering =
        kernels::lower(kernels::CompositeLowering{[](const Signature& s, ArrayRef<Tensor> inputs) {
          const Tensor& x = inputs[0];
          const AttrReader attr = s.attr();
          const Tensor finite = masked_fill(masked_fill(x, eq(x, INFINITY), attr.real(kPositive)),
                                            eq(x, -INFINITY), attr.real(kNegative));
          return Tensors{masked_fill(finite, isnan(x), attr.real(kNan))};
        }}),
    .has_inplace = false,
    .reference = elementwise_reference([](const std::vector<double>& x, const Signature& s) {
      if (std::isnan(x[0])) return s.attr().real(kNan);
      if (std::isinf(x[0])) return s.attr().real(x[0] > 0 ? kPositive : kNegative);
      return x[0];
    }),
    .dtypes = floating_dtypes(),
    .samples =
        [](ScalarType dtype) {
          std::vector<Sample> samples = unary_samples(dtype);
          for (Sample& sample : samples)
            sample.attrs = Attrs().add_double(0.5).add_double(64).add_double(-32);
          return samples;
        },
    .tolerance_ulp = 0,
});

}  // namespace

Tensor nan_to_num(Arg self, std::optional<double> nan, std::optional<double> posinf,
                  std::optional<double> neginf) {
  const SiteScope scope(self.site);
  const ScalarType dtype = checked("nan_to_num", *self.tensor).dtype;
  if (!is_floating(dtype)) return clone(self);
  const double greatest = greatest_of(dtype);
  return call(op_nan_to_num, {*self.tensor}, self.site,
              Attrs()
                  .add_double(nan.value_or(0))
                  .add_double(posinf.value_or(greatest))
                  .add_double(neginf.value_or(-greatest)));
}

Tensor fmin(Arg self, const Tensor& other) {
  const SiteScope scope(self.site);
  return over_nan("fmin", *self.tensor, other, minimum);
}
Tensor fmax(Arg self, const Tensor& other) {
  const SiteScope scope(self.site);
  return over_nan("fmax", *self.tensor, other, maximum);
}

Tensor rsub(Arg self, const Tensor& other, Scalar alpha) {
  const SiteScope scope(self.site);
  checked("rsub", *self.tensor);
  checked("rsub", other);
  return sub(other, *self.tensor, alpha);
}
Tensor rsub(Arg self, Scalar other, Scalar alpha) {
  const SiteScope scope(self.site);
  checked("rsub", *self.tensor);
  GROOVE_CHECK(!other.isBoolean(), "rsub: not defined with a Bool operand; give a number");
  return sub(number_beside(*self.tensor, other, self.site), *self.tensor, alpha);
}

Tensor positive(Arg self) {
  const CallFrame frame(self.site);
  GROOVE_CHECK(checked("positive", *self.tensor).dtype != kBool,
               "positive: not defined for Bool tensors; convert with to(kInt)");
  return *self.tensor;
}

Tensor ElementwiseMethods::sinc(Site site) const { return groove::sinc({self(), site}); }
Tensor& ElementwiseMethods::sinc_(Site site) const {
  const SiteScope scope(site);
  return write_back("sinc_", self(), groove::sinc({self(), site}), site);
}
Tensor ElementwiseMethods::deg2rad(Site site) const { return groove::deg2rad({self(), site}); }
Tensor& ElementwiseMethods::deg2rad_(Site site) const {
  const SiteScope scope(site);
  return write_back("deg2rad_", self(), groove::deg2rad({self(), site}), site);
}
Tensor ElementwiseMethods::rad2deg(Site site) const { return groove::rad2deg({self(), site}); }
Tensor& ElementwiseMethods::rad2deg_(Site site) const {
  const SiteScope scope(site);
  return write_back("rad2deg_", self(), groove::rad2deg({self(), site}), site);
}
Tensor ElementwiseMethods::sgn(Site site) const { return groove::sgn({self(), site}); }
Tensor& ElementwiseMethods::sgn_(Site site) const {
  const SiteScope scope(site);
  return write_back("sgn_", self(), groove::sgn({self(), site}), site);
}
Tensor ElementwiseMethods::logit(std::optional<double> eps, Site site) const {
  return groove::logit({self(), site}, eps);
}
Tensor& ElementwiseMethods::logit_(std::optional<double> eps, Site site) const {
  const SiteScope scope(site);
  return write_back("logit_", self(), groove::logit({self(), site}, eps), site);
}
Tensor ElementwiseMethods::float_power(const Tensor& exponent, Site site) const {
  return groove::float_power({self(), site}, exponent);
}
Tensor& ElementwiseMethods::float_power_(const Tensor& exponent, Site site) const {
  const SiteScope scope(site);
  return write_back("float_power_", self(), groove::float_power({self(), site}, exponent), site);
}
Tensor ElementwiseMethods::float_power(Scalar exponent, Site site) const {
  return groove::float_power({self(), site}, exponent);
}
Tensor& ElementwiseMethods::float_power_(Scalar exponent, Site site) const {
  const SiteScope scope(site);
  return write_back("float_power_", self(), groove::float_power({self(), site}, exponent), site);
}
Tensor ElementwiseMethods::ldexp(const Tensor& other, Site site) const {
  return groove::ldexp({self(), site}, other);
}
Tensor& ElementwiseMethods::ldexp_(const Tensor& other, Site site) const {
  const SiteScope scope(site);
  return write_back("ldexp_", self(), groove::ldexp({self(), site}, other), site);
}
Tensor ElementwiseMethods::heaviside(const Tensor& values, Site site) const {
  return groove::heaviside({self(), site}, values);
}
Tensor& ElementwiseMethods::heaviside_(const Tensor& values, Site site) const {
  const SiteScope scope(site);
  return write_back("heaviside_", self(), groove::heaviside({self(), site}, values), site);
}
Tensor ElementwiseMethods::nan_to_num(std::optional<double> nan, std::optional<double> posinf,
                                      std::optional<double> neginf, Site site) const {
  return groove::nan_to_num({self(), site}, nan, posinf, neginf);
}
Tensor& ElementwiseMethods::nan_to_num_(std::optional<double> nan, std::optional<double> posinf,
                                        std::optional<double> neginf, Site site) const {
  const SiteScope scope(site);
  return write_back("nan_to_num_", self(), groove::nan_to_num({self(), site}, nan, posinf, neginf),
                    site);
}
Tensor ElementwiseMethods::fmin(const Tensor& other, Site site) const {
  return groove::fmin({self(), site}, other);
}
Tensor ElementwiseMethods::fmax(const Tensor& other, Site site) const {
  return groove::fmax({self(), site}, other);
}
Tensor InPlaceMethods::positive(Site site) const { return groove::positive({self(), site}); }

}  // namespace groove
