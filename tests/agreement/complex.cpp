// Complex tensors: made, taken apart, computed with, indexed and differentiated.
#include "cases.h"

#include <cmath>

using namespace agreement;

namespace {

torch::Tensor numbers(torch::IntArrayRef sizes, std::int64_t j = 0) {
  return torch::complex(filled(sizes, j), filled(sizes, j + 3));
}
torch::Tensor complex_leaf(torch::IntArrayRef sizes, std::int64_t j = 0) {
  return numbers(sizes, j).clone().requires_grad_();
}

}  // namespace

CASE(made) {
  const auto re = leaf({2, 3}, 0), im = leaf({3}, 1);
  show_gradients("complex", torch::complex(re, im), {re, im});
  show_gradients("polar", torch::polar(re.square(), im), {re, im});
  show("zeros", torch::zeros({2}, torch::kComplexDouble));
  show("ones", torch::ones({2, 2}, torch::kComplexFloat));
  show("full", torch::full({2}, 1.5, torch::kComplexDouble));
  show("full of a number", torch::full({2}, c10::complex<double>(1, -2), torch::kComplexDouble));
  show("empty shape", torch::empty({2, 0}, torch::kComplexFloat));
  show("tensor", torch::tensor({c10::complex<float>(1, 2), c10::complex<float>(3, -4)}));
  show("one number", torch::tensor(c10::complex<double>(0.5, 2)));
  show("vector", torch::tensor(std::vector<c10::complex<double>>{{1, 2}, {3, 4}, {5, 6}}));
  show("of reals", torch::tensor({1., 2.}, torch::kComplexDouble));
  show("to", torch::tensor({1, 2}).to(torch::kComplexFloat));
  show("wider", numbers({2}).to(torch::kComplexFloat).to(torch::kComplexDouble));
  show("like", torch::zeros_like(numbers({2, 2})));
  show("ones_like", torch::ones_like(numbers({2})));
  show("new_zeros", numbers({2}).new_zeros({3}));
  double memory[] = {1, 2, 3, 4, 5, 6};
  show("from_blob", torch::from_blob(memory, {3}, torch::kComplexDouble).clone());
  show_error("dtypes differ", [&] { torch::complex(re, im.to(torch::kFloat)); });
  show_error("integers", [&] { torch::complex(torch::arange(3), torch::arange(3)); });
}

CASE(parts) {
  const auto z = complex_leaf({2, 3});
  show_gradients("real", torch::real(z), {z});
  show_gradients("imag", torch::imag(z), {z});
  show_gradients("abs", z.abs(), {z});
  show_gradients("angle", torch::angle(z), {z});
  show_gradients("conj", torch::conj(z), {z});
  show_gradients("conj_physical", z.conj_physical(), {z});
  show_gradients("view_as_real", torch::view_as_real(z), {z});
  show_gradients("sgn", torch::sgn(z), {z});
  const auto x = leaf({3, 2});
  show_gradients("view_as_complex", torch::view_as_complex(x), {x});
  show("real of real", torch::real(x));
  show("conj of real", torch::conj(x));
  show_gradients("angle of real", torch::angle(x), {x});
  show("angle of integers", torch::angle(torch::tensor({-1, 0, 2})));
  auto zero = torch::zeros({2}, torch::kComplexDouble).requires_grad_();
  show_gradients("abs at 0", zero.abs(), {zero});
  show_gradients("angle at 0", zero.angle(), {zero});
  show_gradients("sgn at 0", torch::sgn(zero), {});
  auto written = numbers({2});
  torch::real(written).fill_(7);
  torch::imag(written).mul_(2);
  show("written", written);
  show("isreal", torch::isreal(torch::complex(torch::ones({2}), torch::tensor({0.f, 1.f}))));
  show_error("imag of real", [&] { torch::imag(x); });
  show_error("view of 3", [&] { torch::view_as_complex(torch::ones({3})); });
  show_error("view of stride", [&] { torch::view_as_complex(torch::ones({2, 3}).t()); });
  show_error("view_as_real of real", [&] { torch::view_as_real(x); });
}

