// LibTorch's spellings compile and mean the same things.
#include "groove/compat/torch/torch.h"

#include <gtest/gtest.h>

#include <sstream>

#include "groove/compat/ATen/ATen.h"
#include "groove/compat/c10/util/irange.h"

namespace {

using namespace torch::indexing;

struct NetImpl : torch::nn::Module {
  explicit NetImpl(int width) : fc(register_module("fc", torch::nn::Linear(3, width))) {}
  torch::Tensor forward(const torch::Tensor& x) { return torch::relu(fc(x)); }
  torch::nn::Linear fc{nullptr};
};
TORCH_MODULE(Net);

TEST(Compat, ModulesAndOptimizers) {
  Net net(2);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.1));
  const torch::Tensor loss = net->forward(torch::ones({4, 3})).sum();
  optimizer.zero_grad();
  loss.backward();
  optimizer.step();
  EXPECT_EQ(net->fc->weight.grad().sizes(), (at::IntArrayRef{2, 3}));
}

TEST(Compat, NamespacesTypesAndMacros) {
  torch::manual_seed(1);
  const torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  const auto options = torch::TensorOptions().dtype(torch::kFloat32).device(device);
  at::Tensor x = torch::ones({2, 3}, options).to(device);
  c10::optional<torch::Tensor> missing = c10::nullopt;
  EXPECT_FALSE(missing.has_value());
  at::IntArrayRef sizes = x.sizes();
  EXPECT_EQ(sizes, (torch::IntArrayRef{2, 3}));
  EXPECT_EQ(x.index({Slice(0, 1), "...", None}).dim(), 3);
  x[0][1] = 5;
  x.index_put_({1, Slice()}, x.index({0}));
  EXPECT_EQ(x.sum().item<float>(), 14);
  torch::NoGradGuard no_grad;
  std::int64_t sum = 0;
  for (auto i : c10::irange(2, 5)) sum += i;
  EXPECT_EQ(sum, 9);
  at::globalContext().setBenchmarkCuDNN(true);
  torch::set_num_threads(torch::get_num_threads());
}

TEST(Compat, ErrorsAreGroovesUnderAllNames) {
  const torch::Tensor x = torch::zeros({2});
  EXPECT_THROW(x.item(), c10::Error);
  EXPECT_THROW(x.item(), torch::Error);
  try {
    TORCH_CHECK(x.dim() == 2, "dim is ", x.dim(), " of ", x.sizes());
    FAIL();
  } catch (const c10::Error& error) {
    EXPECT_STREQ(error.what_without_backtrace(), "dim is 1 of [2]");
  }
  EXPECT_THROW(TORCH_CHECK(false), std::exception);
  EXPECT_THROW(x.to(torch::kCUDA), c10::Error);
  EXPECT_THROW(torch::set_num_threads(0), c10::Error);
}

TEST(Compat, ChecksAreStatementsAndComparisonsStreams) {
  const torch::Tensor x = torch::ones({2});
  TORCH_CHECK(x.dim() == 1)
  TORCH_INTERNAL_ASSERT(x.defined(), "no tensor")
  TORCH_CHECK_ARG(x.numel() == 2, 1, "two elements")
  TORCH_CHECK_EQ(x.dim(), 1) << "never written: " << x.item();
  try {
    TORCH_CHECK_LT(x.numel(), 2) << "of " << x.sizes();
    FAIL();
  } catch (const c10::Error& error) {
    EXPECT_STREQ(error.what_without_backtrace(), "Check failed: x.numel() < 2 (2 vs. 2). of [2]");
  }
  EXPECT_THROW(TORCH_CHECK_LINALG(false, "singular"), c10::LinAlgError);
}

TEST(Compat, FromBlobCloneAndPrinting) {
  float values[4] = {1, 2, 3, 4};
  const auto x = torch::from_blob(values, {2, 2}, torch::kFloat).clone();
  values[0] = 9;
  std::ostringstream out;
  out << x << ' ' << x.sizes() << ' ' << x.device();
  EXPECT_EQ(out.str(), " 1  2\n 3  4\n[ CPUFloatType{2,2} ] [2, 2] cpu");
}

}  // namespace
