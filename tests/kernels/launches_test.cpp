// How the interpreter walks launches: strides, boxes, short and long lines, in-place operands,
// several phases, regions behind if_any, and the cache of compiled kernels.
#include <numeric>
#include <thread>

#include "kernels/launch.h"
#include "tests/kernels/kernel_harness.h"

namespace groove::kernels::testing {
namespace {

std::vector<float> iota(std::size_t count) {
  std::vector<float> x(count);
  std::iota(x.begin(), x.end(), 1.0f);
  return x;
}

// out[i, j] = x[j, i] + y[j] over a box, for lines shorter and longer than a strip.
TEST(Map, StridesBroadcastsAndBoxes) {
  for (std::int64_t columns : {1, 2, 7, 300, 512, 513, 1500}) {
    const std::int64_t rows = 9;
    const std::vector<float> x = iota(static_cast<std::size_t>(rows * columns));
    const std::vector<float> y = iota(static_cast<std::size_t>(columns));
    std::vector<float> out(x.size(), -1.0f);
    Builder b;
    const Expr p = b.load(kFloat, StrideClass::kStrided);
    const Expr q = b.load(kFloat, StrideClass::kContiguous);
    const Expr r = b.load(kFloat, StrideClass::kBroadcast);
    const Expr index = convert(b.index(0) * 3.0 + b.index(1), kFloat);
    b.store(kFloat, StrideClass::kContiguous, p + q * 10000.0 + r * 0.5 + index);
    run(b.finish(),
        Operands()
            .add(x.data(), {rows, 1})
            .add(y.data(), {1, 0})
            .add(y.data(), {0, 0})
            .add(out.data(), {1, columns}),
        {columns - 1, rows - 2}, {1, 2});
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < columns; ++j) {
        const bool inside = j >= 1 && i >= 2;
        const float expected = ((x[static_cast<std::size_t>(j * rows + i)] +
                                 y[static_cast<std::size_t>(j)] * 10000.0f) +
                                y[0] * 0.5f) +
                               static_cast<float>(3 * j + i);
        EXPECT_EQ(out[static_cast<std::size_t>(i * columns + j)], inside ? expected : -1.0f);
      }
    }
  }
}

TEST(Map, InPlaceAndSwap) {
  std::vector<float> a = iota(2000), b_values(2000, 7.0f);
  Builder b;
  const Expr p = b.load(kFloat, StrideClass::kContiguous);
  const Expr q = b.load(kFloat, StrideClass::kContiguous);
  b.store(kFloat, StrideClass::kContiguous, q);
  b.store(kFloat, StrideClass::kContiguous, p);
  run(b.finish(),
      Operands()
          .add(a.data(), {1})
          .add(b_values.data(), {1})
          .add(a.data(), {1})
          .add(b_values.data(), {1}),
      {2000});
  EXPECT_EQ(b_values, iota(2000));
  EXPECT_EQ(a, std::vector<float>(2000, 7.0f));
}

TEST(Map, LoadAtParamAndLookup) {
  const std::vector<float> x = iota(100);
  std::vector<std::int64_t> offsets;
  for (std::int64_t i = 0; i < 50; ++i) offsets.push_back((i * 7) % 50);
  std::vector<double> out(50);
  Builder b;
  const Expr offset = b.load(kLong, StrideClass::kContiguous);
  const int source = b.access(kFloat, false, StrideClass::kContiguous);
  const int table =
      b.table({kDouble, {std::bit_cast<std::uint64_t>(0.25), std::bit_cast<std::uint64_t>(4.0)}});
  const Expr parity = convert(offset & b.constant_int(kLong, 1), kInt);
  b.store(kDouble, StrideClass::kContiguous,
          convert(b.load_at(source, offset), kDouble) * b.lookup(table, parity) + b.param(kDouble));
  Operands operands;
  operands.scalars = {std::bit_cast<std::uint64_t>(0.125)};
  run(b.finish(), operands.add(offsets.data(), {1}).add(x.data(), {1}).add(out.data(), {1}), {50});
  for (std::size_t i = 0; i < 50; ++i) {
    const auto at = static_cast<std::size_t>(offsets[i]);
    EXPECT_EQ(out[i], static_cast<double>(x[i + at]) * (at % 2 == 0 ? 0.25 : 4.0) + 0.125);
  }
}

TEST(Map, RegionsRunForTheirLanesOnly) {
  std::vector<float> x(3000, 1.0f), out(3000);
  for (std::size_t i = 1024; i < 3000; i += 5) x[i] = 100.0f;  // the first two strips skip
  Builder b;
  const Expr v = b.load(kFloat, StrideClass::kContiguous);
  const auto slow = [](Expr a) {
    return if_any(
        gt(a, 1e6), a * 2.0, [](Expr c) { return c; }, a);
  };
  b.store(kFloat, StrideClass::kContiguous, if_any(gt(v, 10.0), v + 0.5, slow, v));
  run(b.finish(), Operands().add(x.data(), {1}).add(out.data(), {1}), {3000});
  for (std::size_t i = 0; i < 3000; ++i) EXPECT_EQ(out[i], x[i] > 10 ? x[i] * 2 : x[i] + 0.5f);
}