CASE(arithmetic) {
  const auto z = complex_leaf({2, 3}), w = complex_leaf({3}, 5), x = leaf({2, 1}, 7);
  show_gradients("add", z + w, {z, w});
  show_gradients("sub", z - w, {z, w});
  show_gradients("mul", z * w, {z, w});
  show_gradients("div", z / w, {z, w});
  show_gradients("add real", z + x, {z, x});
  show_gradients("real sub", x - z, {z, x});
  show_gradients("mul real", z * x, {z, x});
  show_gradients("div real", z / (x + 2), {z, x});
  show_gradients("real div", x / (z + 2), {z, x});
  show_gradients("alpha", torch::add(z, w, 3), {z, w});
  show_gradients("number", z + 2, {z});
  show_gradients("number minus", 2 - z, {z});
  show_gradients("times number", z * -3.5, {z});
  show_gradients("over number", z / 4, {z});
  show_gradients("number over", 2 / z, {z});
  show("complex number", z * c10::complex<double>(1, 2));
  show("plus complex number", z + c10::complex<double>(1, 2));
  show("real with complex number", x * c10::complex<double>(0, 1));
  show_gradients("neg", -z, {z});
  show_gradients("square", z.square(), {z});
  show_gradients("pow 2", z.pow(2), {z});
  show_gradients("pow 3", z.pow(3), {z});
  show_gradients("pow .5", z.pow(0.5), {z});
  show_gradients("pow", torch::pow(z, w), {z, w});
  show("pow of 0", torch::zeros({1}, torch::kComplexDouble).pow(2.5));
  show_gradients("reciprocal", z.reciprocal(), {z});
  const auto f = torch::ones({2}, torch::kFloat), d = torch::ones({2}, torch::kDouble);
  const auto c = torch::ones({2}, torch::kComplexFloat);
  show("promote double", d * c);
  show("promote float", f * c);
  show("promote integers", torch::ones({2}, torch::kLong) * c);
  show("promote 0-d", f * torch::tensor(c10::complex<double>(1, 2)));
  show("overflow", torch::complex(torch::full({1}, 1e300, torch::kDouble),
                                  torch::full({1}, 1e300, torch::kDouble)) /
                       torch::complex(torch::full({1}, 2e300, torch::kDouble),
                                      torch::full({1}, 1e300, torch::kDouble)));
  show("eq", z == z.detach());
  show("ne", z != w);
  show("eq number", torch::ones({2}, torch::kComplexDouble) == 1);
  show("allclose", torch::allclose(z, z + 1e-12) ? 1. : 0.);
  show("equal", torch::equal(z, z) ? 1. : 0.);
  show("isnan",
       torch::isnan(torch::complex(torch::tensor({std::nan(""), 1.}), torch::tensor({1., 2.}))));
  show("isfinite",
       torch::isfinite(torch::complex(torch::tensor({HUGE_VAL, 1.}), torch::tensor({1., 2.}))));
  show_error("lt", [&] { (void)(z < w); });
  show_error("max", [&] { z.max(); });
  show_error("relu", [&] { torch::relu(z); });
}

CASE(functions) {
  const auto z = complex_leaf({2, 3});
  show_gradients("exp", z.exp(), {z});
  show_gradients("log", z.log(), {z});
  show_gradients("log2", z.log2(), {z});
  show_gradients("log10", z.log10(), {z});
  show_gradients("sqrt", z.sqrt(), {z});
  show_gradients("rsqrt", z.rsqrt(), {z});
  show_gradients("sin", z.sin(), {z});
  show_gradients("cos", z.cos(), {z});
  show_gradients("tan", z.tan(), {z});
  show_gradients("sinh", z.sinh(), {z});
  show_gradients("cosh", z.cosh(), {z});
  show_gradients("tanh", z.tanh(), {z});
  show_gradients("sigmoid", z.sigmoid(), {z});
  const auto axis =
      torch::complex(torch::tensor({-4., 4., 0., 0.}), torch::tensor({0., 0., 2., -2.}));
  show("sqrt on the axes", axis.sqrt());
  show("log on the axes", axis.log());
  show("tanh far out", torch::tanh(axis * 1000));
}

CASE(reductions) {
  const auto z = complex_leaf({2, 3, 2});
  show_gradients("sum", z.sum(), {z});
  show_gradients("sum of one", z.sum(1), {z});
  show_gradients("sum of two", z.sum({0, 2}, true), {z});
  show_gradients("mean", z.mean(), {z});
  show_gradients("mean of last", z.mean(-1), {z});
  show_gradients("norm", z.norm(), {z});
  show_gradients("norm of one", z.norm(2, 1), {z});
  show_gradients("var", z.var(), {z});
  show_gradients("std of one", z.std(1, false), {z});
  show_gradients("cumsum", z.cumsum(1), {z});
  show("sum of 0-d", numbers({}).sum());
}

