// special_chebyshev_polynomial_t and its kin: classical orthogonal polynomials by the recurrences
// in their degree (Abramowitz and Stegun 22.7); those of Chebyshev of higher degrees inside of [-1,
// 1] by angles (22.3.15), as LibTorch does.
#include <cmath>

#include "groove/ops/special_functions.h"
#include "kernels/ops/host_functions.h"

namespace groove {
namespace {

// What each kind of Chebyshev's begins with, and what it is at -1 and 1.
enum class Kind : std::uint8_t { kFirst, kSecond, kThird, kFourth };

// Recurrences end somewhere: beyond this degree the others are NaN.
constexpr std::int64_t kMostDegree = 1 << 16;

std::int64_t degree(double n) {
  return n >= 0x1p62 ? std::int64_t{1} << 62 : n > -1 ? static_cast<std::int64_t>(n) : -1;
}

double at_edge(Kind kind, double x, std::int64_t n) {
  const double sign = x > 0 || n % 2 == 0 ? 1 : -1, count = static_cast<double>(n);
  switch (kind) {
    case Kind::kFirst:
      return sign;
    case Kind::kSecond:
      return sign * (count + 1);
    case Kind::kThird:
      return x > 0 ? 1 : sign * (2 * count + 1);
    case Kind::kFourth:
      return x > 0 ? 2 * count + 1 : sign;
  }
  return NAN;
}

double by_angle(Kind kind, double x, std::int64_t n) {
  const double angle = std::acos(x), half = angle / 2, count = static_cast<double>(n);
  switch (kind) {
    case Kind::kFirst:
      return std::cos(count * angle);
    case Kind::kSecond:
      return std::sin((count + 1) * angle) / std::sin(angle);
    case Kind::kThird:
      return std::cos((count + 0.5) * angle) / std::cos(half);
    case Kind::kFourth:
      return std::sin((count + 0.5) * angle) / std::sin(half);
  }
  return NAN;
}

// Outside of [-1, 1] by hyperbolic angles; on the left the third kind is the fourth, but for a
// sign.
double by_hyperbolic_angle(Kind kind, double x, std::int64_t n) {
  const double angle = std::acosh(std::fabs(x)), half = angle / 2, count = static_cast<double>(n);
  const double sign = x > 0 || n % 2 == 0 ? 1 : -1;
  const bool is_third = (kind == Kind::kThird) == (x > 0);
  if (kind == Kind::kFirst) return sign * std::cosh(count * angle);
  if (kind == Kind::kSecond) return sign * std::sinh((count + 1) * angle) / std::sinh(angle);
  return sign * (is_third ? std::cosh((count + 0.5) * angle) / std::cosh(half)
                          : std::sinh((count + 0.5) * angle) / std::sinh(half));
}

// p[k + 1] = slope(k) p[k] - back(k) p[k - 1], from 1 and `first`.
template <typename Step>
double climb(double first, std::int64_t n, Step step) {
  double previous = 1, value = first;
  for (std::int64_t k = 1; k < n; ++k) {
    const double next = step(static_cast<double>(k), value, previous);
    previous = value;
    value = next;
    if (std::isnan(value)) break;
  }
  return value;
}

template <Kind kind>
double chebyshev(double x, double degree_of) {
  const std::int64_t n = degree(degree_of);
  if (n < 0) return 0;
  if (std::fabs(x) == 1) return at_edge(kind, x, n);
  if (n > (kind == Kind::kFirst ? 6 : 8) && std::fabs(x) < 1) return by_angle(kind, x, n);
  if (n > kMostDegree) return by_hyperbolic_angle(kind, x, n);  // or NaN
  if (n == 0) return 1;
  const double first = kind == Kind::kFirst    ? x
                       : kind == Kind::kSecond ? 2 * x
                       : kind == Kind::kThird  ? 2 * x - 1
                                               : 2 * x + 1;
  return climb(first, n,
               [x](double, double value, double previous) { return 2 * x * value - previous; });
}

double hermite(double x, double degree_of) {
  const std::int64_t n = degree(degree_of);
  if (n < 0) return 0;
  if (n > 512) return NAN;  // as LibTorch: beyond what doubles hold
  if (n == 0) return 1;
  return climb(2 * x, n, [x](double k, double value, double previous) {
    return 2 * x * value - 2 * k * previous;
  });
}
double hermite_of_probability(double x, double degree_of) {
  const std::int64_t n = degree(degree_of);
  if (n < 0) return 0;
  if (n > 512) return NAN;
  if (n == 0) return 1;
  return climb(x, n,
               [x](double k, double value, double previous) { return x * value - k * previous; });
}
double laguerre(double x, double degree_of) {
  const std::int64_t n = degree(degree_of);
  if (n < 0) return 0;
  if (n == 0 || x == 0) return 1;
  if (n > kMostDegree) return NAN;
  return climb(1 - x, n, [x](double k, double value, double previous) {
    return ((2 * k + 1 - x) * value - k * previous) / (k + 1);
  });
}
double legendre(double x, double degree_of) {
  const std::int64_t n = degree(degree_of);
  if (n < 0) return 0;
  if (std::fabs(x) == 1) return x > 0 || n % 2 == 0 ? 1 : -1;
  if (n == 0) return 1;
  if (n > kMostDegree) return NAN;
  return climb(x, n, [x](double k, double value, double previous) {
    return ((2 * k + 1) * x * value - k * previous) / (k + 1);
  });
}

// For tests: the same by sums of powers (22.3.6 to 22.3.11), for degrees up to 6.
double falling(std::int64_t n, std::int64_t k) {  // n over k
  double result = 1;
  for (std::int64_t i = 1; i <= k; ++i)
    result = result * static_cast<double>(n - k + i) / static_cast<double>(i);
  return result;
}
// U, and the others from it: T = U - x U', V = U - U', W = U + U', where U' is of one degree less.
double second_kind(double x, std::int64_t n) {
  double sum = 0;
  for (std::int64_t k = 0; 2 * k <= n; ++k)
    sum += (k % 2 == 0 ? 1 : -1) * falling(n - k, k) * std::pow(2 * x, n - 2 * k);
  return n < 0 ? 0 : sum;
}
template <Kind kind>
double chebyshev_by_powers(double x, double degree_of) {
  const std::int64_t n = degree(degree_of);
  if (n < 0) return 0;
  const double own = second_kind(x, n), less = second_kind(x, n - 1);
  return kind == Kind::kFirst    ? own - x * less
         : kind == Kind::kSecond ? own
         : kind == Kind::kThird  ? own - less
                                 : own + less;
}
template <Kind kind>
double shifted_by_powers(double x, double n) {
  return chebyshev_by_powers<kind>(2 * x - 1, n);
}
double hermite_by_powers(double x, double degree_of) {
  const std::int64_t n = degree(degree_of);
  double sum = 0;
  for (std::int64_t k = 0; 2 * k <= n; ++k)
    sum += (k % 2 == 0 ? 1 : -1) * std::tgamma(static_cast<double>(n + 1)) /
           (std::tgamma(static_cast<double>(k + 1)) *
            std::tgamma(static_cast<double>(n - 2 * k + 1))) *
           std::pow(2 * x, n - 2 * k);
  return n < 0 ? 0 : sum;
}
double probability_by_powers(double x, double n) {
  return hermite_by_powers(x / std::sqrt(2), n) *
         std::pow(2, -static_cast<double>(std::max<std::int64_t>(degree(n), 0)) / 2);
}
double laguerre_by_powers(double x, double degree_of) {
  const std::int64_t n = degree(degree_of);
  double sum = 0;
  for (std::int64_t k = 0; k <= n; ++k)
    sum += falling(n, k) * std::pow(-x, k) / std::tgamma(static_cast<double>(k + 1));
  return sum;
}
double legendre_by_powers(double x, double degree_of) {
  const std::int64_t n = degree(degree_of);
  double sum = 0;
  for (std::int64_t k = 0; k <= n; ++k)
    sum += falling(n, k) * falling(n + k, k) * std::pow((x - 1) / 2, k);
  return sum;
}

#define GROOVE_DEFINE_POLYNOMIAL(polynomial, value, powers)                    \
  const Op& op_##polynomial = define(HostFunction{                             \
      .name = "special_" #polynomial,                                          \
      .inputs = 2,                                                             \
      .function = [](const double* x) -> double { return value(x[0], x[1]); }, \
      .reference = powers,                                                     \
      .domain = {-1, 6},                                                       \
      .tolerance_ulp = 1e5, /* near roots */                                   \
      .nanoseconds = 30,                                                       \
  });

