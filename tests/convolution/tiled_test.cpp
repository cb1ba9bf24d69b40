// Tiled convolutions against the reference, bit for bit, for both instruction sets: padding,
// strides, dilation, groups, special values, any number of parts, memory that ends at a page that
// cannot be touched.
#include <gtest/gtest.h>

#include "kernels/convolution/convolution.h"
#include "tests/contraction/problem.h"

namespace groove::kernels::testing {
namespace {

using Form = ConvolutionForm;

std::string describe(const ConvolutionCall& call) {
  const ConvolutionShape& s = call.shape;
  const auto axis = [](const ConvolutionAxis& a) {
    return fmt::format("[{} -> {}, kernel {}, stride {}, padding {}, dilation {}]", a.in, a.out,
                       a.kernel, a.stride, a.padding, a.dilation);
  };
  return fmt::format("form {}, {} images, {} groups of {} -> {} channels, height {}, width {}",
                     static_cast<int>(call.form), s.images, s.groups, s.in_channels,
                     s.out_channels, axis(s.height), axis(s.width));
}

ConvolutionAxis axis(std::int64_t in, std::int64_t kernel, std::int64_t stride,
                     std::int64_t padding, std::int64_t dilation) {
  const std::int64_t reach = dilation * (kernel - 1) + 1;
  return {in, (in + 2 * padding - reach) / stride + 1, kernel, stride, padding, dilation};
}

class Tiled : public ::testing::TestWithParam<Isa> {
 protected:
  void SetUp() override {
    if (!has_isa(GetParam())) GTEST_SKIP() << "this CPU lacks AVX-512; its code is not tested here";
  }

  template <typename T, typename Random>
  void check(const ConvolutionShape& s, Values values, Random& random,
             std::initializer_list<int> parts) {
    const auto count = [](std::int64_t n) { return static_cast<std::size_t>(n); };
    const std::size_t x = count(s.images * s.groups * s.in_channels * s.in_plane());
    const std::size_t y = count(s.images * s.groups * s.out_channels * s.out_plane());
    const std::size_t w = count(s.groups * s.out_channels * s.in_channels * s.taps());
    for (const Form form : {Form::kForward, Form::kBackwardData, Form::kBackwardWeight}) {
      const std::size_t a = form == Form::kForward ? x : y;
      const std::size_t b = form == Form::kBackwardWeight ? x : w;
      const std::size_t out = form == Form::kForward ? y : form == Form::kBackwardData ? x : w;
      const bool at_end = random() % 2;
      Guarded<T> first(a, at_end), second(b, at_end), expected(out), actual(out, at_end);
      for (std::size_t i = 0; i < a; ++i) first.data()[i] = draw<T>(random, values);
      for (std::size_t i = 0; i < b; ++i) second.data()[i] = draw<T>(random, values);
      ConvolutionCall call{form, sizeof(T) == 8 ? kDouble : kFloat, s, first.data(), second.data(),
                           expected.data()};
      run_convolution_reference(call, 0, 1);
      call.result = actual.data();
      for (const int of : parts) {
        std::memset(actual.data(), 0x7b, out * sizeof(T));
        for (int part = 0; part < of; ++part) run_convolution_tiled(call, GetParam(), part, of);
        for (std::size_t i = 0; i < out; ++i) {
          const T p = expected.data()[i], q = actual.data()[i];
          const bool is_same = std::isnan(p) ? std::isnan(q) : std::memcmp(&p, &q, sizeof p) == 0;
          ASSERT_TRUE(is_same) << describe(call) << "; element " << i << ": " << q << " for " << p
                               << "; parts " << of;
        }
      }
    }
  }

