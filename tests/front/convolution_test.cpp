// Convolutions, pools and batch normalisation against LibTorch 2.15's results on the same numbers:
// each tensor by its sum and its sum weighted with cos(i).
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
    {"conv2d", -143.899605, -3.21013587},
    {"conv2d dx", -2.04440415, -30.3241265},
    {"conv2d dweight", 5.33840162, -3.63742507},
    {"conv2d dbias", -0.119998932, -0.0853531502},
    {"conv1d", -34.3496014, 2.3828906},
    {"conv1d dx", -1.51359981, -1.11660641},
    {"conv1d dweight", 20.118001, 4.64648697},
    {"conv1d dbias", -0.539999723, -0.0887395457},
    {"same", -63.8551981, -11.1372214},
    {"same dx", -0.963995699, -2.94047854},
    {"same dweight", 10.5567976, 21.1285997},
    {"same dbias", 0.0199996233, -1.57319461},
    {"reflect", -63.1955985, -5.66398549},
    {"reflect dx", -3.40080291, -0.663474618},
    {"reflect dweight", 22.8847926, 20.3632464},
    {"reflect dbias", 0.0199996233, -1.57319461},
    {"max2d", 83.6200005, -6.54067734},
    {"max2d dx", -1.53999996, -1.56813459},
    {"max1d", 19.5600002, 0.337784003},
    {"max1d dx", -1, -2.17424825},
    {"avg2d", 0.0916666306, -8.76651183},
    {"avg2d dx", -1.54000006, -0.372305691},
    {"avg2dpad", -0.309999999, -5.56822011},
    {"avg2dpad dx", -1.67333338, 0.182849432},
    {"avg1d", -0.579999954, 1.02277571},
    {"avg1d dx", -1.55999988, -3.43484419},
    {"adaptive", -0.562222218, -0.28196931},
    {"adaptive dx", -0.579999975, -0.275702467},
    {"adaptive11", -0.0174603146, 0.0030281353},
    {"adaptive11 dx", -0.960000125, -0.00256803098},
    {"adaptive1d", -0.453333336, -0.301161386},
    {"adaptive1d dx", -1.55999987, -0.621254117},
    {"adaptivemax", 110.8, -4.45741062},
    {"adaptivemax dx", -0.399999917, -1.92884752},
    {"bn2d", -93.5999964, 7.24108211},
    {"bn2d dx", 4.47772919e-07, 0.00020201538},
    {"bn2d dweight", 209.93718, 78.6393399},
    {"bn2d dbias", -1.09999943, -2.40019097},
    {"bn2d mean", 0.297341667, 0.106615079},
    {"bn2d var", 2.93412483, 1.09933636},
    {"bn2d eval", -82.1863666, 4.37982048},
    {"bn2d eval dx", 2.74376387, 4.03387147},
    {"bn2d eval dweight", 333.895752, 125.28589},
    {"bn2d eval dbias", -2.19999886, -4.80038194},
    {"bn1d", -6.24000068, 0.068574109},
    {"bn1d dx", 1.58598255e-08, 3.73812602e-05},
    {"bn1d dweight", 13.1832454, 3.91574007},
    {"bn1d dbias", -1.56000006, -1.31488974},
    {"bn1d mean", 1.20750001, 0.315535942},
    {"bn1d var", 2.63324994, 0.581317569},
    {"bn1d eval", -2.92736835, 0.0402849569},
    {"bn1d eval dx", 2.38594753, 0.436700809},
    {"bn1d eval dweight", 21.3896785, 6.68285283},
    {"bn1d eval dbias", -3.12000012, -2.62977948},
    {"bn1dl", -8.19563866e-08, -0.466714869},
    {"bn1dl dx", -5.5010787e-08, -1.79189615e-05},
    {"bn1dl eval", -8.19563866e-08, -0.466714869},
    {"bn1dl eval dx", -5.5010787e-08, -1.79189615e-05},
    {"gn", -46.0874869, -2.36451917},
    {"gn dx", -1.34110451e-07, -2.04923492},
    {"gn dweight", 69.8328495, 2.35453988},
    {"gn dbias", -1.5399999, -1.3112578},
};

// Element i is (37 i mod 101) / 50 - 1.
Tensor numbers(IntArrayRef sizes) {
  Tensor result = empty(sizes);
  float* data = result.data_ptr<float>();
  for (std::int64_t i = 0; i < result.numel(); ++i)
    data[i] = static_cast<float>(i * 37 % 101) / 50 - 1;
  return result;
}

