// lgamma, digamma and its derivatives, in f64 for both dtypes. Large arguments take the asymptotic
// series, small ones are moved by the recurrence, negative ones reflected. Near the roots between
// the poles both halves of a reflection are large, so they are carried as sums of two.
// Coefficients: interpolation at Chebyshev nodes in 60 digits, rounded.
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/functions/parts.h"

namespace groove::kernels {
namespace {

using functions::exact_product;
using functions::exact_sum;
using functions::kPi;
using functions::Pair;
using functions::polynomial;
using functions::quick_sum;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Expr literal(Expr like, double value) { return like.builder().constant(kDouble, value); }
Pair product(const Pair& a, const Pair& b) {
  const Pair high = exact_product(a.high, b.high);
  return {high.high, fma(a.high, b.low, fma(a.low, b.high, high.low))};
}
Pair sum(const Pair& a, const Pair& b) {
  const Pair high = exact_sum(a.high, b.high);
  return {high.high, high.low + (a.low + b.low)};
}
Pair negated(const Pair& a) { return {-a.high, -a.low}; }
Pair choice(Expr mask, const Pair& yes, const Pair& no) {
  return {select(mask, yes.high, no.high), select(mask, yes.low, no.low)};
}

// From here on Stirling's series has an error below 2^-50 of its own, which is at most 2^-6.
constexpr double kStirling = 8;

// Of 1 / x², and of log gamma(x) / (x - 2) around 5/2.
constexpr std::initializer_list<double> kSeries = {0x1.5555555555553p-4,  -0x1.6c16c16bb630dp-9,
                                                   0x1.a019fd3406f00p-11, -0x1.380ebd7243e33p-11,
                                                   0x1.b6fa4852c477dp-11, -0x1.b1382377c6244p-10};
constexpr std::initializer_list<double> kFromTwoToThree = {
    0x1.2383e809a67e8p-1,   0x1.1200f695b0dd9p-2,  -0x1.6f0ca9a1c274bp-5,  0x1.646ae6e419451p-7,
    -0x1.95b11573d663fp-9,  0x1.f7e4615efec34p-11, -0x1.4a5d12d336ae1p-12, 0x1.c135f99610f91p-14,
    -0x1.3957bfff00ca5p-15, 0x1.bd757d8269c78p-17, -0x1.413561ce0e402p-18, 0x1.d4978e156de87p-20,
    -0x1.58bf4a18c386bp-21, 0x1.f975577582fc7p-23, -0x1.78c519d546ae4p-24, 0x1.4c9be66572ba9p-25,
    -0x1.f52bd7edb7bd0p-27};
constexpr double kHalfOfLogTwoPiLessOne = 0x1.acfe390c97d69p-2, kLogPi = 0x1.250d048e7a1bdp+0;

// (x - 1/2) (log x - 1) + (log(2 pi) - 1) / 2 + series(1 / x²) / x, for x >= kStirling.
Pair log_gamma_by_series(Expr x) {
  const Pair one_less = sum(functions::log_as_pair(x), {literal(x, -1.0), literal(x, 0.0)});
  const Pair growing = product(exact_sum(x, literal(x, -0.5)), one_less);
  const Expr inverse = literal(x, 1.0) / x;
  const Expr p = polynomial(inverse * inverse, kSeries);
  return sum(growing, {literal(x, kHalfOfLogTwoPiLessOne), inverse * p});
}

// For 0 < x < kStirling: what lies between x and y = x + n in [2, 3) is a product.
Pair log_gamma_by_recurrence(Expr x) {
  const Expr one = literal(x, 1.0), zero = literal(x, 0.0);
  Pair y = {x, zero}, factors = {one, zero};
  const Expr is_low = lt(x, 2.0);
  for (int i = 0; i < 2; ++i) {
    const Expr is_active = lt(y.high, 2.0);
    factors = choice(is_active, product(factors, y), factors);
    const Pair next = exact_sum(y.high, one);
    y = choice(is_active, {next.high, next.low + y.low}, y);
  }
  for (int i = 0; i < static_cast<int>(kStirling) - 3; ++i) {
    const Expr is_active = ge(y.high, 3.0);  // subtracting 1 is exact
    y.high = select(is_active, y.high - 1.0, y.high);
    factors = choice(is_active, product(factors, y), factors);
  }
  const Expr u = (y.high - 2.5) + y.low;
  const Expr p = polynomial(u, kFromTwoToThree);
  const Expr remainder = ((y.high - 2.0) + y.low) * p;
  Pair logarithm = functions::log_as_pair(factors.high);
  logarithm.low = logarithm.low + factors.low / factors.high;
  return sum(choice(is_low, negated(logarithm), logarithm), {remainder, zero});
}

// Both for a result of f32, which needs no low parts: one logarithm serves them.
Expr log_gamma_for_single(Expr x) {
  const Expr one = literal(x, 1.0), is_large = ge(x, kStirling), is_low = lt(x, 2.0);
  Expr y = x, factors = one;
  for (int i = 0; i < 2; ++i) {
    const Expr is_active = lt(y, 2.0);
    factors = select(is_active, factors * y, factors);
    y = select(is_active, y + one, y);
  }
  for (int i = 0; i < static_cast<int>(kStirling) - 3; ++i) {
    const Expr is_active = ge(y, 3.0);
    y = select(is_active, y - one, y);
    factors = select(is_active, factors * y, factors);
  }
  const Expr logarithm = functions::log_of_positive(select(is_large, x, factors));
  const Expr inverse = one / x;
  const Expr rest =
      fma(inverse, polynomial(inverse * inverse, kSeries), literal(x, kHalfOfLogTwoPiLessOne));
  const Expr by_series = fma(x - 0.5, logarithm - one, rest);
  const Expr by_recurrence =
      fma(y - 2.0, polynomial(y - 2.5, kFromTwoToThree), select(is_low, -logarithm, logarithm));
  return select(is_large, by_series, by_recurrence);
}

// For negative x: log |gamma(-a)| = log(pi) - log |a sin(pi a)| - log gamma(a).
Expr reflected_for_single(Expr x) {
  const Expr magnitude = abs(x);
  const Expr sine = abs(functions::half_turn(x - round_even(x)).sine.high);
  return (literal(x, kLogPi) - functions::log_of_positive(sine * magnitude)) -
         log_gamma_for_single(magnitude);
}

constexpr int kAsymptotic = 10;  // from here on the series of digamma is exact
struct Raised {
  Expr x;
  Pair sum;
};
// Adds 1 to x until it reaches `reach`, and term(x) to the sum for each x passed.
template <typename Term>
Raised raised(Expr x, int reach, Term term) {
  Raised r{x, {literal(x, 0.0), literal(x, 0.0)}};
  for (int i = 0; i < reach; ++i) {
    const Expr is_active = lt(r.x, reach);
    const Pair next = exact_sum(r.sum.high, term(r.x));
    r.sum = choice(is_active, {next.high, next.low + r.sum.low}, r.sum);
    r.x = select(is_active, r.x + 1.0, r.x);
  }
  return r;
}

// The distance to the nearest integer, with its sign.
Expr to_nearest(Expr x) { return x - round_even(x); }

}  // namespace

// log |gamma(-a)| = log(pi) - log |a sin(pi a)| - log gamma(a).
Expr lgamma(Expr x) {
  const Expr wide = convert(x, kDouble), magnitude = abs(wide);
  const Expr limit = literal(wide, kInfinity), r = to_nearest(wide);
  // Near 0 both signs have -log |x|, where the product with the sine would underflow.
  const Expr is_reflected = lt(wide, -0x1p-60);
  const auto settled = [&](Expr value) {
    const Expr is_pole = le(wide, 0.0) & eq(r, 0.0);
    const Expr result = select(is_pole | eq(magnitude, kInfinity), limit, value);
    return convert(select(ne(wide, wide), wide, result), x.dtype());
  };
  if (functions::is_single(x))
    return settled(
        if_any(is_reflected, log_gamma_for_single(magnitude), reflected_for_single, wide));
  const Pair positive = choice(lt(magnitude, kStirling), log_gamma_by_recurrence(magnitude),
                               log_gamma_by_series(magnitude));
  const Pair logarithm = functions::log_as_pair(abs(functions::half_turn(r).sine.high) * magnitude);
  const Pair reflected =
      sum(sum({literal(wide, kLogPi), literal(wide, 0x1.7abf2ad8d5088p-57)}, negated(logarithm)),
          negated(positive));
  const Pair value = choice(is_reflected, reflected, positive);
  // The rounding error of an infinite sum is NaN.
  return settled(select(lt(value.high, kInfinity), value.high + value.low, limit));
}

// psi(-a) = psi(1 + a) - pi / tan(-pi a).
Expr digamma(Expr x) {
  const Expr wide = convert(x, kDouble);
  const auto constant = [&](double value) { return literal(wide, value); };
  const Expr is_negative = lt(wide, 0.0);
  const Raised start = raised(select(is_negative, constant(1.0) - wide, wide), kAsymptotic,
                              [&](Expr y) { return constant(-1.0) / y; });
  const Expr inverse = constant(1.0) / start.x, z = inverse * inverse;
  const Expr p =
      polynomial(z, {0x1.5555555555553p-4, -0x1.11111110eda31p-7, 0x1.04103fbff493dp-8,
                     -0x1.110ef0c7a9422p-8, 0x1.eedc14c2d524bp-8, -0x1.3453e6381b463p-6});
  const Expr falling = fma(z, -p, inverse * -0.5);
  const Pair positive =
      sum(start.sum, sum(functions::log_as_pair(start.x), {falling, constant(0.0)}));

  const Expr r = to_nearest(wide);
  const functions::HalfTurn turn = functions::half_turn(r);
  const Pair cotangent = functions::quotient(turn.cosine, turn.sine);
  const Pair reflection = product(cotangent, {constant(kPi[0]), constant(kPi[1])});
  const Pair value = choice(is_negative, sum(positive, negated(reflection)), positive);

  // Below 2^-600 only the pole is left, and its quotient may overflow.
  const Expr near_zero = constant(-1.0) / wide;
  const Expr is_small = lt(abs(wide), 0x1p-600);
  const Expr is_undefined = (is_negative & eq(r, 0.0)) | eq(wide, -kInfinity);
  const Expr finite = select(is_small, near_zero, value.high + value.low);
  const Expr defined = select(eq(wide, kInfinity), wide, finite);
  const Expr not_a_number = constant(std::numeric_limits<double>::quiet_NaN());
  return convert(select(is_undefined, not_a_number, select(ne(wide, wide), wide, defined)),
                 x.dtype());
}

// The derivatives of order n are (-1)^(n+1) n! zeta(n + 1, x), whose series comes from the formula
// of Euler and Maclaurin. Negative x are reflected by the derivatives of the cotangent, polynomials
// p of it: p_0 = c, p_(n+1) = -(1 + c²) p_n'.
Expr polygamma(int order, Expr x) {
  if (order == 0) return digamma(x);
  const Expr wide = convert(x, kDouble);
  const auto constant = [&](double value) { return literal(wide, value); };
  const auto power = [&](Expr base, int exponent) {
    Expr result = base;
    for (int i = 1; i < exponent; ++i) result = result * base;
    return result;
  };
  double factorial = 1;
  for (int i = 2; i <= order; ++i) factorial *= i;
  const Expr is_negative = lt(wide, 0.0);
  const Raised start = raised(select(is_negative, constant(1.0) - wide, wide), kAsymptotic + order,
                              [&](Expr y) { return constant(factorial) / power(y, order + 1); });

  // n! times 1/(n y^n) + 1/(2 y^(n+1)) + sum of B_2k / (2k)! (n+1) … (n+2k-1) / y^(n+2k).
  const Expr inverse = constant(1.0) / start.x, z = inverse * inverse;
  static constexpr double kBernoulli[] = {1.0 / 6,  -1.0 / 30,       1.0 / 42, -1.0 / 30,
                                          5.0 / 66, -691.0 / 2730.0, 7.0 / 6,  -3617.0 / 510};
  constexpr int kTerms = 8;
  double rising = factorial * (order + 1) / 2;  // n! (n+1) / 2!, then two factors more a term
  double coefficients[kTerms];
  for (int k = 1; k <= kTerms; ++k) {
    coefficients[k - 1] = kBernoulli[k - 1] * rising;
    rising *=
        static_cast<double>((order + 2 * k) * (order + 2 * k + 1)) / ((2 * k + 1) * (2 * k + 2));
  }
  Expr correction = constant(coefficients[kTerms - 1]);
  for (int k = kTerms - 2; k >= 0; --k) correction = fma(correction, z, constant(coefficients[k]));
  const Expr leading = constant(factorial / order);
  const Expr series = power(inverse, order) *
                      fma(inverse, fma(inverse, correction, constant(factorial / 2)), leading);
  const Pair magnitude = sum(start.sum, {series, constant(0.0)});
  const Pair positive = order % 2 == 0 ? negated(magnitude) : magnitude;

  std::vector<double> p = {0, 1};
  for (int n = 0; n < order; ++n) {
    std::vector<double> next(p.size() + 1);
    for (std::size_t i = 1; i < p.size(); ++i) {
      next[i - 1] -= static_cast<double>(i) * p[i];
      next[i + 1] -= static_cast<double>(i) * p[i];
    }
    p = next;
  }
  const Expr r = to_nearest(wide);
  const functions::HalfTurn turn = functions::half_turn(r);
  const Pair cotangent = functions::quotient(turn.cosine, turn.sine);
  Pair reflection = {constant(p.back()), constant(0.0)};
  for (std::size_t i = p.size() - 1; i-- > 0;) {
    reflection = sum(product(reflection, cotangent), {constant(p[i]), constant(0.0)});
  }
  for (int i = 0; i <= order; ++i) {
    reflection = product(reflection, {constant(kPi[0]), constant(kPi[1])});
  }
  // psi_n(x) = (-1)^n psi_n(1 - x) - pi^(n+1) p_n(cot(pi x))
  const Pair reflected = sum(order % 2 == 0 ? positive : negated(positive), negated(reflection));
  const Pair value = choice(is_negative, reflected, positive);

  const double sign = order % 2 == 0 ? -1 : 1;
  const Expr is_finite = lt(abs(value.high), kInfinity);
  const Expr finite = select(is_finite, value.high + value.low, value.high);
  // Near 0 the pole's powers overflow before their sum does. 1/x² and 2/x³ may be finite where x²
  // and x³ have lost bits to underflow.
  const double scale = order < 3 ? 2 : 1;
  const Expr near_zero =
      constant(sign * factorial * std::pow(scale, order + 1)) / power(wide * scale, order + 1);
  const Expr settled = select(lt(abs(wide), 0x1p-60), near_zero, finite);
  const Expr is_pole = le(wide, 0.0) & eq(r, 0.0);
  const Expr at_pole = select(is_pole, constant(sign * kInfinity), settled);
  const Expr defined = select(eq(wide, kInfinity), constant(0.0), at_pole);
  return convert(select(ne(wide, wide), wide, defined), x.dtype());
}

}  // namespace groove::kernels
