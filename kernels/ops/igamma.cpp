// igamma and igammac: the incomplete gamma functions P(a, x) and Q(a, x) = 1 - P, the smaller one
// by the series (Abramowitz and Stegun 6.5.29) or the continued fraction (6.5.31, by Lentz's
// method), both of which begin with x^a exp(-x) / gamma(a). For a beyond 1e10 the first term of
// Temme's expansion (1979) is exact.
#include <cmath>
#include <numbers>

#include "groove/ops/special_functions.h"
#include "kernels/ops/host_functions.h"
#include "src/core/promotion.h"

namespace groove {
namespace {

constexpr double kMany = 1e10;

// m - 1 - log(m) of m = x / a
double beyond_its_logarithm(double a, double x) {
  const double u = (x - a) / a;
  if (std::fabs(u) > 0.3) return u - std::log(x / a);
  double power = u * u, sum = 0;
  for (int k = 2; k < 60; ++k) {
    const double term = power / k;
    sum += k % 2 == 0 ? term : -term;
    power *= u;
    if (std::fabs(term) < 1e-18 * std::fabs(sum)) break;
  }
  return sum;
}

// log(gamma(1 + a)) without the rounding of 1 + a (Abramowitz and Stegun 6.1.33).
double log_gamma_of_one_more(double a) {
  if (a > 0.5) return std::lgamma(1 + a);
  static constexpr double kZetaLessOne[] = {
      0x1.4a34cc4a60fa6p-1,  0x1.9dd002780310ap-3,  0x1.51322ac7d8483p-4,  0x1.2e831d94f99b7p-5,
      0x1.1c26130249124p-6,  0x1.1196d0a679c47p-7,  0x1.0b36af86396e9p-8,  0x1.073e7b02d6ae0p-9,
      0x1.04b8ce96ee5f8p-10, 0x1.0318df2459954p-11, 0x1.020a5b2cd3042p-12, 0x1.01593a1177bd6p-13,
      0x1.00e4af2b4e156p-14, 0x1.0097bcbf11bedp-15, 0x1.0064cdeb22f0fp-16, 0x1.0043073686681p-17,
      0x1.002c9953744ccp-18, 0x1.001db08f9ba4ap-19, 0x1.0013c594466eap-20, 0x1.000d2bab28121p-21,
      0x1.0008c66cec77dp-22, 0x1.0005d8f13858cp-23, 0x1.0003e59ffde12p-24, 0x1.000298ea55633p-25,
      0x1.0001bb316ccdap-26, 0x1.0001276b90845p-27, 0x1.0000c4ed05ae3p-28, 0x1.0000834601a87p-29,
      0x1.00005782aaebep-30};
  double power = -a, sum = 0;
  int k = 2;
  for (const double zeta : kZetaLessOne) sum += (power *= -a) * zeta / k++;
  return sum + a * (1 - std::numbers::egamma) - std::log1p(a);
}

// gamma(a) / (sqrt(2 pi / a) (a / e)^a), for a >= 10: Stirling's series.
double stirling(double a) {
  const double z = 1 / (a * a);
  return std::exp(
      (1.0 / 12 -
       z * (1.0 / 360 -
            z * (1.0 / 1260 - z * (1.0 / 1680 - z * (1.0 / 1188 - z * 691.0 / 360360))))) /
      a);
}

// x^a exp(-x) / gamma(a), by (x / a)^a exp(a - x) where a is large.
double leading(double a, double x) {
  if (a < 10) return std::exp(a * std::log(x) - x) / std::tgamma(a);
  return std::exp(-a * beyond_its_logarithm(a, x)) * std::sqrt(a / (2 * std::numbers::pi)) /
         stirling(a);
}

double lower_by_series(double a, double x) {
  double term = 1 / a, sum = term;
  for (double n = 1; term > 1e-17 * sum; ++n) sum += term *= x / (a + n);
  return sum * leading(a, x);
}

double upper_by_fraction(double a, double x) {
  double b = x + 1 - a, c = 1e300, d = 1 / b, result = d;
  for (double n = 1; n < 1e7; ++n) {
    const double share = -n * (n - a);
    b += 2;
    d = 1 / (share * d + b);
    c = b + share / c;
    const double factor = c * d;
    result *= factor;
    if (std::fabs(factor - 1) < 1e-16) break;
  }
  return result * leading(a, x);
}

// Q and, with a sign of -1, P: erfc(+-eta sqrt(a / 2)) / 2 +- R, eta^2 / 2 = m - 1 - log(m).
double by_temme(double a, double x, double sign) {
  const double u = (x - a) / a, half = beyond_its_logarithm(a, x);
  const double eta = std::copysign(std::sqrt(2 * half), u);
  const double first = std::fabs(eta) < 1e-3 ? -1.0 / 3 + eta / 12 : 1 / u - 1 / eta;
  return std::erfc(sign * eta * std::sqrt(a / 2)) / 2 +
         sign * std::exp(-a * half) / std::sqrt(2 * std::numbers::pi * a) * first;
}

struct Both {
  double lower, upper;
};
Both incomplete(double a, double x) {
  if (x < 0 || a < 0) return {NAN, NAN};
  if (a == 0) return x > 0 ? Both{1, 0} : Both{NAN, NAN};
  if (x == 0) return {0, 1};
  if (std::isinf(a)) return std::isinf(x) ? Both{NAN, NAN} : Both{0, 1};
  if (std::isinf(x)) return {1, 0};
  if (std::isnan(a) || std::isnan(x)) return {NAN, NAN};
  if (a > kMany) return {by_temme(a, x, -1), by_temme(a, x, 1)};
  // Which of the two is the smaller one, as Cephes' igamc.
  const bool is_lower = x > 1.1 ? x < a + 1 : x <= 0.5 ? -0.4 / std::log(x) < a : x * 1.1 < a;
  if (is_lower) {
    const double lower = lower_by_series(a, x);
    return {lower, 1 - lower};
  }
  if (x > 1.1) {
    const double upper = upper_by_fraction(a, x);
    return {1 - upper, upper};
  }
  // Both are small: Q = 1 - x^a / gamma(1 + a) - x^a / gamma(a) times the sum of
  // (-x)^n / ((a + n) n!) from 1 on, as Cephes' igamc_series.
  double factor = 1, sum = 0;
  for (int n = 1; n < 200; ++n) {
    factor *= -x / n;
    const double term = factor / (a + n);
    sum += term;
    if (std::fabs(term) <= 1e-17 * std::fabs(sum)) break;
  }
  const double logarithm = a * std::log(x) - log_gamma_of_one_more(a);
  const double upper = -std::expm1(logarithm) - a * std::exp(logarithm) * sum;
  return {1 - upper, upper};
}

// The slope by x: x^(a - 1) exp(-x) / gamma(a).
Tensor density(const Tensor& a, const Tensor& x) { return exp(mul(a - 1, log(x)) - x - lgamma(a)); }
template <int sign>
Tensors gradient(const Grad& g) {
  GROOVE_CHECK(!g.needs[0],
               "{}: the derivative by self is not known, as in LibTorch; detach() self", g.op.name);
  Tensors result(2);
  if (g.needs[1]) result[1] = mul(g.cotangent(), density(g.input(0), g.input(1))) * sign;
  return result;
}

// For tests: the integral of the density by Simpson's rule over t = s^k, smooth for a >= 1/2.
double integral(double a, double x) {
  constexpr int kSteps = 4000;
  const long double root = std::sqrt(static_cast<long double>(x));
  const auto at = [&](int i) -> long double {
    const long double s = root * i / kSteps;
    return s == 0 ? (a == 0.5 ? 2.0L : 0.0L) : 2 * std::exp((2 * a - 1) * std::log(s) - s * s);
  };
  long double sum = at(0) + at(kSteps);
  for (int i = 1; i < kSteps; ++i) sum += at(i) * (i % 2 == 1 ? 4 : 2);
  return static_cast<double>(sum * root / (3 * kSteps) / std::tgamma(static_cast<long double>(a)));
}

const Op& op_lower = define(HostFunction{
    .name = "igamma",
    .inputs = 2,
    .function = [](const double* x) { return incomplete(x[0], x[1]).lower; },
    .gradient = gradient<1>,
    .saves_inputs = 3,
    .lacks_gradient = 1,
    .reference = integral,
    .domain = {2.5, 6},
    .tolerance_ulp = 1e5,
    .nanoseconds = 400,
});
const Op& op_upper = define(HostFunction{
    .name = "igammac",
    .inputs = 2,
    .function = [](const double* x) { return incomplete(x[0], x[1]).upper; },
    .gradient = gradient<-1>,
    .saves_inputs = 3,
    .lacks_gradient = 1,
    .reference = [](double a, double x) { return 1 - integral(a, x); },
    .domain = {2.5, 6},
    .tolerance_ulp = 1e5,
    .nanoseconds = 400,
});

Tensor called(const char* name, const Op& op, Arg self, const Tensor& other) {
  checked(name, *self.tensor);
  checked(name, other);
  const Type types[] = {type_of(*self.tensor), type_of(other)};
  GROOVE_CHECK_AS(NotImplementedError, is_floating(result_type(ArrayRef<Type>(types))),
                  "{}: not defined for {} tensors; convert to a floating dtype", name,
                  groove::name(types[0].dtype));
  return call_host(op, self, other);
}

}  // namespace

Tensor igamma(Arg self, const Tensor& other) {
  const SiteScope scope(self.site);
  return called("igamma", op_lower, self, other);
}
Tensor igammac(Arg self, const Tensor& other) {
  const SiteScope scope(self.site);
  return called("igammac", op_upper, self, other);
}
Tensor ElementwiseMethods::igamma(const Tensor& other, Site site) const {
  return groove::igamma({self(), site}, other);
}
Tensor& ElementwiseMethods::igamma_(const Tensor& other, Site site) const {
  const SiteScope scope(site);
  return write_back("igamma_", self(), groove::igamma({self(), site}, other), site);
}
Tensor ElementwiseMethods::igammac(const Tensor& other, Site site) const {
  return groove::igammac({self(), site}, other);
}
Tensor& ElementwiseMethods::igammac_(const Tensor& other, Site site) const {
  const SiteScope scope(site);
  return write_back("igammac_", self(), groove::igammac({self(), site}, other), site);
}

}  // namespace groove
