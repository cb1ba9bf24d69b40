// torch::special: the functions that few programs call, with the numbers where they have no
// ordinary answer.
#include "cases.h"

#include <cmath>

using namespace agreement;
using torch::Tensor;

namespace {

const double kNan = NAN, kInfinity = INFINITY;

Tensor of(std::vector<double> values) { return torch::tensor(values, torch::kDouble); }
Tensor wanting(const Tensor& x) { return x.detach().clone().requires_grad_(); }
// From low to high.
Tensor between(double low, double high, std::int64_t count = 40) {
  return torch::linspace(low, high, count, torch::kDouble);
}

}  // namespace

CASE(incomplete_gamma) {
  const Tensor a = between(0.05, 30, 25).unsqueeze(1), x = wanting(between(0.01, 40, 30));
  show_gradients("igamma", torch::igamma(a, x), {x});
  show_gradients("igammac", torch::igammac(a, x), {x});
  show_gradients("gammainc", torch::special::gammainc(a.slice(0, 0, 3), x), {x});
  show_gradients("gammaincc", torch::special::gammaincc(a.slice(0, 0, 3), x), {x});
  const Tensor large = of({150, 1e3, 1e5, 1e7}).unsqueeze(1);
  const Tensor near = large + large.sqrt() * between(-3, 3, 13);
  show("large", torch::igamma(large, near));
  show("large upper", torch::igammac(large, near));
  const Tensor small = of({1e-9, 1e-3, 0.1, 0.5, 1, 1.5}).unsqueeze(1),
               few = of({1e-12, 1e-6, 1e-3, 0.1, 0.9, 1.2});
  show("small", torch::igamma(small, few));
  show("small upper", torch::igammac(small, few));
  const Tensor odd = of({0, -1, kInfinity, kNan, 2, 1, 2.5, -2.5});
  show("strange", torch::igamma(odd.unsqueeze(1), odd));
  show("strange upper", torch::igammac(odd.unsqueeze(1), odd));
  show("float", torch::igamma(a.to(torch::kFloat), torch::tensor({2, 3}).slice(0, 0, 1)) > 0.5);
  show("igamma_", between(0.5, 5, 6).igamma_(between(0.2, 7, 6)));
  show("igammac_", between(0.5, 5, 6).igammac_(between(0.2, 7, 6)));
  const Tensor order = wanting(between(1, 2, 3));
  show_error("by the order", [&] { torch::igamma(order, order.detach()).sum().backward(); });
}

CASE(zeta) {
  const Tensor x = between(1.1, 30, 20).unsqueeze(1), q = wanting(between(0.05, 60, 25));
  show_gradients("zeta", torch::special::zeta(x, q), {q});
  show_gradients("number in front", torch::special_zeta(2.5, q), {q});
  show("number behind", torch::special::zeta(x, 3));
  show("negative", torch::special::zeta(of({2, 3, 4}).unsqueeze(1), between(-3.75, -0.25, 8)));
  const Tensor odd = of({0, -1, kInfinity, kNan, 2, 1, 2.5, -2.5});
  show("strange", torch::special::zeta(odd.unsqueeze(1), odd));
  show("integers", torch::special::zeta(torch::tensor({2, 3}), torch::tensor({1, 2})));
  const Tensor p = wanting(between(0.3, 20));
  show_gradients("polygamma 3", torch::polygamma(3, p), {p});
  show_gradients("polygamma 14", torch::polygamma(14, p), {p});
  show("riemann", torch::special::zeta(between(1.5, 40), 1));
}

CASE(error_functions) {
  const Tensor x = wanting(between(-6, 60, 67));
  show_gradients("erfcx", torch::special::erfcx(x), {x});
  show("erfcx strange", torch::special_erfcx(of({0, -0.0, -1, kInfinity, -kInfinity, kNan, 1e300,
                                                 -26, -27, 25, 26.5, 1e-300})));
  show("erfcx of integers", torch::special::erfcx(torch::tensor({1, 30})));
  const Tensor p = wanting(between(0.001, 0.999, 60));
  show_gradients("ndtri", torch::special::ndtri(p), {p});
  show("ndtri tails", torch::special::ndtri(of({1e-300, 1e-100, 1e-20, 1e-5, 1 - 1e-10, 0.5})));
  show("ndtri strange", torch::special_ndtri(of({0, 1, -1, 2, kInfinity, -kInfinity, kNan})));
}

