// Elementwise functions, with the numbers where they have no ordinary answer.
#include "cases.h"

#include <cmath>

using namespace agreement;
using torch::Tensor;

namespace {

const double kNan = NAN, kInfinity = INFINITY;

Tensor strange() {
  return torch::tensor({0.0, -0.0, kNan, kInfinity, -kInfinity, 1.0, -2.0, 1e-9, 1e300, -3e40},
                       torch::kDouble);
}
Tensor integers() { return torch::tensor({5, -3, 0, 7, 12, -8}, torch::kLong).reshape({2, 3}); }
Tensor others() { return torch::tensor({3, 2, -1, 4, 5, 3}, torch::kLong).reshape({2, 3}); }
Tensor copy(const Tensor& x) { return x.detach().clone(); }

}  // namespace

CASE(inverse_hyperbolic) {
  const Tensor x = leaf({2, 5}, 0), small = (leaf({6}, 1) * 1e-7).detach().requires_grad_();
  show_gradients("asinh", torch::asinh(x), {x});
  show_gradients("asinh small", small.asinh(), {small});
  show_gradients("atanh", torch::atanh(x), {x});
  show_gradients("atanh small", small.atanh(), {small});
  const Tensor y = (filled({2, 5}, 2) + 2.1).requires_grad_();
  show_gradients("acosh", torch::acosh(y), {y});
  const Tensor near = (filled({6}, 1).abs() * 1e-7 + 1).requires_grad_();
  show_gradients("acosh near 1", near.acosh(), {near});
  for (const Tensor& z : {strange(), strange().to(torch::kFloat)}) {
    show("asinh strange", z.asinh());
    show("acosh strange", z.acosh());
    show("atanh strange", z.atanh());
  }
  show("integers", torch::asinh(integers()));
  show("asinh_", copy(x).asinh_());
  show("atanh_", copy(x).atanh_());
  show("acosh_", copy(y).acosh_());
}

CASE(logaddexp) {
  const Tensor x = leaf({2, 5}, 0), y = leaf({5}, 1);
  show_gradients("e", torch::logaddexp(x, y), {x, y});
  show_gradients("2", x.logaddexp2(y), {x, y});
  show("strange", torch::logaddexp(strange(), strange().flip({0})));
  show("strange 2", torch::logaddexp2(strange(), strange().flip({0})));
  show("same", torch::logaddexp(strange(), strange()));
  show_error("shape", [&] { torch::logaddexp(x, filled({4})); });
}

CASE(hypot) {
  const Tensor x = leaf({2, 5}, 0), y = leaf({5}, 1);
  show_gradients("hypot", torch::hypot(x, y), {x, y});
  show("strange", torch::hypot(strange(), strange().flip({0})));
  show("hypot_", copy(x).hypot_(y.detach()));
  show("float", torch::hypot(x.detach().to(torch::kFloat) * 1e30, y.detach().to(torch::kFloat)));
}

CASE(xlogy) {
  const Tensor x = leaf({2, 5}, 0), y = (filled({5}, 1).abs() + 0.1).requires_grad_();
  show_gradients("xlogy", torch::xlogy(x, y), {x, y});
  show_gradients("number behind", torch::xlogy(x, 2.5), {x});
  show_gradients("number in front", torch::xlogy(2, y), {y});
  const Tensor z = torch::tensor({0.0, 0.0, 1.0, 0.0, 2.0}, torch::kDouble).requires_grad_();
  const Tensor w = torch::tensor({0.0, kNan, 0.0, 2.0, kInfinity}, torch::kDouble);
  show("zeros", torch::xlogy(z, w));
  show("zeros 1py", torch::special::xlog1py(z, w - 1));
  const Tensor v = torch::tensor({3.0, 2.0, 1.5, 2.0, 0.5}, torch::kDouble).requires_grad_();
  show_gradients("at 0", torch::xlogy(z, v), {z, v});
  show_gradients("1py", torch::special_xlog1py(x, y), {x, y});
  show_gradients("1py number", torch::special::xlog1py(x, 2), {x});
  show("integers", torch::xlogy(integers(), 3));
  show("xlogy_", copy(x).xlogy_(y.detach()));
  show("xlogy_ number", copy(x).xlogy_(3));
}

