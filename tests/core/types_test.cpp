// Dtypes, promotion, numbers, devices, options, shapes and geometries.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <set>

#include "groove/factories.h"
#include "src/core/geometry.h"
#include "src/core/half.h"
#include "src/core/promotion.h"
#include "src/core/state.h"
#include "tests/core/error_of.h"

namespace groove {
namespace {

TEST(Promotion, WholeTableOfLibTorch) {
  // Rows and columns: u8 i8 i16 i32 i64 f16 f32 f64 bool bf16, as c10::promoteTypes has them.
  const ScalarType all[] = {kU8, kI8, kI16, kI32, kI64, kF16, kF32, kF64, kBool, kBFloat16};
  const char* const expected[] = {
      "u8 i16 i16 i32 i64 f16 f32 f64 u8 bf16",   "i16 i8 i16 i32 i64 f16 f32 f64 i8 bf16",
      "i16 i16 i16 i32 i64 f16 f32 f64 i16 bf16", "i32 i32 i32 i32 i64 f16 f32 f64 i32 bf16",
      "i64 i64 i64 i64 i64 f16 f32 f64 i64 bf16", "f16 f16 f16 f16 f16 f16 f32 f64 f16 f32",
      "f32 f32 f32 f32 f32 f32 f32 f64 f32 f32",  "f64 f64 f64 f64 f64 f64 f64 f64 f64 f64",
      "u8 i8 i16 i32 i64 f16 f32 f64 bool bf16",  "bf16 bf16 bf16 bf16 bf16 f32 f32 f64 bf16 bf16"};
  for (int i = 0; i < 10; ++i) {
    std::string row;
    for (int k = 0; k < 10; ++k)
      row += std::string(k ? " " : "") + short_name(promote_types(all[i], all[k]));
    EXPECT_EQ(row, expected[i]) << short_name(all[i]);
  }
}

TEST(Promotion, DimensionedBeforeZeroDimBeforeNumber) {
  const auto of = [](std::vector<Type> tensors, std::vector<Scalar> numbers = {}) {
    return std::string(short_name(result_type(tensors, numbers)));
  };
  const Shape one{2}, none{};
  EXPECT_EQ(of({{kI32, one}}, {2}), "i32");
  EXPECT_EQ(of({{kI32, one}}, {2.5}), "f32");
  EXPECT_EQ(of({{kF16, one}}, {2.5}), "f16");
  EXPECT_EQ(of({{kBool, one}}, {true}), "bool");
  EXPECT_EQ(of({{kBool, one}}, {1}), "i64");
  EXPECT_EQ(of({{kF32, one}, {kF64, none}}), "f32");
  EXPECT_EQ(of({{kI32, one}, {kI64, none}}), "i32");
  EXPECT_EQ(of({{kI32, one}, {kF64, none}}), "f64");
  EXPECT_EQ(of({{kBool, one}, {kU8, none}}), "u8");
  EXPECT_EQ(of({{kI64, none}}, {2.5}), "f32");
  EXPECT_EQ(of({{kU8, one}, {kI8, one}}), "i16");
  EXPECT_EQ(of({{kF64, none}}, {2}), "f64");
  EXPECT_EQ(of({{ScalarType::Undefined, none}, {kI32, one}}), "i32");
  EXPECT_EQ(of({}, {1, 2.5}), "f32");
}

TEST(Promotion, Broadcasting) {
  EXPECT_EQ(to_string(broadcast_shapes("add", Shape{3, 1}, Shape{2, 1, 4})), "[2, 3, 4]");
  EXPECT_EQ(to_string(broadcast_shapes("add", Shape{}, Shape{0})), "[0]");
  EXPECT_EQ(to_string(broadcast_shapes("add", Shape{1}, Shape{0})), "[0]");
  EXPECT_EQ(error_of([] {
              broadcast_shapes("add", Shape{3, 4}, Shape{5});
            }),
            "add: shapes [3, 4] and [5] do not broadcast (4 against 5)");
  EXPECT_EQ(error_of([] {
              broadcast_shapes("mul", Shape{5}, Shape{3, 4});
            }),
            "mul: shapes [5] and [3, 4] do not broadcast (5 against 4)");
}

TEST(Scalar, TruncatesAsTheNumericContractSays) {
  constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(Scalar(-2.9).to_int(), -2);
  EXPECT_EQ(Scalar(NAN).to_int(), kLowest);
  EXPECT_EQ(Scalar(1e19).to_int(), kLowest);
  EXPECT_EQ(Scalar(-9223372036854775808.0).to_int(), kLowest);
  EXPECT_EQ(Scalar(9223372036854774784.0).to_int(), 9223372036854774784);
  EXPECT_EQ(Scalar(std::int64_t{1} << 62).to<std::int64_t>(), std::int64_t{1} << 62);
  EXPECT_TRUE(Scalar(NAN).toBool());
  EXPECT_EQ(Scalar(true).type(), kBool);
  EXPECT_EQ(Scalar(1).type(), kLong);
  EXPECT_EQ(Scalar(1.f).type(), kDouble);
  EXPECT_EQ(Scalar(2.5).with_origin(3).origin(), 3);
}

TEST(Scalar, BitsInEachDtype) {
  EXPECT_EQ(Scalar(1.5).bits_as(kFloat), 0x3fc00000u);
  EXPECT_EQ(Scalar(1).bits_as(kDouble), 0x3ff0000000000000u);
  EXPECT_EQ(Scalar(-1).bits_as(kLong), ~std::uint64_t{0});
  EXPECT_EQ(Scalar(-1).bits_as(kInt), 0xffffffffu);
  EXPECT_EQ(Scalar(3e9).bits_as(kInt), 0x80000000u);
  EXPECT_EQ(Scalar(std::int64_t{3000000000}).bits_as(kInt), 3000000000u);
  EXPECT_EQ(Scalar(-1).bits_as(kByte), 0xffu);
  EXPECT_EQ(Scalar(300.7).bits_as(kByte), 44u);
  EXPECT_EQ(Scalar(1e10).bits_as(kByte), 0u);  // INT_MIN, wrapped
  EXPECT_EQ(Scalar(0.1).bits_as(kBool), 1u);
  // One rounding: 2^60 + 2^36 + 1 lies above the middle between two floats.
  const std::int64_t odd = (std::int64_t{1} << 60) + (std::int64_t{1} << 36) + 1;
  EXPECT_EQ(Scalar(odd).bits_as(kFloat), std::bit_cast<std::uint32_t>(static_cast<float>(odd)));
}

TEST(Half, RoundTripAndRounding) {
  for (int bits = 0; bits < 0x10000; ++bits) {
    const auto b = static_cast<std::uint16_t>(bits);
    if (std::isnan(half_value(b))) {
      EXPECT_TRUE(std::isnan(half_value(half_bits(half_value(b)))));
    } else {
      EXPECT_EQ(half_bits(half_value(b)), b);
    }
    if (!std::isnan(bfloat16_value(b))) {
      EXPECT_EQ(bfloat16_bits(bfloat16_value(b)), b);
      EXPECT_EQ(static_cast<float>(bfloat16_value(b)),
                std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16));
    }
  }
  EXPECT_EQ(half_bits(65519.99), 0x7bff);
  EXPECT_EQ(half_bits(65520.0), 0x7c00);
  EXPECT_EQ(half_bits(1.0 + 1.0 / 2048), 0x3c00);  // a tie, to even
  EXPECT_EQ(half_bits(1.0 + 3.0 / 2048), 0x3c02);
  EXPECT_EQ(half_bits(-5e-8), 0x8001);
  EXPECT_EQ(half_bits(std::ldexp(1.0, -25)), 0);
}

TEST(Device, Texts) {
  EXPECT_EQ(Device("cuda:1").index(), 1);
  EXPECT_EQ(Device("cpu"), Device(kCPU, 0));
  EXPECT_NE(Device("cuda"), Device(kCPU));
  EXPECT_EQ(Device("cuda").str(), "cuda");
  for (const char* bad : {"", "gpu", "cuda:", "cuda:x", "cpu:-1", "cuda:1:2"})
    EXPECT_NE(error_of([&] { Device{bad}; }).find("Device: cannot read"), std::string::npos) << bad;
}

TEST(Options, DefaultDtypeIsAState) {
  EXPECT_EQ(TensorOptions().dtype(), kFloat);
  const std::uint32_t epoch = default_dtype_epoch();
  set_default_dtype(kDouble);
  EXPECT_EQ(TensorOptions().dtype(), kDouble);
  EXPECT_EQ(tensor(1.5).dtype(), kDouble);
  set_default_dtype(kFloat);
  EXPECT_NE(default_dtype_epoch(), epoch);
  EXPECT_NE(error_of([] { set_default_dtype(kLong); }).find("floating"), std::string::npos);
  EXPECT_EQ(dtype(kInt).device(kCPU).requires_grad(true).dtype(), kInt);
}

TEST(Geometry, Contiguity) {
  EXPECT_TRUE((Geometry{{2, 3}, {3, 1}, 5}.is_contiguous()));
  EXPECT_FALSE((Geometry{{2, 3}, {1, 2}, 0}.is_contiguous()));
  EXPECT_TRUE((Geometry{{1, 3}, {77, 1}, 0}.is_contiguous()));
  EXPECT_TRUE((Geometry{{0, 3}, {9, 9}, 0}.is_contiguous()));
  EXPECT_TRUE((Geometry{{}, {}, 0}.is_contiguous()));
  EXPECT_FALSE((Geometry{{2, 3}, {0, 1}, 0}.is_contiguous()));
  EXPECT_EQ(contiguous_strides(Shape{2, 0, 3}), (Shape{3, 3, 1}));
}

std::multiset<std::int64_t> addresses(const Geometry& g) {
  std::multiset<std::int64_t> result;
  std::vector<std::int64_t> at{g.offset};
  for (std::size_t i = 0; i < g.sizes.size(); ++i) {
    std::vector<std::int64_t> next;
    for (std::int64_t a : at)
      for (std::int64_t k = 0; k < g.sizes[i]; ++k) next.push_back(a + k * g.strides[i]);
    at = next;
  }
  result.insert(at.begin(), at.end());
  return result;
}

TEST(Geometry, OverlapAgainstEnumeration) {
  std::uint64_t random = 1;
  const auto draw = [&](std::int64_t n) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::int64_t>((random >> 33) % static_cast<std::uint64_t>(n));
  };
  const auto geometry = [&] {
    Geometry g;
    for (std::int64_t rank = draw(4); rank > 0; --rank) {
      g.sizes.push_back(draw(5));
      g.strides.push_back(draw(9));
    }
    g.offset = draw(6);
    return g;
  };
  int separate = 0;
  for (int round = 0; round < 5000; ++round) {
    const Geometry a = geometry(), b = geometry();
    const auto first = addresses(a), second = addresses(b);
    const std::set<std::int64_t> unique(first.begin(), first.end());
    EXPECT_EQ(has_internal_overlap(a), unique.size() != first.size());
    bool meets = false;
    for (std::int64_t x : second) meets = meets || unique.contains(x);
    const Overlap answer = overlap(a, b);
    EXPECT_FALSE(meets && answer == Overlap::kNone);
    if (answer == Overlap::kNone) ++separate;
  }
  EXPECT_GT(separate, 1000);
  // Two columns of a matrix never meet; two rows neither.
  EXPECT_EQ(overlap(Geometry{{4}, {2}, 0}, Geometry{{4}, {2}, 1}), Overlap::kNone);
  EXPECT_EQ(overlap(Geometry{{4}, {1}, 0}, Geometry{{4}, {1}, 0}), Overlap::kSame);
  EXPECT_EQ(overlap(Geometry{{4}, {1}, 0}, Geometry{{4}, {1}, 1}), Overlap::kSome);
}

}  // namespace
}  // namespace groove
