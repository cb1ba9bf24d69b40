// f16 and bf16 through whole ops: what is made of several steps computes in f32 and rounds once;
// gradients, random numbers and host access follow.
#include <gtest/gtest.h>

#include <cmath>

#include "groove/autograd.h"
#include "groove/factories.h"
#include "groove/ops/contractions.h"
#include "groove/ops/creation.h"
#include "groove/ops/losses.h"
#include "groove/ops/math.h"
#include "groove/ops/reductions.h"
#include "groove/ops/views.h"
#include "groove/random.h"
#include "kernels/backend.h"
#include "support.h"

namespace groove::testing {
namespace {

constexpr ScalarType kHalves[] = {kHalf, kBFloat16};

Tensor drawn(IntArrayRef sizes, ScalarType dtype, double scale = 2) {
  static std::uint64_t seed = 7;
  Source source{++seed};
  return make_input({dtype, sizes}, {-scale, scale}, Lay::kContiguous, Content::kDomain, source);
}

// The op on 16-bit operands is the op on their f32 values, rounded.
template <typename Function>
void expect_one_rounding(ScalarType dtype, const Tensors& operands, const Function& function) {
  Tensors wide;
  for (const Tensor& x : operands) wide.push_back(is_floating(x.scalar_type()) ? x.to(kFloat) : x);
  const Tensor expected = function(wide);
  ASSERT_EQ(expected.scalar_type(), kFloat);
  for (int again = 0; again < 3; ++again) {  // parts first, then the fused program
    const Tensor actual = function(operands);
    EXPECT_EQ(bit_difference(actual, expected.to(dtype)), "");
  }
}

TEST(HalfOps, RoundOnce) {
  for (const ScalarType dtype : kHalves) {
    SCOPED_TRACE(name(dtype));
    const Tensor x = drawn({17, 33}, dtype), y = drawn({17, 33}, dtype), w = drawn({9, 33}, dtype),
                 b = drawn({9}, dtype), target = arange(17);
    expect_one_rounding(dtype, {x}, [](const Tensors& t) { return softmax(t[0], 1); });
    expect_one_rounding(dtype, {x}, [](const Tensors& t) { return log_softmax(t[0], 0); });
    expect_one_rounding(dtype, {x}, [](const Tensors& t) { return sum(t[0]); });
    expect_one_rounding(dtype, {x}, [](const Tensors& t) { return mean(t[0], 0); });
    expect_one_rounding(dtype, {x, y}, [](const Tensors& t) { return mse_loss(t[0], t[1]); });
    expect_one_rounding(dtype, {x, y}, [](const Tensors& t) { return mm(t[0], t[1].t()); });
    expect_one_rounding(dtype, {x, w, b},
                        [](const Tensors& t) { return linear(t[0], t[1], t[2]); });
    expect_one_rounding(dtype, {x, target}, [](const Tensors& t) {
      return cross_entropy_loss(t[0], t[1]);
    });
    expect_one_rounding(dtype, {x, y}, [](const Tensors& t) { return add(t[0], t[1], 0.3); });
  }
}

TEST(HalfOps, LongSumsAndCountsDoNotOverflow) {
  const Tensor ones16 = ones({70000, 1}, kHalf);
  EXPECT_EQ(mean(ones16).item<float>(), 1);
  EXPECT_EQ(sum(ones16 * 0.5).item<float>(), 35008);  // 35000 to the nearest multiple of 32
  const Tensor x = zeros({70000, 2}, kHalf);
  x.requires_grad_(true);
  cross_entropy_loss(x, zeros({70000}, kLong)).backward();
  EXPECT_FALSE(std::isnan(x.grad().select(0, 0).select(0, 0).item<float>()));
  EXPECT_LT(x.grad().select(0, 0).select(0, 0).item<float>(), 0);
}

TEST(HalfOps, GradientsFollowFloatOnes) {
  for (const ScalarType dtype : kHalves) {
    SCOPED_TRACE(name(dtype));
    const Tensor x16 = drawn({8, 12}, dtype), w16 = drawn({5, 12}, dtype, 0.5),
                 b16 = drawn({5}, dtype), target = drawn({8, 5}, dtype);
    const auto gradients = [&](ScalarType computed) {
      Tensors leaves;
      for (const Tensor& t : {x16, w16, b16}) {
        leaves.push_back(t.to(computed).detach().clone());
        leaves.back().requires_grad_(true);
      }
      const Tensor y = softmax(tanh(linear(leaves[0], leaves[1], leaves[2])), 1);
      mse_loss(y, target.to(computed)).backward();
      Tensors result;
      for (const Tensor& leaf : leaves) {
        EXPECT_EQ(leaf.grad().scalar_type(), computed);
        result.push_back(leaf.grad().to(kFloat));
      }
      return result;
    };
    const Tensors narrow = gradients(dtype), wide = gradients(kFloat);
    for (std::size_t i = 0; i < narrow.size(); ++i) {
      const float largest = wide[i].abs().max().item<float>();
      const float off = (narrow[i] - wide[i]).abs().max().item<float>();
      EXPECT_LT(off, largest * (dtype == kHalf ? 0x1p-7f : 0x1p-4f)) << "leaf " << i;
    }
  }
}

TEST(HalfOps, GradientsPassThroughCasts) {
  const Tensor x = full({3}, 1.5, kFloat);
  x.requires_grad_(true);
  const Tensor y = x.to(kBFloat16) * 3;
  EXPECT_EQ(y.scalar_type(), kBFloat16);
  y.to(kDouble).sum().backward();
  EXPECT_EQ(x.grad().scalar_type(), kFloat);
  EXPECT_EQ(x.grad().select(0, 0).item<float>(), 3);
}

TEST(HalfOps, RandomNumbersStayInRange) {
  manual_seed(3);
  for (const ScalarType dtype : kHalves) {
    const Tensor u = rand({200000}, dtype);
    EXPECT_EQ(u.scalar_type(), dtype);
    EXPECT_LT(u.max().item<float>(), 1);
    EXPECT_EQ(u.min().item<float>(), 0);
    EXPECT_NEAR(u.to(kFloat).mean().item<float>(), 0.5, 0.01);
    const Tensor n = randn({20000}, dtype).to(kFloat);
    EXPECT_NEAR(n.mean().item<float>(), 0, 0.03);
    EXPECT_NEAR(mean(n * n).item<float>(), 1, 0.05);
  }
}

TEST(HalfOps, HostAccess) {
  const Tensor t = tensor({1.5, 2.5, -0.1}, kHalf);
  EXPECT_EQ(t.data_ptr<Half>()[0], Half(1.5f));
  EXPECT_EQ(t.data_ptr<Half>()[2].x, 0xae66);
  EXPECT_THROW(t.data_ptr<BFloat16>(), Error);
  EXPECT_EQ(t.select(0, 1).item<Half>(), Half(2.5f));
  EXPECT_EQ((t.accessor<Half, 1>()[1]), 2.5f);
  const Tensor b = full({2}, 0.1, kBFloat16);
  EXPECT_EQ(b.data_ptr<BFloat16>()[0].x, 0x3dcd);
  EXPECT_EQ(b.half().scalar_type(), kHalf);
  EXPECT_EQ(t.bfloat16().scalar_type(), kBFloat16);
  EXPECT_EQ(full({}, Half(0.5f), kFloat).item<float>(), 0.5f);
  EXPECT_EQ(full({1}, 70000, kFloat).half().item<float>(), INFINITY);
  const Tensor two = tensor({1.0, 2.0});
  two.copy_(t.slice(0, 0, 2));
  EXPECT_EQ(two.select(0, 1).item<float>(), 2.5f);
  t.mul_(two.select(0, 0));
  EXPECT_EQ(t.select(0, 0).item<float>(), 2.25f);
}

}  // namespace
}  // namespace groove::testing
