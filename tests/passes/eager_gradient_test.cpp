// Gradient rules in eager mode: fused in the midst of the backwards of a signature, with the bits
// of their parts, for every sample of every operator that has a gradient.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <utility>

#include "eager/composite.h"
#include "groove/autograd.h"
#include "groove/groove.h"
#include "src/core/dispatch.h"
#include "src/core/op.h"
#include "src/core/tensor_impl.h"

namespace groove::jit {
namespace {

int asked = 0, fused = 0;
eager::GraphCompiler usual = nullptr;

std::unique_ptr<const eager::CompiledComposite> count(Graph graph) {
  ++asked;
  auto compiled = usual(std::move(graph));
  fused += compiled != nullptr;
  return compiled;
}

// Every backward but the first of a signature may be fused, and nothing is traced.
class EagerGradient : public ::testing::Test {
 protected:
  void SetUp() override {
    usual = eager::registered_graph_compiler();
    ASSERT_NE(usual, nullptr);
    eager::register_graph_compiler(count);
    before_ = std::exchange(eager::parts_before_fusing(), std::chrono::nanoseconds(1));
    asked = fused = 0;
  }
  void TearDown() override {
    eager::register_graph_compiler(usual);
    eager::parts_before_fusing() = before_;
  }

 private:
  const EagerGuard untraced_;
  std::chrono::nanoseconds before_{};
};

double special(std::int64_t i) {
  const double values[] = {NAN, INFINITY, -INFINITY, -0.0, 0.0, 1e-42, 3e38};
  return values[static_cast<std::size_t>(i) % std::size(values)];
}

enum class Lay : std::uint8_t { kDense, kTurned, kRepeated };
// Of a cotangent, with numbers that are none.
Tensor cotangent_of(const Type& type, Lay lay, std::mt19937_64& random) {
  Shape sizes = type.sizes;
  if (lay == Lay::kRepeated) return full({}, -0.75, type.dtype).expand(sizes);
  const bool is_turned = lay == Lay::kTurned && sizes.size() > 1;
  if (is_turned) std::swap(sizes[0], sizes[1]);
  const Tensor values = empty(sizes, kDouble);
  for (std::int64_t i = 0; i < values.numel(); ++i)
    values.data_ptr<double>()[i] =
        random() % 8 == 0 ? special(i) : std::uniform_real_distribution<double>(-2, 2)(random);
  const Tensor result = values.to(type.dtype);
  return is_turned ? result.transpose(0, 1) : result;
}

Tensor random_tensor(const Type& type, Domain domain, std::mt19937_64& random) {
  if (type.dtype == ScalarType::Undefined) return Tensor();
  const Tensor values = empty(type.sizes, kDouble);
  for (std::int64_t i = 0; i < values.numel(); ++i) {
    const double value = std::uniform_real_distribution<double>(domain.low, domain.high)(random);
    values.data_ptr<double>()[i] =
        is_floating(type.dtype) ? value : std::abs(static_cast<int>(value)) % 2;
  }
  return values.to(type.dtype);
}

Tensors gradients(const Op& op, const Sample& sample, const Tensors& inputs,
                  const std::vector<Tensor>& cotangents) {
  Tensors outputs(output_count(op, sample.attrs));
  dispatch(Call{&op, inputs, &sample.attrs, sample.numbers, Site::current()}, outputs.data());
  std::vector<Tensor> roots, slopes, leaves;
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    if (!outputs[k].defined() || !outputs[k].requires_grad()) continue;
    roots.push_back(outputs[k]);
    slopes.push_back(cotangents[k]);
  }
  for (const Tensor& input : inputs)
    if (input.defined() && input.requires_grad()) leaves.push_back(input);
  if (roots.empty() || leaves.empty()) return {};
  Tensors result;
  for (const Tensor& gradient :
       autograd::grad(roots, leaves, slopes, std::nullopt, false, /*allow_unused=*/true))
    result.push_back(gradient.defined() ? gradient.contiguous() : gradient);
  return result;
}

void expect_same(const Tensors& a, const Tensors& b, const std::string& name) {
  ASSERT_EQ(a.size(), b.size()) << name;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].defined(), b[i].defined()) << name;
    if (!a[i].defined()) continue;
    ASSERT_EQ(a[i].sizes(), b[i].sizes()) << name;
    ASSERT_EQ(a[i].scalar_type(), b[i].scalar_type()) << name;
    const Tensor left = a[i].to(kDouble), right = b[i].to(kDouble);
    for (std::int64_t k = 0; k < left.numel(); ++k) {
      const double x = left.data_ptr<double>()[k], y = right.data_ptr<double>()[k];
      const bool is_same = (std::isnan(x) && std::isnan(y)) || std::memcmp(&x, &y, 8) == 0;
      ASSERT_TRUE(is_same) << name << " by input " << i << " at " << k << ": " << x << ", " << y;
    }
  }
}