CASE(products) {
  const auto a = complex_leaf({2, 3}), b = complex_leaf({3, 4}, 2), v = complex_leaf({3}, 4);
  show_gradients("mm", torch::mm(a, b), {a, b});
  show_gradients("matmul", torch::matmul(a, b), {a, b});
  show_gradients("mv", torch::mv(a, v), {a, v});
  show_gradients("dot", torch::dot(v, v * 2), {v});
  show_gradients("outer", torch::outer(v, v), {v});
  const auto s = complex_leaf({2, 2, 3}), t = complex_leaf({2, 3, 2}, 1);
  show_gradients("bmm", torch::bmm(s, t), {s, t});
  show_gradients("broadcast", torch::matmul(s, b), {s, b});
  show_gradients("einsum", torch::einsum("bij,bjk->bik", {s, t}), {s, t});
  show_gradients("hermitian", torch::mm(a.conj().t(), a), {a});
  show_gradients("linear", torch::linear(a, b.t(), numbers({4}, 9)), {a, b});
}

CASE(views_and_indices) {
  const auto z = complex_leaf({3, 4});
  show_gradients("select", z[1], {z});
  show_gradients("slice", z.slice(1, 0, 4, 2), {z});
  show_gradients("t", z.t(), {z});
  show_gradients("reshape", z.t().reshape({2, 6}), {z});
  show_gradients("view", z.view({2, 6}), {z});
  show_gradients("unsqueeze", z.unsqueeze(1), {z});
  show_gradients("expand", z.unsqueeze(1).expand({3, 2, 4}), {z});
  show_gradients("flatten", z.flatten(), {z});
  show_gradients("diagonal", z.diagonal(), {z});
  show_gradients("unfold", z.unfold(1, 2, 1), {z});
  show_gradients("flip", z.flip({0}), {z});
  show_gradients("roll", z.roll({1, 2}, {0, 1}), {z});
  show_gradients("cat", torch::cat({z, z * 2}, 1), {z});
  show_gradients("stack", torch::stack({z, z * 2}, -1), {z});
  show_gradients("cat with real", torch::cat({z, filled({3, 1})}, 1), {z});
  show_gradients("chunk", z.chunk(2, 1)[1], {z});
  show_gradients("tril", z.tril(), {z});
  show_gradients("repeat", z.repeat({2, 1}), {z});
  show_gradients("pad", torch::constant_pad_nd(z, {1, 1}), {z});
  const auto index = torch::tensor({2, 0});
  show_gradients("index_select", z.index_select(0, index), {z});
  show_gradients("index", z.index({index}), {z});
  show_gradients("mask", z.index({torch::real(z) > 0}), {z});
  show_gradients("gather", z.gather(1, torch::tensor({{0, 3}, {1, 1}, {2, 0}})), {z});
  show_gradients("where", torch::where(torch::real(z) > 0, z, z * 2), {z});
  show_gradients("masked_fill", z.masked_fill(torch::real(z) > 0, 2), {z});
  auto w = numbers({3, 4});
  w[0] = 5;
  w.index_put_({1}, numbers({4}, 8));
  w[2][3] = c10::complex<double>(1, 2);
  show("written", w);
  w.select(1, 0).mul_(w.select(1, 1));
  w.add_(1).mul_(2);
  w.t()[1].copy_(filled({3}));
  show("in place", w);
  show("contiguous", w.t().contiguous());
  show("scatter", torch::zeros({2, 3}, torch::kComplexDouble)
                      .scatter_(1, torch::tensor({{0, 2}, {1, 0}}), numbers({2, 2})));
  show("index_add",
       torch::zeros({3, 4}, torch::kComplexDouble).index_add_(0, index, numbers({2, 4})));
  auto real = torch::zeros({2}, torch::kDouble);
  show_error("into real", [&] { real.add_(numbers({2})); });
  show("element", w[0][0].item<c10::complex<double>>().imag());
  show("data", w.contiguous().data_ptr<c10::complex<double>>()[1].real());
  show("size of one", static_cast<double>(w.element_size()));
  show("kind", std::string(w.is_complex() && !w.is_floating_point() ? "complex" : "other"));
}

