// Answers that LibTorch 2.15 gives: functions spelled with several ops, and the corners of others
// (NaN, nothing, ties, zeros), whose meaning no formula tells.
#include <gtest/gtest.h>

#include <cmath>

#include "groove/groove.h"

namespace groove {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

Tensor numbers(const std::vector<double>& values, ScalarType dtype = kDouble) {
  const Tensor result = empty({static_cast<std::int64_t>(values.size())}, kDouble);
  for (std::size_t i = 0; i < values.size(); ++i) result.data_ptr<double>()[i] = values[i];
  return result.to(dtype);
}
Tensor waves(IntArrayRef sizes, double phase = 1.3) {
  const Tensor result = empty(sizes, kDouble);
  for (std::int64_t i = 0; i < result.numel(); ++i)
    result.data_ptr<double>()[i] = std::sin(static_cast<double>(i) * 0.37 * 7 + phase);
  return result;
}
std::vector<double> listed(const Tensor& tensor) {
  const Tensor dense = tensor.to(kDouble).contiguous();
  return {dense.data_ptr<double>(), dense.data_ptr<double>() + dense.numel()};
}
// The first elements, within a few roundings.
void expect(const char* what, const Tensor& actual, const std::vector<double>& expected) {
  const std::vector<double> values = listed(actual);
  ASSERT_GE(values.size(), expected.size()) << what;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (std::isnan(expected[i])) {
      EXPECT_TRUE(std::isnan(values[i])) << what << " " << i << " is " << values[i];
    } else if (std::isinf(expected[i]) || expected[i] == 0) {
      EXPECT_EQ(values[i], expected[i]) << what << " " << i;
    } else {
      const double tolerance = actual.scalar_type() == kDouble ? 1e-12 : 1e-6;
      EXPECT_NEAR(values[i] / expected[i], 1, tolerance) << what << " " << i;
    }
  }
}
Tensor slope(const Tensor& x, const std::function<Tensor(const Tensor&)>& function) {
  const Tensor leaf = x.clone().requires_grad_();
  return autograd::grad({function(leaf).sum()}, {leaf})[0];
}

// LibTorch: "value cannot be converted to type uint8_t without overflow". What is computed wraps.
TEST(KnownAnswers, NumbersThatADtypeDoesNotHold) {
  EXPECT_THROW(full({2}, 300, kByte), Error);
  EXPECT_THROW(full({2}, -256, kByte), Error);
  EXPECT_THROW(full({2}, -0.5, kByte), Error);
  EXPECT_THROW(full({2}, 1e10, kHalf), Error);
  EXPECT_THROW(full({2}, 1e39, kFloat), Error);
  EXPECT_THROW(full({2}, kNan, kInt), Error);
  EXPECT_THROW(full({2}, 0x1p63, kLong), Error);
  EXPECT_THROW(zeros({2}, kChar).fill_(200), Error);
  EXPECT_THROW(zeros({2}, kByte).masked_fill_(ones({2}, kBool), 300), Error);
  EXPECT_THROW(zeros({2}, kByte).index_fill_(0, zeros({1}, kLong), 300), Error);
  EXPECT_THROW(zeros({2}, kByte)[0] = 300, Error);
  EXPECT_THROW(where(ones({2}, kBool), zeros({2}, kByte), 300), Error);
  EXPECT_THROW(tensor(300, kByte), Error);
  EXPECT_THROW(add(ones({2}, kByte), ones({2}, kByte), 300), Error);
  expect("wraps", full({2}, -1, kByte), {255, 255});
  expect("truncates", full({1}, 255.5, kByte), {255});
  expect("infinity", full({2}, kInf, kHalf), {kInf, kInf});
  expect("nan", full({1}, kNan, kFloat), {kNan});
  expect("truth", full({1}, 300, kBool), {1});
  expect("sum", zeros({1}, kByte) + 300, {44});
  expect("element", where(zeros({1}, kBool), zeros({1}, kHalf), 1e10), {kInf});
}

TEST(KnownAnswers, Rounding) {
  const Tensor x = numbers({kNan, kInf, -kInf, 2.5, -2.5, 3.5, 0.5, -0.5}, kFloat);
  expect("sign", sign(x), {0, 1, -1, 1, -1, 1, 1, -1});
  expect("round", round(x), {kNan, kInf, -kInf, 2, -2, 4, 0, 0});
  expect("floor", floor(x), {kNan, kInf, -kInf, 2, -3, 3, 0, -1});
  expect("ceil", ceil(x), {kNan, kInf, -kInf, 3, -2, 4, 1, 0});
  expect("trunc", trunc(x), {kNan, kInf, -kInf, 2, -2, 3, 0, 0});
  EXPECT_TRUE(std::signbit(listed(round(x))[7]));
  EXPECT_TRUE(equal(floor(numbers({3, -4}, kLong)), numbers({3, -4}, kLong)));
  expect("isfinite", isfinite(x), {0, 0, 0, 1, 1, 1, 1, 1});
  EXPECT_THROW(round(ones({1}, kBool)), Error);
}

