// Random kernels against the interpreter. The seed of a failure is printed with it.
#include <array>
#include <cstdlib>

#include "harness.h"

namespace groove::kernels::testing {
namespace {

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  Kernel make(int instructions) {
    const Order order = std::array{Order::kMap, Order::kMap, Order::kRow, Order::kColumn}[pick(4)];
    Builder b(order);
    builder_ = &b;
    values_.clear();
    std::vector<int> sources;
    for (int i = 0; i < 2 + pick(3); ++i)
      sources.push_back(b.access(any_dtype(), false, any_class()));
    std::vector<Expr> reduced;
    if (order != Order::kMap) {
      leaves(sources);
      grow(instructions / 2);
      for (int i = 0; i <= pick(3); ++i) {
        Expr x = any();
        if (is_half(x.dtype())) x = convert(x, kFloat);
        const int which = x.dtype() == kBool ? 2 + pick(4) : pick(6);
        reduced.push_back(
            b.reduce(static_cast<Prim>(static_cast<int>(Prim::kReduceSum) + which), x));
      }
      b.next_phase();
      values_ = reduced;
    }
    if (order != Order::kColumn) leaves(sources);
    if (order == Order::kColumn) values_.push_back(b.index(0));
    grow(instructions);
    for (int i = 0; i < 1 + pick(3); ++i) {
      const Expr x = any();
      b.store(x.dtype(), pick(3) ? StrideClass::kContiguous : StrideClass::kStrided, x);
    }
    if (order == Order::kRow) b.store(reduced[0].dtype(), StrideClass::kBroadcast, reduced[0]);
    return b.finish();
  }

  Box box(const Kernel& kernel) {
    Box box = box1(1 + pick(70));
    if (kernel.order == Order::kRow && pick(4) == 0) box.count[0] = 4000 + pick(9000);
    box.rank = kernel.order == Order::kMap ? 1 + pick(4) : 2 + pick(2);
    for (int axis = 1; axis < box.rank; ++axis) box.count[axis] = 1 + pick(4);
    if (kernel.order == Order::kColumn) box.count[1] = 1 + pick(400);
    for (int axis = 0; axis < box.rank; ++axis) box.begin[axis] = pick(3);
    if (kernel.order != Order::kMap) box.begin[0] = 0;
    return box;
  }

 private:
  int pick(int count) { return static_cast<int>(random_() % static_cast<std::uint64_t>(count)); }
  ScalarType any_dtype() {
    return pick(2) ? kFloat : all_dtypes()[static_cast<std::size_t>(pick(10))];
  }
  static bool is_half(ScalarType dtype) { return dtype == kHalf || dtype == kBFloat16; }
  StrideClass any_class() { return static_cast<StrideClass>(pick(5) < 3 ? 0 : 1 + pick(2)); }
  Expr any() { return values_[static_cast<std::size_t>(pick(static_cast<int>(values_.size())))]; }
  Expr any(ScalarType dtype) {
    for (int tries = 0; tries < 6; ++tries) {
      const Expr x = any();
      if (x.dtype() == dtype) return x;
    }
    return convert(any(), dtype);
  }

  void leaves(const std::vector<int>& sources) {
    for (const int source : sources) values_.push_back(builder_->load(source));
    const ScalarType dtype = any_dtype();
    values_.push_back(builder_->constant_bits(
        dtype, special_bits(dtype, random_) & (dtype == kBool ? 1 : ~0ull)));
    values_.push_back(builder_->param(any_dtype()));
    values_.push_back(builder_->index(pick(3)));
  }

  void grow(int instructions) {
    for (int i = 0; i < instructions; ++i) values_.push_back(one());
  }

