// special_zeta: Hurwitz's zeta function, the sum of (k + q)^-x, by its first terms and the formula
// of Euler and Maclaurin for the rest (as Cephes' zeta.c, which LibTorch follows).
#include <cmath>

#include "groove/ops/special_functions.h"
#include "kernels/ops/host_functions.h"

namespace groove {
namespace {

double zeta(double x, double q) {
  if (x == 1) return INFINITY;
  if (x < 1) return NAN;
  if (q <= 0) {
    if (q == std::floor(q)) return INFINITY;
    if (x != std::floor(x)) return NAN;  // a power of a negative number
    // Far below 0, from the terms of either sign: with r and s the magnitudes of the last negative
    // number and of the first one less 1, the sum of the former is zeta(x, r) - zeta(x, s).
    if (q < -16) {
      const double steps = std::ceil(-q), rest = -q - (steps - 1);
      const double below = zeta(x, rest) - zeta(x, rest + steps);
      return (std::fmod(x, 2) == 0 ? below : -below) + zeta(x, q + steps);
    }
  }
  // Terms until one changes nothing, 9 at the least and past 9.
  double sum = std::pow(q, -x), a = q, b = 0;
  for (int i = 0; i < 9 || a <= 9; ++i) {
    a += 1;
    b = std::pow(a, -x);
    sum += b;
    if (-0x1p-53 * sum < b && b < 0x1p-53 * sum) return sum;
  }
  // (2 k)! over Bernoulli's number B_2k
  static constexpr double kFactors[] = {12.0,
                                        -720.0,
                                        30240.0,
                                        -1209600.0,
                                        47900160.0,
                                        -1.8924375803183791606e9,
                                        7.47242496e10,
                                        -2.950130727918164224e12,
                                        1.1646782814350067249e14,
                                        -4.5979787224074726105e15,
                                        1.8152105401943546773e17,
                                        -7.1661652561756670113e18};
  sum += b * a / (x - 1);
  sum -= 0.5 * b;
  double rising = 1, k = 0;
  for (const double factor : kFactors) {
    rising *= x + k;
    b /= a;
    const double term = rising * b / factor;
    sum += term;
    if (std::fabs(term / sum) < 0x1p-53) return sum;
    k += 1;
    rising *= x + k;
    b /= a;
    k += 1;
  }
  return sum;
}

// For tests: 20,000 terms and the first three of the rest, in long double.
double by_many_terms(double x, double q) {
  const long double power = -static_cast<long double>(x);
  long double sum = 0, at = q;
  for (int k = 0; k < 20000; ++k, at += 1) sum += std::pow(at, power);
  sum += std::pow(at, power + 1) / (x - 1) + std::pow(at, power) / 2 +
         x / 12 * std::pow(at, power - 1);
  return static_cast<double>(sum);
}

const Op& op = define(HostFunction{
    .name = "special_zeta",
    .inputs = 2,
    .function = [](const double* x) { return zeta(x[0], x[1]); },
    .gradient =
        [](const Grad& g) {
          GROOVE_CHECK(
              !g.needs[0],
              "special_zeta: the derivative by self is not known, as in LibTorch; detach() "
              "self");
          Tensors result(2);
          const Tensor &x = g.input(0), &q = g.input(1);
          if (g.needs[1]) result[1] = neg(mul(g.cotangent(), mul(x, special_zeta(x + 1, q))));
          return result;
        },
    .saves_inputs = 3,
    .lacks_gradient = 1,
    .reference = by_many_terms,
    .domain = {1.5, 6},
    .nanoseconds = 600,
});

}  // namespace

Tensor special_zeta(Arg self, const Tensor& other) { return call_host(op, self, other); }
Tensor special_zeta(Arg self, Scalar other) { return call_host(op, self, other); }
Tensor special_zeta(Scalar self, Arg other) { return call_host(op, self, other); }

}  // namespace groove
