// Every pure primitive on every dtype against a scalar oracle that shares nothing with the
// interpreter: integers are computed in 128 bits and cut down, floats by the C++ operators one at
// a time, conversions by comparison with the bounds.
#include <cmath>
#include <optional>
#include <tuple>
#include <type_traits>

#include "tests/kernels/kernel_harness.h"
#include "tests/kernels/special_values.h"

namespace groove::kernels::testing {
namespace {

using Wide = __int128;
template <typename T>
constexpr bool kIsFloat = std::is_floating_point_v<T>;
template <typename T>
constexpr bool kIsBool = std::is_same_v<T, bool>;
template <typename T>
constexpr int kWidth = 8 * sizeof(T);

// The low bits of a wide integer, read as T.
template <typename T>
T cut(Wide value) {
  Wide modulus = Wide{1} << kWidth<T>;
  Wide rest = ((value % modulus) + modulus) % modulus;
  if (std::is_signed_v<T> && rest >= modulus / 2) rest -= modulus;
  return static_cast<T>(rest);
}
template <typename T>
Wide as_unsigned(T value) {
  const Wide wide = value;
  return wide < 0 ? wide + (Wide{1} << kWidth<T>) : wide;
}
// Rounds towards minus infinity, as an arithmetic shift does.
inline Wide floor_divide(Wide a, Wide b) { return a / b - (a % b < 0 ? 1 : 0); }

template <typename T>
std::optional<T> unary_oracle(Prim prim, T x) {
  if constexpr (kIsFloat<T>) {
    const T magnitude = std::copysign(x, T{1});
    const T below = x < 0 ? -std::floor(magnitude) : std::floor(magnitude);  // towards zero
    switch (prim) {
      case Prim::kNeg:
        return std::copysign(x, std::signbit(x) ? T{1} : T{-1});
      case Prim::kAbs:
        return magnitude;
      case Prim::kSqrt:
        return std::sqrt(x);
      case Prim::kFloor:
        return std::floor(x);
      case Prim::kCeil:
        return -std::floor(-x);
      case Prim::kTrunc:
        return std::copysign(below, x);
      case Prim::kRoundEven: {
        if (!(magnitude < T{1} / std::numeric_limits<T>::epsilon())) return x;
        T whole = std::floor(magnitude);
        const T rest = magnitude - whole;
        if (rest > T(0.5) || (rest == T(0.5) && std::fmod(whole, T{2}) == 1)) whole += 1;
        return std::copysign(whole, x);
      }
      default:
        return {};
    }
  } else if constexpr (kIsBool<T>) {
    return prim == Prim::kNot ? std::optional<T>(!x) : std::nullopt;
  } else {
    switch (prim) {
      case Prim::kNeg:
        return cut<T>(-Wide{x});
      case Prim::kAbs:
        return cut<T>(x < 0 ? -Wide{x} : Wide{x});
      case Prim::kNot:
        return cut<T>(-Wide{x} - 1);
      default:
        return {};
    }
  }
}

template <typename T>
std::optional<T> binary_oracle(Prim prim, T a, T b) {
  if (prim == Prim::kMax) return a > b ? a : b;
  if (prim == Prim::kMin) return a < b ? a : b;
  if constexpr (kIsFloat<T>) {
    switch (prim) {
      case Prim::kAdd:
        return a + b;
      case Prim::kSub:
        return a - b;
      case Prim::kMul:
        return a * b;
      case Prim::kDiv:
        return a / b;
      default:
        return {};
    }
  } else if constexpr (kIsBool<T>) {
    switch (prim) {
      case Prim::kAnd:
        return a && b;
      case Prim::kOr:
        return a || b;
      case Prim::kXor:
        return a != b;
      default:
        return {};
    }
  } else {
    const Wide x = a, y = b, amount = as_unsigned(b);
    const bool beyond = amount >= kWidth<T>;
    switch (prim) {
      case Prim::kAdd:
        return cut<T>(x + y);
      case Prim::kSub:
        return cut<T>(x - y);
      case Prim::kMul:
        return cut<T>(x * y);
      case Prim::kDiv:
        return cut<T>(y == 0 ? 0 : x / y);
      case Prim::kAnd:
        return cut<T>(as_unsigned(a) & as_unsigned(b));
      case Prim::kOr:
        return cut<T>(as_unsigned(a) | as_unsigned(b));
      case Prim::kXor:
        return cut<T>(as_unsigned(a) ^ as_unsigned(b));
      case Prim::kShiftLeft:
        return beyond ? T{0} : cut<T>(as_unsigned(a) * (Wide{1} << amount));
      case Prim::kShiftRightLogical:
        return beyond ? T{0} : cut<T>(as_unsigned(a) / (Wide{1} << amount));
      case Prim::kShiftRightArithmetic:
        return cut<T>(floor_divide(x, Wide{1} << (beyond ? kWidth<T> : amount)));
      case Prim::kMulHigh:
        if constexpr (std::is_same_v<T, std::int32_t>) {
          return cut<T>(as_unsigned(a) * as_unsigned(b) / (Wide{1} << 32));
        }
        return {};
      default:
        return {};
    }
  }
}

template <typename T>
bool compare_oracle(Prim prim, T a, T b) {
  const bool unordered = a != a || b != b;
  switch (prim) {
    case Prim::kEq:
      return !unordered && !(a < b) && !(b < a);
    case Prim::kNe:
      return unordered || a < b || b < a;
    case Prim::kLt:
      return a < b;
    case Prim::kLe:
      return !unordered && !(b < a);
    case Prim::kGt:
      return b < a;
    default:
      return !unordered && !(a < b);
  }
}

template <typename To, typename From>
To convert_oracle(From x) {
  if constexpr (kIsBool<To>) {
    return !(x == From{0});
  } else if constexpr (kIsFloat<To>) {
    // Through the widest format where that is exact; i64 fits its 64 bits.
    return static_cast<To>(static_cast<long double>(x));
  } else if constexpr (kIsFloat<From>) {
    const int bits = sizeof(To) == 8 ? 63 : 31;
    const long double bound = std::ldexp(1.0L, bits),
                      wide = std::trunc(static_cast<long double>(x));
    const bool fits = wide >= -bound && wide < bound;
    return cut<To>(fits ? static_cast<Wide>(wide) : -(Wide{1} << bits));
  } else {
    return cut<To>(static_cast<Wide>(x));
  }
}

// vector<bool> has no data(); bytes of 0 and 1 are what a kernel sees.
template <typename T>
struct Stored {
  using Type = std::conditional_t<kIsBool<T>, std::uint8_t, T>;
};

template <typename Out, typename In>
std::vector<typename Stored<Out>::Type> run_prim(Prim prim, std::vector<std::vector<In>> inputs) {
  std::vector<std::vector<typename Stored<In>::Type>> stored;
  for (const auto& input : inputs) stored.emplace_back(input.begin(), input.end());
  Builder b;
  Expr args[3];
  Operands operands;
  for (std::size_t i = 0; i < stored.size(); ++i) {
    args[i] = b.load(dtype_of<In>, StrideClass::kContiguous);
    operands.add(stored[i].data(), {1});
  }
  b.store(dtype_of<Out>, StrideClass::kContiguous,
          b.emit(prim, dtype_of<Out>, args[0], args[1], args[2]));
  std::vector<typename Stored<Out>::Type> out(stored[0].size());
  operands.add(out.data(), {1});
  run(b.finish(), operands, {static_cast<std::int64_t>(out.size())});
  return out;
}

template <typename T>
std::pair<std::vector<T>, std::vector<T>> all_pairs() {
  std::pair<std::vector<T>, std::vector<T>> pairs;
  for (T a : special_values<T>()) {
    for (T b : special_values<T>()) {
      pairs.first.push_back(a);
      pairs.second.push_back(b);
    }
  }
  return pairs;
}

template <typename T>
class Primitives : public ::testing::Test {};
using AllTypes = ::testing::Types<std::uint8_t, std::int8_t, std::int16_t, std::int32_t,
                                  std::int64_t, float, double, bool>;
TYPED_TEST_SUITE(Primitives, AllTypes);

TYPED_TEST(Primitives, Unary) {
  using T = TypeParam;
  const std::vector<T> x = special_values<T>();
  for (Prim prim : {Prim::kNeg, Prim::kAbs, Prim::kSqrt, Prim::kFloor, Prim::kCeil, Prim::kTrunc,
                    Prim::kRoundEven, Prim::kNot}) {
    if (!unary_oracle<T>(prim, x[0])) continue;
    const auto result = run_prim<T, T>(prim, {x});
    for (std::size_t i = 0; i < x.size(); ++i) {
      EXPECT_TRUE(same_bits<T>(result[i], *unary_oracle<T>(prim, x[i])))
          << name(prim) << " " << +x[i] << " gave " << +result[i];
    }
  }
}

TYPED_TEST(Primitives, Binary) {
  using T = TypeParam;
  const auto [a, b] = all_pairs<T>();
  for (int p = 0; p <= static_cast<int>(Prim::kStore); ++p) {
    const Prim prim = static_cast<Prim>(p);
    if (arg_count(prim) != 2 || !binary_oracle<T>(prim, a[0], b[0])) continue;
    const auto result = run_prim<T, T>(prim, {a, b});
    for (std::size_t i = 0; i < a.size(); ++i) {
      EXPECT_TRUE(same_bits<T>(result[i], *binary_oracle<T>(prim, a[i], b[i])))
          << name(prim) << " " << +a[i] << " " << +b[i] << " gave " << +result[i];
    }
  }
}

TYPED_TEST(Primitives, Compare) {
  using T = TypeParam;
  const auto [a, b] = all_pairs<T>();
  for (Prim prim : {Prim::kEq, Prim::kNe, Prim::kLt, Prim::kLe, Prim::kGt, Prim::kGe}) {
    const auto result = run_prim<bool, T>(prim, {a, b});
    for (std::size_t i = 0; i < a.size(); ++i) {
      EXPECT_EQ(result[i], static_cast<std::uint8_t>(compare_oracle<T>(prim, a[i], b[i])))
          << name(prim) << " " << +a[i] << " " << +b[i];
    }
  }
}

template <typename To, typename From>
void check_convert() {
  if constexpr (!std::is_same_v<To, From>) {
    const std::vector<From> x = special_values<From>();
    const auto result = run_prim<To, From>(Prim::kConvert, {x});
    for (std::size_t i = 0; i < x.size(); ++i) {
      EXPECT_TRUE(same_bits<To>(result[i], convert_oracle<To, From>(x[i])))
          << name(dtype_of<From>) << " to " << name(dtype_of<To>) << ": " << +x[i] << " gave "
          << +result[i];
    }
  }
}

TYPED_TEST(Primitives, Convert) {
  using T = TypeParam;
  check_convert<std::uint8_t, T>();
  check_convert<std::int8_t, T>();
  check_convert<std::int16_t, T>();
  check_convert<std::int32_t, T>();
  check_convert<std::int64_t, T>();
  check_convert<float, T>();
  check_convert<double, T>();
  check_convert<bool, T>();
}

TYPED_TEST(Primitives, FmaRoundsOnce) {
  using T = TypeParam;
  if constexpr (kIsFloat<T>) {
    const auto [a, b] = all_pairs<T>();
    for (T c : special_values<T>()) {
      const std::vector<T> addend(a.size(), c);
      const auto result = run_prim<T, T>(Prim::kFma, {a, b, addend});
      for (std::size_t i = 0; i < a.size(); ++i) {
        EXPECT_TRUE(same_bits<T>(result[i], std::fma(a[i], b[i], c))) << a[i] << " " << b[i];
      }
    }
  }
}

TYPED_TEST(Primitives, Select) {
  using T = TypeParam;
  const auto [a, b] = all_pairs<T>();
  const std::vector<typename Stored<T>::Type> yes(a.begin(), a.end()), no(b.begin(), b.end());
  std::vector<std::uint8_t> mask(a.size());
  for (std::size_t i = 0; i < mask.size(); ++i) mask[i] = i % 3 == 0 || i % 7 == 1;
  std::vector<typename Stored<T>::Type> out(a.size());
  Builder builder;
  const Expr m = builder.load(kBool, StrideClass::kContiguous);
  const Expr y = builder.load(dtype_of<T>, StrideClass::kContiguous);
  const Expr n = builder.load(dtype_of<T>, StrideClass::kContiguous);
  builder.store(dtype_of<T>, StrideClass::kContiguous, select(m, y, n));
  run(builder.finish(),
      Operands()
          .add(mask.data(), {1})
          .add(yes.data(), {1})
          .add(no.data(), {1})
          .add(out.data(), {1}),
      {static_cast<std::int64_t>(out.size())});
  for (std::size_t i = 0; i < out.size(); ++i) {
    EXPECT_TRUE(same_bits(out[i], mask[i] != 0 ? yes[i] : no[i]));
  }
}

TEST(Bitcast, KeepsBits) {
  const auto floats = special_values<float>();
  const auto ints = run_prim<std::int32_t, float>(Prim::kBitcast, {floats});
  EXPECT_EQ(std::memcmp(ints.data(), floats.data(), 4 * floats.size()), 0);
  const auto longs = special_values<std::int64_t>();
  const auto doubles = run_prim<double, std::int64_t>(Prim::kBitcast, {longs});
  EXPECT_EQ(std::memcmp(doubles.data(), longs.data(), 8 * longs.size()), 0);
}

}  // namespace
}  // namespace groove::kernels::testing
