// LibTorch's namespaces, macros and smaller functions; the expected values are LibTorch 2.15's.
#include <gtest/gtest.h>
#include "groove/compat/ATen/TensorIndexing.h"
#include "groove/compat/c10/cuda/CUDAGuard.h"
#include "groove/compat/torch/arg.h"
#include "groove/compat/torch/data/datasets/base.h"
#include "groove/compat/torch/expanding_array.h"
#include "groove/compat/torch/library.h"
#include "groove/compat/torch/nn/modules/conv.h"
#include "groove/compat/torch/nn/options/activation.h"
#include "groove/compat/torch/optim/serialize.h"
#include "groove/compat/torch/script.h"
#include "groove/compat/torch/serialize/input-archive.h"

#include <cmath>
#include <limits>
#include <sstream>

// What programs write into LibTorch's namespaces.
namespace torch {
struct Outside {
  Tensor value;
};
namespace nn {
struct TwiceImpl : Module {
  Tensor forward(Tensor x) { return functional::relu(x) * 2; }
};
TORCH_MODULE(Twice);
}  // namespace nn
namespace autograd {
struct Identity : Function<Identity> {
  static Tensor forward(AutogradContext*, Tensor x) { return x.clone(); }
  static tensor_list backward(AutogradContext*, tensor_list gradients) { return gradients; }
};
}  // namespace autograd
}  // namespace torch
namespace at {
Tensor thrice(const Tensor& x);
Tensor thrice(const Tensor& x) { return x * 3; }
}  // namespace at

struct Pair {
  torch::Tensor left, right;
};
namespace torch::data::transforms {
template <>
struct Stack<Pair> : Collation<Pair> {
  Pair apply_batch(std::vector<Pair> pairs) override {
    std::vector<Tensor> left, right;
    for (const Pair& pair : pairs) {
      left.push_back(pair.left);
      right.push_back(pair.right);
    }
    return {torch::stack(left), torch::stack(right)};
  }
};
}  // namespace torch::data::transforms

