// The reference contraction against a naive one, written here from numerics.md §3 and §4 one
// output element at a time.
#include "kernels/contraction/reference.h"

#include "tests/contraction/problem.h"

namespace groove::kernels::testing {
namespace {

template <typename T>
T naive_chain(const Problem<T>& p, std::int64_t batch, std::int64_t i, std::int64_t j) {
  const ContractionShape& s = p.shape;
  T total = 0;
  for (std::int64_t k = 0; k < s.k;) {
    T chain = 0;
    const bool is_first = k == 0;
    do {
      const T a = p.a->data()[batch * s.a_batch + i * s.a_row + k * s.a_col];
      const T b = p.b->data()[batch * s.b_batch + k * s.b_row + j * s.b_col];
      if constexpr (std::is_floating_point_v<T>) {
        chain = std::fma(a, b, chain);
      } else {
        chain = static_cast<T>(static_cast<std::uint64_t>(chain) +
                               static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
      }
      ++k;
    } while (k < s.k && k % 256 != 0);
    total = is_first ? chain
                     : static_cast<T>(std::is_integral_v<T> ? static_cast<std::uint64_t>(total) +
                                                                  static_cast<std::uint64_t>(chain)
                                                            : total + chain);
  }
  return total;
}

// Pairwise by index, level by level, an odd one carried up.
template <typename T>
T pairwise(std::vector<T> values) {
  while (values.size() > 1) {
    std::vector<T> next;
    for (std::size_t i = 0; i + 1 < values.size(); i += 2)
      next.push_back(values[i] + values[i + 1]);
    if (values.size() % 2) next.push_back(values.back());
    values = next;
  }
  return values[0];
}

template <typename T>
T naive_dot(const Problem<T>& p, std::int64_t i, std::int64_t j) {
  const ContractionShape& s = p.shape;
  if (s.k == 0) return 0;
  std::vector<T> chunks;
  for (std::int64_t begin = 0; begin < s.k; begin += 4096) {
    std::vector<T> lanes(32, T(-0.0));
    for (std::int64_t k = begin; k < std::min<std::int64_t>(s.k, begin + 4096); ++k) {
      lanes[k % 32] = std::fma(p.a->data()[i * s.a_row + k * s.a_col],
                               p.b->data()[k * s.b_row + j * s.b_col], lanes[k % 32]);
    }
    for (int half : {16, 8, 4, 2, 1}) {
      for (int lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
    }
    chunks.push_back(lanes[0]);
  }
  return pairwise(chunks);
}

template <typename T>
void check(Sizes sizes, Layout a, Layout b, OrderClass order, Values values, std::mt19937& random) {
  NoBackend none;
  const Problem<T> p(sizes, a, b, random, values, random() % 2);
  const auto callable = make_reference_contraction(p.contraction(order), none);
  for (int parts : {1, 2, 3}) {
    const auto c = run(*callable, p, parts);
    for (std::int64_t batch = 0; batch < sizes.batch; ++batch) {
      for (std::int64_t i = 0; i < sizes.m; ++i) {
        for (std::int64_t j = 0; j < sizes.n; ++j) {
          const T expected = [&] {
            if constexpr (std::is_floating_point_v<T>) {
              if (order == OrderClass::kDot) return naive_dot(p, i, j);
            }
            return naive_chain(p, batch, i, j);
          }();
          const T actual =
              c->data()[batch * p.c_strides[2] + i * p.c_strides[1] + j * p.c_strides[0]];
          ASSERT_TRUE(same_bits(expected, actual))
              << p.describe() << " at " << i << ", " << j << ": " << +expected << ", " << +actual;
        }
      }
    }
  }
}

const Layout kLayouts[] = {Layout::kRowMajor, Layout::kColumnMajor, Layout::kStrided};

template <typename T>
void check_layouts(Sizes sizes, OrderClass order, std::mt19937& random) {
  for (Layout a : kLayouts) {
    for (Layout b : kLayouts) {
      for (Values values : {Values::kSmall, Values::kSpecial}) {
        check<T>(sizes, a, b, order, values, random);
        if (::testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

TEST(Reference, ChainEqualsNaive) {
  std::mt19937 random(1);
  for (const Sizes& s : {Sizes{1, 8, 3, 5},
                         {2, 3, 70, 300},
                         {1, 9, 64, 256},
                         {1, 2, 17, 513},
                         {3, 1, 8, 1},
                         {1, 8, 1, 257},
                         {1, 9, 9, 0}}) {
    check_layouts<float>(s, OrderClass::kChain, random);
    check_layouts<double>(s, OrderClass::kChain, random);
  }
}

TEST(Reference, DotEqualsNaive) {
  std::mt19937 random(2);
  for (const Sizes& s : {Sizes{1, 1, 1, 1},
                         {1, 7, 7, 31},
                         {1, 2, 3, 32},
                         {1, 1, 2, 100},
                         {1, 1, 1, 4097},
                         {1, 2, 1, 20000},
                         {1, 3, 3, 0}}) {
    check_layouts<float>(s, OrderClass::kDot, random);
    check_layouts<double>(s, OrderClass::kDot, random);
  }
}

TEST(Reference, IntegersWrap) {
  std::mt19937 random(3);
  for (const Sizes& s : {Sizes{1, 3, 5, 7}, {2, 9, 65, 300}, {1, 4, 4, 0}}) {
    check_layouts<std::int32_t>(s, OrderClass::kChain, random);
    check_layouts<std::int64_t>(s, OrderClass::kChain, random);
    check_layouts<std::uint8_t>(s, OrderClass::kChain, random);
  }
}

TEST(Reference, OrderClassIsDotOnlyWhenBothAreSmall) {
  EXPECT_EQ(order_class(7, 7, 1000), OrderClass::kDot);
  EXPECT_EQ(order_class(8, 7, 1000), OrderClass::kChain);
  EXPECT_EQ(order_class(1, 8, 1000), OrderClass::kChain);
}

TEST(Reference, HashSeesEveryField) {
  std::mt19937 random(4);
  const Problem<float> p({1, 8, 9, 10}, Layout::kRowMajor, Layout::kRowMajor, random);
  const Contraction c = p.contraction(OrderClass::kChain, true);
  Contraction other = c;
  EXPECT_EQ(hash(c), hash(other));
  other.shape.m = 9;
  EXPECT_NE(hash(c), hash(other));
  other = c;
  other.b = Layout::kColumnMajor;
  EXPECT_NE(hash(c), hash(other));
  other = c;
  other.order = OrderClass::kDot;
  EXPECT_NE(hash(c), hash(other));
}

}  // namespace
}  // namespace groove::kernels::testing