CASE(angles_and_signs) {
  const Tensor x = leaf({2, 5}, 0), y = leaf({5}, 1);
  show_gradients("sinc", torch::sinc(x * torch::tensor({0.0, 1.0, 2.0, 3.0, 4.0}, torch::kDouble)),
                 {x});
  show_gradients("deg2rad", torch::deg2rad(x), {x});
  show_gradients("rad2deg", x.rad2deg(), {x});
  show_gradients("sgn", torch::sgn(x), {x});
  show("sgn strange", strange().sgn());
  show("sinc strange", strange().slice(0, 0, 8).sinc());
  show("deg2rad of integers", integers().deg2rad());
  show_gradients("copysign", torch::copysign(x, y), {x, y});
  show_gradients("copysign number", torch::copysign(x, -2), {x});
  show("copysign strange", torch::copysign(strange().abs(), strange()).reciprocal());
  show("signbit", torch::signbit(strange().masked_fill(strange().isnan(), 1)));
  show("signbit of integers", integers().signbit());
  show("signbit float", torch::signbit(x.detach().to(torch::kFloat)));
  show("sinc_", copy(x).sinc_());
  show("deg2rad_", copy(x).deg2rad_());
  show("rad2deg_", copy(x).rad2deg_());
  show("sgn_", copy(x).sgn_());
  show("copysign_", copy(x).copysign_(y.detach()));
  show("copysign_ number", copy(x).copysign_(-1));
  const Tensor z =
      leaf({2, 3}, 2).detach().masked_fill(filled({2, 3}, 2) > 0.5, 0).requires_grad_();
  show_gradients("copysign at 0", torch::copysign(z, y.slice(0, 0, 3)), {z, y});
  show_error("in place on integers", [&] { copy(integers()).deg2rad_(); });
}

CASE(powers) {
  const Tensor x = (filled({2, 5}, 0).abs() + 0.2).requires_grad_(), y = leaf({5}, 1);
  show_gradients("float_power", torch::float_power(x, y), {x, y});
  show_gradients("float_power number", x.float_power(2), {x});
  show_gradients("float_power of number", torch::float_power(2, y), {y});
  show("float_power of integers", torch::float_power(integers(), 2));
  show("float_power_", copy(x).float_power_(1.5));
  show_gradients("ldexp", torch::ldexp(x, y), {x, y});
  show("ldexp of integers", torch::ldexp(integers(), others()));
  show("ldexp_", copy(x).ldexp_(torch::ones({5}, torch::kInt)));
  show_gradients("round", torch::round(x * 1.0, 1), {x});
  show("round negative", torch::round(x.detach() * 1234, -2));
  show("special round", torch::special_round(x.detach(), 2));
  show_gradients("logit", torch::logit(x.detach().clamp(0.1, 0.9).requires_grad_() * 1.0), {});
  const Tensor p = ((filled({6}, 3) + 1) / 2.02).requires_grad_();
  show_gradients("logit of", p.logit(), {p});
  show_gradients("logit eps", torch::logit(p, 0.3), {p});
  show("logit_", copy(p).logit_(0.1));
}

