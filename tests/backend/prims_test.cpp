// Every primitive on every dtype it takes, for all lengths and stride classes, against the
// interpreter bit for bit.
#include <cmath>
#include <cstring>
#include <limits>

#include "harness.h"
#include "kernels/functions/parts.h"
#include "kernels/scalings.h"

namespace groove::kernels::testing {
namespace {

constexpr StrideClass kClasses[] = {StrideClass::kContiguous, StrideClass::kBroadcast,
                                    StrideClass::kStrided};

bool is_half(ScalarType dtype) { return dtype == kHalf || dtype == kBFloat16; }

bool takes(Prim prim, ScalarType dtype) {
  if (is_half(dtype)) return false;  // moved, selected and converted, but no arithmetic
  const bool is_float = is_floating(dtype);
  switch (prim) {
    case Prim::kAdd:
    case Prim::kSub:
    case Prim::kMul:
    case Prim::kDiv:
    case Prim::kNeg:
    case Prim::kAbs:
      return dtype != kBool;
    case Prim::kSqrt:
    case Prim::kFma:
    case Prim::kFloor:
    case Prim::kCeil:
    case Prim::kTrunc:
    case Prim::kRoundEven:
      return is_float;
    case Prim::kMulHigh:
      return dtype == kInt;
    case Prim::kAnd:
    case Prim::kOr:
    case Prim::kXor:
    case Prim::kNot:
      return !is_float;
    case Prim::kShiftLeft:
    case Prim::kShiftRightLogical:
    case Prim::kShiftRightArithmetic:
      return is_integral(dtype);
    default:
      return true;
  }
}

constexpr Prim kPrims[] = {Prim::kAdd,
                           Prim::kSub,
                           Prim::kMul,
                           Prim::kDiv,
                           Prim::kSqrt,
                           Prim::kFma,
                           Prim::kNeg,
                           Prim::kAbs,
                           Prim::kMax,
                           Prim::kMin,
                           Prim::kFloor,
                           Prim::kCeil,
                           Prim::kTrunc,
                           Prim::kRoundEven,
                           Prim::kMulHigh,
                           Prim::kEq,
                           Prim::kNe,
                           Prim::kLt,
                           Prim::kLe,
                           Prim::kGt,
                           Prim::kGe,
                           Prim::kAnd,
                           Prim::kOr,
                           Prim::kXor,
                           Prim::kNot,
                           Prim::kShiftLeft,
                           Prim::kShiftRightLogical,
                           Prim::kShiftRightArithmetic};

Kernel prim_kernel(Prim prim, ScalarType dtype, StrideClass first, StrideClass store) {
  Builder b;
  Expr args[3];
  for (int i = 0; i < arg_count(prim); ++i) {
    args[i] = b.load(dtype, i == 0 ? first : StrideClass::kContiguous);
  }
  const bool gives_bool = prim >= Prim::kEq && prim <= Prim::kGe;
  const ScalarType result = gives_bool ? kBool : dtype;
  b.store(result, store, b.emit(prim, result, args[0], args[1], args[2]));
  return b.finish();
}

class Prims : public ::testing::TestWithParam<ScalarType> {};

TEST_P(Prims, AllLengths) {
  for (const Prim prim : kPrims) {
    if (!takes(prim, GetParam())) continue;
    const Kernel kernel =
        prim_kernel(prim, GetParam(), StrideClass::kContiguous, StrideClass::kContiguous);
    for (const std::int64_t n : lengths()) {
      expect_same(kernel, box1(n), {.seed = static_cast<std::uint64_t>(n) + 1});
    }
  }
}

TEST_P(Prims, StrideClasses) {
  for (const Prim prim : kPrims) {
    if (!takes(prim, GetParam())) continue;
    for (const StrideClass load : kClasses) {
      for (const StrideClass store : {StrideClass::kContiguous, StrideClass::kStrided}) {
        const Kernel kernel = prim_kernel(prim, GetParam(), load, store);
        for (const std::int64_t n : {1, 8, 23, 100}) expect_same(kernel, box2(n, 3));
      }
    }
  }
}

// a * 2^n in one instruction where the machine has it, against two products of which only the second
// rounds: every exponent that the functions ask for, and results that are denormal, zero, infinite.
template <typename T>
void check_scale(Expr (*scale)(Expr value, Expr n), std::int64_t least, std::int64_t most) {
  constexpr ScalarType kDtype = sizeof(T) == 4 ? kFloat : kDouble;
  Builder b;
  const Expr value = b.load(kDtype, StrideClass::kContiguous);
  b.store(kDtype, StrideClass::kContiguous,
          scale(value, b.load(kDtype, StrideClass::kContiguous)));
  const Kernel kernel = b.finish();
  ASSERT_EQ(verify(kernel), "");
  EXPECT_EQ(parse_kernel(print(kernel)), kernel);
  ASSERT_TRUE(has_scalings(kernel));
  EXPECT_EQ(join_scalings(kernel).code.size(), 4u) << print(join_scalings(kernel));
  Options options;
  options.fill = [&](int access, std::uint8_t* data, std::size_t count) {
    Random random(static_cast<std::uint64_t>(access) + count);
    std::uniform_real_distribution<T> mantissa(T{0.5}, T{2});
    for (std::size_t i = 0; i < count; ++i) {
      const auto step = static_cast<std::int64_t>(i) % (most - least + 1);
      T x = random() % 2 == 0 ? mantissa(random) : -mantissa(random);
      if (i % 97 == 5) x = std::copysign(T{0}, x);
      if (access == 1) x = static_cast<T>(least + step);
      // Of both: an exponent is made of the value's argument.
      if (i % 501 == 17) x = std::numeric_limits<T>::quiet_NaN();
      std::memcpy(data + i * sizeof x, &x, sizeof x);
    }
  };
  for (const std::int64_t n : lengths()) expect_same(kernel, box1(n), options);
}

TEST(Scale, IsOneRoundedProduct) {
  check_scale<float>(functions::scale, -190, 250);
  check_scale<double>(functions::scale, -1200, 2040);
  check_scale<float>(functions::scale_down, -220, 0);
}

// Functions whose results come by such a product, where they are denormal or nearly so.
TEST(Scale, OfFunctions) {
  for (Expr (*const function)(Expr) : {exp, exp2, expm1, sigmoid, silu, gelu, gelu_slope, gelu_tanh,
                                       gelu_tanh_slope, sinh, cosh, erfc}) {
    Builder b;
    b.store(kFloat, StrideClass::kContiguous, function(b.load(kFloat, StrideClass::kContiguous)));
    const Kernel kernel = b.finish();
    EXPECT_TRUE(has_scalings(kernel));
    Options options;
    options.fill = [](int, std::uint8_t* data, std::size_t count) {
      Random random(count);
      std::uniform_real_distribution<float> some(-160.0f, 160.0f);
      for (std::size_t i = 0; i < count; ++i) {
        const float x = some(random);
        std::memcpy(data + i * sizeof x, &x, sizeof x);
      }
    };
    expect_same(kernel, box1(40000), options);
  }
}

// What is not marked, or not a power of two by these steps, stays as it is written.
TEST(Scale, LeavesOtherProductsAlone) {
  Builder b;
  const Expr x = b.load(kFloat, StrideClass::kContiguous);
  const Expr n = b.load(kFloat, StrideClass::kContiguous);
  const Expr power = functions::power_of_two(n);
  const Expr exact = b.emit(Prim::kMul, kFloat, x, power, {}, kExactProduct);
  b.store(kFloat, StrideClass::kContiguous, x * power * power);
  b.store(kFloat, StrideClass::kContiguous, exact * power);
  b.store(kFloat, StrideClass::kContiguous, exact * 0.25);
  b.store(kFloat, StrideClass::kContiguous, exact * 3.0);
  const Kernel kernel = b.finish();
  EXPECT_EQ(join_scalings(kernel), kernel);
}

TEST_P(Prims, ConvertSelectCompareAndStore) {
  for (const ScalarType to : all_dtypes()) {
    Builder b;
    const Expr x = b.load(GetParam(), StrideClass::kContiguous);
    const Expr y = b.load(GetParam(), StrideClass::kContiguous);
    const Expr converted = convert(x, to);
    b.store(to, StrideClass::kContiguous, converted);
    const ScalarType own = is_half(GetParam()) ? kFloat : GetParam();
    b.store(to, StrideClass::kStrided,
            select(lt(convert(x, own), convert(y, own)), converted, convert(y, to)));
    const Kernel kernel = b.finish();
    for (const std::int64_t n : lengths()) expect_same(kernel, box1(n), {.seed = 5});
  }
}

// Memory in every way, nothing else: for what has no arithmetic, too.
TEST_P(Prims, Copies) {
  for (const StrideClass load : kClasses) {
    for (const StrideClass store : {StrideClass::kContiguous, StrideClass::kStrided}) {
      Builder b;
      b.store(GetParam(), store, b.load(GetParam(), load));
      const Kernel kernel = b.finish();
      for (const std::int64_t n : lengths()) expect_same(kernel, box2(n, 2), {.seed = 3});
    }
  }
  Builder b(Order::kRow);
  const Expr sum = b.reduce(Prim::kReduceMax, b.load(kFloat, StrideClass::kContiguous));
  b.next_phase();
  b.store(GetParam(), StrideClass::kBroadcast, convert(sum, GetParam()));
  const Kernel kernel = b.finish();
  for (const std::int64_t n : lengths()) expect_same(kernel, box2(n, 3), {.seed = 4});
}

TEST_P(Prims, ConstantsAndParameters) {
  Random random(11);
  for (int round = 0; round < 8; ++round) {
    Builder b;
    const Expr x = b.load(GetParam(), StrideClass::kContiguous);
    std::uint64_t bits = special_bits(GetParam(), random);
    const Expr c = b.constant_bits(GetParam(), bits);
    const Expr p = b.param(GetParam());
    if (is_half(GetParam())) {
      const Expr is_positive = gt(convert(x, kFloat), 0.0);
      b.store(GetParam(), StrideClass::kContiguous, select(is_positive, c, p));
      b.store(kFloat, StrideClass::kContiguous, convert(select(is_positive, p, x), kFloat));
      expect_same(b.finish(), box1(37), {.seed = static_cast<std::uint64_t>(round)});
      continue;
    }
    b.store(GetParam(), StrideClass::kContiguous,
            select(gt(x, c), b.emit(Prim::kMax, GetParam(), c, p),
                   b.emit(Prim::kMin, GetParam(), x, p)));
    expect_same(b.finish(), box1(37), {.seed = static_cast<std::uint64_t>(round)});
  }
}

INSTANTIATE_TEST_SUITE_P(Dtypes, Prims, ::testing::ValuesIn(all_dtypes()),
                         [](const auto& info) { return std::string(name(info.param)); });

TEST(Leaves, IndexOfEveryAxis) {
  Builder b;
  Expr sum = b.index(0);
  for (int axis = 1; axis < 4; ++axis) {
    sum = sum + b.index(axis) * b.constant_int(kLong, axis == 1 ? 1000 : axis * 1000000);
  }
  b.store(kLong, StrideClass::kContiguous, sum);
  b.store(kFloat, StrideClass::kContiguous, convert(b.index(0), kFloat));
  Box box = box1(21);
  box.rank = 4;
  const std::int64_t counts[] = {21, 3, 2, 3}, begins[] = {5, 1, 2, 0};
  for (int axis = 0; axis < 4; ++axis) {
    box.count[axis] = counts[axis];
    box.begin[axis] = begins[axis];
  }
  expect_same(b.finish(), box);
}

TEST(Leaves, Bitcast) {
  Builder b;
  const Expr x = b.load(kFloat, StrideClass::kContiguous);
  const Expr y = b.load(kDouble, StrideClass::kContiguous);
  const Expr xi = bitcast(x, kInt);
  b.store(kInt, StrideClass::kContiguous, xi);
  b.store(kLong, StrideClass::kContiguous, bitcast(y, kLong));
  b.store(kFloat, StrideClass::kContiguous, fma(x, x, bitcast(xi + xi, kFloat)));
  b.store(kDouble, StrideClass::kContiguous, fma(y, y, y));
  expect_same(b.finish(), box1(77));
}

TEST(Leaves, LoadAt) {
  for (const ScalarType dtype : {kByte, kChar, kShort, kFloat, kDouble, kBool, kHalf, kBFloat16}) {
    for (const StrideClass inner : kClasses) {
      for (int form = 0; form < 4; ++form) {
        Builder b;
        const Expr index = b.load(kInt, StrideClass::kContiguous);
        const int source = b.access(dtype, false, inner);
        const Expr shift = b.param(kLong);
        Expr offset = convert(index, kLong);
        if (form == 1) offset = shift;
        if (form == 2) offset = shift + b.index(0);
        if (form == 3) offset = b.index(0);
        b.store(kInt, StrideClass::kContiguous, index);
        b.store(dtype, StrideClass::kContiguous, b.load_at(source, offset));
        const Kernel kernel = b.finish();
        Options options;
        options.scalars = {9};
        options.extra = 300;
        options.fill = [&](int access, std::uint8_t* data, std::size_t count) {
          Random random(3);
          if (kernel.accesses[static_cast<std::size_t>(access)].dtype != kInt) {
            return fill(data, count, kernel.accesses[static_cast<std::size_t>(access)].dtype,
                        random);
          }
          for (std::size_t i = 0; i < count; ++i) {
            reinterpret_cast<std::int32_t*>(data)[i] = static_cast<std::int32_t>(random() % 300);
          }
        };
        for (const std::int64_t n : {1, 8, 19, 133}) expect_same(kernel, box2(n, 2), options);
      }
    }
  }
}

TEST(Leaves, Lookup) {
  for (const ScalarType dtype : all_dtypes()) {
    if (is_half(dtype)) continue;
    Random random(9);
    for (const std::size_t size : {std::size_t{1}, std::size_t{8}, std::size_t{100}}) {
      Builder b;
      Table table;
      table.dtype = dtype;
      for (std::size_t i = 0; i < size; ++i) table.bits.push_back(special_bits(dtype, random));
      const int id = b.table(table);
      const Expr x = b.load(kInt, StrideClass::kContiguous);
      b.store(dtype, StrideClass::kContiguous, b.lookup(id, x));
      b.store(dtype, StrideClass::kContiguous, b.lookup(id, convert(x, kLong)));
      Options options;
      options.fill = [&](int, std::uint8_t* data, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
          reinterpret_cast<std::int32_t*>(data)[i] = static_cast<std::int32_t>(i * 7 % size);
        }
      };
      const Kernel kernel = b.finish();
      for (const std::int64_t n : {3, 16, 45}) expect_same(kernel, box1(n), options);
    }
  }
}

Expr slow_path(Expr x) { return x * x - 3.0; }

TEST(IfAny, SkipsOrBlends) {
  for (const ScalarType dtype : {kFloat, kDouble}) {
    for (const double bound : {-100.0, 2.0, 1e30}) {
      Builder b;
      const Expr x = b.load(dtype, StrideClass::kContiguous);
      const Expr fast = x + 1.0;
      b.store(dtype, StrideClass::kContiguous,
              if_any(gt(x, b.constant(dtype, bound)), fast, slow_path, x));
      const Kernel kernel = b.finish();
      for (const std::int64_t n : {1, 8, 50, 333}) expect_same(kernel, box1(n));
    }
  }
}

TEST(Aliasing, InPlaceStoreComesAfterLoads) {
  // y = x + 1 and z = x * 2 where y is stored over x.
  Builder b;
  const Expr x = b.load(kFloat, StrideClass::kContiguous);
  b.store(kFloat, StrideClass::kContiguous, x + 1.0);
  const Expr again = b.load(kFloat, StrideClass::kContiguous);
  b.store(kFloat, StrideClass::kContiguous, again * 2.0);
  const Kernel kernel = b.finish();
  std::vector<Backend*> backends = code_generators();
  backends.push_back(find_backend("interpreter"));
  for (Backend* const backend : backends) {
    std::vector<float> data(100), out(100);
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i);
    void* pointers[] = {data.data(), data.data(), data.data(), out.data()};
    std::int64_t strides[4][kMaxAxes] = {{1}, {1}, {1}, {1}};
    Launch launch;
    launch.count[0] = 100;
    launch.pointers = pointers;
    launch.strides = strides;
    compile_cached(*backend, kernel)->run(launch);
    for (std::size_t i = 0; i < data.size(); ++i) {
      EXPECT_EQ(data[i], static_cast<float>(i) + 1) << backend->name();
      EXPECT_EQ(out[i], static_cast<float>(i) * 2) << backend->name();
    }
  }
}

