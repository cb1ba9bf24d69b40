// f16 and bf16: every value up, and down from f32, f64 and integers with one rounding. The oracle
// for "down" is the table of all values of the format: the nearer neighbour, or the even one of two
// equally near. For f16 the CPU's own instruction is asked, too.
#include <immintrin.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <random>

#include "groove/error.h"
#include "groove/scalar.h"
#include "src/core/half.h"
#include "tests/kernels/kernel_harness.h"

namespace groove::kernels::testing {
namespace {

struct Format {
  ScalarType dtype;
  int mantissa_bits, bias;
};
constexpr Format kFormats[] = {{kHalf, 10, 15}, {kBFloat16, 7, 127}};

// By the definition of the format.
long double value_of(const Format& format, std::uint16_t bits) {
  const int field = (bits & 0x7fff) >> format.mantissa_bits;
  const int mantissa = bits & ((1 << format.mantissa_bits) - 1);
  const int last = (1 << (15 - format.mantissa_bits)) - 1;
  long double size;
  if (field == last) {
    size = mantissa == 0 ? HUGE_VALL : std::nanl("");
  } else {
    const int implied = field == 0 ? 0 : 1 << format.mantissa_bits;
    size = std::ldexp(static_cast<long double>(implied + mantissa),
                      std::max(field, 1) - format.bias - format.mantissa_bits);
  }
  return bits & 0x8000 ? -size : size;
}

class Oracle {
 public:
  explicit Oracle(const Format& format) : format_(format) {
    for (std::uint16_t bits = 0;; ++bits) {
      sizes_.push_back(value_of(format, bits));
      if (std::isinf(sizes_.back())) break;
    }
    // what would come next: from half way to it on, numbers become infinite
    sizes_.back() = 2 * sizes_[sizes_.size() - 2] - sizes_[sizes_.size() - 3];
  }
  bool is_nan(std::uint16_t bits) const { return std::isnan(value_of(format_, bits)); }
  std::uint16_t rounded(long double x) const {
    const std::uint16_t sign = std::signbit(x) ? 0x8000 : 0;
    const long double size = std::fabs(x);
    const auto above = std::lower_bound(sizes_.begin(), sizes_.end(), size);
    if (above == sizes_.end()) return static_cast<std::uint16_t>(sign | (sizes_.size() - 1));
    auto at = static_cast<std::uint16_t>(above - sizes_.begin());
    if (*above != size) {
      const long double up = *above - size, down = size - *(above - 1);
      if (down < up || (down == up && at % 2 == 1)) --at;
    }
    return sign | at;
  }

 private:
  Format format_;
  std::vector<long double> sizes_;  // by bits, from 0 on
};

template <typename From>
void check_down(const Format& format, const std::vector<From>& values) {
  const Oracle oracle(format);
  Builder b;
  const Expr x = b.load(dtype_of<From>, StrideClass::kContiguous);
  b.store(format.dtype, StrideClass::kContiguous, convert(x, format.dtype));
  std::vector<std::uint16_t> out(values.size());
  run(b.finish(), Operands().add(values.data(), {1}).add(out.data(), {1}),
      {static_cast<std::int64_t>(values.size())});
  int failures = 0;
  for (std::size_t i = 0; i < values.size() && failures < 10; ++i) {
    const auto wide = static_cast<long double>(values[i]);
    const bool is_right =
        std::isnan(wide) ? oracle.is_nan(out[i]) : out[i] == oracle.rounded(wide);
    if (is_right) continue;
    ++failures;
    ADD_FAILURE() << name(format.dtype) << " of " << +values[i] << " from "
                  << name(dtype_of<From>) << ": 0x" << std::hex << out[i] << " instead of 0x"
                  << oracle.rounded(wide);
  }
}

// Around every value of the format and every middle between two of them.
template <typename From>
std::vector<From> boundaries(const Format& format) {
  std::vector<From> values;
  for (int bits = 0; bits < 0x10000; ++bits) {
    const long double at = value_of(format, static_cast<std::uint16_t>(bits));
    if (!std::isfinite(at)) {
      values.push_back(static_cast<From>(at));
      continue;
    }
    const long double next = value_of(format, static_cast<std::uint16_t>(bits ^ 1));
    for (const long double x : {at, std::isfinite(next) ? (at + next) / 2 : at}) {
      const auto near = static_cast<From>(x);
      const From limit = std::numeric_limits<From>::infinity();
      values.insert(values.end(),
                    {near, std::nextafter(near, limit), std::nextafter(near, -limit)});
    }
  }
  const std::uint16_t last = format.dtype == kHalf ? 0x7bff : 0x7f7f;
  const long double most = value_of(format, last);
  const long double step = most - value_of(format, static_cast<std::uint16_t>(last - 1));
  const auto overflow = static_cast<From>(most + step / 2);
  values.insert(values.end(), {overflow, std::nextafter(overflow, From{0}), From(3e38), -overflow});
  return values;
}

float random_float(std::mt19937& random) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(random()));
}

TEST(Half, EveryValueWidensExactly) {
  for (const Format& format : kFormats) {
    std::vector<std::uint16_t> in(0x10000);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<std::uint16_t>(i);
    std::vector<float> out(in.size());
    Builder b;
    const Expr x = b.load(format.dtype, StrideClass::kContiguous);
    b.store(kFloat, StrideClass::kContiguous, convert(x, kFloat));
    run(b.finish(), Operands().add(in.data(), {1}).add(out.data(), {1}), {0x10000});
    for (std::size_t i = 0; i < in.size(); ++i) {
      const auto want = static_cast<float>(value_of(format, in[i]));
      ASSERT_TRUE(same_bits(out[i], want)) << name(format.dtype) << " 0x" << std::hex << i;
      const double host = format.dtype == kHalf ? half_value(in[i]) : bfloat16_value(in[i]);
      ASSERT_TRUE(same_bits<double>(host, want)) << "host, 0x" << std::hex << i;
    }
  }
}