  Expr one() {
    Builder& b = *builder_;
    const Expr x = any();
    const ScalarType t = x.dtype();
    const Expr y = any(t);
    const bool is_float = is_floating(t);
    if (is_half(t)) return pick(2) ? select(any(kBool), x, y) : convert(x, any_dtype());
    switch (pick(12)) {
      case 0:
        return b.emit(static_cast<Prim>(static_cast<int>(Prim::kEq) + pick(6)), kBool, x, y);
      case 1:
        return select(any(kBool), x, y);
      case 2:
        return convert(x, any_dtype());
      case 3:
        return b.emit(pick(2) ? Prim::kMax : Prim::kMin, t, x, y);
      case 4:
        // The bits of a NaN are nobody's promise.
        if (t == kFloat) return bitcast(select(eq(x, x), x, b.constant(t, 1.0)), kInt);
        if (t == kDouble) return bitcast(select(eq(x, x), x, b.constant(t, 1.0)), kLong);
        return b.emit(pick(2) ? Prim::kXor : Prim::kAnd, t, x, y);
      case 5:
        return is_float ? fma(x, y, any(t)) : b.emit(Prim::kNot, t, x);
      case 6:
        return is_float ? fma(x, x, y) : b.emit(Prim::kOr, t, x, y);
      case 7:
        if (is_float)
          return b.emit(static_cast<Prim>(static_cast<int>(Prim::kFloor) + pick(4)), t, x);
        if (t == kBool) return x;
        return b.emit(static_cast<Prim>(static_cast<int>(Prim::kShiftLeft) + pick(3)), t, x, y);
      case 8:
        if (is_float)
          return if_any(
              lt(x, y), y, [](Expr s) { return s * s + s; }, x);
        return t == kBool ? x : b.emit(Prim::kDiv, t, x, y);
      default:
        if (t == kBool) return ne(x, y);
        return b.emit(static_cast<Prim>(static_cast<int>(Prim::kAdd) + pick(3)), t, x, y);
    }
  }

  Random random_;
  Builder* builder_ = nullptr;
  std::vector<Expr> values_;
};

TEST(RandomKernels, AgreeWithTheInterpreter) {
  const char* chosen = std::getenv("GROOVE_TEST_SEED");
  const std::uint64_t first = chosen ? std::strtoull(chosen, nullptr, 10) : 1;
  const char* wanted = std::getenv("GROOVE_TEST_COUNT");
  const std::uint64_t count = wanted ? std::strtoull(wanted, nullptr, 10) : chosen ? 1 : 250;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE("GROOVE_TEST_SEED=" + std::to_string(seed));
    Generator generator(seed);
    const Kernel kernel = generator.make(4 + static_cast<int>(seed % 40));
    for (int round = 0; round < 3; ++round) {
      expect_same(kernel, generator.box(kernel),
                  {.seed = seed * 10 + static_cast<unsigned>(round)});
    }
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(Functions, MatchTheInterpreter) {
  Expr (*const functions[])(Expr) = {exp, log, rsqrt, tanh, sigmoid, sin, cos};
  for (const ScalarType dtype : {kFloat, kDouble}) {
    for (const auto function : functions) {
      Builder b;
      const Expr x = b.load(dtype, StrideClass::kContiguous);
      b.store(dtype, StrideClass::kContiguous, function(x));
      const Kernel kernel = b.finish();
      for (const std::int64_t n : {1, 16, 33, 5000}) {
        expect_same(kernel, box1(n), {.seed = static_cast<std::uint64_t>(n)});
      }
    }
    Builder b;
    const Expr x = b.load(dtype, StrideClass::kContiguous);
    b.store(dtype, StrideClass::kContiguous, pow(x, b.load(dtype, StrideClass::kStrided)));
    expect_same(b.finish(), box1(5000));
  }
}

TEST(Functions, Philox) {
  Builder b;
  const Expr word = philox_word(b.param(kLong), b.param(kLong), b.index(0));
  b.store(kInt, StrideClass::kContiguous, word);
  b.store(kFloat, StrideClass::kContiguous, uniform_f32(word));
  expect_same(b.finish(), box1(1000));
}

}  // namespace
}  // namespace groove::kernels::testing