CASE(bessel) {
  // LibTorch's j1 from 6 to 10 and y1 from 4 to 6 are off by 1e-6 of their height, and airy_ai from
  // -4 to -2 is.
  const Tensor x =
      wanting(torch::cat({between(-30, -12, 19), between(-3, 3, 17), between(12, 30, 19)}));
  const Tensor y = wanting(torch::cat({between(0.25, 3, 12), between(7, 40, 40)}));
  show_gradients("j0", torch::special::bessel_j0(x), {x});
  show_gradients("j1", torch::special::bessel_j1(x), {x});
  show_gradients("y0", torch::special::bessel_y0(y), {y});
  show_gradients("y1", torch::special::bessel_y1(y), {y});
  show_gradients("i0", torch::special::modified_bessel_i0(x), {x});
  show_gradients("i1", torch::special::modified_bessel_i1(x), {x});
  show_gradients("k0", torch::special::modified_bessel_k0(y), {y});
  show_gradients("k1", torch::special::modified_bessel_k1(y), {y});
  show("scaled k0", torch::special::scaled_modified_bessel_k0(y.detach() * 20));
  show("scaled k1", torch::special_scaled_modified_bessel_k1(y.detach() * 20));
  show("spherical", torch::special::spherical_bessel_j0(x.detach()));
  show("airy", torch::special::airy_ai(torch::cat({between(-30, -4, 60), between(-2, 12, 60)})));
  const Tensor odd = of({0, -0.0, -1, kNan, 1e-300, -3.5});
  show("k0 strange", torch::special_modified_bessel_k0(odd));
  show("k1 strange", torch::special_modified_bessel_k1(odd));
  show("y0 strange", torch::special_bessel_y0(odd));
  show("y1 strange", torch::special_bessel_y1(odd));
  show("j1 strange", torch::special_bessel_j1(odd));
  show("scaled strange", torch::special_scaled_modified_bessel_k0(of({0, -1, kInfinity, kNan})));
  show("airy strange", torch::special_airy_ai(of({kInfinity, -kInfinity, kNan, 110, 0})));
  show("spherical strange", torch::special_spherical_bessel_j0(of({0, kInfinity, kNan, 1e-300})));
  show("integers", torch::special::bessel_j0(torch::tensor({1, 2})));
  show("has a gradient", static_cast<double>(torch::special::airy_ai(x).requires_grad()));
}

CASE(polynomials) {
  const Tensor x = of({0, -0.0, -1, 1, 0.5, -3.5, 0.3, -0.7, 1.5}).unsqueeze(1);
  const Tensor n = torch::arange(-1, 14, torch::kDouble);
  const Tensor inside = between(-0.95, 0.95, 9).unsqueeze(1), many = of({20, 55, 100, 401});
#define SHOW_POLYNOMIAL(name)                                             \
  show(#name, torch::special::name(x, n));                                \
  show(#name " of many", torch::special_##name(inside, many));            \
  show(#name " number behind", torch::special::name(x, 2.7));             \
  show(#name " number in front", torch::special::name(0.25, n));          \
  show(#name " strange", torch::special::name(of({kNan, kInfinity}), 2)); \
  show(#name " of integers", torch::special::name(torch::tensor({1, 2}), 3));
  SHOW_POLYNOMIAL(chebyshev_polynomial_t)
  SHOW_POLYNOMIAL(chebyshev_polynomial_u)
  SHOW_POLYNOMIAL(chebyshev_polynomial_v)
  SHOW_POLYNOMIAL(chebyshev_polynomial_w)
  SHOW_POLYNOMIAL(hermite_polynomial_h)
  SHOW_POLYNOMIAL(hermite_polynomial_he)
  SHOW_POLYNOMIAL(laguerre_polynomial_l)
  SHOW_POLYNOMIAL(legendre_polynomial_p)
#define SHOW_SHIFTED(name) show(#name, torch::special::name((x + 1) / 2, n));
  SHOW_SHIFTED(shifted_chebyshev_polynomial_t)
  SHOW_SHIFTED(shifted_chebyshev_polynomial_u)
  SHOW_SHIFTED(shifted_chebyshev_polynomial_v)
  SHOW_SHIFTED(shifted_chebyshev_polynomial_w)
}