TEST(KnownAnswers, Remainder) {
  for (const ScalarType dtype : {kFloat, kDouble}) {
    const Tensor a = numbers({5, -5, 5, -5, 5, -5, 0, 5, kInf, 1e30, 1e30}, dtype),
                 b = numbers({3, 3, -3, -3, kInf, kInf, 3, 0, 3, 3, -7}, dtype);
    std::vector<double> expected = {2, 1, -1, -2, 5, kInf, 0, kNan, kNan};
    for (const double divisor : {3.0, -7.0}) {
      const double dividend = dtype == kFloat ? static_cast<double>(1e30f) : 1e30;
      const double rest = std::fmod(dividend, divisor);
      expected.push_back(rest != 0 && divisor < 0 ? rest + divisor : rest);
    }
    expect("remainder", remainder(a, b), expected);
  }
  const Tensor far = remainder(numbers({1.7e308, 1e300, 3e250, 1.7e308}),
                               numbers({5e-324, 3e-308, 7e-300, 3e-320}));
  expect("far", far,
         {0, std::fmod(1e300, 3e-308), std::fmod(3e250, 7e-300), std::fmod(1.7e308, 3e-320)});
  expect("whole", remainder(numbers({5, -5, 5, -5}, kLong), numbers({3, 3, -3, -3}, kLong)),
         {2, 1, -1, -2});
  EXPECT_THROW(remainder(ones({2}, kLong), zeros({2}, kLong)), Error);
  EXPECT_THROW(remainder(ones({2}, kLong), 0), Error);
}

TEST(KnownAnswers, ReductionsOfNothing) {
  const Tensor none = empty({0}, kFloat), rows = empty({2, 0}, kFloat);
  expect("any", any(none), {0});
  expect("all", all(rows, 1), {1, 1});
  expect("prod", prod(rows, 1), {1, 1});
  expect("var", var(none), {kNan});
  expect("std", std(rows, 1, true), {kNan, kNan});
  expect("norm", norm(rows, 2, 1), {0, 0});
  expect("logsumexp", logsumexp(rows, 1), {-kInf, -kInf});
  expect("count_nonzero", count_nonzero(none), {0});
  EXPECT_EQ(cumsum(rows, 1).sizes(), rows.sizes());
  expect("any of NaN", any(numbers({kNan}, kFloat)), {1});
  expect("var of one", var(ones({1})), {kNan});
  expect("var of one", var(ones({1}), false), {0});
  EXPECT_EQ(prod(ones({2}, kBool)).scalar_type(), kLong);
  EXPECT_EQ(cumsum(ones({2}, kBool), 0).scalar_type(), kLong);
  EXPECT_EQ(cumsum(ones({}, kFloat), 0).dim(), 0);
  EXPECT_THROW(var(ones({2}, kLong)), Error);
  expect("logsumexp", logsumexp(numbers({kInf, 1}), 0), {kInf});
  expect("logsumexp", logsumexp(numbers({-kInf, -kInf}), 0), {-kInf});
  expect("logsumexp", logsumexp(ones({2}, kLong), 0), {1.6931471805599454});
}

TEST(KnownAnswers, SlopesWhereElementsAreZero) {
  const Tensor x = numbers({0, 0, 0, 3, -4, 0, 2, 2, -2}).reshape({3, 3});
  const auto of = [&](double p) {
    return slope(x, [p](const Tensor& t) { return norm(t, p, 1); });
  };
  expect("1", of(1), {0, 0, 0, 1, -1, 0, 1, 1, -1});
  expect("2", of(2), {0, 0, 0, 0.6, -0.8, 0});
  expect("inf", of(kInf), {0, 0, 0, 0, -1, 0, 1. / 3, 1. / 3, -1. / 3});
  expect("0.5", of(0.5), {0, 0, 0, 1 + std::sqrt(4. / 3), -1 - std::sqrt(3. / 4), 0, 3, 3, -3});
  const auto product = [](const Tensor& t) { return prod(t); };
  expect("prod", slope(numbers({0, 2, 3}), product), {6, 0, 0});
  expect("prod", slope(numbers({0, 0, 3}), product), {0, 0, 0});
  const auto products = [](const Tensor& t) { return cumprod(t, 0); };
  expect("cumprod", slope(numbers({2, 0, 3, 0, 5}), products), {1, 8, 0, 0, 0});
  // of an element that is 0, by another
  const Tensor leaf = numbers({0, 2, 3}).requires_grad_();
  const Tensor first = autograd::grad({prod(leaf)}, {leaf}, {}, std::nullopt, true)[0];
  expect("second", autograd::grad({first[1]}, {leaf})[0], {3, 0, 0});
  expect("std", slope(numbers({3, 3}), [](const Tensor& t) { return std(t); }), {0, 0});
}

