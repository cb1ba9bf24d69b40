// What a recording costs the program that it watches.
#include <gtest/gtest.h>

#include "groove/groove.h"
#include "groove/jit.h"
#include "groove/memory.h"
#include "tests/tracer/at_once.h"

namespace groove::testing {
namespace {

class Recordings : public CompiledAtOnce {};

// The most memory that is held during some iterations, in addition to what is held before.
template <typename Iteration>
std::size_t peak_of(int iterations, const Iteration& iteration) {
  const std::size_t before = memory::statistics().allocated;
  memory::reset_peak();
  for (int i = 0; i < iterations; ++i) iteration();
  return memory::statistics().peak - before;
}

TEST_F(Recordings, NeedLittleMoreMemoryThanEagerMode) {
  const NoGradGuard guard;
  const Tensor x = groove::rand({256, 256});
  const auto iteration = [&x] {
    Tensor h = x;
    for (int i = 0; i < 100; ++i) h = groove::tanh(h);
    h.sum().item<double>();
  };
  jit::set_mode(jit::Mode::kEager);
  const std::size_t eager = peak_of(8, iteration);
  jit::set_mode(jit::Mode::kAuto);
  const std::size_t traced = peak_of(8, iteration);
  EXPECT_GT(jit::summary().hits, 0u) << jit::explain();
  constexpr std::size_t kTensor = 256 * 256 * sizeof(float);
  EXPECT_LT(traced, eager + 20 * kTensor) << "eager: " << eager;
}

TEST_F(Recordings, OfBackwardsNeedLittleMoreMemoryThanEagerMode) {
  const Tensor weight = groove::rand({256, 256}).requires_grad_();
  const auto iteration = [&weight] {
    Tensor h = weight;
    for (int i = 0; i < 40; ++i) h = groove::tanh(h);
    h.sum().backward();
    weight.mutable_grad() = Tensor();
  };
  jit::set_mode(jit::Mode::kEager);
  const std::size_t eager = peak_of(8, iteration);
  jit::set_mode(jit::Mode::kAuto);
  const std::size_t traced = peak_of(8, iteration);
  EXPECT_GT(jit::summary().hits, 0u) << jit::explain();
  EXPECT_LT(traced, eager + eager / 2) << "eager: " << eager;
}

}  // namespace
}  // namespace groove::testing