void expect(const std::string& name, const Tensor& tensor) {
  const Tensor values = tensor.detach().contiguous();
  double sum = 0, weighted = 0;
  for (std::int64_t i = 0; i < values.numel(); ++i) {
    const double value = values.data_ptr<float>()[i];
    sum += value;
    weighted += value * std::cos(static_cast<double>(i));
  }
  for (const Known& entry : known) {
    if (name != entry.name) continue;
    EXPECT_NEAR(sum, entry.sum, 1e-4 * (1 + std::fabs(entry.sum))) << name;
    EXPECT_NEAR(weighted, entry.weighted, 1e-4 * (1 + std::fabs(entry.weighted))) << name;
    return;
  }
  ADD_FAILURE() << "nothing is known of " << name;
}

// The result, and the gradients of a weighted sum of it.
template <typename Module>
void expect_module(const std::string& name, Module module, IntArrayRef sizes) {
  {
    const NoGradGuard no_grad;
    for (const Tensor& parameter : module->parameters())
      parameter.copy_(numbers(parameter.sizes()));
  }
  const Tensor x = numbers(sizes).requires_grad_();
  const Tensor y = module(x);
  expect(name, y);
  sum(y * numbers(y.sizes())).backward();
  expect(name + " dx", x.grad());
  for (const auto& entry : module->named_parameters())
    expect(name + " d" + entry.key(), entry.value().grad());
}

TEST(Convolution, AgreesWithLibTorch) {
  expect_module("conv2d",
                nn::Conv2d(nn::Conv2dOptions(4, 6, {3, 2})
                               .stride({2, 1})
                               .padding({1, 2})
                               .dilation({1, 2})
                               .groups(2)),
                {3, 4, 9, 8});
  expect_module("conv1d", nn::Conv1d(nn::Conv1dOptions(3, 5, 3).padding(1)), {2, 3, 11});
  expect_module("same", nn::Conv2d(nn::Conv2dOptions(2, 3, 4).padding(kSame)), {2, 2, 6, 7});
  expect_module("reflect",
                nn::Conv2d(nn::Conv2dOptions(2, 3, 3).padding(1).padding_mode(kReflect)),
                {2, 2, 6, 7});
}

TEST(Pooling, AgreesWithLibTorch) {
  expect_module("max2d",
                nn::MaxPool2d(nn::MaxPool2dOptions({3, 2}).stride(2).padding(1).ceil_mode(true)),
                {2, 3, 7, 9});
  expect_module("max1d", nn::MaxPool1d(nn::MaxPool1dOptions(3).dilation(2)), {2, 3, 17});
  const nn::AvgPool2dOptions average = nn::AvgPool2dOptions(3).stride(2).padding(1).ceil_mode(true);
  expect_module("avg2d", nn::AvgPool2d(nn::AvgPool2dOptions(average).count_include_pad(false)),
                {2, 3, 7, 9});
  expect_module("avg2dpad", nn::AvgPool2d(nn::AvgPool2dOptions(average).kernel_size({3, 2})),
                {2, 3, 7, 9});
  expect_module("avg1d", nn::AvgPool1d(2), {2, 3, 9});
  expect_module("adaptive", nn::AdaptiveAvgPool2d(nn::AdaptiveAvgPool2dOptions({3, 4})),
                {2, 3, 7, 9});
  expect_module("adaptive11", nn::AdaptiveAvgPool2d(1), {2, 3, 7, 9});
  expect_module("adaptive1d", nn::AdaptiveAvgPool1d(4), {2, 3, 9});
  expect_module("adaptivemax",
                nn::AdaptiveMaxPool2d(nn::AdaptiveMaxPool2dOptions({std::nullopt, 4})),
                {2, 3, 7, 9});
}

// Training, one more step, then evaluation.
template <typename Module>
void expect_batch_norm(const std::string& name, Module module, IntArrayRef sizes) {
  expect_module(name, module, sizes);
  module(numbers(sizes) * 2 + 1);
  if (module->running_mean.defined()) {
    expect(name + " mean", module->running_mean);
    expect(name + " var", module->running_var);
    EXPECT_EQ(module->num_batches_tracked.template item<std::int64_t>(), 2);
  }
  module->eval();
  expect_module(name + " eval", module, sizes);
}