namespace {

template <typename... Parts>
std::string text(const Parts&... parts) {
  return torch::str(parts...);
}

void expect_equal(const torch::Tensor& actual, const torch::Tensor& expected) {
  EXPECT_EQ(actual.scalar_type(), expected.scalar_type());
  ASSERT_EQ(actual.sizes(), expected.sizes());
  EXPECT_TRUE(torch::allclose(actual.to(torch::kDouble), expected.to(torch::kDouble), 0, 0, true))
      << actual << expected;
}

TEST(LibtorchNames, ProgramsAddToTheNamespaces) {
  const torch::Outside outside{torch::ones({2})};
  torch::nn::Twice twice;
  expect_equal(twice(outside.value), torch::full({2}, 2.0));
  expect_equal(at::thrice(outside.value), torch::full({2}, 3.0));
  auto x = torch::ones({2}, torch::requires_grad());
  torch::autograd::Identity::apply(x).sum().backward();
  expect_equal(x.grad(), torch::ones({2}));
  torch::data::transforms::Stack<Pair> stack;
  expect_equal(stack.apply_batch({{x.detach(), x.detach()}}).left, torch::ones({1, 2}));
}

TEST(LibtorchNames, Printing) {
  EXPECT_EQ(
      text(torch::TensorOptions()),
      "TensorOptions(dtype=float (default), device=cpu (default), layout=Strided (default), "
      "requires_grad=false (default), pinned_memory=false (default), memory_format=(nullopt))");
  EXPECT_EQ(text(torch::dtype(torch::kLong).device(torch::kCPU).requires_grad(true)),
            "TensorOptions(dtype=long int, device=cpu, layout=Strided (default), "
            "requires_grad=true, pinned_memory=false (default), memory_format=(nullopt))");
  EXPECT_EQ(text(torch::Scalar(2.5), torch::Scalar(3), torch::Scalar(true), torch::Scalar(1e-9)),
            "2.53true1e-09");
  const auto x = torch::ones({2});
  EXPECT_EQ(text(x.dtype(), " ", x.scalar_type(), " ", x.device(), " ", x.layout(), " ",
                 torch::MemoryFormat::Contiguous, " ", x.toString(), " ", torch::Device("cuda:1")),
            "float Float cpu Strided Contiguous CPUFloatType cuda:1");
  EXPECT_EQ(text(std::vector<torch::Tensor>{x, x}),
            " 1\n 1\n[ CPUFloatType{2} ]  1\n 1\n[ CPUFloatType{2} ]");
  EXPECT_EQ(text(torch::TensorList({x})), "[ 1\n 1\n[ CPUFloatType{2} ]]");
  EXPECT_EQ(text(x.sizes(), torch::ArrayRef<double>({1.5, 2}), std::vector<int>{1, 2}),
            "[2][1.5, 2]1 2");
}

TEST(LibtorchNames, NodesOfTheTape) {
  const auto p = torch::ones({2, 2}, torch::requires_grad());
  const auto a = p + 2;
  EXPECT_EQ(p.grad_fn(), nullptr);
  EXPECT_EQ(a.grad_fn()->name(), "AddBackward1");
  EXPECT_EQ((a * a).grad_fn()->name(), "MulBackward0");
  EXPECT_EQ((a * a * 3).grad_fn()->name(), "MulBackward1");
  EXPECT_EQ(a.mean().grad_fn()->name(), "MeanBackward0");
  EXPECT_EQ(torch::log_softmax(p, 1).grad_fn()->name(), "LogSoftmaxBackward0");
  EXPECT_EQ(a.grad_fn(), a.grad_fn());
  ASSERT_EQ(a.grad_fn()->next_edges().size(), 1u);
  EXPECT_EQ(a.grad_fn()->next_edges()[0].function->name(), "torch::autograd::AccumulateGrad");
  EXPECT_EQ((a * a).grad_fn()->next_edges()[1].function, a.grad_fn());
}

TEST(LibtorchNames, DivisionAndItsRest) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const auto x = torch::tensor({-0.0f, 0.0f, 1.0f, -1.0f, 5.5f, -5.5f, 1e-30f});
  expect_equal(torch::div(x, 2.0, "floor"), torch::tensor({-0.f, 0.f, 0.f, -1.f, 2.f, -3.f, 0.f}));
  expect_equal(torch::div(x, -2.0, "floor"),
               torch::tensor({0.f, -0.f, -1.f, 0.f, -3.f, 2.f, -1.f}));
  expect_equal(x.div(2.0, "trunc"), torch::tensor({-0.f, 0.f, 0.f, -0.f, 2.f, -2.f, 0.f}));
  expect_equal(torch::floor_divide(x.slice(0, 2), torch::tensor({0.f, 0.f, kInf, kInf, kInf})),
               torch::tensor({kInf, -kInf, 0.f, -1.f, 0.f}));
  const auto n = torch::tensor({7, -7, 7, -7}), d = torch::tensor({2, 2, -2, -2});
  expect_equal(n.floor_divide(d), torch::tensor({3, -4, -4, 3}));
  expect_equal(torch::div(n, d, "trunc"), torch::tensor({3, -3, -3, 3}));
  expect_equal(torch::fmod(n, d), torch::tensor({1, -1, 1, -1}));
  expect_equal(n % d, torch::tensor({1, 1, -1, -1}));
  expect_equal(n % 4, torch::tensor({3, 1, 3, 1}));
  expect_equal(torch::fmod(torch::tensor({5.5f, -5.5f}), 2), torch::tensor({1.5f, -1.5f}));
  expect_equal(torch::frac(torch::tensor({1.25f, -1.25f})), torch::tensor({0.25f, -0.25f}));
  EXPECT_THROW(torch::floor_divide(n, 0), torch::Error);
  EXPECT_THROW(torch::div(n, d, "up"), torch::Error);
  expect_equal(torch::pow(2, torch::tensor({0, 1, 5})), torch::tensor({1, 2, 32}));
  expect_equal(torch::pow(0.5, torch::tensor({2, 3})), torch::tensor({0.25f, 0.125f}));
}

