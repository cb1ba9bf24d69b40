// jit::set_numerics: what is exact stays eager mode's bits, what is fast keeps its stated error,
// and no loop that was compiled under one setting runs under the other.
#include <groove/groove.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "tracer/tell/testing.h"

namespace groove::jit {
namespace {

namespace tt = tracer::testing;

class NumericsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    tt::set_hot(1);
    tt::set_synchronous(true);
    set_mode(Mode::kAuto);
    tt::forget_everything();
  }
  void TearDown() override {
    set_numerics(Numerics::kExact);
    tt::set_check(-1);
    tt::forget_everything();
  }
};

struct Results {
  Tensor functions, product;
};
// A few turns of the loop; the last one's results.
Results turns(const Tensor& x, const Tensor& w) {
  Results last;
  for (int i = 0; i < 40; ++i) {
    const Tensor y = log(exp(x));
    const Tensor p = mm(x * 0.3, w);
    last = {y, p};
    EXPECT_TRUE(std::isfinite((y.sum() + p.sum()).item<double>()));
  }
  return last;
}
bool is_same(const Tensor& a, const Tensor& b) {
  const auto bytes = static_cast<std::size_t>(a.numel()) * sizeof(float);
  return std::memcmp(a.data_ptr<float>(), b.data_ptr<float>(), bytes) == 0;
}

TEST_F(NumericsTest, LoopsAreMadeAgainForEachSetting) {
  manual_seed(3);
  const Tensor x = randn({40, 30}), w = randn({30, 20});
  Results eager;
  {
    const EagerGuard guard;
    eager = turns(x, w);
  }
  EXPECT_FALSE(is_same(eager.functions, x)) << "log(exp(x)) rounds: nothing would be seen";

  for (int round = 0; round < 2; ++round) {
    set_numerics(Numerics::kExact);
    const Results exact = turns(x, w);
    EXPECT_TRUE(is_same(exact.functions, eager.functions));
    EXPECT_TRUE(is_same(exact.product, eager.product));

    set_numerics(Numerics::kFast);
    EXPECT_EQ(summary().segments, 0u) << "what is exact is not run when it may be fast";
    const std::uint64_t hits = summary().hits;
    const Results fast = turns(x, w);
    EXPECT_GT(summary().hits, hits);
    EXPECT_TRUE(is_same(fast.functions, x));
    EXPECT_FALSE(is_same(fast.product, eager.product));
    // At most a unit in the last place of the sum of the magnitudes, from each of the two ways.
    const Tensor bound = mm(abs(x * 0.3), abs(w)) * (2 * 1.1920929e-7);
    EXPECT_TRUE((abs(fast.product - eager.product) <= bound).all().item<bool>());
  }
}

TEST_F(NumericsTest, ChecksCompareOnlyWhatIsExact) {
  tt::set_check(1);
  const Tensor x = randn({8, 5}), w = randn({5, 4});
  set_numerics(Numerics::kFast);
  EXPECT_NO_THROW(turns(x, w));
  set_numerics(Numerics::kExact);
  EXPECT_NO_THROW(turns(x, w));
}

TEST_F(NumericsTest, WeightsOfConvolutionsTakeInNormalisations) {
  manual_seed(4);
  const NoGradGuard no_grad;
  const Tensor x = randn({6, 3, 9, 9}), w = randn({5, 3, 3, 3}), mean = randn({5});
  const Tensor variance = rand({5}) + 0.5, weight = randn({5}), bias = randn({5});
  const auto turns = [&] {
    Tensor last;
    for (int i = 0; i < 40; ++i) {
      // No handle to the convolution's result: nobody else reads it.
      last = relu(
          batch_norm(conv2d(x, w, Tensor(), 1, 1), weight, bias, mean, variance, false, 0.1, 1e-5));
      EXPECT_TRUE(std::isfinite(last.sum().item<double>()));
    }
    return last;
  };
  Tensor eager;
  {
    const EagerGuard guard;
    eager = turns();
  }
  EXPECT_TRUE(is_same(turns(), eager));
  set_numerics(Numerics::kFast);
  const Tensor fast = turns();
  EXPECT_FALSE(is_same(fast, eager));
  // Units in the last place of the sum of the magnitudes of what is added up: 2 for what is folded,
  // and those of the sums' own roundings, both ways.
  const Tensor scale = abs(weight * rsqrt(variance + 1e-5)).reshape({1, 5, 1, 1});
  const Tensor magnitude =
      (conv2d(abs(x), abs(w), Tensor(), 1, 1) + abs(mean).reshape({1, 5, 1, 1})) * scale +
      abs(bias).reshape({1, 5, 1, 1});
  EXPECT_TRUE((abs(fast - eager) <= magnitude * (4 * 1.1920929e-7)).all().item<bool>());
}

TEST_F(NumericsTest, FastPassesAreToldOf) {
  const Tensor x = randn({8, 5}), w = randn({5, 4});
  set_numerics(Numerics::kFast);
  turns(x, w);
  bool is_told = false;
  for (const SegmentView& segment : inspect()) {
    for (const PassView& pass : segment.passes) is_told |= pass.name == "scale_products";
  }
  EXPECT_TRUE(is_told);
}

}  // namespace
}  // namespace groove::jit