CASE(finite) {
  const Tensor x = leaf({2, 5}, 0);
  show("nan_to_num", torch::nan_to_num(strange()));
  show("nan_to_num numbers", strange().nan_to_num(2, 3, -4));
  show("nan_to_num float", torch::nan_to_num(strange().to(torch::kFloat)));
  show("nan_to_num of integers", integers().nan_to_num());
  show("nan_to_num_", strange().nan_to_num_(7));
  const Tensor s = strange().requires_grad_();
  show_gradients("nan_to_num gradient", torch::nan_to_num(s, 1, 2, 3), {s});
  show("isposinf", torch::isposinf(strange()));
  show("isneginf", strange().isneginf());
  show("isreal", strange().isreal());
  show("isposinf of integers", integers().isposinf());
  show("isclose", torch::isclose(x.detach(), x.detach() + 1e-6, 1e-5, 1e-8));
  show("isclose strange", torch::isclose(strange(), strange(), 0.1, 0.1, true));
  show("isclose nan", strange().isclose(strange()));
  show("isclose of integers", torch::isclose(integers(), integers() + 1, 0.1, 0.0));
  show_error("isclose dtypes", [&] { torch::isclose(x, integers()); });
  show("fmin", torch::fmin(strange(), strange().flip({0})));
  show("fmax", strange().fmax(strange().flip({0})));
  show("heaviside", torch::heaviside(strange(), torch::full({1}, 0.5, torch::kDouble)));
  show("heaviside of integers", integers().heaviside(others()));
  show("heaviside_", copy(filled({3, 2}, 0)).heaviside_(filled({2}, 1)));
  show_error("heaviside dtypes", [&] { torch::heaviside(strange(), integers()); });
  show("nextafter", torch::nextafter(strange(), torch::zeros({1}, torch::kDouble)) * 1e300);
  const Tensor one = torch::ones({2}, torch::kFloat);
  show("nextafter float", torch::nextafter(one, torch::tensor({2.0f, 0.0f})) - one);
  show("nextafter_", copy(filled({3}, 0)).nextafter_(filled({3}, 1)) - filled({3}, 0));
}

CASE(integers) {
  const Tensor n = integers(), m = others();
  show("gcd", torch::gcd(n * 6, m * 4));
  show("gcd broadcast", torch::gcd(n * 6, torch::tensor({4, 9, 10})));
  show("lcm", n.lcm(m));
  show("gcd int", torch::gcd(n.to(torch::kInt), m.to(torch::kInt)));
  show("gcd byte", torch::gcd((n.abs() * 3).to(torch::kByte), (m.abs() * 6).to(torch::kByte)));
  show("gcd_", copy(n * 6).gcd_(m * 4));
  show("lcm_", copy(n).lcm_(m));
  show_error("gcd of reals", [&] { torch::gcd(filled({3}), filled({3})); });
  const Tensor amounts = torch::tensor({1, 70, 2, -1, 63, 3}, torch::kLong).reshape({2, 3});
  show("left", torch::bitwise_left_shift(n, amounts));
  show("right", n.bitwise_right_shift(amounts));
  show("left number", torch::bitwise_left_shift(n, 3));
  show("right number", torch::bitwise_right_shift(n, 1));
  show("number left", torch::bitwise_left_shift(3, m.abs()));
  show("number right", torch::bitwise_right_shift(-300, m.abs()));
  show("int", torch::bitwise_left_shift(n.to(torch::kInt), 2));
  show("byte", torch::bitwise_right_shift(n.abs().to(torch::kByte), 1));
  show("bitwise_left_shift_", copy(n).bitwise_left_shift_(m.abs()));
  show("bitwise_right_shift_", copy(n).bitwise_right_shift_(2));
  show("isin", torch::isin(n, torch::tensor({7, 0, 3})));
  show("isin invert", torch::isin(n, torch::tensor({7, 0, 3}), false, true));
  show("isin number", torch::isin(n, 7));
  show("isin of number", torch::isin(7, n));
  const Tensor x = leaf({3}, 0), y = leaf({3}, 1);
  show_gradients("rsub", torch::rsub(x, y, 2), {x, y});
  show_gradients("rsub number", torch::rsub(x, 2, 3), {x});
  show("result_type", static_cast<double>(torch::result_type(n, 2.5) == torch::kFloat));
  show("result_type both", static_cast<double>(torch::result_type(n, x) == torch::kDouble));
  show("can_cast", static_cast<double>(torch::can_cast(torch::kDouble, torch::kInt)));
  show("can_cast up", static_cast<double>(torch::can_cast(torch::kInt, torch::kFloat)));
}