// Centring each row in place: a reduction, a uniform computation, a broadcast and a row store.
TEST(Row, CentresInPlace) {
  const std::int64_t length = 1300, rows = 4;
  std::vector<float> x = iota(static_cast<std::size_t>(length * rows)), means(4);
  const std::vector<float> before = x;
  const std::vector<float> weight = {2.0f};
  Builder b(Order::kRow);
  const int source = b.access(kFloat, false, StrideClass::kContiguous);
  const Expr scale = b.load(kFloat, StrideClass::kBroadcast);
  const Expr sum = b.reduce(Prim::kReduceSum, b.load(source));
  b.next_phase();
  const Expr mean = sum / b.param(kFloat);
  b.store(kFloat, StrideClass::kContiguous, (b.load(source) - mean) * scale);
  b.store(kFloat, StrideClass::kBroadcast, mean + convert(b.index(1), kFloat));
  Operands operands;
  operands.scalars = {std::bit_cast<std::uint32_t>(static_cast<float>(length))};
  run(b.finish(),
      operands.add(x.data(), {1, length})
          .add(weight.data(), {0, 0})
          .add(x.data(), {1, length})
          .add(means.data(), {0, 1}),
      {length, rows});
  for (std::int64_t r = 0; r < rows; ++r) {
    // All partial sums are integers below 2^24, so every order gives the same.
    float expected = 0;
    for (std::int64_t i = 0; i < length; ++i)
      expected += before[static_cast<std::size_t>(r * length + i)];
    expected /= static_cast<float>(length);
    EXPECT_EQ(means[static_cast<std::size_t>(r)], expected + static_cast<float>(r));
    for (std::int64_t i = 0; i < length; ++i) {
      const auto at = static_cast<std::size_t>(r * length + i);
      EXPECT_EQ(x[at], (before[at] - expected) * 2.0f);
    }
  }
}

// A narrow column block after a wide one, over two outer slices, with an epilogue.
TEST(Column, EpilogueAndOuterAxis) {
  const std::int64_t columns = 700, rows = 5, outer = 2;
  const std::vector<float> x = iota(static_cast<std::size_t>(columns * rows * outer));
  std::vector<float> bias = iota(static_cast<std::size_t>(columns)),
                     out(static_cast<std::size_t>(columns * outer));
  Builder b(Order::kColumn);
  const Expr v = b.load(kFloat, StrideClass::kContiguous);
  const Expr greatest = b.reduce(Prim::kReduceMax, v);
  const Expr where = b.reduce(Prim::kReduceArgMin, v);
  b.next_phase();
  b.store(kFloat, StrideClass::kContiguous,
          greatest + b.load(kFloat, StrideClass::kContiguous) + convert(where, kFloat));
  run(b.finish(),
      Operands()
          .add(x.data(), {1, columns, columns * rows})
          .add(bias.data(), {1, 0, 0})
          .add(out.data(), {1, 0, columns}),
      {columns, rows, outer});
  for (std::int64_t o = 0; o < outer; ++o) {
    for (std::int64_t c = 0; c < columns; ++c) {
      const float last = x[static_cast<std::size_t>((o * rows + rows - 1) * columns + c)];
      EXPECT_EQ(out[static_cast<std::size_t>(o * columns + c)],
                last + bias[static_cast<std::size_t>(c)]);
    }
  }
}

// The shares of all threads together are each point once.
TEST(Parts, CoverEachPointOnce) {
  for (const Order order : {Order::kMap, Order::kRow, Order::kColumn})
    for (const std::vector<std::int64_t>& counts :
         {std::vector<std::int64_t>{1}, {5}, {1000}, {64, 9}, {7, 2, 3}, {200, 1, 5}, {1, 40}})
      for (int parts = 1; parts <= 7; ++parts) {
        Launch whole;
        whole.rank = static_cast<int>(counts.size());
        std::int64_t points = 1;
        for (std::size_t i = 0; i < counts.size(); ++i) points *= whole.count[i] = counts[i];
        std::vector<int> times(static_cast<std::size_t>(points), 0);
        for (int part = 0; part < parts; ++part) {
          Launch mine;
          if (!split(order, whole, part, parts, mine)) continue;
          for (std::int64_t point = 0; point < points; ++point) {
            std::int64_t rest = point;
            bool is_mine = true;
            for (std::size_t i = 0; i < counts.size(); ++i) {
              const std::int64_t at = rest % counts[i] - mine.begin[i];
              rest /= counts[i];
              is_mine &= at >= 0 && at < mine.count[i];
            }
            times[static_cast<std::size_t>(point)] += is_mine;
          }
        }
        EXPECT_EQ(times, std::vector<int>(times.size(), 1))
            << parts << " parts of " << counts[0] << ", " << counts.size() << " axes";
      }
}

TEST(Cache, CompilesOncePerStructure) {
  const auto kernel = [](double factor) {
    Builder b;
    b.store(kFloat, StrideClass::kContiguous, b.load(kFloat, StrideClass::kContiguous) * factor);
    return b.finish();
  };
  std::vector<std::shared_ptr<const Callable>> seen(4);
  std::vector<std::thread> threads;
  for (auto& compiled : seen) {
    threads.emplace_back([&] { compiled = compile_cached(interpreter(), kernel(3.0)); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& compiled : seen) EXPECT_EQ(compiled, seen[0]);
  EXPECT_NE(compile_cached(interpreter(), kernel(4.0)), seen[0]);
}

}  // namespace
}  // namespace groove::kernels::testing