TEST(LibtorchNames, Stacks) {
  const auto a = torch::tensor({1, 2}), b = torch::tensor({3, 4});
  expect_equal(torch::hstack({a, b}), torch::tensor({1, 2, 3, 4}));
  expect_equal(torch::vstack({a, b}), torch::tensor({{1, 2}, {3, 4}}));
  expect_equal(torch::dstack({a, b}), torch::tensor({{{1, 3}, {2, 4}}}));
  expect_equal(torch::column_stack({a, b}), torch::tensor({{1, 3}, {2, 4}}));
  expect_equal(torch::hstack({torch::ones({2, 1}), torch::zeros({2, 1})}),
               torch::tensor({{1.f, 0.f}, {1.f, 0.f}}));
  EXPECT_THROW(torch::hstack({}), torch::Error);
}

TEST(LibtorchNames, RandomNumbers) {
  torch::manual_seed(5);
  const auto many = torch::normal(3.0, 0.5, {20000});
  EXPECT_NEAR(many.mean().item<double>(), 3.0, 0.02);
  EXPECT_NEAR(many.std().item<double>(), 0.5, 0.02);
  expect_equal(torch::normal(torch::tensor({1.f, 2.f}), 0.0), torch::tensor({1.f, 2.f}));
  expect_equal(torch::normal(1.0, torch::zeros({2})), torch::ones({2}));
  EXPECT_EQ(torch::normal(torch::zeros({3, 1}), torch::ones({2})).sizes(),
            (torch::IntArrayRef{3, 2}));
  EXPECT_THROW(torch::normal(0.0, -1.0, {2}), torch::Error);
  const auto dice = torch::empty({6000}, torch::kLong).random_(1, 7);
  EXPECT_EQ(dice.min().item<int64_t>(), 1);
  EXPECT_EQ(dice.max().item<int64_t>(), 6);
  EXPECT_GT(torch::empty({100}, torch::kLong).random_().max().item<int64_t>(), int64_t{1} << 60);
  EXPECT_LE(torch::empty({1000}).random_().max().item<float>(), 1 << 24);
  auto order = torch::empty({10}, torch::kLong);
  torch::randperm_out(order, 10);
  expect_equal(std::get<0>(order.sort()), torch::arange(10));
}

TEST(LibtorchNames, ShapesInPlace) {
  auto x = torch::arange(6);
  const auto alias = x;
  x.resize_({2, 2});
  expect_equal(alias, torch::tensor({{0, 1}, {2, 3}}));
  x.resize_({2, 4});
  expect_equal(x, torch::tensor({{0, 1, 2, 3}, {4, 5, 0, 0}}));
  EXPECT_THROW(torch::ones({2}, torch::requires_grad()).resize_({3}), torch::Error);
  expect_equal(x.new_zeros({2}), torch::zeros({2}, torch::kLong));
  expect_equal(torch::arange(4).reshape_as(torch::ones({2, 2})), torch::tensor({{0, 1}, {2, 3}}));
  EXPECT_THROW(x.contiguous(torch::MemoryFormat::ChannelsLast), torch::Error);
}

TEST(LibtorchNames, AddingAtIndices) {
  auto x = torch::zeros({3});
  x.index_put_({torch::tensor({1, 1, 2})}, torch::ones({3}), /*accumulate=*/true);
  expect_equal(x, torch::tensor({0.f, 2.f, 1.f}));
  x.index_put_({torch::indexing::Slice(0, 2)}, torch::ones({2}), true);
  expect_equal(x, torch::tensor({1.f, 3.f, 1.f}));
}

TEST(LibtorchNames, BackwardIntoSomeInputs) {
  const auto a = torch::ones({2}, torch::requires_grad());
  const auto b = torch::ones({2}, torch::requires_grad());
  const std::vector<torch::Tensor> inputs{a};
  (a * b).sum().backward({}, std::nullopt, false, inputs);
  expect_equal(a.grad(), torch::ones({2}));
  EXPECT_FALSE(b.grad().defined());
  // A result among them gets a gradient of its own.
  const auto c = a * 3;
  const std::vector<torch::Tensor> result{c, a};
  (c * c).sum().backward({}, std::nullopt, false, result);
  expect_equal(c.grad(), torch::full({2}, 6.0));
  expect_equal(a.grad(), torch::full({2}, 19.0));
}

