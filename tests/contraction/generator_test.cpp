// Generated contractions against the reference, bit for bit, for both instruction sets.
#include "kernels/contraction/generator.h"

#include <thread>

#include "kernels/contraction/reference.h"
#include "tests/contraction/problem.h"

namespace groove::kernels::testing {
namespace {

class Generated : public ::testing::TestWithParam<Isa> {
 protected:
  void SetUp() override {
    if (!has_isa(GetParam())) GTEST_SKIP() << "this CPU lacks AVX-512; its code is not tested here";
  }

  template <typename T>
  void check(const Problem<T>& p, OrderClass order, bool is_exact,
             std::initializer_list<int> parts) {
    NoBackend none;
    const auto expected = run(*make_reference_contraction(p.contraction(order), none), p);
    const auto callable = make_asmjit_contraction(p.contraction(order, is_exact), GetParam());
    for (int count : parts) {
      ASSERT_TRUE(same(*expected, *run(*callable, p, count)))
          << p.describe() << "; parts " << count << ", " << sizeof(T) << " bytes";
    }
  }

  template <typename T>
  void check_random(const std::vector<std::int64_t>& sizes, const std::vector<std::int64_t>& depths,
                    int rounds, unsigned seed) {
    std::mt19937 random(seed);
    auto pick = [&](const std::vector<std::int64_t>& from) { return from[random() % from.size()]; };
    for (int round = 0; round < rounds && !HasFatalFailure(); ++round) {
      const Sizes s{random() % 4 ? 1 : 3, pick(sizes), pick(sizes), pick(depths)};
      const auto layout = [&] { return static_cast<Layout>(random() % 3); };
      const Layout a = layout(), b = layout();
      const Problem<T> p(s, a, b, random, random() % 3 ? Values::kSmall : Values::kSpecial,
                         random() % 2);
      check(p, order_class(s.m, s.n, s.k), random() % 2, {1, 2, 3, 7});
    }
  }
};

const std::vector<std::int64_t> kSizes = {0, 1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 100};

TEST_P(Generated, SmallSizes) {
  check_random<float>(kSizes, kSizes, 1500, 1);
  check_random<double>(kSizes, kSizes, 800, 2);
}

TEST_P(Generated, ChunksOfK) {
  const std::vector<std::int64_t> depths = {255, 256, 257, 512, 513, 1000};
  check_random<float>(kSizes, depths, 400, 3);
  check_random<double>(kSizes, depths, 200, 4);
}

TEST_P(Generated, LongRows) {
  check_random<float>({1, 3, 7}, {4095, 4096, 4097, 9000, 20000}, 40, 5);
  check_random<double>({1, 3, 7}, {4095, 4096, 4097, 9000, 20000}, 40, 6);
}

TEST_P(Generated, EveryTileHeightAndWidth) {
  std::mt19937 random(7);
  for (std::int64_t m = 1; m <= 33; ++m) {
    for (std::int64_t n : {8, 12, 16, 24, 32, 40, 48, 56, 64, 72, 80, 96, 112, 128, 135}) {
      const Layout a = m % 2 ? Layout::kRowMajor : Layout::kColumnMajor;
      const Problem<float> p({1, m, n, 11}, a, Layout::kRowMajor, random);
      check(p, OrderClass::kChain, false, {1});
      const Problem<double> q({1, m, n / 2, 11}, a, Layout::kRowMajor, random);
      check(q, OrderClass::kChain, false, {1});
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(Generated, LargeAndAliased) {
  std::mt19937 random(8);
  for (const Sizes& s : {Sizes{1, 70, 300, 1024},
                         {1, 128, 512, 512},
                         {1, 64, 128, 784},
                         {1, 300, 20, 1024},
                         {1, 20, 1024, 300},
                         {1, 100, 1, 500},
                         {1, 1300, 40, 1024},
                         {1, 5, 1500, 700},
                         {1, 1500, 3, 700}}) {
    for (Layout a : {Layout::kRowMajor, Layout::kColumnMajor}) {
      for (Layout b : {Layout::kRowMajor, Layout::kColumnMajor}) {
        const Problem<float> p(s, a, b, random);
        check(p, OrderClass::kChain, true, {1, 2});
      }
    }
  }
}

// One to four rows on one side, what they are multiplied by contiguous along k.
TEST_P(Generated, FewRows) {
  std::mt19937 random(12);
  for (std::int64_t few = 1; few <= 5; ++few) {
    for (const std::int64_t many : {8, 9, 15, 16, 24, 31, 40, 129}) {
      for (const std::int64_t k : {64, 79, 80, 256, 271, 600}) {
        const Problem<float> p({1, few, many, k}, Layout::kRowMajor, Layout::kColumnMajor, random);
        check(p, OrderClass::kChain, many % 2 == 0, {1, 2});
        const Problem<double> q({2, many, few, k}, Layout::kRowMajor, Layout::kColumnMajor, random);
        check(q, OrderClass::kChain, many % 2 == 0, {1, 2});
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(Generated, ResultMayBeStrided) {
  std::mt19937 random(9);
  for (const Sizes& s : {Sizes{2, 40, 30, 20}, {1, 3, 100, 300}, {1, 5, 5, 40}}) {
    Problem<float> p(s, Layout::kRowMajor, Layout::kColumnMajor, random);
    p.c_strides[0] = s.m;
    p.c_strides[1] = 1;
    check(p, order_class(s.m, s.n, s.k), false, {1, 2, 3});
  }
}

TEST_P(Generated, OperandsMayBeBroadcast) {
  std::mt19937 random(10);
  Problem<float> p({3, 17, 33, 20}, Layout::kRowMajor, Layout::kRowMajor, random);
  p.shape.a_row = 0;
  p.shape.b_batch = 0;
  check(p, OrderClass::kChain, false, {1, 2});
  p.shape.b_row = 0;
  p.shape.a_col = 0;
  check(p, OrderClass::kChain, false, {1, 2});
}

// Tile kernels are generated by whoever needs them first.
TEST_P(Generated, PartsMayRunAtOnce) {
  std::mt19937 random(11);
  NoBackend none;
  for (std::int64_t n : {37, 150, 290}) {
    const Problem<double> p({1, 61, n, 77}, Layout::kColumnMajor, Layout::kColumnMajor, random);
    const Contraction contraction = p.contraction(OrderClass::kChain);
    const auto expected = run(*make_reference_contraction(contraction, none), p);
    const auto callable = make_asmjit_contraction(contraction, GetParam());
    Guarded<double> c(p.c_count());
    void* pointers[] = {c.data()};
    const ContractionLaunch launch{p.shape,  p.a->data(),  p.b->data(),
                                   pointers, &p.c_strides, nullptr};
    std::vector<std::thread> threads;
    const int parts = 4;
    for (int part = 0; part < parts; ++part) {
      threads.emplace_back([&, part] {
        Guarded<char> scratch((callable->scratch_bytes(launch, parts) + 63) / 64 * 64);
        callable->run(launch, part, parts, scratch.data());
      });
    }
    for (std::thread& thread : threads) thread.join();
    ASSERT_TRUE(same(*expected, c)) << p.describe();
  }
}

INSTANTIATE_TEST_SUITE_P(Isa, Generated, ::testing::Values(Isa::kAvx2, Isa::kAvx512),
                         [](const auto& info) {
                           return info.param == Isa::kAvx2 ? "Avx2" : "Avx512";
                         });

}  // namespace
}  // namespace groove::kernels::testing
