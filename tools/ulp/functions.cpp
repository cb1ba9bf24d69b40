// The functions with their bounds (numerics.md §2) and their references.
#include <bit>
#include <cmath>
#include <limits>

#include "kernels/functions/parts.h"
#include "tools/ulp/accuracy.h"

namespace groove::accuracy {
namespace {

template <int (*kFunction)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t)>
void call(mpfr_ptr result, mpfr_ptr x) {
  kFunction(result, x, MPFR_RNDN);
}

// Divides exp(x) by 1 + exp(x) for negative x, where 1 / (1 + exp(-x)) could overflow.
void big_sigmoid(mpfr_ptr result, mpfr_ptr x) {
  static thread_local Big power;
  if (mpfr_nan_p(x)) return mpfr_set_nan(result);
  const bool is_negative = mpfr_sgn(x) < 0;
  mpfr_neg(power, x, MPFR_RNDN);
  mpfr_exp(power, is_negative ? x : static_cast<mpfr_ptr>(power), MPFR_RNDN);
  mpfr_add_ui(result, power, 1, MPFR_RNDN);
  if (is_negative) {
    mpfr_div(result, power, result, MPFR_RNDN);
  } else {
    mpfr_ui_div(result, 1, result, MPFR_RNDN);
  }
}
// -0 for negative infinity, the limit.
bool is_limit(mpfr_ptr result, mpfr_ptr x) {
  if (!mpfr_inf_p(x) || mpfr_sgn(x) > 0) return false;
  mpfr_set_zero(result, -1);
  return true;
}
void big_silu(mpfr_ptr result, mpfr_ptr x) {
  if (is_limit(result, x)) return;
  big_sigmoid(result, x);
  mpfr_mul(result, result, x, MPFR_RNDN);
}
void big_gelu(mpfr_ptr result, mpfr_ptr x) {
  static thread_local Big root, argument;
  if (is_limit(result, x)) return;
  mpfr_set_d(root, 0.5, MPFR_RNDN);
  mpfr_sqrt(root, root, MPFR_RNDN);
  mpfr_mul(argument, x, root, MPFR_RNDN);
  mpfr_neg(argument, argument, MPFR_RNDN);
  mpfr_erfc(result, argument, MPFR_RNDN);
  mpfr_mul(result, result, x, MPFR_RNDN);
  mpfr_div_ui(result, result, 2, MPFR_RNDN);
}
// x sigmoid(2 sqrt(2 / pi) (x + 0.044715 x³)).
void big_gelu_tanh(mpfr_ptr result, mpfr_ptr x) {
  static thread_local Big factor, w;
  if (is_limit(result, x)) return;
  mpfr_const_pi(factor, MPFR_RNDN);
  mpfr_ui_div(factor, 8, factor, MPFR_RNDN);
  mpfr_sqrt(factor, factor, MPFR_RNDN);
  mpfr_sqr(w, x, MPFR_RNDN);
  mpfr_mul_ui(w, w, 44715, MPFR_RNDN);
  mpfr_div_ui(w, w, 1000000, MPFR_RNDN);
  mpfr_add_ui(w, w, 1, MPFR_RNDN);
  mpfr_mul(w, w, x, MPFR_RNDN);
  mpfr_mul(w, w, factor, MPFR_RNDN);
  big_sigmoid(result, w);
  mpfr_mul(result, result, x, MPFR_RNDN);
}

void big_lgamma(mpfr_ptr result, mpfr_ptr x) {
  int sign;
  mpfr_lgamma(result, &sign, x, MPFR_RNDN);
}
// Infinite at both zeros, with the sign of the pole's side.
void big_digamma(mpfr_ptr result, mpfr_ptr x) {
  if (mpfr_zero_p(x)) return mpfr_set_inf(result, mpfr_signbit(x) ? 1 : -1);
  mpfr_digamma(result, x, MPFR_RNDN);
}
// The sum of 1 / (x + k)² up to x + n >= 40, then 1/y + 1/(2 y²) + 1/(6 y³) - …, for 160 bits;
// negative x are reflected.
void big_trigamma(mpfr_ptr result, mpfr_ptr x) {
  if (mpfr_nan_p(x)) return mpfr_set_nan(result);
  if (mpfr_inf_p(x) && mpfr_sgn(x) > 0) return mpfr_set_zero(result, 1);
  if (mpfr_sgn(x) <= 0 && mpfr_integer_p(x)) return mpfr_set_inf(result, 1);
  if (mpfr_inf_p(x)) return mpfr_set_inf(result, 1);
  Big y, term, power;
  mpfr_set_zero(result, 1);
  const bool is_negative = mpfr_sgn(x) < 0;
  if (is_negative) {
    mpfr_ui_sub(y, 1, x, MPFR_RNDN);
  } else {
    mpfr_set(y, x, MPFR_RNDN);
  }
  while (mpfr_cmp_ui(y, 40) < 0) {
    mpfr_sqr(term, y, MPFR_RNDN);
    mpfr_ui_div(term, 1, term, MPFR_RNDN);
    mpfr_add(result, result, term, MPFR_RNDN);
    mpfr_add_ui(y, y, 1, MPFR_RNDN);
  }
  mpfr_ui_div(y, 1, y, MPFR_RNDN);
  mpfr_add(result, result, y, MPFR_RNDN);
  mpfr_sqr(power, y, MPFR_RNDN);
  mpfr_div_ui(term, power, 2, MPFR_RNDN);
  mpfr_add(result, result, term, MPFR_RNDN);
  // Bernoulli numbers B2, B4, …
  static constexpr struct {
    long numerator, denominator;
  } kBernoulli[] = {{1, 6},       {-1, 30},       {1, 42},       {-1, 30},
                    {5, 66},      {-691, 2730},   {7, 6},        {-3617, 510},
                    {43867, 798}, {-174611, 330}, {854513, 138}, {-236364091, 2730},
                    {8553103, 6}};
  mpfr_mul(y, y, power, MPFR_RNDN);
  for (const auto& b : kBernoulli) {
    mpfr_mul_si(term, y, b.numerator, MPFR_RNDN);
    mpfr_div_si(term, term, b.denominator, MPFR_RNDN);
    mpfr_add(result, result, term, MPFR_RNDN);
    mpfr_mul(y, y, power, MPFR_RNDN);
  }
  if (!is_negative) return;
  mpfr_t exact;  // the argument's own bits must not be lost beside pi
  mpfr_init2(exact, 1400);
  mpfr_round(exact, x);
  mpfr_sub(exact, x, exact, MPFR_RNDN);
  mpfr_const_pi(term, MPFR_RNDN);
  mpfr_mul(power, exact, term, MPFR_RNDN);
  mpfr_clear(exact);
  mpfr_sin(power, power, MPFR_RNDN);
  mpfr_div(term, term, power, MPFR_RNDN);
  mpfr_sqr(term, term, MPFR_RNDN);
  mpfr_sub(result, term, result, MPFR_RNDN);
}

// Newton's method on erfc(y) = 1 - |x|, each step of which doubles the digits.
void big_erfinv(mpfr_ptr result, mpfr_ptr x) {
  if (mpfr_nan_p(x) || mpfr_cmpabs_ui(x, 1) > 0) return mpfr_set_nan(result);
  if (mpfr_cmpabs_ui(x, 1) == 0) return mpfr_set_inf(result, mpfr_sgn(x));
  if (mpfr_zero_p(x)) {
    mpfr_set(result, x, MPFR_RNDN);
    return;
  }
  Big magnitude, y, value, slope;
  mpfr_abs(magnitude, x, MPFR_RNDN);
  const bool is_tail = mpfr_cmp_d(magnitude, 0.5) > 0;
  mpfr_const_pi(slope, MPFR_RNDN);
  mpfr_sqrt(slope, slope, MPFR_RNDN);
  mpfr_mul(y, slope, magnitude, MPFR_RNDN);
  mpfr_div_ui(y, y, 2, MPFR_RNDN);  // from below: Newton's steps stay there or come back to it
  Big complement;
  mpfr_ui_sub(complement, 1, magnitude, MPFR_RNDN);
  for (int i = 0; i < 80; ++i) {
    if (is_tail) {
      mpfr_erfc(value, y, MPFR_RNDN);
      mpfr_sub(value, value, complement, MPFR_RNDN);
    } else {
      mpfr_erf(value, y, MPFR_RNDN);
      mpfr_sub(value, magnitude, value, MPFR_RNDN);
    }
    // Times sqrt(pi) / 2 exp(y²).
    Big power;
    mpfr_sqr(power, y, MPFR_RNDN);
    mpfr_exp(power, power, MPFR_RNDN);
    mpfr_mul(value, value, power, MPFR_RNDN);
    mpfr_mul(value, value, slope, MPFR_RNDN);
    mpfr_div_ui(value, value, 2, MPFR_RNDN);
    mpfr_add(y, y, value, MPFR_RNDN);
    if (mpfr_zero_p(static_cast<mpfr_ptr>(value)) ||
        mpfr_get_exp(static_cast<mpfr_ptr>(value)) < mpfr_get_exp(static_cast<mpfr_ptr>(y)) - 100) {
      break;
    }
  }
  mpfr_setsign(result, y, mpfr_signbit(x), MPFR_RNDN);
}

// log(1 + exp(x)), and by its definition x itself beyond 20.
void big_softplus(mpfr_ptr result, mpfr_ptr x) {
  if (mpfr_nan_p(x) || mpfr_cmp_ui(x, 20) > 0) {
    mpfr_set(result, x, MPFR_RNDN);
    return;
  }
  mpfr_exp(result, x, MPFR_RNDN);
  mpfr_log1p(result, result, MPFR_RNDN);
}

double quick_rsqrt(double x) { return 1.0 / std::sqrt(x); }
double quick_sigmoid(double x) {
  return x >= 0.0 ? 1.0 / (1.0 + std::exp(-x)) : std::exp(x) / (1.0 + std::exp(x));
}
double quick_softplus(double x) { return x > 20 ? x : std::log1p(std::exp(x)); }
double quick_silu(double x) {
  return x >= 0.0 ? x / (1.0 + std::exp(-x)) : std::isinf(x) ? -0.0 : x * quick_sigmoid(x);
}
double quick_gelu(double x) {
  return std::isinf(x) && x < 0 ? -0.0 : 0.5 * x * std::erfc(-x * std::sqrt(0.5));
}
double quick_gelu_tanh(double x) {
  if (std::isinf(x)) return x > 0 ? x : -0.0;
  const double w = 2.0 * std::sqrt(2.0 / M_PI) * (x + 0.044715 * x * x * x);
  return w < -700.0 ? -0.0 : x / (1.0 + std::exp(-w));
}

long double close_rsqrt(long double x) { return 1.0L / sqrtl(x); }
long double close_sigmoid(long double x) {
  return x >= 0 ? 1.0L / (1.0L + expl(-x)) : expl(x) / (1.0L + expl(x));
}
long double close_softplus(long double x) { return x > 20 ? x : log1pl(expl(x)); }
long double close_silu(long double x) { return x * close_sigmoid(x); }
// Further down the exponent of the tail magnifies the rounding of its argument: MPFR decides there.
long double close_gelu(long double x) { return x < -3 ? NAN : 0.5L * x * erfcl(-x * sqrtl(0.5L)); }
long double close_gelu_tanh(long double x) {
  if (x < -2) return NAN;
  return x * close_sigmoid(2.0L * sqrtl(2.0L / acosl(-1.0L)) * (x + 0.044715L * x * x * x));
}

// Halley's steps, each of which triples the digits, from a start with three (Winitzki's formula).
long double close_erfinv(long double x) {
  const long double magnitude = fabsl(x);
  if (!(magnitude < 1) || x == 0) return magnitude == 1 ? x / 0.0L : x == 0 ? x : NAN;
  const long double slope = sqrtl(acosl(-1.0L)) / 2;
  const auto logarithm = static_cast<long double>(std::log1p(static_cast<double>(-magnitude)) +
                                                  std::log1p(static_cast<double>(magnitude)));
  const long double half = 2 / (acosl(-1.0L) * 0.147L) + logarithm / 2;
  long double y =
      magnitude < 1e-3L ? magnitude * slope : sqrtl(sqrtl(half * half - logarithm / 0.147L) - half);
  for (int i = 0; i < 3; ++i) {
    const long double difference =
        magnitude > 0.5L ? (1 - magnitude) - erfcl(y) : erfl(y) - magnitude;
    const long double step = difference * slope * expl(y * y);
    y -= step / (1 + y * step);
  }
  return copysignl(y, x);
}

// The polygamma functions of positive x: from x + n >= 24 on the first terms of their asymptotic
// series are enough. Negative x are reflected; x minus the nearest integer is exact.
long double close_digamma(long double x) {
  constexpr long double kPi = 3.14159265358979323846264338327950288L;
  if (std::isnan(x) || std::isinf(x)) return x > 0 ? x : NAN;
  if (x == 0) return -1 / x;
  if (x < 0) {
    const long double fraction = x - rintl(x);
    return fraction == 0 ? NAN : close_digamma(1 - x) - kPi / tanl(kPi * fraction);
  }
  long double sum = 0;
  for (; x < 24; x += 1) sum -= 1 / x;
  const long double z = 1 / (x * x);
  const long double series =
      z * (1 / 12.0L -
           z * (1 / 120.0L -
                z * (1 / 252.0L - z * (1 / 240.0L - z * (1 / 132.0L - z * 691 / 32760.0L)))));
  return sum + logl(x) - 1 / (2 * x) - series;
}
long double close_trigamma(long double x) {
  constexpr long double kPi = 3.14159265358979323846264338327950288L;
  if (std::isnan(x) || std::isinf(x)) return x > 0 ? 0 : x < 0 ? INFINITY : NAN;
  if (x <= 0) {
    const long double fraction = x - rintl(x);
    if (fraction == 0) return INFINITY;
    const long double sine = sinl(kPi * fraction) / kPi;
    return 1 / (sine * sine) - close_trigamma(1 - x);
  }
  long double sum = 0;
  for (; x < 24; x += 1) sum += 1 / (x * x);
  const long double y = 1 / x, z = y * y;
  const long double series =
      y * z *
      (1 / 6.0L -
       z * (1 / 30.0L - z * (1 / 42.0L - z * (1 / 30.0L - z * (5 / 66.0L - z * 691 / 2730.0L)))));
  return sum + y + z / 2 + series;
}

void big_pow(mpfr_ptr result, mpfr_ptr x, mpfr_ptr y) { mpfr_pow(result, x, y, MPFR_RNDN); }
void big_atan2(mpfr_ptr result, mpfr_ptr x, mpfr_ptr y) { mpfr_atan2(result, x, y, MPFR_RNDN); }

// Uniform in [-1, 1).
double fraction(std::uint64_t bits) { return std::ldexp(static_cast<double>(bits >> 11), -52) - 1; }

// Bases of all exponents with exponents that keep the result in and just out of range.
void draw_power(std::uint64_t first, std::uint64_t second, bool single, double& x, double& y) {
  const double reach = single ? 128 : 1024;
  x = std::exp2(fraction(first) * ((first & 1) == 0 ? reach : 1.0));
  if (single) x = static_cast<float>(x);
  y = fraction(second) * 1.1 * reach / std::max(std::fabs(std::log2(x)), 1e-30);
}
// Points of all magnitudes, half of them with coordinates of about one size.
void draw_point(std::uint64_t first, std::uint64_t second, bool single, double& x, double& y) {
  const double reach = single ? 127 : 1023;
  const double exponent = fraction(first) * reach;
  const double other = (first & 1) == 0 ? exponent + fraction(first * 0x9e3779b97f4a7c15u) * 4
                                        : fraction(first * 0x9e3779b97f4a7c15u) * reach;
  const auto magnitude = [&](double power, std::uint64_t bits) {
    const double whole = std::trunc(std::max(-reach, std::min(reach - 1, power)));
    return std::ldexp(1 + std::ldexp(static_cast<double>(bits & 0xffffffff), -32),
                      static_cast<int>(whole));
  };
  x = magnitude(exponent, second) * ((first & 2) == 0 ? 1 : -1);
  y = magnitude(other, second >> 32) * ((first & 4) == 0 ? 1 : -1);
}

}  // namespace