TEST(KnownAnswers, Comparisons) {
  const Tensor nan = numbers({kNan}), one = numbers({1});
  EXPECT_FALSE(equal(nan, nan));
  EXPECT_FALSE(equal(zeros({2}), zeros({3})));
  EXPECT_TRUE(equal(one, one.clone()));
  EXPECT_TRUE(allclose(numbers({kInf}), numbers({kInf})));
  EXPECT_FALSE(allclose(numbers({kInf}), one));
  EXPECT_FALSE(allclose(nan, nan));
  EXPECT_TRUE(allclose(nan, nan, 1e-5, 1e-8, true));
  EXPECT_TRUE(allclose(one, one + 1e-6));
  EXPECT_FALSE(allclose(one, one + 1e-4));
  expect("xor", logical_xor(nan, numbers({0})), {1});
  expect("not", ~numbers({1}, kByte), {254});
  expect("or", numbers({1}, kByte) | 300, {45});
  EXPECT_EQ((ones({1}, kBool) & 1).scalar_type(), kLong);
  EXPECT_THROW(~one, Error);
  expect("lerp", lerp(numbers({1}), numbers({2}), 0.7), {1.7});
  expect("addmm", addmm(numbers({kNan}), ones({2, 2}, kDouble), ones({2, 2}, kDouble), 0),
         {2, 2, 2, 2});
}

TEST(KnownAnswers, Losses) {
  const Tensor target = numbers({1, 0, 1, 1}, kFloat);
  const Tensor p = numbers({0, 1, 0.5, 1e-30}, kFloat);
  const auto entropy = [&](const Tensor& t) {
    return binary_cross_entropy(t, target, {}, Reduction::None);
  };
  expect("bce", entropy(p), {100, 100, 0.6931472, 69.07755});
  expect("bce", slope(p, entropy), {-1e12, 1e12, -2, -1e12});
  EXPECT_THROW(entropy(p - 1), Error);
  const Tensor a = abs(waves({2, 3}, 0.5)) * 0.9 + 0.05, t = (waves({2, 3}, 2) + 1) / 2,
               weight = abs(waves({3}, 0.3));
  expect("bce", binary_cross_entropy(a, t, weight), {0.31068731773475344});
  expect("bce", binary_cross_entropy(a, t, {}, Reduction::Sum), {5.067852063423892});
  expect("logits", binary_cross_entropy_with_logits(a * 5, t, weight, weight * 2),
         {0.4306131427824642});
  expect("logits", binary_cross_entropy_with_logits(a * 5, t), {1.3180884448848948});
  expect("logits",
         binary_cross_entropy_with_logits(numbers({200, -200, 50}), numbers({0.25, 0.75, 1}), {},
                                          numbers({2}), Reduction::None),
         {150, 300, 3.8574996959278356e-22});
  expect("kl", kl_div(numbers({-1, -2}), numbers({0, 0.5}), Reduction::Sum), {0.6534264097200273});
}

TEST(KnownAnswers, ClassLosses) {
  const Tensor x = waves({2, 3, 2}, 0.5), target = tensor({{0, 2}, {1, -100}}),
               weight = abs(waves({3}, 0.3)), p = softmax(waves({2, 3, 2}, 2), 1);
  const auto all = [&](std::int64_t reduction) {
    return stack({cross_entropy_loss(x, target, {}, reduction).reshape(-1),
                  cross_entropy_loss(x, target, weight, reduction, -100, 0.1).reshape(-1),
                  cross_entropy_loss(x, target, {}, reduction, -100, 0.1).reshape(-1),
                  cross_entropy_loss(x, p, weight, reduction, -100, 0.2).reshape(-1),
                  nll_loss(x, target, weight, reduction).reshape(-1)});
  };
  EXPECT_EQ(cross_entropy_loss(x, target, {}, Reduction::None).sizes(), target.sizes());
  expect("none", all(Reduction::None),
         {0.45803521258988106, 0.9701036018655997,  0.9756936609385795,   0,
          0.1850726339185671,  0.6750596243364961,  0.2636210966492722,   0,
          0.541933329369934,   0.9894308522007208,  1.0012137543530908,   0,
          0.45993890927617864, 0.5416317120420441,  0.4649555746505492,   0.361772894981897,
          -0.1416799342470381, -0.5562621939194637, -0.17350579152208653, 0});
  expect("sum", all(Reduction::Sum),
         {2.40383247539406, 1.1237533549043353, 2.5325779359237455, 1.828299090950669,
          -0.8714479196885884});
  expect("mean", all(Reduction::Mean),
         {0.80127749179802, 0.8890181803714989, 0.844192645307915, 0.4570747727376672,
          -0.6894155558859529});
  EXPECT_THROW(cross_entropy_loss(x, target, ones({4}, kDouble)), Error);
  EXPECT_THROW(cross_entropy_loss(x, target.t().narrow(0, 0, 1)), Error);
}