TEST(LibtorchNames, BinaryCrossEntropyLooksPastOnes) {
  const auto p = torch::full({3, 1}, 0.25, torch::requires_grad());
  const auto loss = torch::binary_cross_entropy(p, torch::tensor({1.0f, 0.0f, 1.0f}));
  EXPECT_NEAR(loss.item<double>(), (-2 * std::log(0.25) - std::log(0.75)) / 3, 1e-6);
  EXPECT_THROW(torch::nn::functional::binary_cross_entropy(p, torch::zeros({3})), torch::Error);
  EXPECT_THROW(torch::binary_cross_entropy(p, torch::zeros({4})), torch::Error);
}

struct AddOne : torch::autograd::Function<AddOne> {
  static torch::Tensor forward(torch::autograd::AutogradContext* context, torch::Tensor x) {
    x.add_(1);
    context->mark_dirty({x});
    return x;
  }
  static torch::autograd::tensor_list backward(torch::autograd::AutogradContext*,
                                               torch::autograd::tensor_list gradients) {
    return {gradients[0] * 5};
  }
};

TEST(LibtorchNames, FunctionsThatChangeTheirArgument) {
  const auto leaf = torch::ones({2}, torch::requires_grad());
  auto x = leaf * 2;
  const auto y = AddOne::apply(x);
  EXPECT_TRUE(y.is_same(x));
  EXPECT_GE(x._version(), 2);  // add_, and what is marked dirty
  x.sum().backward();
  expect_equal(leaf.grad(), torch::full({2}, 10.0));
  EXPECT_THROW(AddOne::apply(torch::ones({2}, torch::requires_grad())), torch::Error);
}

TEST(LibtorchNames, AnomalyMode) {
  const auto x = torch::zeros({1}, torch::requires_grad());
  const auto y = (x.sqrt() * 0).sum();
  {
    torch::autograd::DetectAnomalyGuard guard;
    try {
      y.backward();
      ADD_FAILURE() << "no error";
    } catch (const torch::Error& error) {
      EXPECT_NE(std::string(error.what()).find("SqrtBackward0"), std::string::npos) << error.what();
    }
  }
  EXPECT_FALSE(torch::autograd::AnomalyMode::is_enabled());
}

struct OwnOptions : torch::optim::OptimizerCloneableOptions<OwnOptions> {
  TORCH_ARG(double, lr) = 0.5;
  TORCH_ARG(bool, centered) = false;
  using betas_t = std::tuple<double, double>;
  TORCH_ARG(betas_t, betas) = std::make_tuple(0.9, 0.99);

 public:
  void serialize(torch::serialize::OutputArchive& archive) const override {
    _TORCH_OPTIM_SERIALIZE_TORCH_ARG(lr);
    _TORCH_OPTIM_SERIALIZE_TORCH_ARG(centered);
    _TORCH_OPTIM_SERIALIZE_TORCH_ARG(betas);
  }
  void serialize(torch::serialize::InputArchive& archive) override {
    _TORCH_OPTIM_DESERIALIZE_TORCH_ARG(double, lr);
    _TORCH_OPTIM_DESERIALIZE_TORCH_ARG(bool, centered);
    _TORCH_OPTIM_DESERIALIZE_TORCH_ARG(betas_t, betas);
  }
};

TEST(LibtorchNames, OptionsOfOptimizersOfPrograms) {
  torch::serialize::OutputArchive out;
  OwnOptions().lr(0.25).centered(true).betas({0.5, 0.75}).serialize(out);
  std::stringstream file;
  out.save_to(file);
  torch::serialize::InputArchive in;
  in.load_from(file);
  OwnOptions read;
  read.serialize(in);
  EXPECT_EQ(read.lr(), 0.25);
  EXPECT_TRUE(read.centered());
  EXPECT_EQ(read.betas(), (std::tuple<double, double>{0.5, 0.75}));
}