  template <typename T>
  void check_random(int rounds, unsigned seed) {
    std::mt19937 random(seed);
    const auto pick = [&](std::initializer_list<std::int64_t> from) {
      return from.begin()[random() % from.size()];
    };
    for (int round = 0; round < rounds && !HasFatalFailure(); ++round) {
      ConvolutionShape s;
      s.images = pick({1, 2, 3, 5, 8, 9, 16, 17});
      s.groups = pick({1, 1, 1, 2, 3});
      s.in_channels = pick({1, 1, 2, 3, 6, 8, 9, 16, 31});
      s.out_channels = pick({1, 2, 3, 6, 8, 9, 16, 17, 33});
      const auto random_axis = [&] {
        const std::int64_t kernel = pick({1, 2, 3, 3, 5}), dilation = pick({1, 1, 1, 2, 3});
        const std::int64_t reach = dilation * (kernel - 1) + 1, padding = pick({0, 0, 1, 2, 5});
        const std::int64_t in = std::max<std::int64_t>(pick({1, 2, 4, 5, 7, 8, 12}),
                                                       reach - 2 * padding);
        return axis(in, kernel, pick({1, 1, 1, 2, 3}), padding, dilation);
      };
      s.height = random_axis();
      s.width = random_axis();
      check<T>(s, random() % 2 ? Values::kSmall : Values::kSpecial, random, {1, 2, 3, 7});
    }
  }
};

TEST_P(Tiled, RandomShapes) {
  check_random<float>(300, 1);
  check_random<double>(150, 2);
}

TEST_P(Tiled, SeveralChunks) {
  std::mt19937 random(3);
  for (const Values values : {Values::kSmall, Values::kSpecial}) {
    check<float>({3, 1, 70, 20, axis(6, 3, 1, 1, 1), axis(9, 3, 1, 1, 1)}, values, random, {1, 2});
    check<float>({2, 2, 130, 40, axis(5, 3, 2, 1, 1), axis(7, 3, 2, 1, 1)}, values, random, {1, 3});
    check<float>({18, 1, 6, 16, axis(12, 5, 1, 0, 1), axis(12, 5, 1, 0, 1)}, values, random, {2});
    check<float>({2, 1, 3, 64, axis(32, 3, 1, 1, 1), axis(32, 3, 1, 1, 1)}, values, random, {2});
    check<float>({2, 1, 300, 17, axis(3, 1, 2, 0, 1), axis(4, 1, 2, 0, 1)}, values, random, {2});
    check<double>({3, 1, 260, 9, axis(4, 1, 1, 0, 1), axis(300, 1, 1, 0, 1)}, values, random, {2});
  }
}

// A kernel that reaches over the image leaves whole chunks without a tap.
TEST_P(Tiled, ChunksWithoutTaps) {
  std::mt19937 random(4);
  check<float>({3, 1, 256, 5, axis(1, 3, 1, 1, 1), axis(1, 3, 1, 1, 1)}, Values::kSpecial, random,
               {1, 2});
  check<float>({2, 1, 3, 4, axis(2, 1, 1, 7, 1), axis(40, 1, 1, 3, 1)}, Values::kSpecial, random,
               {1, 2});
}

TEST_P(Tiled, NoImages) {
  std::mt19937 random(5);
  check<float>({0, 1, 3, 4, axis(5, 3, 1, 1, 1), axis(5, 3, 1, 1, 1)}, Values::kSmall, random,
               {1, 2});
}

// Few images: the lanes hold strips of one.
TEST_P(Tiled, StripsOfAnImage) {
  std::mt19937 random(6);
  for (const std::int64_t images : {1, 2, 4}) {
    check<float>({images, 1, 5, 7, axis(32, 3, 1, 1, 1), axis(9, 3, 1, 1, 1)}, Values::kSpecial,
                 random, {1, 2, 5});
    check<float>({images, 2, 3, 7, axis(33, 5, 2, 2, 1), axis(9, 3, 2, 1, 1)}, Values::kSpecial,
                 random, {1, 2, 5});
    check<double>({images, 1, 3, 2, axis(40, 3, 3, 1, 2), axis(5, 1, 1, 0, 1)}, Values::kSpecial,
                  random, {1, 3});
  }
}

INSTANTIATE_TEST_SUITE_P(Isa, Tiled, ::testing::Values(Isa::kAvx2, Isa::kAvx512),
                         [](const auto& info) {
                           return info.param == Isa::kAvx2 ? "Avx2" : "Avx512";
                         });

}  // namespace
}  // namespace groove::kernels::testing
