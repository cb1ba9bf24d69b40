// Kernels of many accesses and of long bodies: pointers that move in a table, sums that have no
// registers left, and sums of bodies that are emitted once.
#include <cstring>

#include "harness.h"
#include "kernels/nest_driver.h"

namespace groove::kernels::testing {
namespace {

constexpr StrideClass kClasses[] = {StrideClass::kContiguous, StrideClass::kStrided,
                                    StrideClass::kBroadcast, StrideClass::kContiguous};
constexpr ScalarType kDtypes[] = {kFloat, kFloat, kDouble, kFloat, kInt};

std::vector<Expr> loads(Builder& b, int count) {
  std::vector<Expr> all;
  for (int i = 0; i < count; ++i) {
    const ScalarType dtype = kDtypes[i % std::size(kDtypes)];
    all.push_back(convert(b.load(dtype, kClasses[i % std::size(kClasses)]), kFloat));
  }
  return all;
}

void expect_same_of_all_lengths(const Kernel& kernel) {
  for (const std::int64_t n : {1, 15, 16, 17, 31, 33, 47, 80, 100, 4096 + 17}) {
    expect_same(kernel, box2(n, 5), {.seed = static_cast<std::uint64_t>(n)});
  }
}

TEST(ManyAccesses, Maps) {
  for (const int count : {15, 16, 17, 40}) {
    Builder b;
    const std::vector<Expr> all = loads(b, count);
    Expr value = all[0];
    for (std::size_t i = 1; i < all.size(); ++i) {
      value = i % 3 == 0 ? value * all[i] : value + all[i];
      if (i % 9 == 0) b.store(kFloat, StrideClass::kContiguous, value);
    }
    b.store(kFloat, StrideClass::kStrided, value);
    expect_same_of_all_lengths(b.finish());
  }
}

TEST(Strided, ElementsThatLieBackwards) {
  for (const ScalarType dtype : all_dtypes()) {
    Builder map;
    map.store(dtype, StrideClass::kContiguous, map.load(dtype, StrideClass::kStrided));
    Builder body;  // on two vectors side by side
    Expr value = convert(body.load(dtype, StrideClass::kStrided), kFloat);
    for (int i = 0; i < 20; ++i) value = value * 0.5 + i;
    body.store(kFloat, StrideClass::kContiguous, value);
    Builder row(Order::kRow);
    const Expr read = convert(row.load(dtype, StrideClass::kStrided), kFloat);
    const Expr most = row.reduce(Prim::kReduceMax, read);
    row.next_phase();
    row.store(kFloat, StrideClass::kBroadcast, most);
    for (const Kernel& kernel : {map.finish(), body.finish(), row.finish()}) {
      for (const std::int64_t n : {1, 2, 7, 8, 9, 15, 16, 17, 33, 64, 100, 4096 + 17})
        expect_same(kernel, box2(n, 3),
                    {.seed = static_cast<std::uint64_t>(n), .is_backwards = true});
    }
  }
}

// Which of the first 31 accesses may be stored past the caches is a bit in a register: a later one
// must not be taken for one of them.
TEST(ManyAccesses, StoresOfAllDtypesBehindOneThatIsStreamed) {
  for (const std::int64_t least : {0, 1}) {
    set_least_streamed(least);
    for (const ScalarType dtype : {kFloat, kDouble, kInt, kLong, kHalf}) {
      Builder b;
      const int streamed = b.access(kFloat, true, StrideClass::kContiguous);
      const std::vector<Expr> all = loads(b, 30);
      Expr value = all[0];
      for (const Expr& each : all) value = value + each;
      b.store(streamed, value);
      for (int more = 0; more < 4; ++more)
        b.store(dtype, StrideClass::kContiguous, convert(value * 0.01 + more, dtype));
      expect_same_of_all_lengths(b.finish());
    }
  }
  set_least_streamed(0);
}

TEST(ManyAccesses, RowsOfSeveralPhases) {
  for (const int count : {12, 20}) {
    Builder b(Order::kRow);
    Expr sum;
    for (const Expr& each : loads(b, count)) sum = sum.defined() ? sum + each : each;
    const Expr reduced = b.reduce(Prim::kReduceSum, sum);
    b.next_phase();
    b.store(kFloat, StrideClass::kBroadcast, reduced);
    b.store(kFloat, StrideClass::kContiguous, b.load(kFloat, StrideClass::kContiguous) * reduced);
    expect_same_of_all_lengths(b.finish());
  }
}

// One accumulator more than there are registers for, and many more.
TEST(ManyAccesses, SumsSideBySide) {
  for (const int count : {2, 4, 8, 9, 17}) {
    Builder b(Order::kRow);
    std::vector<Expr> sums;
    for (const Expr& each : loads(b, count)) {
      sums.push_back(b.reduce(sums.size() % 4 == 3 ? Prim::kReduceMax : Prim::kReduceSum, each));
    }
    b.next_phase();
    Expr all = sums[0];
    for (std::size_t i = 1; i < sums.size(); ++i) all = all + sums[i];
    b.store(kFloat, StrideClass::kBroadcast, all);
    expect_same_of_all_lengths(b.finish());
  }
}

// Of two zeros the one in the later lane is the maximum and the minimum.
void fill_last_lanes_with_negative_zeros(int, std::uint8_t* data, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const float x = i % 32 == 31 ? -0.0f : 0.0f;
    std::memcpy(data + i * sizeof x, &x, sizeof x);
  }
}

TEST(LongBodies, RowsThatAreReduced) {
  for (const int length : {2, 11, 13, 30, 60}) {
    for (const Prim prim :
         {Prim::kReduceSum, Prim::kReduceMin, Prim::kReduceMax, Prim::kReduceArgMax}) {
      Builder b(Order::kRow);
      const Expr x = b.load(kFloat, StrideClass::kContiguous);
      Expr value = x;
      for (int i = 0; i < length; ++i) value = i % 2 ? value * x : value + x;
      const Expr reduced = b.reduce(prim, x);
      const Expr sum = b.reduce(Prim::kReduceSum, value);
      b.next_phase();
      b.store(reduced.dtype(), StrideClass::kBroadcast, reduced);
      b.store(kFloat, StrideClass::kBroadcast, sum);
      const Kernel kernel = b.finish();
      expect_same_of_all_lengths(kernel);
      for (const std::int64_t n : {33, 47, 80}) {
        expect_same(kernel, box2(n, 2), {.fill = fill_last_lanes_with_negative_zeros});
      }
    }
  }
}

}  // namespace
}  // namespace groove::kernels::testing
