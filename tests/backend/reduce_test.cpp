// Row, column and tree order on generated code: every reduction on every dtype, long rows with many
// chunks, several phases, empty and strided operands.
#include <cstring>

#include "harness.h"
#include "kernels/nest_driver.h"

namespace groove::kernels::testing {
namespace {

constexpr Prim kReductions[] = {Prim::kReduceSum, Prim::kReduceProd,   Prim::kReduceMax,
                                Prim::kReduceMin, Prim::kReduceArgMax, Prim::kReduceArgMin};

bool takes(Prim prim, ScalarType dtype) {
  return dtype != kBool || (prim != Prim::kReduceSum && prim != Prim::kReduceProd);
}

// Values near one: sums and products stay numbers, so that their order shows.
void fill_tame(const Kernel& kernel, int access, std::uint8_t* data, std::size_t count) {
  Random random(21);
  const ScalarType dtype = kernel.accesses[static_cast<std::size_t>(access)].dtype;
  if (dtype != kFloat && dtype != kDouble) return fill(data, count, dtype, random);
  for (std::size_t i = 0; i < count; ++i) {
    const double x = 0.9 + static_cast<double>(random() % 100000) / 500000.0;
    if (dtype == kFloat) {
      const float f = static_cast<float>(random() % 2 ? x : -x);
      std::memcpy(data + i * 4, &f, 4);
    } else {
      std::memcpy(data + i * 8, &x, 8);
    }
  }
}

Options tame(const Kernel& kernel) {
  Options options;
  options.fill = [&kernel](int access, std::uint8_t* data, std::size_t count) {
    fill_tame(kernel, access, data, count);
  };
  return options;
}

Kernel reduction(Order order, Prim prim, ScalarType dtype, StrideClass load) {
  Builder b(order);
  const bool is_half = dtype == kHalf || dtype == kBFloat16;
  const Expr value = b.load(dtype, load);
  Expr reduced = b.reduce(prim, is_half ? convert(value, kFloat) : value);
  b.next_phase();
  if (is_half && reduced.dtype() == kFloat) reduced = convert(reduced, dtype);
  b.store(reduced.dtype(),
          order == Order::kColumn ? StrideClass::kContiguous : StrideClass::kBroadcast, reduced);
  return b.finish();
}

class Reductions : public ::testing::TestWithParam<ScalarType> {};

TEST_P(Reductions, Rows) {
  for (const Prim prim : kReductions) {
    if (!takes(prim, GetParam())) continue;
    for (const StrideClass load : {StrideClass::kContiguous, StrideClass::kStrided}) {
      const Kernel kernel = reduction(Order::kRow, prim, GetParam(), load);
      for (const std::int64_t n : lengths()) {
        if (n == 0 && GetParam() == kBool) continue;
        expect_same(kernel, box2(n, 3), {.seed = static_cast<std::uint64_t>(n)});
        expect_same(kernel, box2(n, 2), tame(kernel));
      }
      for (const std::int64_t n : {8192, 3 * 4096 + 5, 7 * 4096 + 1}) {
        expect_same(kernel, box2(n, 2), tame(kernel));
      }
    }
  }
}

TEST_P(Reductions, Trees) {
  for (const Prim prim : kReductions) {
    if (!takes(prim, GetParam())) continue;
    for (const StrideClass load : {StrideClass::kContiguous, StrideClass::kStrided}) {
      const Kernel kernel = reduction(Order::kTree, prim, GetParam(), load);
      for (const std::int64_t n : {1, 2, 3, 5, 8, 13, 64, 100, 1023}) {
        expect_same(kernel, box2(n, 3));
        expect_same(kernel, box2(n, 3), tame(kernel));
      }
    }
  }
}

TEST_P(Reductions, Columns) {
  for (const Prim prim : kReductions) {
    if (!takes(prim, GetParam())) continue;
    for (const StrideClass load : {StrideClass::kContiguous, StrideClass::kStrided}) {
      const Kernel kernel = reduction(Order::kColumn, prim, GetParam(), load);
      for (const std::int64_t n : {1, 7, 8, 16, 33, 64, 75, 130}) {
        for (const std::int64_t rows : {1, 2, 127, 128, 129, 300, 1000}) {
          if (rows > 130 && n > 20 && n != 75) continue;
          expect_same(kernel, box2(n, rows), {.seed = static_cast<std::uint64_t>(rows)});
          expect_same(kernel, box2(n, rows), tame(kernel));
        }
      }
      if (GetParam() != kBool) expect_same(kernel, box2(19, 0));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Dtypes, Reductions, ::testing::ValuesIn(all_dtypes()),
                         [](const auto& info) { return std::string(name(info.param)); });

TEST(Phases, Softmax) {
  for (const ScalarType dtype : {kFloat, kDouble}) {
    Builder b(Order::kRow);
    const int in = b.access(dtype, false, StrideClass::kContiguous);
    const Expr top = b.reduce(Prim::kReduceMax, b.load(in));
    b.next_phase();
    const Expr sum = b.reduce(Prim::kReduceSum, exp(b.load(in) - top));
    b.next_phase();
    const Expr scale = b.constant(dtype, 1.0) / sum;
    b.store(dtype, StrideClass::kContiguous, exp(b.load(in) - top) * scale);
    b.store(dtype, StrideClass::kBroadcast, scale);
    const Kernel kernel = b.finish();
    for (const std::int64_t n : lengths()) expect_same(kernel, box2(n, 3), tame(kernel));
    expect_same(kernel, box2(777, 5));
  }
}

TEST(Phases, LayerNormWithSeveralReductionsAndWeights) {
  for (const ScalarType dtype : {kFloat, kDouble}) {
    Builder b(Order::kRow);
    const int in = b.access(dtype, false, StrideClass::kContiguous);
    const int weight = b.access(dtype, false, StrideClass::kContiguous);
    const Expr count = b.param(dtype);
    const Expr x = b.load(in);
    const Expr sum = b.reduce(Prim::kReduceSum, x);
    const Expr most = b.reduce(Prim::kReduceMax, abs(x));
    const Expr where = b.reduce(Prim::kReduceArgMin, x);
    b.next_phase();
    const Expr mean = sum / count;
    const Expr d = b.load(in) - mean;
    const Expr square = b.reduce(Prim::kReduceSum, d * d);
    b.next_phase();
    const Expr inverse = rsqrt(square / count + 1e-5);
    b.store(dtype, StrideClass::kContiguous, (b.load(in) - mean) * inverse * b.load(weight));
    b.store(dtype, StrideClass::kBroadcast, inverse + most);
    b.store(kLong, StrideClass::kBroadcast, where);
    const Kernel kernel = b.finish();
    for (const std::int64_t n : {1, 9, 64, 100, 4097, 10000}) {
      Options options = tame(kernel);
      options.scalars = {dtype == kFloat ? 0x42c80000ull : 0x4059000000000000ull};
      expect_same(kernel, box2(n, 3), options);
    }
  }
}

// Rows that are aligned and end with a whole vector, others with a tail, and unaligned ones.
TEST(Phases, StoresPastTheCaches) {
  Builder b(Order::kRow);
  const int in = b.access(kFloat, false, StrideClass::kContiguous);
  const int weight = b.access(kFloat, false, StrideClass::kContiguous);
  const Expr sum = b.reduce(Prim::kReduceSum, b.load(in));
  b.store(kFloat, StrideClass::kContiguous, b.load(in) * b.load(weight));
  b.next_phase();
  const Expr d = b.load(in) - sum;
  const Expr square = b.reduce(Prim::kReduceSum, d * d);
  b.next_phase();
  b.store(kFloat, StrideClass::kContiguous, (b.load(in) - sum) * square);
  const Kernel kernel = b.finish();
  set_least_streamed(1);
  for (const std::int64_t n : lengths()) expect_same(kernel, box2(n, 3), tame(kernel));
  for (const std::int64_t n : {64, 96, 1024, 1040, 4096 + 32}) {
    expect_same(kernel, box2(n, 5), tame(kernel));
  }
  set_least_streamed(0);
}

// The first phase waits for its row as it is; the longest of the others asks for later ones.
TEST(Phases, AskForLaterRowsWhileTheyWork) {
  Builder b(Order::kRow);
  const int in = b.access(kFloat, false, StrideClass::kContiguous);
  const Expr x = b.load(in);
  const Expr sum = b.reduce(Prim::kReduceSum, x * x + x * 3.0 + abs(x));
  b.next_phase();
  const Expr all = b.reduce(Prim::kReduceSum, exp(b.load(in) - sum));
  b.next_phase();
  b.store(kFloat, StrideClass::kContiguous, (b.load(in) - sum) * all);
  const Kernel kernel = b.finish();
  const Lookahead ahead = find_lookahead(kernel, nest_levels(kernel), 32 << 10);
  ASSERT_EQ(ahead.phases.size(), 3u);
  EXPECT_TRUE(ahead.phases[0].empty());
  ASSERT_EQ(ahead.phases[1].size(), 1u);
  EXPECT_EQ(ahead.phases[1][0].part, Lookahead::Part::kWhole);
  EXPECT_TRUE(ahead.phases[2].empty());
  EXPECT_TRUE(ahead.is_near);
  EXPECT_EQ(ahead.rows, 1);
  const Lookahead roomy = find_lookahead(kernel, nest_levels(kernel), 48 << 10);
  EXPECT_TRUE(roomy.is_near);
  EXPECT_EQ(roomy.rows, 2);
  EXPECT_LT(roomy.longest_skipped, Lookahead::kLongest);
  ASSERT_EQ(roomy.phases[1].size(), 1u);
  EXPECT_EQ(roomy.phases[1][0].part, Lookahead::Part::kWhole);
}

// Rows of three operands each of which two phases walk, and of one that is walked once.
TEST(Phases, AskForWhatIsWalkedAgain) {
  for (const int walked : {1, 3}) {
    Builder b(Order::kRow);
    std::vector<int> again;
    const int once = b.access(kFloat, false, StrideClass::kContiguous);
    for (int i = 0; i < walked; ++i)
      again.push_back(b.access(kFloat, false, StrideClass::kContiguous));
    Expr x = b.load(once);
    for (const int access : again) x = x * b.load(access) + exp(x);
    const Expr sum = b.reduce(Prim::kReduceSum, x);
    b.next_phase();
    Expr y = sum;
    for (const int access : again) y = y * b.load(access) + y;
    b.store(kFloat, StrideClass::kContiguous, exp(y));
    const Kernel kernel = b.finish();
    for (const std::int64_t first_cache : {32 << 10, 48 << 10}) {
      const Lookahead ahead = find_lookahead(kernel, nest_levels(kernel), first_cache);
      const bool is_roomy = first_cache == 48 << 10;
      EXPECT_EQ(ahead.is_near, walked == 1 || is_roomy);
      EXPECT_EQ(ahead.rows, walked == 1 && !is_roomy ? 1 : 2);
      EXPECT_EQ(ahead.longest_skipped,
                !is_roomy ? Lookahead::kLongest : walked == 1 ? 8 << 10 : 4 << 10);
      for (const auto& asks : ahead.phases) {
        EXPECT_TRUE(!is_roomy || asks.size() <= 1);  // each row in another phase
        for (const Lookahead::Ask& ask : asks) EXPECT_NE(ask.access, once);
      }
    }
    for (const std::int64_t n : {8, 1024, 3000, 9000}) expect_same(kernel, box2(n, 5), tame(kernel));
  }
}

TEST(Phases, ColumnEpilogue) {
  Builder b(Order::kColumn);
  const Expr x = b.load(kFloat, StrideClass::kContiguous);
  const Expr g = b.load(kFloat, StrideClass::kBroadcast);
  const Expr sum = b.reduce(Prim::kReduceSum, x * g + convert(b.index(1), kFloat));
  const Expr top = b.reduce(Prim::kReduceMax, x);
  b.next_phase();
  b.store(kFloat, StrideClass::kContiguous,
          sum * b.constant(kFloat, 0.5) + convert(b.index(0), kFloat));
  b.store(kFloat, StrideClass::kStrided, top + b.load(kFloat, StrideClass::kBroadcast));
  const Kernel kernel = b.finish();
  for (const std::int64_t n : {1, 16, 70, 200}) {
    Box box = box2(n, 150);
    box.rank = 3;
    box.count[2] = 2;
    box.begin[0] = 3;
    box.begin[2] = 1;
    expect_same(kernel, box, tame(kernel));
  }
}

}  // namespace
}  // namespace groove::kernels::testing
