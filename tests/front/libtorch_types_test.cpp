// Members of LibTorch's small types, as programs use them.
#include <gtest/gtest.h>

#include <sstream>
#include <unordered_map>
#include <variant>

#include "groove/compat/torch/torch.h"

namespace {

template <typename... Values>
std::string printed(const Values&... values) {
  std::ostringstream out;
  (out << ... << values);
  return out.str();
}

TEST(LibTorchTypes, Lists) {
  const torch::Tensor x = torch::ones({2, 3, 4});
  EXPECT_EQ(*x.sizes().rbegin(), 4);
  EXPECT_EQ(std::vector<std::int64_t>(x.sizes().rbegin(), x.sizes().rend()),
            (std::vector<std::int64_t>{4, 3, 2}));
  EXPECT_TRUE(x.sizes().allMatch([](std::int64_t size) { return size > 1; }));
  EXPECT_FALSE(x.sizes().allMatch([](std::int64_t size) { return size > 2; }));
  const std::vector<int> values{1, 2, 3};
  EXPECT_EQ(c10::makeArrayRef(values).size(), 3U);
  EXPECT_EQ(at::makeArrayRef(values.data(), 2).back(), 2);
  EXPECT_TRUE(at::is_expandable_to({1, 3}, {5, 2, 3}));
  EXPECT_FALSE(at::is_expandable_to({2, 3}, {3}));
  EXPECT_FALSE(at::is_expandable_to({2}, {3}));
}

TEST(LibTorchTypes, Devices) {
  std::unordered_map<torch::Device, int> count;
  ++count[torch::Device("cuda:0")];
  ++count[torch::Device(torch::kCUDA)];
  ++count[torch::kCPU];
  EXPECT_EQ(count.size(), 2U);
  EXPECT_TRUE(torch::Device("mps").is_mps());
  EXPECT_TRUE(torch::Device("xpu:1").is_xpu());
  EXPECT_TRUE(torch::Device("meta") == torch::kMeta);
  EXPECT_EQ(static_cast<int>(torch::kMPS), 13);
  EXPECT_EQ(c10::DeviceTypeName(torch::kCUDA), "CUDA");
  EXPECT_EQ(c10::DeviceTypeName(torch::kCUDA, true), "cuda");
  EXPECT_EQ(printed(torch::Device("hpu:2"), torch::kXLA), "hpu:2xla");
  torch::Device device("cuda");
  device.set_index(3);
  EXPECT_EQ(device.str(), "cuda:3");
  EXPECT_THROW(torch::Device("gpu"), c10::Error);
  EXPECT_THROW(torch::ones({2}, torch::kMeta), c10::Error);
  EXPECT_THROW(torch::ones({2}).to(torch::kXPU), c10::Error);
}

TEST(LibTorchTypes, NumbersAndDtypes) {
  EXPECT_EQ(torch::Scalar(3).conj().toInt(), 3);
  EXPECT_DOUBLE_EQ(torch::Scalar(2.0).log().toDouble(), 0.69314718055994530942);
  EXPECT_EQ(printed(c10::Half(1.5F), ' ', c10::BFloat16(-2.0F)), "1.5 -2");
  EXPECT_STREQ(c10::toString(torch::kLong), "Long");
  EXPECT_TRUE(c10::isIntegralType(torch::kBool, true));
  EXPECT_TRUE(c10::isSignedType(torch::kChar));
  EXPECT_FALSE(c10::isSignedType(torch::kByte));
  EXPECT_FALSE(c10::canCast(torch::kFloat, torch::kInt));
  EXPECT_EQ(torch::zeros({2}, at::CPU(torch::kDouble)).scalar_type(), torch::kDouble);
}

TEST(LibTorchTypes, GeneratorsAndStorages) {
  const auto generator = at::detail::createCPUGenerator(3);
  EXPECT_TRUE(generator.device() == torch::kCPU);
  const torch::Tensor x = torch::ones({6}), y = x.view({2, 3}), other = x.clone();
  EXPECT_EQ(x.storage().unsafeGetStorageImpl(), y.storage().unsafeGetStorageImpl());
  EXPECT_NE(x.storage().unsafeGetStorageImpl(), other.storage().unsafeGetStorageImpl());
  EXPECT_TRUE(x.storage().resizable());
  float lent[2] = {1, 2};
  EXPECT_FALSE(torch::from_blob(lent, {2}).storage().resizable());
}

TEST(LibTorchTypes, Enumerators) {
  const std::variant<torch::enumtype::kReLU, torch::enumtype::kSiLU> kind = torch::kSiLU;
  EXPECT_EQ(torch::enumtype::get_enum_name(kind), "kSiLU");
  const std::variant<torch::enumtype::kNone, torch::enumtype::kSum> reduction = torch::kSum;
  EXPECT_EQ(torch::enumtype::reduction_get_enum(reduction), torch::Reduction::Sum);
  torch::manual_seed(1);
  const torch::Tensor a =
      torch::nn::init::kaiming_normal_(torch::empty({3, 4}), 0, torch::kFanIn, torch::kConv2D);
  torch::manual_seed(1);
  const torch::Tensor b =
      torch::nn::init::kaiming_normal_(torch::empty({3, 4}), 0, torch::kFanIn, torch::kLinear);
  EXPECT_TRUE(torch::equal(a, b));
}

// The texts are LibTorch's; what is printed behind a module sees the stream as it left it.
TEST(LibTorchTypes, PrintedModules) {
  namespace nn = torch::nn;
  EXPECT_EQ(printed(nn::Linear(2, 3), true),
            "torch::nn::Linear(in_features=2, out_features=3, bias=true)true");
  EXPECT_EQ(printed(nn::ReLU(), true), "torch::nn::ReLU()1");
  EXPECT_EQ(printed(nn::ReLU(true), true), "torch::nn::ReLU(inplace=true)true");
  EXPECT_EQ(printed(nn::LeakyReLU(), true), "torch::nn::LeakyReLU(negative_slope=0.01)true");
  EXPECT_EQ(printed(nn::Threshold(1, 2), true), "torch::nn::Threshold(threshold=1, value=2)1");
  EXPECT_EQ(printed(nn::Hardshrink(), true), "torch::nn::Hardshrink(0.5)true");
  EXPECT_EQ(printed(nn::SmoothL1Loss(), true), "torch::nn::SmoothL1Loss1");
  EXPECT_EQ(printed(nn::HuberLoss(), true), "torch::nn::HuberLoss1");
  EXPECT_EQ(nn::Linear(1, 1)->named_parameters().key_description(), "Key");
}

TEST(LibTorchTypes, ArchivesWithinArchives) {
  torch::serialize::OutputArchive outer(std::make_shared<torch::jit::CompilationUnit>());
  torch::serialize::OutputArchive inner(outer.compilation_unit());
  inner.write("x", torch::ones({2}));
  outer.write("inner", inner);
  std::stringstream stream;
  outer.save_to(stream);
  torch::serialize::InputArchive read, part;
  read.load_from(stream);
  read.read("inner", part);
  torch::Tensor x;
  part.read("x", x);
  EXPECT_TRUE(torch::equal(x, torch::ones({2})));
}

}  // namespace
