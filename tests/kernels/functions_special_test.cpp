// Exact values of the expansions at special arguments, C99's table for pow, and known answers of
// Philox.
#include <cmath>
#include <limits>
#include <set>

#include "kernels/functions/parts.h"
#include "tests/kernels/kernel_harness.h"

namespace groove::kernels::testing {
namespace {

template <typename T>
class SpecialValues : public ::testing::Test {
 public:
  using Limits = std::numeric_limits<T>;
  static constexpr T kInf = Limits::infinity(), kNan = Limits::quiet_NaN();
  static constexpr T kTiny = Limits::denorm_min(), kLeast = Limits::min(), kMost = Limits::max();

  static void expect(const char* what, Expr (*f)(Expr), std::vector<std::pair<T, T>> table) {
    std::vector<T> x;
    for (const auto& [argument, value] : table) x.push_back(argument);
    const std::vector<T> y = map<T, T>(f, x);
    for (std::size_t i = 0; i < x.size(); ++i) {
      EXPECT_TRUE(same_bits(y[i], table[i].second))
          << what << "(" << x[i] << ") gave " << y[i] << ", not " << table[i].second;
    }
  }
};
using Floats = ::testing::Types<float, double>;
TYPED_TEST_SUITE(SpecialValues, Floats);

TYPED_TEST(SpecialValues, Unary) {
  using T = TypeParam;
  using F = SpecialValues<T>;
  const T inf = F::kInf, nan = F::kNan, tiny = F::kTiny, most = F::kMost;
  F::expect("exp", exp,
            {{0, 1},
             {T(-0.0), 1},
             {inf, inf},
             {-inf, 0},
             {nan, nan},
             {most, inf},
             {-most, 0},
             {tiny, 1},
             {-tiny, 1}});
  F::expect("log", log,
            {{1, T(0.0)},
             {0, -inf},
             {T(-0.0), -inf},
             {inf, inf},
             {-inf, nan},
             {-1, nan},
             {-tiny, nan},
             {nan, nan}});
  F::expect("expm1", expm1,
            {{0, 0},
             {T(-0.0), T(-0.0)},
             {inf, inf},
             {-inf, -1},
             {nan, nan},
             {most, inf},
             {-most, -1},
             {tiny, tiny},
             {-tiny, -tiny}});
  F::expect("log1p", log1p,
            {{0, 0},
             {T(-0.0), T(-0.0)},
             {inf, inf},
             {-1, -inf},
             {-2, nan},
             {-inf, nan},
             {nan, nan},
             {tiny, tiny},
             {-tiny, -tiny}});
  F::expect("rsqrt", rsqrt,
            {{1, 1},
             {4, T(0.5)},
             {0, inf},
             {T(-0.0), -inf},
             {inf, 0},
             {-1, nan},
             {-inf, nan},
             {nan, nan},
             {T(0.0625), 4}});
  F::expect("tanh", tanh,
            {{0, 0},
             {T(-0.0), T(-0.0)},
             {inf, 1},
             {-inf, -1},
             {nan, nan},
             {most, 1},
             {-most, -1},
             {tiny, tiny},
             {-tiny, -tiny}});
  F::expect("sigmoid", sigmoid,
            {{0, T(0.5)},
             {T(-0.0), T(0.5)},
             {inf, 1},
             {-inf, 0},
             {nan, nan},
             {most, 1},
             {-most, 0},
             {tiny, T(0.5)}});
  F::expect("erf", erf,
            {{0, 0}, {T(-0.0), T(-0.0)}, {inf, 1}, {-inf, -1}, {nan, nan}, {most, 1}, {-most, -1}});
  F::expect(
      "erfc", erfc,
      {{0, 1}, {T(-0.0), 1}, {inf, 0}, {-inf, 2}, {nan, nan}, {most, 0}, {-most, 2}, {tiny, 1}});
  for (const auto function : {gelu, gelu_tanh, silu}) {
    F::expect("gelu, silu", function,
              {{0, 0},
               {T(-0.0), T(-0.0)},
               {inf, inf},
               {-inf, T(-0.0)},
               {nan, nan},
               {most, most},
               {-most, T(-0.0)}});
  }
  for (const auto function : {gelu_slope, gelu_tanh_slope}) {
    F::expect("slope of gelu", function,
              {{0, T(0.5)}, {inf, 1}, {nan, nan}, {most, 1}, {tiny, T(0.5)}});
    const std::vector<T> far = map<T, T>(function, std::vector<T>{-inf, -most});
    EXPECT_EQ(far[0], 0);
    EXPECT_EQ(far[1], 0);
  }
  F::expect("sin", sin,
            {{0, 0},
             {T(-0.0), T(-0.0)},
             {inf, nan},
             {-inf, nan},
             {nan, nan},
             {tiny, tiny},
             {-tiny, -tiny}});
  F::expect("cos", cos, {{0, 1}, {T(-0.0), 1}, {inf, nan}, {-inf, nan}, {nan, nan}, {tiny, 1}});
}

// Of exp2 and the logarithms also what must be exact.
TYPED_TEST(SpecialValues, PowersAndLogarithms) {
  using T = TypeParam;
  using F = SpecialValues<T>;
  const T inf = F::kInf, nan = F::kNan, tiny = F::kTiny, most = F::kMost, least = F::kLeast;
  F::expect("exp2", exp2,
            {{0, 1},
             {T(-0.0), 1},
             {1, 2},
             {-3, T(0.125)},
             {10, 1024},
             {inf, inf},
             {-inf, 0},
             {nan, nan},
             {most, inf},
             {-most, 0},
             {std::log2(least), least},
             {std::log2(tiny), tiny},
             {tiny, 1}});
  F::expect("log2", log2,
            {{1, T(0.0)},
             {8, 3},
             {T(0.25), -2},
             {least, std::log2(least)},
             {tiny, std::log2(tiny)},
             {0, -inf},
             {T(-0.0), -inf},
             {inf, inf},
             {-1, nan},
             {-inf, nan},
             {nan, nan}});
  F::expect(
      "log10", log10,
      {{1, T(0.0)}, {10, 1}, {1000, 3}, {1e10, 10}, {0, -inf}, {inf, inf}, {-1, nan}, {nan, nan}});
}

TYPED_TEST(SpecialValues, TrigonometricAndHyperbolic) {
  using T = TypeParam;
  using F = SpecialValues<T>;
  const T inf = F::kInf, nan = F::kNan, tiny = F::kTiny, most = F::kMost;
  const T pi = static_cast<T>(M_PI), half_pi = static_cast<T>(M_PI_2);
  const std::pair<T, T> odd[] = {
      {0, 0}, {T(-0.0), T(-0.0)}, {nan, nan}, {tiny, tiny}, {-tiny, -tiny}};
  const auto with_odd = [&](std::vector<std::pair<T, T>> table) {
    table.insert(table.end(), std::begin(odd), std::end(odd));
    return table;
  };
  F::expect("tan", tan, with_odd({{inf, nan}, {-inf, nan}}));
  F::expect("asin", asin,
            with_odd({{1, half_pi}, {-1, -half_pi}, {2, nan}, {-2, nan}, {inf, nan}}));
  F::expect(
      "acos", acos,
      {{1, 0}, {-1, pi}, {0, half_pi}, {T(-0.0), half_pi}, {2, nan}, {-inf, nan}, {nan, nan}});
  F::expect("atan", atan,
            with_odd({{inf, half_pi}, {-inf, -half_pi}, {most, half_pi}, {1, half_pi / 2}}));
  F::expect("sinh", sinh, with_odd({{inf, inf}, {-inf, -inf}, {most, inf}, {-most, -inf}}));
  F::expect("cosh", cosh,
            {{0, 1}, {T(-0.0), 1}, {inf, inf}, {-inf, inf}, {most, inf}, {tiny, 1}, {nan, nan}});
}

TYPED_TEST(SpecialValues, GammaAndInverseErrorFunction) {
  using T = TypeParam;
  using F = SpecialValues<T>;
  const T inf = F::kInf, nan = F::kNan, tiny = F::kTiny, most = F::kMost;
  F::expect("erfinv", erfinv,
            {{0, 0},
             {T(-0.0), T(-0.0)},
             {1, inf},
             {-1, -inf},
             {2, nan},
             {-inf, nan},
             {nan, nan},
             {tiny, tiny}});
  F::expect("lgamma", lgamma,
            {{1, 0},
             {2, 0},
             {0, inf},
             {T(-0.0), inf},
             {-1, inf},
             {-7, inf},
             {inf, inf},
             {-inf, inf},
             {most, inf},
             {-most, inf},
             {nan, nan},
             {3, std::log(T(2))}});
  F::expect(
      "digamma", digamma,
      {{0, -inf}, {T(-0.0), inf}, {-1, nan}, {-20, nan}, {inf, inf}, {-inf, nan}, {nan, nan}});
  const auto trigamma = [](Expr x) { return polygamma(1, x); };
  F::expect("trigamma", trigamma, {{0, inf}, {-1, inf}, {inf, 0}, {nan, nan}, {tiny, inf}});
  if constexpr (std::is_same_v<T, double>) {
    // 1/x², whose x² loses bits to underflow; of y² none is lost.
    constexpr double y = 0x1.0000004p0;
    const double expected = std::ldexp(1 / (y * y), 1024);
    F::expect("trigamma", trigamma, {{y * 0x1p-512, expected}, {y * -0x1p-512, expected}});
  }
}

TYPED_TEST(SpecialValues, AnglesFollowC99) {
  using T = TypeParam;
  using F = SpecialValues<T>;
  const std::vector<T> values = {T(0.0), 1, F::kTiny, F::kLeast, F::kMost, F::kInf, T(0.3), 2};
  std::vector<T> y, x;
  for (T a : values) {
    for (T b : values) {
      for (int signs = 0; signs < 4; ++signs) {
        y.push_back(signs % 2 == 0 ? a : -a);
        x.push_back(signs < 2 ? b : -b);
      }
    }
    y.insert(y.end(), {a, F::kNan});
    x.insert(x.end(), {F::kNan, a});
  }
  const std::vector<T> result = map<T, T>(atan2, y, x);
  for (std::size_t i = 0; i < x.size(); ++i) {
    // long double keeps the reference off the rounding of T.
    const T expected =
        static_cast<T>(std::atan2(static_cast<long double>(y[i]), static_cast<long double>(x[i])));
    const bool close = expected != 0 && std::fabs(result[i] - expected) <=
                                            std::numeric_limits<T>::epsilon() * std::fabs(expected);
    EXPECT_TRUE(close || same_bits(result[i], expected))
        << "atan2(" << y[i] << ", " << x[i] << ") gave " << result[i] << ", not " << expected;
  }
}

// Denormal results are rounded, not flushed.
TYPED_TEST(SpecialValues, ExpUnderflowsGradually) {
  using T = TypeParam;
  const T edge = sizeof(T) == 4 ? T(-103.0) : T(-744.5);
  const std::vector<T> y = map<T, T>(exp, std::vector<T>{edge, edge - 1, edge - 3});
  EXPECT_EQ(y[0], std::exp(static_cast<long double>(edge)) / SpecialValues<T>::kTiny > 1.5L
                      ? 2 * SpecialValues<T>::kTiny
                      : SpecialValues<T>::kTiny);
  EXPECT_EQ(y[2], T{0});
}

TYPED_TEST(SpecialValues, PowFollowsC99) {
  using T = TypeParam;
  using F = SpecialValues<T>;
  const T inf = F::kInf, nan = F::kNan, most = F::kMost, tiny = F::kTiny;
  const std::vector<T> values = {T(0.0), T(0.5), 1,    T(1.5), 2,    3,   4,   5,
                                 T(0.1), inf,    most, 7,      tiny, 100, 101, T(1) / 3};
  std::vector<T> x, y;
  for (T a : values) {
    for (T b : values) {
      for (int signs = 0; signs < 4; ++signs) {
        x.push_back(signs % 2 == 0 ? a : -a);
        y.push_back(signs < 2 ? b : -b);
      }
    }
  }
  for (T a : {nan, T(1), T(0.0), T(-1), inf}) {
    x.insert(x.end(), {a, nan});
    y.insert(y.end(), {nan, a});
  }
  const std::vector<T> result = map<T, T>(pow, x, y);
  for (std::size_t i = 0; i < x.size(); ++i) {
    // long double keeps the reference off the rounding of T; its special cases are C99's.
    const T expected =
        static_cast<T>(std::pow(static_cast<long double>(x[i]), static_cast<long double>(y[i])));
    const bool close = std::isfinite(expected) && std::isfinite(result[i]) && expected != 0 &&
                       std::fabs(result[i] - expected) <=
                           2 * std::numeric_limits<T>::epsilon() * std::fabs(expected) + 0;
    EXPECT_TRUE(close || same_bits(result[i], expected))
        << x[i] << " ^ " << y[i] << " gave " << result[i] << ", not " << expected;
  }
}

TYPED_TEST(SpecialValues, MaximumPropagatesNan) {
  using T = TypeParam;
  const T nan = SpecialValues<T>::kNan;
  const std::vector<T> a = {1, 2, nan, 1, nan}, b = {2, 1, 1, nan, nan};
  const std::vector<T> greater = map<T, T>(max_nan, a, b), lesser = map<T, T>(min_nan, a, b);
  const std::vector<T> most = {2, 2, nan, nan, nan}, least = {1, 1, nan, nan, nan};
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_TRUE(same_bits(greater[i], most[i]));
    EXPECT_TRUE(same_bits(lesser[i], least[i]));
  }
  const auto mask = map<std::uint8_t, T>([](Expr x) { return convert(is_nan(x), kByte); },
                                         std::vector<T>{1, nan});
  EXPECT_EQ(mask, (std::vector<std::uint8_t>{0, 1}));
}

TYPED_TEST(SpecialValues, SineAndCosineTogetherHaveTheBitsOfEach) {
  using T = TypeParam;
  std::vector<T> x = {0, std::numeric_limits<T>::denorm_min(), std::numeric_limits<T>::min()};
  for (int i = 0; i < 60000; ++i) x.push_back(static_cast<T>(i) * static_cast<T>(0x1.9p-13));
  for (int e = -60; e < 20; ++e) x.push_back(std::ldexp(static_cast<T>(1.375), e - 1));
  const auto sines = map<T, T>(sin, x), cosines = map<T, T>(cos, x);
  const auto sine = map<T, T>([](Expr a) { return functions::sine_and_cosine(a).sine; }, x);
  const auto cosine = map<T, T>([](Expr a) { return functions::sine_and_cosine(a).cosine; }, x);
  for (std::size_t i = 0; i < x.size(); ++i) {
    EXPECT_TRUE(same_bits(sine[i], sines[i])) << x[i];
    EXPECT_TRUE(same_bits(cosine[i], cosines[i])) << x[i];
  }
}

std::vector<std::uint32_t> philox(std::int64_t seed, std::int64_t draw, std::int64_t first,
                                  std::int64_t count) {
  Builder b;
  const Expr key = b.param(kLong), counter = b.param(kLong), start = b.param(kLong);
  b.store(kInt, StrideClass::kContiguous, philox_word(key, counter, b.index(0) + start));
  std::vector<std::uint32_t> words(static_cast<std::size_t>(count));
  Operands operands;
  for (std::int64_t value : {seed, draw, first}) {
    operands.scalars.push_back(static_cast<std::uint64_t>(value));
  }
  run(b.finish(), operands.add(words.data(), {1}), {count});
  return words;
}

// Of the three published vectors for 4x32-10, those whose block number an i64 index can reach.
TEST(Philox, KnownAnswers) {
  EXPECT_EQ(philox(0, 0, 0, 4),
            (std::vector<std::uint32_t>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox(0x299f31d0a4093822, static_cast<std::int64_t>(0x85a308d3243f6a88),
                   0x0370734413198a2e << 2, 4),
            (std::vector<std::uint32_t>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, WordsDependOnlyOnTheElement) {
  const std::vector<std::uint32_t> all = philox(1, 2, 0, 3000);
  EXPECT_EQ(philox(1, 2, 1001, 1)[0], all[1001]);
  EXPECT_GT(std::set<std::uint32_t>(all.begin(), all.end()).size(), 2990u);
}

TEST(Uniform, CoversItsInterval) {
  const std::vector<std::int32_t> low = {0, -1, 0x40, 0x3f}, high = {0, -1, 0, 0};
  const auto single = map<float, std::int32_t>(uniform_f32, high);
  EXPECT_EQ(single[0], 0.0f);
  EXPECT_EQ(single[1], 1.0f - 0x1p-24f);
  const auto wide = map<double, std::int32_t>(uniform_f64, low, high);
  EXPECT_EQ(wide, (std::vector<double>{0.0, 1.0 - 0x1p-53, 0x1p-53, 0.0}));
}

}  // namespace
}  // namespace groove::kernels::testing
