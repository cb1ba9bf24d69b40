// Derivatives of functions: against what they are on paper, and against one another.
#include <gtest/gtest.h>

#include "groove/groove.h"
#include "tests/core/error_of.h"

namespace groove {
namespace {

namespace functional = autograd::functional;
using autograd::variable_list;

Tensor wide(IntArrayRef sizes) { return randn(sizes, kDouble); }
void expect_near(const Tensor& found, const Tensor& expected) {
  ASSERT_EQ(found.sizes(), expected.sizes());
  EXPECT_LT((found - expected).abs().max().item<double>(), 1e-12);
}

TEST(Jacobian, OfWhatIsKnown) {
  const Tensor a = wide({3, 4}), x = wide({4});
  expect_near(functional::jacobian([&](const Tensor& v) { return a.mv(v); }, x), a);
  expect_near(functional::jacobian([](const Tensor& v) { return v.sin(); }, x), x.cos().diag());
  const auto both = functional::jacobian(
      [&](const variable_list& in) {
        return variable_list{in[0].mul(in[1]), in[1].sum(), ones({2}, kDouble)};
      },
      {x, x.flip({0})});
  ASSERT_EQ(both.size(), 3u);
  expect_near(both[0][0], x.flip({0}).diag());
  expect_near(both[0][1], x.diag());
  expect_near(both[1][0], zeros({4}, kDouble));
  expect_near(both[1][1], ones({4}, kDouble));
  expect_near(both[2][1], zeros({2, 4}, kDouble));
}

TEST(Jacobian, HasTheShapesOfBoth) {
  const Tensor x = wide({2, 3});
  const Tensor found =
      functional::jacobian([](const Tensor& v) { return v.square().sum(1, true); }, x);
  ASSERT_EQ(found.sizes(), IntArrayRef({2, 1, 2, 3}));
  expect_near(found.select(1, 0).diagonal(0, 0, 1).t(), 2 * x);
  const Tensor none = functional::jacobian([](const Tensor& v) { return v.slice(0, 0, 0); }, x);
  EXPECT_EQ(none.sizes(), IntArrayRef({0, 3, 2, 3}));
}

TEST(Products, AreThoseOfTheJacobian) {
  const Tensor a = wide({3, 4}), x = wide({4}), left = wide({3}), right = wide({4});
  const functional::Function function = [&](const variable_list& in) {
    return variable_list{(a.mv(in[0].exp())).tanh()};
  };
  const Tensor jacobian = functional::jacobian(function, {x})[0][0];
  const auto [there, from_left] = functional::vjp(function, {x}, {left});
  expect_near(there[0], function({x})[0]);
  expect_near(from_left[0], jacobian.t().mv(left));
  const auto [again, from_right] = functional::jvp(function, {x}, {right});
  expect_near(again[0], there[0]);
  expect_near(from_right[0], jacobian.mv(right));
}

TEST(Hessian, OfWhatIsKnown) {
  const Tensor a = wide({4, 4}), x = wide({4}), v = wide({4});
  const auto square = [&](const Tensor& u) { return u.dot(a.mv(u)); };
  expect_near(functional::hessian(square, x), a + a.t());
  const functional::ScalarFunction function = [&](const variable_list& in) {
    return (in[0] * in[1].exp()).sum() + in[0].pow(3).sum();
  };
  const Tensor y = wide({4});
  const auto blocks = functional::hessian(function, {x, y});
  expect_near(blocks[0][0], (6 * x).diag());
  expect_near(blocks[0][1], y.exp().diag());
  expect_near(blocks[1][0], y.exp().diag());
  expect_near(blocks[1][1], (x * y.exp()).diag());
  for (const auto& [there, products] :
       {functional::hvp(function, {x, y}, {v, v}), functional::vhp(function, {x, y}, {v, v})}) {
    expect_near(there[0], function({x, y}));
    expect_near(products[0], blocks[0][0].mv(v) + blocks[0][1].mv(v));
    expect_near(products[1], blocks[1][0].mv(v) + blocks[1][1].mv(v));
  }
}

TEST(Functional, CanBeDifferentiatedAgain) {
  const Tensor x = wide({3}).requires_grad_();
  const Tensor slopes = functional::jacobian([](const Tensor& v) { return v.pow(3); }, x, true);
  slopes.sum().backward();
  expect_near(x.grad(), 6 * x.detach());
  const Tensor plain = functional::jacobian([](const Tensor& v) { return v.pow(3); }, x);
  EXPECT_FALSE(plain.requires_grad());
  EXPECT_FALSE(functional::vjp([](const variable_list& in) { return in; }, {x}, {x})
                   .first[0]
                   .requires_grad());
}

TEST(Functional, RecordsWithoutBeingToldTo) {
  const NoGradGuard no_grad;
  const Tensor x = wide({3});
  expect_near(functional::jacobian([](const Tensor& v) { return v.square(); }, x), (2 * x).diag());
}

TEST(Functional, SaysWhatIsWrong) {
  const functional::Function same = [](const variable_list& in) { return in; };
  const Tensor x = wide({3});
  EXPECT_NE(error_of([&] {
              functional::vjp(same, {x}, {wide({4})});
            }).find("vjp: vector 0 must have the shape [3]"),
            std::string::npos);
  EXPECT_THROW(functional::vjp(same, {x}), Error);
  EXPECT_THROW(functional::jvp(same, {}), Error);
  EXPECT_THROW(functional::jacobian(same, {Tensor()}), Error);
  EXPECT_THROW(functional::hessian([](const Tensor& v) { return v; }, x), Error);
  EXPECT_THROW(functional::jacobian([](const Tensor&) { return Tensor(); }, x), Error);
}

}  // namespace
}  // namespace groove
