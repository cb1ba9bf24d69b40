// A program that links something built with -ffast-math has denormals flushed in every thread, and
// one may unmask exceptions: Groove computes as ever, never traps, and leaves the setting as it
// was.
#include <gtest/gtest.h>
#include <immintrin.h>

#include <cstring>
#include <vector>

#include "groove/groove.h"
#include "groove/jit.h"
#include "jit/passes/passes.h"
#include "jit/tiered_kernel.h"
#include "tracer/tell/testing.h"

namespace groove::jit {
namespace {

// Denormals flushed; invalid operations, division by zero, overflow and denormals trap.
constexpr unsigned kFlush = 0x8040, kTrapping = 0x0780;

class UsersSetting {
 public:
  UsersSetting() : before_(_mm_getcsr()) { _mm_setcsr((before_ | kFlush) & ~kTrapping); }
  ~UsersSetting() { _mm_setcsr(before_); }
  static bool is_untouched() {
    return (_mm_getcsr() & kFlush) == kFlush && (_mm_getcsr() & kTrapping) == 0;
  }

 private:
  const unsigned before_;
};

void append_bits(const Tensor& tensor, std::vector<std::uint8_t>& bits) {
  const Tensor whole = tensor.contiguous();
  const auto count = static_cast<std::size_t>(whole.numel());
  const auto* const data = static_cast<const std::uint8_t*>(whole.const_data_ptr());
  const std::size_t first = bits.size();
  bits.insert(bits.end(), data, data + count * element_size(whole.dtype()));
  if (whole.dtype() != kFloat) return;
  for (std::size_t i = 0; i < count; ++i) {  // any NaN equals any NaN
    std::uint32_t word;
    std::memcpy(&word, &bits[first + 4 * i], 4);
    if ((word & 0x7fffffff) > 0x7f800000) word = 0x7fc00000;
    std::memcpy(&bits[first + 4 * i], &word, 4);
  }
}

// Denormals from memory, from arithmetic and from constants that the compiler folds; everything
// that traps: 1/0, 0/0, log of 0 and of -1, overflow, floats beyond every integer.
std::vector<std::uint8_t> run() {
  const std::vector<std::uint32_t> raw = {1,          0x007fffff, 0x80000001, 0x00800000,
                                          0,          0x80000000, 0x7f7fffff, 0x7f800000,
                                          0x7fc00000, 0x3f800000, 0xff800000, 0xbf800000,
                                          0x4f000000, 0x5f000000, 0x33d6bf95};
  Tensor x = groove::zeros({static_cast<std::int64_t>(raw.size())});
  std::memcpy(x.data_ptr<float>(), raw.data(), raw.size() * sizeof raw[0]);
  const Tensor weight = groove::full({static_cast<std::int64_t>(raw.size()), 3}, 1e-20f);
  Tensor sum = groove::zeros_like(x);
  std::vector<std::uint8_t> bits;
  for (int step = 0; step < 12; ++step) {
    const Tensor folded = groove::full({1}, 1e-30f) * groove::full({1}, 1e-10f);
    const Tensor half = x * 0.5;
    const Tensor inverse = 1.0 / x;
    const Tensor product = half.unsqueeze(0).matmul(weight * 1e-21);
    const Tensor rows = groove::softmax(half, 0) + product.sum();
    sum = half + folded + x.to(groove::kInt).to(groove::kFloat) * 1e-12;
    append_bits(sum, bits);
    append_bits(inverse + x.log() + x.exp(), bits);
    append_bits((x * x) + rows, bits);
    append_bits(x.to(groove::kLong) + x.to(groove::kByte), bits);
  }
  return bits;
}

class FloatEnvironment : public ::testing::TestWithParam<bool> {
 protected:
  void TearDown() override {
    tier_policy() = {};
    set_mode(Mode::kAuto);
    tracer::testing::forget_everything();
  }
};

TEST_P(FloatEnvironment, OfTheUserChangesNothing) {
  set_mode(Mode::kEager);
  const std::vector<std::uint8_t> expected = run();
  {
    const UsersSetting setting;
    EXPECT_EQ(run(), expected);
    EXPECT_TRUE(UsersSetting::is_untouched());
  }
  tier_policy() = {.least_share = 0, .most_milliseconds = 1e9, .always_takes_it = GetParam()};
  set_mode(Mode::kAuto);
  tracer::testing::set_hot(1);
  tracer::testing::set_synchronous(true);
  tracer::testing::forget_everything();
  const UsersSetting setting;
  EXPECT_EQ(run(), expected);
  EXPECT_TRUE(UsersSetting::is_untouched());
  EXPECT_FALSE(inspect().empty());
}

// The compiler runs on whatever thread asks, or on one that has inherited the setting.
TEST(FloatEnvironmentOfTheCompiler, DoesNotReachConstants) {
  const std::string text = R"(graph(x: f32[4]) {
  a = constant() {sizes: [], dtype: f32, bits: 228737632}
  b = constant() {sizes: [], dtype: f32, bits: 786163455}
  c = mul(a, b)
  y = mul(x, c)
  return y
})";  // a is 1e-30, b is 1e-10
  Graph expected = parse_graph(text), folded = expected;
  ASSERT_TRUE(fold_constants(expected));
  const UsersSetting setting;
  fold_constants(folded);
  EXPECT_EQ(print(folded), print(expected));
}

INSTANTIATE_TEST_SUITE_P(Tiers, FloatEnvironment, ::testing::Values(false, true));

}  // namespace
}  // namespace groove::jit