TEST(Half, FromFloat) {
  std::mt19937 random(1);
  for (const Format& format : kFormats) {
    std::vector<float> values = boundaries<float>(format);
    for (int i = 0; i < 1'000'000; ++i) values.push_back(random_float(random));
    for (int i = 0; i < 1'000'000; ++i) {  // within f16's exponents
      values.push_back(std::ldexp(std::copysign(1.0f + static_cast<float>(random() >> 9) * 0x1p-23f,
                                                static_cast<float>(i % 2) - 0.5f),
                                  i % 45 - 27));
    }
    check_down(format, values);
  }
}

// The middle between two f16 values, off by less than an f32 can tell.
TEST(Half, FromDoubleRoundsOnce) {
  std::mt19937_64 random(2);
  for (const Format& format : kFormats) {
    std::vector<double> values = boundaries<double>(format);
    for (int i = 0; i < 500'000; ++i) values.push_back(std::bit_cast<double>(random()));
    for (int i = 0; i < 500'000; ++i) {
      const double exponent = static_cast<double>(random() % 300) - 150;
      values.push_back(std::ldexp(1 + static_cast<double>(random() >> 11) * 0x1p-53,
                                  static_cast<int>(exponent)));
    }
    check_down(format, values);
  }
}

TEST(Half, FromIntegersRoundsOnce) {
  std::mt19937_64 random(3);
  for (const Format& format : kFormats) {
    std::vector<std::int64_t> longs = {0, INT64_MAX, INT64_MIN, INT64_MIN + 1, 65519, 65520, 65521};
    std::vector<std::int32_t> ints = {0,     INT32_MAX, INT32_MIN, 65519,
                                      65520, -65520,    2049,      16777217};
    for (int width = 1; width < 64; ++width) {
      const std::int64_t power = std::int64_t{1} << width;
      for (int cut = 0; cut < width; ++cut) {  // ties and their neighbours
        const std::int64_t tie = power + (std::int64_t{1} << cut);
        for (const std::int64_t x : {tie - 1, tie, tie + 1, power}) {
          longs.insert(longs.end(), {x, static_cast<std::int64_t>(-static_cast<std::uint64_t>(x))});
          if (width < 31) ints.insert(ints.end(), {static_cast<int>(x), -static_cast<int>(x)});
        }
      }
      for (int i = 0; i < 1000; ++i) {
        longs.push_back(static_cast<std::int64_t>(random()) >> (63 - width));
        ints.push_back(static_cast<std::int32_t>(random()) >> (width % 31));
      }
    }
    check_down(format, longs);
    check_down(format, ints);
    std::vector<std::int16_t> shorts;
    for (int i = -0x8000; i < 0x8000; ++i) shorts.push_back(static_cast<std::int16_t>(i));
    check_down(format, shorts);
  }
}

// Numbers that the host hands over obey the same rule.
TEST(Half, HostNumbersRoundOnce) {
  for (const Format& format : kFormats) {
    const Oracle oracle(format);
    const std::vector<double> values = boundaries<double>(format);
    for (const double x : values) {
      const std::uint16_t bits =
          static_cast<std::uint16_t>(Scalar(x).bits_as(format.dtype));
      if (std::isnan(x) ? oracle.is_nan(bits) : bits == oracle.rounded(x)) continue;
      ADD_FAILURE() << name(format.dtype) << " of " << x << ": 0x" << std::hex << bits;
      break;
    }
    for (int width = 54; width < 63; ++width) {
      const std::int64_t tie = (std::int64_t{1} << width) + (std::int64_t{1} << (width - 8));
      for (const std::int64_t x : {tie - 1, tie, tie + 1, -tie + 1, -tie - 1}) {
        const auto wide = static_cast<long double>(x);
        EXPECT_EQ(Scalar(x).bits_as(format.dtype), oracle.rounded(wide)) << x;
      }
    }
  }
}

__attribute__((target("f16c"))) std::uint16_t hardware_half(float value) {
  return static_cast<std::uint16_t>(
      _mm_extract_epi16(_mm_cvtps_ph(_mm_set_ss(value), _MM_FROUND_TO_NEAREST_INT), 0));
}
__attribute__((target("f16c"))) float hardware_float(std::uint16_t bits) {
  return _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(bits)));
}

TEST(Half, HardwareAgrees) {
  if (!__builtin_cpu_supports("f16c")) GTEST_SKIP() << "this CPU has no F16C";
  for (int bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    ASSERT_TRUE(same_bits(float_from_half(half), hardware_float(half))) << bits;
  }
  std::mt19937 random(4);
  std::vector<float> values = boundaries<float>(kFormats[0]);
  for (int i = 0; i < 2'000'000; ++i) values.push_back(random_float(random));
  for (const float x : values) {
    if (std::isnan(x)) continue;
    ASSERT_EQ(half_from_float(x), hardware_half(x)) << x;
  }
}

TEST(Half, HasNoArithmetic) {
  for (const Format& format : kFormats) {
    Builder b;
    const Expr x = b.load(format.dtype, StrideClass::kContiguous);
    b.store(format.dtype, StrideClass::kContiguous, x + x);
    EXPECT_THROW(static_cast<void>(b.finish()), Error);
  }
}

}  // namespace
}  // namespace groove::kernels::testing