template <Kind kind>
double shifted(double x, double n) {
  return chebyshev<kind>(2 * x - 1, n);
}
GROOVE_DEFINE_POLYNOMIAL(chebyshev_polynomial_t, chebyshev<Kind::kFirst>,
                         chebyshev_by_powers<Kind::kFirst>)
GROOVE_DEFINE_POLYNOMIAL(chebyshev_polynomial_u, chebyshev<Kind::kSecond>,
                         chebyshev_by_powers<Kind::kSecond>)
GROOVE_DEFINE_POLYNOMIAL(chebyshev_polynomial_v, chebyshev<Kind::kThird>,
                         chebyshev_by_powers<Kind::kThird>)
GROOVE_DEFINE_POLYNOMIAL(chebyshev_polynomial_w, chebyshev<Kind::kFourth>,
                         chebyshev_by_powers<Kind::kFourth>)
GROOVE_DEFINE_POLYNOMIAL(shifted_chebyshev_polynomial_t, shifted<Kind::kFirst>,
                         shifted_by_powers<Kind::kFirst>)
GROOVE_DEFINE_POLYNOMIAL(shifted_chebyshev_polynomial_u, shifted<Kind::kSecond>,
                         shifted_by_powers<Kind::kSecond>)
GROOVE_DEFINE_POLYNOMIAL(shifted_chebyshev_polynomial_v, shifted<Kind::kThird>,
                         shifted_by_powers<Kind::kThird>)
GROOVE_DEFINE_POLYNOMIAL(shifted_chebyshev_polynomial_w, shifted<Kind::kFourth>,
                         shifted_by_powers<Kind::kFourth>)
GROOVE_DEFINE_POLYNOMIAL(hermite_polynomial_h, hermite, hermite_by_powers)
GROOVE_DEFINE_POLYNOMIAL(hermite_polynomial_he, hermite_of_probability, probability_by_powers)
GROOVE_DEFINE_POLYNOMIAL(laguerre_polynomial_l, laguerre, laguerre_by_powers)
GROOVE_DEFINE_POLYNOMIAL(legendre_polynomial_p, legendre, legendre_by_powers)
#undef GROOVE_DEFINE_POLYNOMIAL

}  // namespace

#define GROOVE_POLYNOMIAL(name)                                                        \
  Tensor special_##name(Arg x, const Tensor& n) { return call_host(op_##name, x, n); } \
  Tensor special_##name(Arg x, Scalar n) { return call_host(op_##name, x, n); }        \
  Tensor special_##name(Scalar x, Arg n) { return call_host(op_##name, x, n); }
GROOVE_POLYNOMIALS(GROOVE_POLYNOMIAL)
#undef GROOVE_POLYNOMIAL

}  // namespace groove