TEST_F(EagerGradient, SameBitsAsItsParts) {
  std::mt19937_64 random(1);
  for (const Op* op : all_ops()) {
    if (!op->gradient || !op->samples || op->is_random) continue;
    for (const ScalarType dtype : {kFloat, kHalf}) {
      if (std::find(op->dtypes.begin(), op->dtypes.end(), dtype) == op->dtypes.end()) continue;
      int place = 0;
      for (const Sample& sample : op->samples(dtype)) {
        Tensors inputs;
        for (const Type& type : sample.inputs) {
          const bool is_known = (op->lacks_gradient >> inputs.size() & 1) == 0;
          inputs.push_back(random_tensor(type, op->domain, random));
          if (inputs.back().defined() && is_floating(type.dtype) && is_known)
            inputs.back().set_requires_grad(true);
        }
        const Signature signature{*op, sample.inputs, sample.attrs, sample.numbers};
        std::vector<Tensor> cotangents;
        const auto lay = static_cast<Lay>(place++ % 3);
        for (const Type& type : op->type(signature).outputs)
          cotangents.push_back(is_floating(type.dtype) ? cotangent_of(type, lay, random)
                                                       : Tensor());
        eager::register_graph_compiler(nullptr);
        Tensors parts;
        {
          const auto never =
              std::exchange(eager::parts_before_fusing(), std::chrono::nanoseconds::max());
          parts = gradients(*op, sample, inputs, cotangents);
          eager::parts_before_fusing() = never;
        }
        eager::register_graph_compiler(count);
        for (int call = 0; call < 3; ++call)
          expect_same(parts, gradients(*op, sample, inputs, cotangents), op->name);
      }
    }
  }
  EXPECT_GT(fused, 100) << "of " << asked;
}

TEST_F(EagerGradient, NumbersArePartOfASignature) {
  const Tensor x = full({8}, 0.5).set_requires_grad(true);
  for (const double slope : {0.1, 0.1, 0.1, 0.25, 0.25, 0.25}) {
    const Tensor g = autograd::grad({leaky_relu(-x, slope)}, {x}, {ones({8})})[0];
    EXPECT_EQ(g[0].item<float>(), static_cast<float>(-slope));
  }
  EXPECT_GT(fused, 0);
}

TEST_F(EagerGradient, ASavedValueThatWasOverwrittenIsAnErrorStill) {
  const Tensor target = zeros({8});
  for (int call = 0; call < 4; ++call) {
    const Tensor x = ones({8}).set_requires_grad(true);
    const Tensor y = x * 2;
    const Tensor loss = smooth_l1_loss(y, target);
    if (call < 3) {
      EXPECT_EQ(autograd::grad({loss}, {x})[0][0].item<float>(), 0.25F);
      continue;
    }
    y.detach().add_(1);
    EXPECT_THROW(autograd::grad({loss}, {x}), Error);
  }
  EXPECT_GT(fused, 0);
}

TEST_F(EagerGradient, SecondDerivativesGoByParts) {
  const Tensor x = full({4}, 0.5).set_requires_grad(true);
  for (int call = 0; call < 4; ++call) {
    const Tensor loss = smooth_l1_loss(x, zeros({4}), Reduction::Sum);
    const Tensor first = autograd::grad({loss}, {x}, {}, std::nullopt, call % 2 == 0)[0];
    EXPECT_EQ(first[0].item<float>(), 0.5F);
    if (call % 2 != 0) continue;
    EXPECT_EQ(autograd::grad({first.sum()}, {x})[0][0].item<float>(), 1.0F);
  }
}

}  // namespace
}  // namespace groove::jit