TEST(KnownAnswers, Normalisation) {
  const Tensor x = waves({2, 3, 2}, 0.5);
  expect("var", var(x), {0.5353584246046247});
  expect("std", std(x, 1, false),
         {0.6179357181846576, 0.377947448548581, 0.5529366423317843, 0.30825005115074433});
  const auto of = [](const Tensor& t) {
    return layer_norm(t, {3, 2}, waves({3, 2}, 0.2), waves({3, 2}, 0.9));
  };
  expect("layer_norm", of(x),
         {0.8889072884777581, -0.3704118384779004, 0.5636685991078438, 1.8351385921193248});
  expect("slope",
         slope(x,
               [&](const Tensor& t) {
                 return of(t) * waves({2, 3, 2}, 3);
               }),
         {0.615414498068485, 0.3374950341509985, -0.30195063986983794, -0.8984851729849083});
  expect("addmm", addmm(waves({2}), waves({2, 3}), waves({3, 2}, 0.2), 0.5, 2),
         {1.578816400136866, -0.8128318388962587, 0.05457452021331344, -0.5698169350336033});
}

TEST(KnownAnswers, Attention) {
  expect(
      "plain",
      scaled_dot_product_attention(waves({2, 3, 4}), waves({2, 5, 4}, 0.2), waves({2, 5, 2}, 0.7)),
      {-0.34179316926535697, 0.3131741075635339, -0.06152848928508435, 0.03441782229879799});
  const Tensor q = waves({1, 3, 4}), k = waves({1, 3, 4}, 0.2), v = waves({1, 3, 2}, 0.7);
  expect("causal", scaled_dot_product_attention(q, k, v, {}, 0, true),
         {0.644217687237691, -0.14786317380431852, 0.1805886199714217, 0.28332996655641207,
          -0.643684946831533, 0.7545749557037389});
  const Tensor mask = numbers({1, 0, 1, 0, 1, 1, 1, 0, 1}).reshape({3, 3}).to(kBool);
  expect("mask", scaled_dot_product_attention(q, k, v, mask, 0, false, 0.3),
         {-0.3464914896954178, 0.4744590198619852, -0.5435359147500364, 0.833031570366544,
          -0.5684761115894494, 0.6139005028660396});
  expect("added", scaled_dot_product_attention(q, k, v, numbers({0, -1, 0.5})),
         {-0.609042321512305, 0.6510600283474755, 0.2083030619302035, 0.18761724700367582,
          -0.7975997348082782, 0.7865224917706574});
  EXPECT_THROW(scaled_dot_product_attention(q, k, v, mask, 0, true), Error);
  const Tensor blind = numbers({1, 1, 1, 0, 0, 0, 1, 0, 1}).reshape({3, 3}).to(kBool);
  const auto attend = [&](const Tensor& x) { return scaled_dot_product_attention(x, k, v, blind); };
  const Tensor rows = attend(q), slopes = slope(q, attend);
  expect("blind", rows[0][1], {0, 0});
  expect("slope", slopes[0][1], {0, 0, 0, 0});
  EXPECT_TRUE(all(isfinite(slopes)).item<bool>());
}

TEST(KnownAnswers, Cells) {
  const Tensor x = waves({2, 3}), h = waves({2, 2}, 0.1), c = waves({2, 2}, 0.9),
               w_ih = waves({8, 3}, 0.4), w_hh = waves({8, 2}, 0.6), b_ih = waves({8}, 0.8),
               b_hh = waves({8}, 1.1);
  const auto [new_h, new_c] = lstm_cell(x, {h, c}, w_ih, w_hh, b_ih, b_hh);
  expect("h", new_h,
         {-0.15063319453906066, 0.1905311759413515, -0.34973991535559734, 0.5829598385880443});
  expect("c", new_c,
         {-0.43653766569449537, 0.6518450336968957, -0.7958044163290863, 1.1826857109871118});
  const auto six = [](const Tensor& t) { return t.narrow(0, 0, 6); };
  expect("gru", gru_cell(x, h, six(w_ih), six(w_hh), six(b_ih), six(b_hh)),
         {-0.4149788055429632, 0.7855354948771718, -0.8573376917332399, 0.9747099284848503});
}

}  // namespace
}  // namespace groove