CASE(shape_in_place) {
  auto z = numbers({2, 3}).clone();
  const auto pair = torch::view_as_real(z);
  show("t_", z.t_());
  pair.fill_(1);
  show("a view keeps its shape", pair);
  show("and its memory", z + 0);
  show("transpose_", numbers({2, 3, 4}).clone().transpose_(0, -1) + 0);
  show("swapaxes_", numbers({2, 3}).clone().swapaxes_(0, 1).add_(1));
  show("unsqueeze_", numbers({2, 3}).clone().unsqueeze_(-1) + 0);
  show("squeeze_", numbers({1, 2, 1, 3}).clone().squeeze_() + 0);
  show("squeeze_ of an axis", numbers({1, 2, 1}).clone().squeeze_(0) + 0);
  show("resize_", numbers({2, 3}).clone().resize_({4}) + 0);
  show("resize_ larger", numbers({2, 3}).clone().resize_({3, 3}).flatten().slice(0, 0, 6));
  const auto leaf = complex_leaf({2, 3});
  auto twice = leaf * 2;
  twice.t_();
  show_gradients("result", (twice * numbers({3, 2}, 5)).abs(), {leaf});
  show_error("leaf", [&] { complex_leaf({2, 3}).t_(); });
}

CASE(conjugated) {
  const auto z = complex_leaf({2, 3}), w = complex_leaf({3}, 5), v = complex_leaf({3}, 2);
  show_gradients("mH", z.mH(), {z});
  show_gradients("adjoint", torch::adjoint(z), {z});
  show_gradients("matrix_H", z.matrix_H(), {z});
  show_gradients("vdot", torch::vdot(w, v), {w, v});
  show("vdot of itself", torch::vdot(w, w));
  show("mH of reals", filled({2, 3}).mH());
}

CASE(doubles_and_truth) {
  const auto z = complex_leaf({2, 3}), w = complex_leaf({3}, 5), x = leaf({3}, 7);
  show_gradients("float_power", torch::float_power(z, 3), {z});
  show_gradients("float_power of tensors", torch::float_power(x.abs(), w), {w});
  show("float_power of a number", torch::float_power(2, z));
  show("float_power of single", torch::float_power(numbers({2}).to(torch::kComplexFloat), 2));
  show("float_power_", numbers({2}).clone().float_power_(2));
  show("power 0 of 0", torch::pow(torch::zeros({2}, torch::kComplexDouble), 0.));
  show("imaginary power of 0", torch::pow(torch::zeros({2}, torch::kComplexDouble),
                                          torch::complex(filled({2}) * 0, filled({2}))));
  show_gradients("logsumexp", torch::logsumexp(z, 0), {z});
  show_gradients("logsumexp of all", torch::logsumexp(z, {0, 1}, true), {z});
  show("logsumexp of nothing", torch::logsumexp(torch::zeros({0}, torch::kComplexDouble), 0));
  show("logsumexp of zeros", torch::logsumexp(torch::zeros({2}, torch::kComplexDouble).log(), 0));
  const auto turned = torch::complex(torch::zeros({2}), torch::tensor({1.f, 0.f}));
  show("bool", turned.to(torch::kBool));
  show("copied into bool", torch::zeros({2}, torch::kBool).copy_(turned));
}

CASE(more_functions) {
  const auto z = complex_leaf({2, 3}), w = complex_leaf({2, 3}, 5), x = leaf({2, 3}, 7);
  show_gradients("prod", z.prod(), {z});
  show_gradients("prod along", z.prod(1, true), {z});
  show("prod of nothing", torch::empty({0}, torch::kComplexDouble).prod());
  show("prod of reals", torch::prod(x, torch::kComplexDouble));
  show_gradients("expm1", torch::expm1(z), {z});
  show_gradients("log1p", torch::log1p(z), {z});
  const auto small = z.detach() * 1e-10;
  show("expm1 near 0", torch::expm1(small));
  show("log1p near 0", torch::log1p(small));
  show_gradients("log2", torch::log2(z), {z});
  show_gradients("log10", torch::log10(z), {z});
  show_gradients("exp2", torch::exp2(z), {z});
  show_gradients("addcmul", torch::addcmul(z, w, x, 2), {z, w, x});
  show_gradients("addcdiv", torch::addcdiv(z, w, z + 2, 0.5), {z, w});
  show("addcmul of reals", torch::addcmul(x, w, z));
  show("addcmul_", z.detach().clone().addcmul_(z, w));
}

CASE(truth) {
  const auto z = torch::complex(torch::tensor({0., 0., 1.}), torch::tensor({0., 2., 0.}));
  show("all", z.all());
  show("any", z.any());
  show("any along", z.any(0, true));
  show("count_nonzero", torch::count_nonzero(z));
  show("not", torch::logical_not(z));
  show("and", torch::logical_and(z, z.flip(0)));
  show("or", torch::logical_or(z, torch::zeros({3})));
  show("xor", torch::logical_xor(z, z.flip(0)));
  show("logical_not_", z.clone().logical_not_());
  show("logical_and_", z.clone().logical_and_(z));
}