CASE(clamp_between_tensors) {
  const Tensor x = leaf({2, 5}, 0), low = leaf({5}, 1), high = leaf({2, 1}, 2);
  show_gradients("both", torch::clamp(x, low, high), {x, low, high});
  show_gradients("low", x.clamp(low), {x, low});
  show_gradients("high", torch::clamp(x, {}, high), {x, high});
  show("clamp_", copy(x).clamp_(low.detach(), high.detach()));
  const Tensor mask = x > 0, value = torch::tensor(0.5, torch::kDouble).requires_grad_();
  show_gradients("masked_fill", x.masked_fill(mask, value), {x, value});
  show("masked_fill_", copy(x).masked_fill_(mask, value.detach()));
  show_gradients("where", x.where(mask, 2.0), {x});
  show_error("masked_fill of a vector", [&] { x.masked_fill(mask, low); });
}

CASE(special) {
  const Tensor x = leaf({2, 5}, 0), positive = (filled({6}, 1).abs() + 0.1).requires_grad_();
  show_gradients("expit", torch::special::expit(x), {x});
  show_gradients("erf", torch::special_erf(x), {x});
  show_gradients("erfc", torch::special::erfc(x), {x});
  show_gradients("erfinv", torch::special::erfinv(x), {x});
  show_gradients("exp2", torch::special::exp2(x), {x});
  show_gradients("expm1", torch::special::expm1(x), {x});
  show_gradients("log1p", torch::special::log1p(positive), {positive});
  show_gradients("gammaln", torch::special::gammaln(positive), {positive});
  show_gradients("digamma", torch::special::digamma(positive), {positive});
  show_gradients("psi", torch::special_psi(positive), {positive});
  show_gradients("polygamma", torch::special::polygamma(1, positive), {positive});
  show_gradients("multigammaln", torch::special::multigammaln(positive + 2, 3), {positive});
  show_gradients("mvlgamma", torch::mvlgamma(positive + 2, 2), {positive});
  show_gradients("logsumexp", torch::special::logsumexp(x, {1}, false), {x});
  show_gradients("softmax", torch::special::softmax(x, 1, torch::nullopt), {x});
  show_gradients("log_softmax", torch::special::log_softmax(x, 0, torch::nullopt), {x});
  show_gradients("sinc", torch::special::sinc(x), {x});
  show("round", torch::special::round(x * 10));
  show_gradients("entr", torch::special::entr(positive), {positive});
  show("entr strange", torch::special_entr(strange()));
  show_gradients("ndtr", torch::special::ndtr(x * 2), {x});
  show_gradients("log_ndtr", torch::special::log_ndtr(x * 40), {x});
  show_gradients("log_ndtr near", torch::special::log_ndtr(x * 3), {x});
  show_gradients("i0", torch::i0(x * 12), {x});
  show_gradients("i0e", torch::special::i0e(x * 30), {x});
  show_gradients("i1", torch::special::i1(x * 12), {x});
  show_gradients("i1e", torch::special_i1e(x * 30), {x});
  show("i0 strange", torch::special::i0(strange()));
  show("i1 strange", torch::special::i1(strange().slice(0, 0, 8)));
  show("logit", torch::special::logit(positive.detach().clamp(0.1, 0.9)));
  show("xlogy", torch::special::xlogy(x.detach(), 3));
}

CASE(lerp) {
  const auto a = leaf({3, 4}, 0), b = leaf({3, 4}, 1), w = leaf({3, 4}, 2), row = leaf({4}, 3);
  show_gradients("number", torch::lerp(a, b, 0.25), {a, b});
  show_gradients("tensor", torch::lerp(a, b, w), {a, b, w});
  show_gradients("method", a.lerp(b, w.sigmoid()), {a, b, w});
  show_gradients("row", torch::lerp(a, row, row * 2), {a, row});
  show_gradients("0-d", a.lerp(b, torch::tensor(0.75, torch::kDouble)), {a, b});
  auto x = a.detach().clone();
  x.lerp_(b.detach(), w.detach());
  show("in place", x);
  show_error("integers",
             [&] { torch::lerp(torch::arange(3), torch::arange(3), torch::arange(3)); });
}