// Transposed operands are walked in blocks; indices and a third axis must follow.
TEST(Strides, TransposedOperands) {
  Builder b;
  const Expr x = b.load(kFloat, StrideClass::kStrided);
  b.store(kFloat, StrideClass::kContiguous, x + convert(b.index(0) + b.index(2), kFloat));
  b.store(kFloat, StrideClass::kStrided, x * 2.0);
  const Kernel kernel = b.finish();
  constexpr std::int64_t kColumns = 203, kRows = 37, kLayers = 3,
                         kCount = kColumns * kRows * kLayers;
  std::vector<float> in(kCount);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i);
  const auto run = [&](Backend& backend) {
    std::vector<float> out(kCount, -1), transposed(kCount, -1);
    void* pointers[] = {in.data(), out.data(), transposed.data()};
    const std::int64_t strides[3][kMaxAxes] = {{kRows, 1, kRows * kColumns},
                                               {1, kColumns, kRows * kColumns},
                                               {kRows, 1, kRows * kColumns}};
    Launch launch;
    launch.rank = 3;
    launch.begin[0] = 1;
    launch.count[0] = kColumns - 1;
    launch.count[1] = kRows;
    launch.count[2] = kLayers;
    launch.pointers = pointers;
    launch.strides = strides;
    compile_cached(backend, kernel)->run(launch);
    return std::pair(out, transposed);
  };
  const auto expected = run(*find_backend("interpreter"));
  for (Backend* const backend : code_generators()) EXPECT_EQ(run(*backend), expected);
}

}  // namespace
}  // namespace groove::kernels::testing