CASE(more_norms) {
  const auto z = complex_leaf({2, 3});
  show_gradients("of all", torch::linalg_vector_norm(z), {z});
  for (const double order : {0.0, 1.0, 3.0, double(INFINITY), -double(INFINITY)})
    show_gradients("order " + std::to_string(order),
                   torch::linalg_vector_norm(z, order, torch::IntArrayRef{1}, true), {z});
  show_gradients("of matrices", torch::linalg_matrix_norm(z), {z});
  show("columns", torch::linalg_matrix_norm(z, 1));
  show("rows", torch::linalg_norm(z, INFINITY));
  show("fro", torch::linalg_norm(z, "fro"));
  show("double", torch::linalg_vector_norm(numbers({2}).to(torch::kComplexFloat), 2, std::nullopt,
                                           false, torch::kComplexDouble));
  show_error("real dtype",
             [&] { torch::linalg_vector_norm(z, 2, std::nullopt, false, torch::kDouble); });
}

CASE(inverses) {
  const auto z = complex_leaf({2, 3});
  show_gradients("asin", torch::asin(z), {z});
  show_gradients("acos", torch::acos(z), {z});
  show_gradients("atan", torch::atan(z), {z});
  show_gradients("asinh", torch::asinh(z), {z});
  show_gradients("acosh", torch::acosh(z), {z});
  show_gradients("atanh", torch::atanh(z), {z});
  const auto far = numbers({2, 3}, 4) * 20;
  const auto cuts = torch::complex(
      torch::tensor({2.0, -2.0, 2.0, -2.0, 0.5, -0.5, 0.0, -0.0, 0.0, 0.25}, torch::kDouble),
      torch::tensor({0.0, 0.0, -0.0, -0.0, 0.0, -0.0, 2.0, 2.0, -2.0, 1e-9}, torch::kDouble));
  for (const auto& x : {far, cuts}) {
    show("asin", x.asin());
    show("acos", x.acos());
    show("atan", x.atan());
    show("asinh", x.asinh());
    show("acosh", x.acosh());
    show("atanh", x.atanh());
  }
  show("asin_", numbers({3}, 2).asin_());
  show("float", torch::acosh(far.to(torch::kComplexFloat)));
}

CASE(running_products) {
  const auto z = complex_leaf({3, 5});
  show_gradients("along", torch::cumprod(z, 1), {z});
  show_gradients("across", z.cumprod(0), {z});
  show("none", torch::cumprod(numbers({2, 0}), 1));
  show_gradients("cov", torch::cov(z), {z});
  show("cov of a line", torch::cov(numbers({5})));
  show("cov weighted", torch::cov(numbers({2, 4}), 0, torch::tensor({1, 2, 1, 3})));
}

// What does not depend on how a vector is turned.
CASE(eigenvalues) {
  for (const std::int64_t n : {1, 2, 3, 5}) {
    const std::string name = std::to_string(n);
    const auto a = leaf({2, n, n}, n);
    // none is 0, where a magnitude has no slope
    const auto values = torch::linalg_eigvals(a + torch::eye(n, torch::kDouble) * 0.7);
    show_gradients("magnitudes " + name, values.abs().sum(-1), {a});
    show_gradients("exp " + name, torch::real(torch::linalg_eigvals(a).exp().sum(-1)), {a});
    show_gradients("vectors " + name, std::get<1>(torch::linalg_eig(a)).abs().pow(4).sum({-1, -2}),
                   {a});
  }
  show_error("not square", [&] { torch::linalg_eig(torch::ones({2, 3})); });
  show_error("integers", [&] { torch::linalg_eig(torch::ones({2, 2}, torch::kLong)); });
}

CASE(backward) {
  auto z = complex_leaf({3});
  (z * z.conj()).sum().abs().backward();
  show("leaf", z.grad());
  z.grad().zero_();
  z.abs().sum().backward();
  show("again", z.grad());
  show_error("complex root", [&] { z.sum().backward(); });
  (z * z).backward(numbers({3}, 6));
  show("added", z.grad());
  const auto grads = torch::autograd::grad({(z.exp() * 2).abs().sum()}, {z}, {}, true, true);
  show("grad", grads[0]);
  show("second", torch::autograd::grad({grads[0].abs().sum()}, {z})[0]);
  auto w = complex_leaf({2, 2});
  torch::optim::SGD optimizer({w}, torch::optim::SGDOptions(0.1).momentum(0.9));
  for (int i = 0; i < 5; ++i) {
    optimizer.zero_grad();
    (w - numbers({2, 2}, 8)).abs().square().sum().backward();
    optimizer.step();
  }
  show("trained", w);
}