TEST(LibtorchNames, SmallFunctions) {
  const auto x = torch::tensor({1.0f, std::nanf("")}), y = torch::tensor({2.0f, 3.0f});
  expect_equal(torch::fmin(x, y), torch::tensor({1.0f, 3.0f}));
  expect_equal(torch::fmax(x, y), torch::tensor({2.0f, 3.0f}));
  expect_equal(torch::logit(torch::tensor({0.5f})), torch::zeros({1}));
  expect_equal(torch::trace(torch::eye(3)), torch::tensor(3.0f));
  expect_equal(torch::take(torch::arange(6).view({2, 3}), torch::tensor({{5, 0}})),
               torch::tensor({{5, 0}}));
  // Overloaded in LibTorch, so that programs cast.
  using Along = torch::Tensor(const torch::Tensor&, int64_t, std::optional<torch::ScalarType>);
  expect_equal(static_cast<Along&>(torch::log_softmax)(y, 0, torch::kDouble),
               torch::log_softmax(y, 0, torch::kDouble));
  expect_equal(torch::nn::Functional(static_cast<Along*>(at::softmax), 0, torch::nullopt)(y),
               torch::softmax(y, 0, std::optional<torch::ScalarType>()));
  torch::Tensor out;
  expect_equal(torch::add_out(out, y, y), y * 2);
}

TEST(LibtorchNames, AutocastOfAnotherDeviceChangesNothing) {
  const auto x = torch::ones({2}), y = torch::ones({2}, torch::kDouble);
  EXPECT_EQ(at::autocast::cached_cast(torch::kHalf, x).scalar_type(), torch::kFloat);
  EXPECT_EQ(at::autocast::cached_cast(torch::kHalf, x, torch::kCPU).scalar_type(), torch::kHalf);
  EXPECT_EQ(at::autocast::cached_cast(torch::kHalf, y, torch::kCPU).scalar_type(), torch::kDouble);
  EXPECT_FALSE(at::autocast::is_enabled());
  at::autocast::set_enabled(true);
  EXPECT_TRUE(at::autocast::is_autocast_enabled(torch::kCUDA));
  EXPECT_FALSE(at::autocast::is_cpu_enabled());
  EXPECT_EQ(torch::mm(x.view({1, 2}), x.view({2, 1})).scalar_type(), torch::kFloat);
  at::autocast::clear_cache();
  at::autocast::set_enabled(false);
  EXPECT_EQ(at::autocast::get_autocast_gpu_dtype(), torch::kHalf);
  EXPECT_EQ(at::autocast::get_autocast_cpu_dtype(), torch::kBFloat16);
  EXPECT_EQ(at::autocast::increment_nesting(), 1);
  EXPECT_EQ(at::autocast::decrement_nesting(), 0);
}

TEST(LibtorchNames, AutocastOfTheCpuConverts) {
  const auto x = torch::ones({2, 2});
  at::autocast::set_autocast_enabled(torch::kCPU, true);
  at::autocast::set_autocast_dtype(torch::kCPU, torch::kHalf);
  EXPECT_TRUE(at::autocast::is_cpu_enabled());
  EXPECT_EQ(torch::mm(x, x).scalar_type(), torch::kHalf);
  at::autocast::set_autocast_dtype(torch::kCPU, torch::kBFloat16);
  EXPECT_EQ(torch::mm(x, x).scalar_type(), torch::kBFloat16);
  at::autocast::clear_cache();
  at::autocast::set_autocast_enabled(torch::kCPU, false);
  EXPECT_EQ(torch::mm(x, x).scalar_type(), torch::kFloat);
}

TEST(LibtorchNames, WhatIsNotThereSaysSo) {
  EXPECT_THROW(torch::jit::load("model.pt"), torch::Error);
  const torch::jit::Module scripted("__torch__.Net");
  EXPECT_EQ(scripted.type()->name().value().name(), "Net");
  EXPECT_THROW(scripted.attr("fc").toModule().attr("weight").toTensor(), torch::Error);
  EXPECT_THROW(c10::cuda::CUDAGuard guard(0), torch::Error);
  EXPECT_THROW(torch::ones({2}).pin_memory(), torch::Error);
  c10::cuda::CUDACachingAllocator::emptyCache();
  EXPECT_EQ(torch::getNumGPUs(), 0u);
  EXPECT_THROW(TORCH_CHECK_INDEX(false, "index ", 3), c10::IndexError);
  EXPECT_EQ(TORCH_VERSION_MAJOR, 2);
}

}  // namespace
