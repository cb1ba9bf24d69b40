// Transposed convolutions against LibTorch 2.15's results on the same numbers (each tensor by its
// sum and its sum weighted with cos(i)), against a sum in double, and as the adjoint of the
// convolution.
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "groove/groove.h"

namespace groove {
namespace {

struct Known {
  const char* name;
  double sum, weighted;
};
const Known known[] = {
    {"transpose2d", -111.180805, 26.3810593},
    {"transpose2d dx", 37.9936005, 0.692900321},
    {"transpose2d dweight", -17.5140021, -5.52472456},
    {"transpose2d dbias", -1.73999989, -3.2064513},
    {"dcgan", 1.54000162, 2.24192162},
    {"dcgan dx", -6.98399996, 3.26778781},
    {"dcgan dweight", 3.85679885, -2.00455926},
    {"transpose1d", -37.5831992, -3.90976955},
    {"transpose1d dx", 3.04040057, -0.0498883605},
    {"transpose1d dweight", 20.1180025, 2.01743661},
    {"transpose1d dbias", -0.539999962, -0.088739702},
    {"beyond the stride", -155.708794, 3.42682148},
    {"beyond the stride dx", 0.268398654, 7.19351877},
    {"beyond the stride dweight", -1.33039853, 2.88543094},
    {"beyond the stride dbias", -0.979998708, 1.0941058},
    {"output_size", -112.254396, 15.8166055},
    {"output_size dx", -7.50480207, -4.85474658},
    {"output_size dweight", -1.47799839, 23.3473213},
    {"output_size dbias", -0.779999793, -0.802092911},
};

// Element i is (37 i mod 101) / 50 - 1.
Tensor numbers(IntArrayRef sizes) {
  const Tensor result = empty(sizes);
  return result.copy_((arange(result.numel()) * 37).remainder(101).to(kFloat).view(sizes) / 50 - 1);
}

void expect(const std::string& name, const Tensor& tensor) {
  const Tensor values = tensor.detach().to(kDouble).flatten();
  const double sum = values.sum().item<double>();
  const double weighted = (values * cos(arange(values.numel(), kDouble))).sum().item<double>();
  for (const Known& entry : known) {
    if (name != entry.name) continue;
    EXPECT_NEAR(sum, entry.sum, 1e-4 * (1 + std::fabs(entry.sum))) << name;
    EXPECT_NEAR(weighted, entry.weighted, 1e-4 * (1 + std::fabs(entry.weighted))) << name;
    return;
  }
  ADD_FAILURE() << "nothing is known of " << name;
}

template <typename Module, typename... More>
void expect_module(const std::string& name, Module module, IntArrayRef sizes, More... more) {
  {
    const NoGradGuard no_grad;
    for (const Tensor& parameter : module->parameters())
      parameter.copy_(numbers(parameter.sizes()));
  }
  const Tensor x = numbers(sizes).requires_grad_();
  const Tensor y = module->forward(x, more...);
  expect(name, y);
  sum(y * numbers(y.sizes())).backward();
  expect(name + " dx", x.grad());
  for (const auto& entry : module->named_parameters())
    expect(name + " d" + entry.key(), entry.value().grad());
}

TEST(ConvTranspose, AgreesWithLibTorch) {
  using nn::ConvTranspose1dOptions, nn::ConvTranspose2dOptions;
  expect_module("transpose2d",
                nn::ConvTranspose2d(ConvTranspose2dOptions(4, 6, {3, 2})
                                        .stride({2, 1})
                                        .padding({1, 2})
                                        .output_padding({1, 0})
                                        .groups(2)
                                        .dilation({1, 2})),
                {3, 4, 5, 6});
  expect_module(
      "dcgan",
      nn::ConvTranspose2d(ConvTranspose2dOptions(3, 2, 4).stride(2).padding(1).bias(false)),
      {2, 3, 5, 4});
  expect_module("transpose1d", nn::ConvTranspose1d(ConvTranspose1dOptions(3, 5, 3).padding(1)),
                {2, 3, 11});
  expect_module("beyond the stride",
                nn::ConvTranspose2d(
                    ConvTranspose2dOptions(2, 3, 3).padding(1).output_padding({1, 2}).dilation(3)),
                {2, 2, 4, 5});
  const std::int64_t size[] = {8, 9};
  expect_module("output_size",
                nn::ConvTranspose2d(ConvTranspose2dOptions(2, 3, 3).stride(2).padding(1)),
                {2, 2, 4, 5}, std::optional<IntArrayRef>(IntArrayRef(size, 2)));
}

struct Case {
  std::int64_t in, out, groups, height, width, kernel, stride, padding, extra, dilation;
};
const Case cases[] = {
    {1, 1, 1, 1, 1, 1, 1, 0, 0, 1}, {2, 3, 1, 4, 3, 3, 2, 1, 1, 1}, {4, 2, 2, 3, 5, 2, 3, 0, 2, 1},
    {2, 2, 1, 3, 3, 3, 1, 2, 0, 2}, {3, 3, 3, 2, 4, 2, 2, 1, 2, 3}, {1, 4, 1, 6, 1, 5, 4, 3, 3, 1},
};

// Every product once, added where it belongs.
Tensor by_hand(const Tensor& x, const Tensor& weight, const Case& c) {
  const auto size = [&](std::int64_t in) {
    return (in - 1) * c.stride - 2 * c.padding + c.dilation * (c.kernel - 1) + c.extra + 1;
  };
  Tensor y = zeros({x.size(0), c.out, size(c.height), size(c.width)}, kDouble);
  auto to = y.accessor<double, 4>();
  const auto from = x.accessor<double, 4>(), w = weight.accessor<double, 4>();
  const std::int64_t each_in = c.in / c.groups, each_out = c.out / c.groups;
  for (std::int64_t n = 0; n < x.size(0); ++n)
    for (std::int64_t i = 0; i < c.in; ++i)
      for (std::int64_t o = 0; o < each_out; ++o)
        for (std::int64_t h = 0; h < c.height * c.kernel; ++h)
          for (std::int64_t v = 0; v < c.width * c.kernel; ++v) {
            const std::int64_t row =
                h / c.kernel * c.stride - c.padding + h % c.kernel * c.dilation;
            const std::int64_t column =
                v / c.kernel * c.stride - c.padding + v % c.kernel * c.dilation;
            if (row < 0 || row >= y.size(2) || column < 0 || column >= y.size(3)) continue;
            to[n][i / each_in * each_out + o][row][column] +=
                from[n][i][h / c.kernel][v / c.kernel] * w[i][o][h % c.kernel][v % c.kernel];
          }
  return y;
}

TEST(ConvTranspose, IsTheSumOfItsProducts) {
  manual_seed(3);
  for (const Case& c : cases) {
    const Tensor x = randn({2, c.in, c.height, c.width}, kDouble);
    const Tensor w = randn({c.in, c.out / c.groups, c.kernel, c.kernel}, kDouble);
    const Tensor y = conv_transpose2d(x, w, {}, c.stride, c.padding, c.extra, c.groups, c.dilation);
    EXPECT_TRUE(allclose(y, by_hand(x, w, c), 0, 1e-12)) << "stride " << c.stride;
    const Tensor bias = randn({c.out}, kDouble);
    EXPECT_TRUE(
        allclose(conv_transpose2d(x, w, bias, c.stride, c.padding, c.extra, c.groups, c.dilation),
                 y + bias.view({c.out, 1, 1}), 0, 1e-12));
  }
}

// <y, T x> = <conv(y), x>, so that the gradient by x is the convolution of the cotangent, and a
// second derivative runs through all three forms.
TEST(ConvTranspose, GradientIsTheConvolution) {
  manual_seed(4);
  const Tensor x = randn({2, 4, 5, 3}, TensorOptions(kDouble).requires_grad(true));
  const Tensor w = randn({4, 3, 3, 3}, TensorOptions(kDouble).requires_grad(true));
  const Tensor y = conv_transpose2d(x, w, {}, 2, 1, 1, 2);
  const Tensor v = randn(y.sizes(), TensorOptions(kDouble).requires_grad(true));
  const auto first = autograd::grad({y}, {x, w}, {v}, true, true);
  EXPECT_TRUE(allclose(first[0], conv2d(v, w, {}, 2, 1, 1, 2), 0, 1e-12));
  // y is linear in x: <dy/dx v, u> is <v, T u>, so its gradient by v is T u.
  const Tensor u = randn(x.sizes(), kDouble);
  const Tensor second = autograd::grad({first[0]}, {v}, {u})[0];
  EXPECT_TRUE(allclose(second, conv_transpose2d(u, w, {}, 2, 1, 1, 2), 0, 1e-12));
}

TEST(ConvTranspose, OneImageIsABatchOfOne) {
  nn::ConvTranspose2d layer(nn::ConvTranspose2dOptions(2, 3, 3).stride(2));
  const Tensor x = numbers({2, 4, 5});
  EXPECT_EQ(layer(x).sizes(), IntArrayRef({3, 9, 11}));
  EXPECT_TRUE(equal(layer(x).unsqueeze(0), layer(x.unsqueeze(0))));
  EXPECT_TRUE(equal(conv_transpose1d(numbers({2, 4}), numbers({2, 3, 3})),
                    conv_transpose1d(numbers({1, 2, 4}), numbers({2, 3, 3}))[0]));
}

TEST(ConvTranspose, FunctionsTakeOptions) {
  namespace F = nn::functional;
  const Tensor x = numbers({1, 2, 4, 5}), w = numbers({2, 3, 3, 3}), b = numbers({3});
  EXPECT_TRUE(
      equal(F::conv_transpose2d(x, w, F::ConvTranspose2dFuncOptions().bias(b).stride(2).padding(1)),
            conv_transpose2d(x, w, b, 2, 1)));
  const Tensor line = numbers({1, 2, 4}), row = numbers({2, 3, 3});
  EXPECT_TRUE(equal(F::conv_transpose1d(line, row, F::ConvTranspose1dFuncOptions().stride(3)),
                    conv_transpose1d(line, row, {}, 3)));
}

TEST(ConvTranspose, InitialisedAsLibTorchDoes) {
  manual_seed(0);
  nn::ConvTranspose2d layer(nn::ConvTranspose2dOptions(50, 4, 5));
  for (const Tensor& t : {layer->weight, layer->bias}) {
    const double most = max(abs(t)).item<double>();
    EXPECT_LE(most, 0.1);
    EXPECT_GT(most, 0.05);
  }
}

TEST(ConvTranspose, Printed) {
  std::ostringstream stream;
  stream << nn::ConvTranspose2d(
      nn::ConvTranspose2dOptions(4, 6, 3).stride(2).output_padding(1).bias(false));
  EXPECT_EQ(stream.str(),
            "torch::nn::ConvTranspose2d(4, 6, kernel_size=[3, 3], stride=[2, 2], "
            "output_padding=[1, 1], bias=false)");
}

TEST(ConvTranspose, ShapesThatDoNotFit) {
  const Tensor x = numbers({1, 2, 5, 5}), w = numbers({2, 3, 3, 3});
  EXPECT_THROW(conv_transpose2d(x, numbers({3, 2, 3, 3})), Error);
  EXPECT_THROW(conv_transpose2d(x, w, numbers({2})), Error);
  EXPECT_THROW(conv_transpose2d(x, w, {}, 0), Error);
  EXPECT_THROW(conv_transpose2d(x, w, {}, 1, 0, 1), Error);
  EXPECT_THROW(conv_transpose2d(x, w, {}, 1, 4), Error);
  EXPECT_THROW(conv_transpose2d(x, w, {}, {1, 1, 1}), Error);
  EXPECT_THROW(conv_transpose2d(numbers({5, 5}), w), Error);
  EXPECT_THROW(nn::ConvTranspose2d(nn::ConvTranspose2dOptions(3, 4, 3).groups(2)), Error);
  nn::ConvTranspose2d layer(nn::ConvTranspose2dOptions(2, 3, 3).stride(2));
  const std::int64_t size[] = {13, 11};
  EXPECT_THROW(layer(x, std::optional<IntArrayRef>(IntArrayRef(size, 2))), Error);
}

}  // namespace
}  // namespace groove
