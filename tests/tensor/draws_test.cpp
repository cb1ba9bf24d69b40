// Numbers of events against their distributions, and generators of a program's own.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "groove/groove.h"
#include "tests/tensor/values.h"

namespace groove {
namespace {

constexpr std::int64_t kDraws = 20'000;

double log_poisson(double rate, double k) { return k * std::log(rate) - rate - std::lgamma(k + 1); }
double log_binomial(double n, double p, double k) {
  return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) + k * std::log(p) +
         (n - k) * std::log1p(-p);
}

// Pearson's statistic over the counts that are expected at least 20 times, per degree of freedom:
// its standard deviation is sqrt(2 / degrees), and the seed is fixed.
template <typename LogChance>
void expect_distribution(const Tensor& drawn, const LogChance& log_chance) {
  const Tensor counts = drawn.to(kDouble).contiguous();
  const double* const value = counts.const_data_ptr<double>();
  const double most = counts.max().item<double>();
  double statistic = 0, rest_seen = kDraws, rest_expected = kDraws;
  int degrees = 0;
  for (double k = 0; k <= most; ++k) {
    const double expected = kDraws * std::exp(log_chance(k));
    if (expected < 20) continue;
    double seen = 0;
    for (std::int64_t i = 0; i < kDraws; ++i) seen += value[i] == k;
    statistic += (seen - expected) * (seen - expected) / expected;
    rest_seen -= seen;
    rest_expected -= expected;
    ++degrees;
  }
  ASSERT_GT(degrees, 0);
  EXPECT_LT(statistic / degrees, 1 + 4 * std::sqrt(2.0 / degrees));
  EXPECT_LT(std::fabs(rest_seen - rest_expected), 5 * std::sqrt(rest_expected + 20));
}

TEST(EventCounts, ArePoisson) {
  manual_seed(11);
  for (const double rate : {0.01, 0.9, 4.0, 9.9, 10.1, 35.0, 400.0}) {
    SCOPED_TRACE(rate);
    const Tensor drawn = poisson(full({kDraws}, rate));
    expect_distribution(drawn, [&](double k) { return log_poisson(rate, k); });
  }
  EXPECT_TRUE(equal(poisson(zeros({5})), zeros({5})));
}

TEST(EventCounts, AreBinomial) {
  manual_seed(12);
  for (const double count : {1.0, 7.0, 60.0, 1000.0}) {
    for (const double p : {0.002, 0.2, 0.5, 0.85}) {
      SCOPED_TRACE(std::to_string(count) + " trials at " + std::to_string(p));
      const Tensor drawn = binomial(full({kDraws}, count), full({}, p));
      expect_distribution(drawn, [&](double k) { return log_binomial(count, p, k); });
      EXPECT_TRUE(all(ge(drawn, 0)).item<bool>() && all(le(drawn, count)).item<bool>());
    }
  }
  EXPECT_TRUE(
      equal(binomial(full({3}, 9.0), tensor({0.0f, 1.0f, 0.0f})), tensor({0.0f, 9.0f, 0.0f})));
}

TEST(EventCounts, RefuseWhatIsNoChance) {
  EXPECT_THROW(poisson(tensor({1.0f, -1.0f})), Error);
  EXPECT_THROW(poisson(tensor({1, 2})), Error);
  EXPECT_THROW(binomial(tensor({3.0f}), tensor({1.5f})), Error);
  EXPECT_THROW(binomial(tensor({-3.0f}), tensor({0.5f})), Error);
  EXPECT_THROW(binomial(tensor({3.0f}), tensor({0.5}, kDouble)), Error);
}

// What every function that takes one gives, as one list.
std::vector<Tensor> all_draws(const std::optional<Generator>& generator) {
  std::vector<Tensor> drawn = {
      rand({3, 2}, generator),
      randn({5}, generator, kDouble),
      randint(7, {4}, generator),
      randint(-3, 3, {4}, generator, kInt),
      randperm(9, generator),
      normal(1.0, 2.0, {3}, generator),
      normal(zeros({3}), ones({3}), generator),
      bernoulli(full({20}, 0.5), generator),
      full({20}, 0.0).bernoulli(0.5, generator),
      multinomial(ones({2, 6}), 4, true, generator),
      poisson(full({6}, 12.0), generator),
      binomial(full({6}, 12.0), full({6}, 0.4), generator),
  };
  for (auto draw : {0, 1, 2, 3, 4, 5, 6, 7}) {
    const Tensor x = zeros({6});
    switch (draw) {
      case 0:
        x.uniform_(-1, 1, generator);
        break;
      case 1:
        x.normal_(0, 1, generator);
        break;
      case 2:
        x.random_(100, generator);
        break;
      case 3:
        x.random_(5, std::nullopt, generator);
        break;
      case 4:
        x.bernoulli_(0.3, generator);
        break;
      case 5:
        x.exponential_(2, generator);
        break;
      case 6:
        x.cauchy_(0, 1, generator);
        break;
      default:
        x.geometric_(0.3, generator);
    }
    drawn.push_back(x);
  }
  return drawn;
}

void expect_same(const std::vector<Tensor>& one, const std::vector<Tensor>& other) {
  ASSERT_EQ(one.size(), other.size());
  for (std::size_t i = 0; i < one.size(); ++i) EXPECT_TRUE(equal(one[i], other[i])) << i;
}

TEST(Generator, ItsSeedDecidesAlone) {
  manual_seed(1);
  const std::vector<Tensor> first = all_draws(Generator(42));
  manual_seed(2);
  const RandomState before = get_random_state();
  rand({5});
  const std::vector<Tensor> again = all_draws(Generator(42));
  expect_same(first, again);
  EXPECT_EQ(get_random_state().draws, before.draws + 1) << "the process's state does not move";
  EXPECT_FALSE(equal(first[0], all_draws(Generator(43))[0]));
  // The numbers are those that the process draws after that seed.
  manual_seed(42);
  expect_same(first, all_draws(std::nullopt));
  manual_seed(42);
  expect_same(first, all_draws(Generator::of_process()));
}

TEST(Generator, CopiesShareAndClonesDoNot) {
  const Generator one(5);
  const Generator copy = one, clone = one.clone();
  const Tensor first = rand({4}, one);
  EXPECT_TRUE(equal(first, rand({4}, clone)));
  EXPECT_FALSE(equal(first, rand({4}, copy)));
  EXPECT_TRUE(one == copy);
  EXPECT_FALSE(one == clone);
  one.set_current_seed(5);
  EXPECT_TRUE(equal(first, rand({4}, copy)));
  EXPECT_EQ(copy.current_seed(), 5u);
  const std::uint64_t fresh = one.seed();
  EXPECT_EQ(one.current_seed(), fresh);
}

TEST(Generator, StateIsBytes) {
  const Generator one(5);
  rand({4}, one);
  const Tensor state = one.get_state();
  const Tensor next = rand({4}, one);
  one.set_state(state);
  EXPECT_TRUE(equal(next, rand({4}, one)));
  EXPECT_THROW(one.set_state(zeros({3}, kByte)), Error);
  EXPECT_THROW(one.set_state(zeros({16})), Error);
  EXPECT_THROW(Generator().current_seed(), Error);
  EXPECT_FALSE(Generator().defined());
}

}  // namespace
}  // namespace groove