const std::vector<Unary>& unary_functions() {
  using namespace kernels;
  static const std::vector<Unary> all = {
      {"exp", exp, call<mpfr_exp>, [](double x) { return std::exp(x); }, expl, 1, 1},
      {"exp2", exp2, call<mpfr_exp2>, [](double x) { return std::exp2(x); }, exp2l},
      {"expm1", expm1, call<mpfr_expm1>, [](double x) { return std::expm1(x); }, expm1l},
      {"log", log, call<mpfr_log>, [](double x) { return std::log(x); }, logl, 1, 1},
      {"log2", log2, call<mpfr_log2>, [](double x) { return std::log2(x); }, log2l},
      {"log10", log10, call<mpfr_log10>, [](double x) { return std::log10(x); }, log10l},
      {"log1p", log1p, call<mpfr_log1p>, [](double x) { return std::log1p(x); }, log1pl, 1, 1},
      {"sin", sin, call<mpfr_sin>, [](double x) { return std::sin(x); }, sinl, 1, 1},
      {"cos", cos, call<mpfr_cos>, [](double x) { return std::cos(x); }, cosl, 1, 1},
      {"tan", tan, call<mpfr_tan>, [](double x) { return std::tan(x); }, tanl},
      {"asin", asin, call<mpfr_asin>, [](double x) { return std::asin(x); }, asinl},
      {"acos", acos, call<mpfr_acos>, [](double x) { return std::acos(x); }, acosl},
      {"atan", atan, call<mpfr_atan>, [](double x) { return std::atan(x); }, atanl},
      {"sinh", sinh, call<mpfr_sinh>, [](double x) { return std::sinh(x); }, sinhl},
      {"cosh", cosh, call<mpfr_cosh>, [](double x) { return std::cosh(x); }, coshl},
      {"tanh", tanh, call<mpfr_tanh>, [](double x) { return std::tanh(x); }, tanhl, 1, 1},
      {"sigmoid", sigmoid, big_sigmoid, quick_sigmoid, close_sigmoid, 1, 1},
      {"silu", silu, big_silu, quick_silu, close_silu, 1, 1},
      {"softplus", [](Expr x) { return select(gt(x, 20.0), x, functions::softplus(x)); },
       big_softplus, quick_softplus, close_softplus},
      {"erf", erf, call<mpfr_erf>, [](double x) { return std::erf(x); }, erfl, 1, 1},
      {"erfc", erfc, call<mpfr_erfc>, [](double x) { return std::erfc(x); }, erfcl, 1, 1},
      {"erfinv", erfinv, big_erfinv, nullptr, close_erfinv, 4, 4},
      {"gelu", gelu, big_gelu, quick_gelu, close_gelu, 2, 1.5},
      {"gelu_tanh", gelu_tanh, big_gelu_tanh, quick_gelu_tanh, close_gelu_tanh, 2, 1.5},
      {"rsqrt", rsqrt, call<mpfr_rec_sqrt>, quick_rsqrt, close_rsqrt, 1, 1},
      {"lgamma", lgamma, big_lgamma, nullptr, lgammal, 4, 4, true},
      {"digamma", digamma, big_digamma, nullptr, close_digamma, 4, 4, true},
      {"trigamma", [](Expr x) { return polygamma(1, x); }, big_trigamma, nullptr, close_trigamma, 4,
       4, true},
  };
  return all;
}

const std::vector<Binary>& binary_functions() {
  using namespace kernels;
  static const std::vector<Binary> all = {
      {"pow", pow, big_pow, [](double x, double y) { return std::pow(x, y); }, powl, 1, 2,
       draw_power},
      {"atan2", atan2, big_atan2, [](double x, double y) { return std::atan2(x, y); }, atan2l, 1, 2,
       draw_point},
  };
  return all;
}

}  // namespace groove::accuracy