TEST(BatchNorm, AgreesWithLibTorch) {
  expect_batch_norm("bn2d", nn::BatchNorm2d(3), {4, 3, 5, 6});
  expect_batch_norm("bn1d", nn::BatchNorm1d(nn::BatchNorm1dOptions(3).momentum(std::nullopt)),
                    {8, 3});
  expect_batch_norm("bn1dl",
                    nn::BatchNorm1d(nn::BatchNorm1dOptions(3).affine(false).track_running_stats(
                        false)),
                    {4, 3, 7});
  expect_module("gn", nn::GroupNorm(2, 4), {3, 4, 5, 2});
  EXPECT_THROW(nn::BatchNorm2d(3)(ones({1, 3, 1, 1})), Error);
  EXPECT_THROW(nn::BatchNorm2d(3)(ones({4, 3})), Error);
}

TEST(BatchNorm, BuffersAreNamed) {
  nn::BatchNorm2d norm(3);
  const auto buffers = norm->named_buffers();
  ASSERT_EQ(buffers.size(), 3u);
  EXPECT_EQ(buffers.keys()[2], "num_batches_tracked");
  EXPECT_EQ(norm->parameters().size(), 2u);
}

TEST(Convolution, OneImageIsABatchOfOne) {
  nn::Conv2d conv(2, 3, 3);
  nn::MaxPool2d pool(2);
  const Tensor x = numbers({2, 8, 8});
  const Tensor y = pool(conv(x));
  EXPECT_EQ(y.sizes(), IntArrayRef({3, 3, 3}));
  EXPECT_TRUE(equal(y.unsqueeze(0), pool(conv(x.unsqueeze(0)))));
}

TEST(Convolution, InitialisedAsLibTorchDoes) {
  manual_seed(0);
  nn::Conv2d conv(4, 50, 5);
  for (const Tensor& t : {conv->weight, conv->bias}) {
    const double most = max(abs(t)).item<double>();
    EXPECT_LE(most, 0.1);
    EXPECT_GT(most, 0.08);
  }
}

TEST(Convolution, Printed) {
  const auto text = [](const auto& module) {
    std::ostringstream stream;
    stream << module;
    return stream.str();
  };
  EXPECT_EQ(text(nn::Conv2d(nn::Conv2dOptions(4, 6, 3).padding(1).bias(false))),
            "torch::nn::Conv2d(4, 6, kernel_size=[3, 3], stride=[1, 1], padding=[1, 1], "
            "bias=false)");
  EXPECT_EQ(text(nn::MaxPool2d(2)),
            "torch::nn::MaxPool2d(kernel_size=[2, 2], stride=[2, 2], padding=[0, 0], "
            "dilation=[1, 1], ceil_mode=false)");
  EXPECT_EQ(text(nn::BatchNorm2d(4)),
            "torch::nn::BatchNorm2d(4, eps=1e-05, momentum=0.1, affine=true, "
            "track_running_stats=true)");
}

TEST(Convolution, ShapesThatDoNotFit) {
  const Tensor x = numbers({1, 2, 5, 5}), w = numbers({3, 2, 3, 3});
  EXPECT_THROW(conv2d(x, numbers({3, 4, 3, 3})), Error);
  EXPECT_THROW(conv2d(x, numbers({3, 2, 7, 3})), Error);
  EXPECT_THROW(conv2d(x, w, numbers({4})), Error);
  EXPECT_THROW(conv2d(x, w, {}, 0), Error);
  EXPECT_THROW(conv2d(x, w, {}, {1, 1, 1}), Error);
  EXPECT_THROW(conv2d(x, w, {}, 1, 0, 1, 2), Error);
  EXPECT_THROW(max_pool2d(x, 2, 2, 2), Error);
  EXPECT_THROW(nn::Conv2d(nn::Conv2dOptions(3, 4, 3).groups(2)), Error);
  EXPECT_THROW(nn::Conv2dOptions(3, 4, {1, 2, 3}), Error);
}

TEST(Dropout2d, ZeroesWholeChannels) {
  manual_seed(1);
  nn::Dropout2d drop(0.5);
  const Tensor y = drop(ones({20, 10, 3, 3}));
  const Tensor planes = sum(y, {2, 3});
  EXPECT_TRUE(eq(planes, 0).logical_or(eq(planes, 18)).all().item<bool>());
  const double kept = ne(planes, 0).sum().item<double>();
  EXPECT_GT(kept, 60);
  EXPECT_LT(kept, 140);
  drop->eval();
  EXPECT_EQ(drop(y).sum().item<double>(), y.sum().item<double>());
}

}  // namespace
}  // namespace groove
