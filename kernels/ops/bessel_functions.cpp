// Bessel functions of order 0 and 1: j and y as the C library has them; the modified k by its
// series near 0 and by the trapezoidal rule beyond, which converges faster than any power for
// exp(x) K(x) = integral of exp(-x (cosh t - 1)) cosh(order t) over t from 0 on (Abramowitz and
// Stegun 9.6.24). airy_ai goes through K of order 1/3 (10.4.14), Taylor's series at whole numbers,
// and the asymptotic series (10.4.60).
#include <cmath>
#include <numbers>

#include "groove/ops/special_functions.h"
#include "kernels/ops/host_functions.h"

namespace groove {
namespace {

double scaled_k_by_rule(double order, double x) {
  const double step = x < 9 ? 0.2 : 0.6 / std::sqrt(x);
  double sum = 0.5;
  for (int i = 1;; ++i) {
    const double t = step * i, half = std::sinh(t / 2);
    const double term = std::exp(-2 * x * half * half) * std::cosh(order * t);
    sum += term;
    if (term < 1e-18 * sum) return sum * step;
  }
}

// 9.6.11 and 9.6.13, for x up to 1/2. The terms of K0 are (h_k - gamma - log(x / 2)) z^k / (k!)^2
// with h_k the sum of 1 / i up to k.
double k0_near_0(double x) {
  const double z = x * x / 4, level = -std::numbers::egamma - std::log(x / 2);
  double power = 1, harmonic = 0, sum = level;
  for (int k = 1; k < 12; ++k) {
    power *= z / (k * k);
    harmonic += 1.0 / k;
    sum += power * (harmonic + level);
  }
  return sum;
}
double k1_near_0(double x) {
  const double z = x * x / 4, level = std::log(x / 2) + std::numbers::egamma;
  double power = 1, harmonic = 0, sum = level - 0.5;
  for (int k = 1; k < 12; ++k) {
    power *= z / (k * (k + 1));
    harmonic += 1.0 / k;
    sum += power * (level - harmonic - 0.5 / (k + 1));
  }
  return 1 / x + x / 2 * sum;
}
template <int order>
double near_0(double x) {
  return order == 0 ? k0_near_0(x) : k1_near_0(x);
}
template <int order>
double modified_k(const double* at) {
  const double x = at[0];
  if (x == 0) return INFINITY;
  if (!(x > 0)) return NAN;
  if (x == INFINITY) return 0;
  return x <= 0.5 ? near_0<order>(x) : scaled_k_by_rule(order, x) * std::exp(-x);
}
template <int order>
double scaled_modified_k(const double* at) {
  const double x = at[0];
  if (x == 0) return INFINITY;
  if (!(x > 0)) return NAN;
  if (x == INFINITY) return 0;
  return x <= 0.5 ? near_0<order>(x) * std::exp(x) : scaled_k_by_rule(order, x);
}

// The values and the slopes at 0, -1, … -10.
constexpr double kAiry[11][2] = {
    {0x1.6b8c7962715b8p-2, -0x1.0907f42b70f8bp-2},  {0x1.1235093d83da5p-1, -0x1.4cf103bcc6624p-7},
    {0x1.d1bafc57f31d0p-3, 0x1.3c8c724515c8fp-1},   {-0x1.83e7e4ea6959ap-2, 0x1.42223f628d022p-2},
    {-0x1.1fcec060d9f19p-4, -0x1.94cd44c4fb752p-1}, {0x1.672de4d9e1d32p-2, 0x1.4f0ba25cb5a72p-2},
    {-0x1.510b6eb1815d2p-2, 0x1.623ce99198c5bp-2},  {0x1.79683b0571a28p-3, -0x1.8ac195288a6bdp-1},
    {-0x1.afc28073abb84p-5, 0x1.df01d7e1f41fap-1},  {-0x1.6aa38e8bd0844p-6, -0x1.f38a3ab3ed723p-1},
    {0x1.49a7fe67fe71ap-5, 0x1.fe1673ad658b8p-1}};

// From y'' = x y at `near`: (k + 2) (k + 1) c[k + 2] = near c[k] + c[k - 1].
double airy_by_taylor(double x) {
  const int place = x < 0 ? static_cast<int>(std::lround(-x)) : 0;
  const double near = -place, h = x - near;
  double before = 0, c = kAiry[place][0], next = kAiry[place][1];  // c[k - 1], c[k], c[k + 1]
  double power = 1, sum = 0;
  for (int k = 0; k < 40; ++k) {
    sum += c * power;
    power *= h;
    const double after = (near * c + before) / ((k + 1) * (k + 2));
    before = c;
    c = next;
    next = after;
  }
  return sum;
}
double airy_far_left(double x) {
  const double z = 2.0 / 3 * -x * std::sqrt(-x);
  double term = 1, even = 0, odd = 0;
  for (int k = 0; k < 20; ++k) {
    (k % 2 == 0 ? even : odd) += k % 4 < 2 ? term : -term;
    term *= (6.0 * k + 5) * (6.0 * k + 3) * (6.0 * k + 1) / (216.0 * (k + 1) * (2 * k + 1) * z);
  }
  const double sine = std::sin(z), cosine = std::cos(z);  // of z + pi / 4, times sqrt(2)
  return ((sine + cosine) * even - (cosine - sine) * odd) /
         (std::sqrt(2 * std::numbers::pi) * std::sqrt(std::sqrt(-x)));
}
double airy(const double* at) {
  const double x = at[0];
  if (!std::isfinite(x)) return NAN;
  if (x < -10.5) return airy_far_left(x);
  if (x < 1) return airy_by_taylor(x);
  if (x > 110) return 0;  // less than any number
  const double z = 2.0 / 3 * x * std::sqrt(x);
  return std::sqrt(x / 3) / std::numbers::pi * scaled_k_by_rule(1.0 / 3, z) * std::exp(-z);
}

// For tests: order 1/3 through the standard library's Bessel functions.
double airy_by_orders(double x, double) {
  const double z = 2.0 / 3 * std::pow(std::fabs(x), 1.5);
  if (x > 0) return std::sqrt(x / 3) / std::numbers::pi * std::cyl_bessel_k(1.0 / 3, z);
  // 10.4.15, with J of order -1/3 as cos(pi / 3) J - sin(pi / 3) Y of order 1/3.
  const double j = std::cyl_bessel_j(1.0 / 3, z), y = std::cyl_neumann(1.0 / 3, z);
  return std::sqrt(-x) / 3 * (j + j / 2 - std::sqrt(3) / 2 * y);
}

// f(x) / x, and `limit` at 0.
Tensor over(const Tensor& value, const Tensor& x, double limit) {
  const Tensor is_zero = eq(x, 0);
  return masked_fill(div(value, masked_fill(x, is_zero, 1)), is_zero, limit);
}

const Op& op_j0 = define(HostFunction{
    .name = "special_bessel_j0",
    .inputs = 1,
    .function = [](const double* x) { return ::j0(x[0]); },
    .gradient =
        [](const Grad& g) {
          return Tensors{mul(g.cotangent(), neg(special_bessel_j1(g.input(0))))};
        },
    .saves_inputs = 1,
    .reference = [](double x, double) { return std::cyl_bessel_j(0.0, std::fabs(x)); },
    .domain = {-9, 9},
    .tolerance_ulp = 512,  // near roots
});
const Op& op_j1 = define(HostFunction{
    .name = "special_bessel_j1",
    .inputs = 1,
    .function = [](const double* x) { return ::j1(x[0]); },
    .gradient =
        [](const Grad& g) {
          const Tensor& x = g.input(0);
          const Tensor slope = special_bessel_j0(x) - over(special_bessel_j1(x), x, 0.5);
          return Tensors{mul(g.cotangent(), slope)};
        },
    .saves_inputs = 1,
    .reference =
        [](double x, double) {
          return std::copysign(1.0, x) * std::cyl_bessel_j(1.0, std::fabs(x));
        },
    .domain = {-9, 9},
    .tolerance_ulp = 512,
});
const Op& op_y0 = define(HostFunction{
    .name = "special_bessel_y0",
    .inputs = 1,
    .function = [](const double* x) { return x[0] < 0 ? NAN : ::y0(x[0]); },
    .gradient =
        [](const Grad& g) {
          return Tensors{mul(g.cotangent(), neg(special_bessel_y1(g.input(0))))};
        },
    .saves_inputs = 1,
    .reference = [](double x, double) { return std::cyl_neumann(0.0, x); },
    .domain = {0.5, 9},
    .tolerance_ulp = 512,
});
const Op& op_y1 = define(HostFunction{
    .name = "special_bessel_y1",
    .inputs = 1,
    .function = [](const double* x) { return x[0] < 0 ? NAN : ::y1(x[0]); },
    .gradient =
        [](const Grad& g) {
          const Tensor& x = g.input(0);
          return Tensors{mul(g.cotangent(), special_bessel_y0(x) - special_bessel_y1(x) / x)};
        },
    .saves_inputs = 1,
    .reference = [](double x, double) { return std::cyl_neumann(1.0, x); },
    .domain = {0.5, 9},
    .tolerance_ulp = 512,
});
const Op& op_k0 = define(HostFunction{
    .name = "special_modified_bessel_k0",
    .inputs = 1,
    .function = modified_k<0>,
    .gradient =
        [](const Grad& g) {
          return Tensors{mul(g.cotangent(), neg(special_modified_bessel_k1(g.input(0))))};
        },
    .saves_inputs = 1,
    .reference = [](double x, double) { return std::cyl_bessel_k(0.0, x); },
    .domain = {0.1, 12},
    .nanoseconds = 500,
});
const Op& op_k1 = define(HostFunction{
    .name = "special_modified_bessel_k1",
    .inputs = 1,
    .function = modified_k<1>,
    .gradient =
        [](const Grad& g) {
          const Tensor& x = g.input(0);
          const Tensor slope = special_modified_bessel_k0(x) + special_modified_bessel_k1(x) / x;
          return Tensors{mul(g.cotangent(), neg(slope))};
        },
    .saves_inputs = 1,
    .reference = [](double x, double) { return std::cyl_bessel_k(1.0, x); },
    .domain = {0.1, 12},
    .nanoseconds = 500,
});
const Op& op_scaled_k0 = define(HostFunction{
    .name = "special_scaled_modified_bessel_k0",
    .inputs = 1,
    .function = scaled_modified_k<0>,
    .reference = [](double x, double) { return std::cyl_bessel_k(0.0, x) * std::exp(x); },
    .domain = {0.1, 12},
    .nanoseconds = 500,
});
const Op& op_scaled_k1 = define(HostFunction{
    .name = "special_scaled_modified_bessel_k1",
    .inputs = 1,
    .function = scaled_modified_k<1>,
    .reference = [](double x, double) { return std::cyl_bessel_k(1.0, x) * std::exp(x); },
    .domain = {0.1, 12},
    .nanoseconds = 500,
});
const Op& op_spherical = define(HostFunction{
    .name = "special_spherical_bessel_j0",
    .inputs = 1,
    .function =
        [](const double* x) {
          return x[0] == 0 ? 1 : std::isinf(x[0]) ? 0 : std::sin(x[0]) / x[0];
        },
    .reference = [](double x, double) { return std::sph_bessel(0, std::fabs(x)); },
    .domain = {-9, 9},
    .tolerance_ulp = 512,
});
const Op& op_airy = define(HostFunction{
    .name = "special_airy_ai",
    .inputs = 1,
    .function = airy,
    .reference = airy_by_orders,
    .domain = {-12, 6},
    .tolerance_ulp = 4096,
    .nanoseconds = 300,
});

}  // namespace

Tensor special_bessel_j0(Arg self) { return call_host(op_j0, self); }
Tensor special_bessel_j1(Arg self) { return call_host(op_j1, self); }
Tensor special_bessel_y0(Arg self) { return call_host(op_y0, self); }
Tensor special_bessel_y1(Arg self) { return call_host(op_y1, self); }
Tensor special_modified_bessel_k0(Arg self) { return call_host(op_k0, self); }
Tensor special_modified_bessel_k1(Arg self) { return call_host(op_k1, self); }
Tensor special_scaled_modified_bessel_k0(Arg self) { return call_host(op_scaled_k0, self); }
Tensor special_scaled_modified_bessel_k1(Arg self) { return call_host(op_scaled_k1, self); }
Tensor special_spherical_bessel_j0(Arg self) { return call_host(op_spherical, self); }
Tensor special_airy_ai(Arg self) { return call_host(op_airy, self); }

}  // namespace groove
