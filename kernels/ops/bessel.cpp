// i0, i1, i0e and i1e: the modified Bessel functions of the first kind of order 0 and 1, and those
// times exp(-|self|). Chebyshev series in |self| up to 8 and in 1 / |self| beyond, with
// sqrt(|self|) taken out. Coefficients: interpolation at 64 Chebyshev nodes in 50 digits, rounded.
#include <cmath>
#include <span>

#include "groove/ops/special.h"
#include "kernels/ops/spelled.h"

namespace groove {
namespace {

using kernels::Expr;
using Series = std::span<const double>;

// exp(-x) I0(x), and exp(-x) I1(x) / x, in x / 4 - 1.
constexpr double kNear0[] = {
    0x1.5a84e9035a22ap-2,  -0x1.37febc057cd8dp-2,  0x1.5f7ac77ac88c0p-3,  -0x1.84b70342d06eap-4,
    0x1.93e8acea8a32dp-5,  -0x1.84e9ef121b6f0p-6,  0x1.59961f3dde3ddp-7,  -0x1.1b65e201aa849p-8,
    0x1.adc758a12100ep-10, -0x1.2e2fd1f15eb52p-11, 0x1.8b51b74107cabp-13, -0x1.e2b2659c41d5ap-15,
    0x1.13f58be9a2859p-16, -0x1.2866fcba56427p-18, 0x1.2bf24978cf4acp-20, -0x1.1ec638f227f8dp-22,
    0x1.03b769d4d6435p-24, -0x1.beaf68c0b30abp-27, 0x1.6d903a454cb34p-29, -0x1.1d4fe13ae9556p-31,
    0x1.a98becc743c10p-34, -0x1.2fc957a946abcp-36, 0x1.9fe2fe19bd324p-39, -0x1.1164c62ee1af0p-41,
    0x1.59b464b262627p-44, -0x1.a5022c297fbebp-47, 0x1.ee6d893f65ebap-50, -0x1.184eb721ebbb4p-52,
    0x1.33362977da589p-55, -0x1.45cb72134d0efp-58};
constexpr double kNear1[] = {
    0x1.02a63724a7ffap-3,  -0x1.694d10469192ep-3,  0x1.a46dad536f53cp-4,  -0x1.b1bbc537c9ebcp-5,
    0x1.951e3e7bb2349p-6,  -0x1.5a29f7913a26ap-7,  0x1.1065349d3a1b4p-8,  -0x1.8cc620b3cd4a4p-10,
    0x1.0c95db6c6df7dp-11, -0x1.533cad3d694fep-13, 0x1.911b542c70d0bp-15, -0x1.bd5f9b8debbcfp-17,
    0x1.d1c4ed511afc5p-19, -0x1.cc0798363992ap-21, 0x1.ae344b347d108p-23, -0x1.7dd3e24b8c3e8p-25,
    0x1.4258e02395010p-27, -0x1.0361b28ea67e6p-29, 0x1.8ea34b43fdf6cp-32, -0x1.2510397eb07dep-34,
    0x1.9cee2b21d3154p-37, -0x1.173835fb70366p-39, 0x1.6af784779d955p-42, -0x1.c628e1c8f0b3bp-45,
    0x1.11d7f0615290cp-47, -0x1.3eaaa7e0d1573p-50, 0x1.663e3e593bfacp-53, -0x1.857d0c38a0576p-56,
    0x1.99f2a0c3c4014p-59};
// exp(-x) sqrt(x) I0(x) and exp(-x) sqrt(x) I1(x), in 16 / x - 1.
constexpr double kFar0[] = {
    0x1.9be62aca809cbp-2,   0x1.b998ca2e59049p-9,   0x1.20fa378999e52p-14,  0x1.8412bc101c586p-19,
    0x1.b8007d9cd616ep-23,  0x1.8569280d6d56dp-26,  0x1.d2c64a9225b87p-29,  0x1.0f9ccc0f46f75p-31,
    0x1.a24feabe8004fp-37,  -0x1.1511d08397425p-35, -0x1.d0fd7357e7bf2p-37, -0x1.f904303178d66p-40,
    0x1.94347fa268cecp-41,  0x1.b1c8c6b83c073p-42,  0x1.156ff0d5fc545p-46,  -0x1.75d99cf68bb32p-45,
    -0x1.583fe7e65629ap-47, 0x1.12a919094e6d7p-48,  0x1.fee7da3eafb1fp-50,  -0x1.8aee7d908de38p-52,
    -0x1.4600babd21fe4p-52, 0x1.3f3dd076041cdp-55,  0x1.9be1812d98421p-55,  -0x1.646da66119130p-58,
    -0x1.0adb754ca8b19p-57, 0x1.24d48c789b293p-60,  0x1.604db61ad3debp-60};
constexpr double kFar1[] = {
    0x1.8ea18b55b1514p-2,   -0x1.3fda053fcdb4cp-7,  -0x1.cfd7f804aa9a6p-14, -0x1.048df49ca0373p-18,
    -0x1.0dbfd2e9e5443p-22, -0x1.c415394bb46c1p-26, -0x1.0790b9ad53528p-28, -0x1.334ca5423dd80p-31,
    -0x1.4dcf9d4504c0cp-36, 0x1.1e1a1f1587865p-35,  0x1.f101f653c457bp-37,  0x1.1e7d3f6439fa3p-39,
    -0x1.953e1076ab493p-41, -0x1.cbc458e73e255p-42, -0x1.7a9482e6d22a0p-46, 0x1.80d3c26b3281ep-45,
    0x1.776e1762d31e8p-47,  -0x1.12db5138afbc7p-48, -0x1.0efcd8bc4d22ap-49, 0x1.7d68e5f04a2d1p-52,
    0x1.55915fceb588ap-52,  -0x1.2806c9c773320p-55, -0x1.acea3b2532277p-55, 0x1.45b8aea87b950p-58,
    0x1.1556db352e8e6p-57,  -0x1.12e7f21d2c006p-60, -0x1.6ea1785f94461p-60};

// Clenshaw's recurrence.
Expr chebyshev(Expr t, Series series) {
  const Expr twice = t * 2.0;
  Expr next = t.builder().constant(kDouble, 0), after = next;
  for (std::size_t i = series.size(); --i > 0;) {
    const Expr value = twice * next - after + series[i];
    after = next;
    next = value;
  }
  return t * next - after + series[0];
}

// exp(-a) times the function, of a = |x| in double precision.
Expr scaled(Expr a, int order) {
  const Expr bounded = select(gt(a, 8.0), a, a.builder().constant(kDouble, 8));
  const Expr near = chebyshev(kernels::min(a, a.builder().constant(kDouble, 8)) * 0.25 - 1.0,
                              order == 0 ? Series(kNear0) : Series(kNear1));
  const Expr far =
      chebyshev(16.0 / bounded - 1.0, order == 0 ? Series(kFar0) : Series(kFar1)) / sqrt(bounded);
  const Expr result = select(gt(a, 8.0), far, order == 0 ? near : near * a);
  return select(is_nan(a), a, result);
}

Expr body(Expr narrow, int order, bool is_scaled) {
  const Expr x = convert(narrow, kDouble), a = kernels::abs(x);
  Expr result = scaled(a, order);
  // Half of the exponent at a time: exp(a) overflows before the function does.
  if (!is_scaled) {
    const Expr root = kernels::exp(a * 0.5);
    result = result * root * root;
  }
  if (order == 1) result = select(lt(x, 0.0), -result, result);
  return convert(result, narrow.dtype());
}

double reference(double x, int order, bool is_scaled) {
  const double value = std::cyl_bessel_i(order, std::abs(x));
  return (order == 1 && x < 0 ? -value : value) * (is_scaled ? std::exp(-std::abs(x)) : 1);
}

// The derivative of I1(x) without I0(x): -I1(x) / x, whose limit at 0 is -1/2.
Tensor quotient(const Tensor& value, const Tensor& x) {
  const Tensor is_zero = eq(x, 0);
  return masked_fill(div(value, masked_fill(x, is_zero, 1)), is_zero, 0.5);
}

const Op& op_i0 = define(UnarySpec{
    .name = "i0",
    .body = [](Expr x) { return body(x, 0, false); },
    .gradient = [](const Grad& g) { return Tensors{mul(g.cotangent(), special_i1(g.input(0)))}; },
    .saves_input = true,
    .reference = [](double x) { return reference(x, 0, false); },
    .domain = {-12, 12},
    .dtypes = all_dtypes(),
    .tolerance_ulp = 16,
});
const Op& op_i0e = define(UnarySpec{
    .name = "i0e",
    .body = [](Expr x) { return body(x, 0, true); },
    .gradient =
        [](const Grad& g) {
          const Tensor& x = g.input(0);
          return Tensors{mul(g.cotangent(), special_i1e(x) - sign(x) * special_i0e(x))};
        },
    .saves_input = true,
    .reference = [](double x) { return reference(x, 0, true); },
    .domain = {-12, 12},
    .dtypes = all_dtypes(),
    .tolerance_ulp = 16,
});
const Op& op_i1 = define(UnarySpec{
    .name = "i1",
    .body = [](Expr x) { return body(x, 1, false); },
    .gradient =
        [](const Grad& g) {
          const Tensor& x = g.input(0);
          return Tensors{mul(g.cotangent(), i0(x) - quotient(g.output(), x))};
        },
    .saves_input = true,
    .saves_output = true,
    .reference = [](double x) { return reference(x, 1, false); },
    .domain = {-12, 12},
    .dtypes = all_dtypes(),
    .tolerance_ulp = 16,
});
const Op& op_i1e = define(UnarySpec{
    .name = "i1e",
    .body = [](Expr x) { return body(x, 1, true); },
    .gradient =
        [](const Grad& g) {
          const Tensor& x = g.input(0);
          const Tensor slope = special_i0e(x) - sign(x) * g.output() - quotient(g.output(), x);
          return Tensors{mul(g.cotangent(), slope)};
        },
    .saves_input = true,
    .saves_output = true,
    .reference = [](double x) { return reference(x, 1, true); },
    .domain = {-12, 12},
    .dtypes = all_dtypes(),
    .tolerance_ulp = 16,
});

}  // namespace

Tensor i0(Arg self) { return call(op_i0, self); }
Tensor special_i0e(Arg self) { return call(op_i0e, self); }
Tensor special_i1(Arg self) { return call(op_i1, self); }
Tensor special_i1e(Arg self) { return call(op_i1e, self); }

}  // namespace groove
