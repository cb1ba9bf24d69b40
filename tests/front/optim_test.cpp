// Optimizers against the formulas of LibTorch, written out in doubles.
#include <gtest/gtest.h>

#include <cmath>

#include "groove/autograd.h"
#include "groove/factories.h"
#include "groove/nn.h"
#include "groove/ops/creation.h"
#include "groove/ops/math.h"
#include "groove/ops/reductions.h"
#include "groove/optim.h"

namespace groove {
namespace {

Tensor parameter(double value) { return tensor({value}, TensorOptions(kDouble)).requires_grad_(); }

// The gradient of sin(3 x) at x.
double slope(double x) { return 3 * std::cos(3 * x); }
void fill_gradient(optim::Optimizer& optimizer, const Tensor& x) {
  optimizer.zero_grad();
  sin(x * 3).sum().backward();
}

TEST(Sgd, Plain) {
  const Tensor x = parameter(0.4);
  optim::SGD sgd(std::vector<Tensor>{x}, 0.1);
  double y = 0.4;
  for (int i = 0; i < 5; ++i) {
    fill_gradient(sgd, x);
    sgd.step();
    y -= 0.1 * slope(y);
    EXPECT_NEAR(x[0].item<double>(), y, 1e-14);
  }
}

TEST(Sgd, MomentumNesterovDecay) {
  for (const bool nesterov : {false, true}) {
    const Tensor x = parameter(0.4);
    const double dampening = nesterov ? 0 : 0.2;
    optim::SGD sgd(
        {x}, optim::SGDOptions(0.1).momentum(0.9).dampening(dampening).weight_decay(0.01).nesterov(
                 nesterov));
    double y = 0.4, buffer = 0;
    for (int i = 0; i < 6; ++i) {
      fill_gradient(sgd, x);
      sgd.step();
      const double g = slope(y) + 0.01 * y;
      buffer = i == 0 ? g : 0.9 * buffer + (1 - dampening) * g;
      y -= 0.1 * (nesterov ? g + 0.9 * buffer : buffer);
      EXPECT_NEAR(x[0].item<double>(), y, 1e-13);
    }
  }
}

template <typename Optimizer, typename Options>
void check_adam(Options options, bool is_decoupled) {
  const Tensor x = parameter(0.4);
  Optimizer adam({x}, options);
  const auto [b1, b2] = options.betas();
  double y = 0.4, m = 0, v = 0, most = 0;
  for (int i = 1; i < 8; ++i) {
    fill_gradient(adam, x);
    adam.step();
    double g = slope(y);
    if (is_decoupled)
      y *= 1 - options.lr() * options.weight_decay();
    else
      g += options.weight_decay() * y;
    m = b1 * m + (1 - b1) * g;
    v = b2 * v + (1 - b2) * g * g;
    most = std::max(most, v);
    const double denominator =
        std::sqrt(options.amsgrad() ? most : v) / std::sqrt(1 - std::pow(b2, i)) + options.eps();
    y -= options.lr() / (1 - std::pow(b1, i)) * m / denominator;
    EXPECT_NEAR(x[0].template item<double>(), y, 1e-13);
  }
  auto& state = static_cast<optim::AdamParamState&>(*adam.state()[x.unsafeGetTensorImpl()]);
  EXPECT_EQ(state.step(), 7);
  EXPECT_NEAR(state.exp_avg()[0].template item<double>(), m, 1e-13);
}

TEST(Adam, AsWritten) {
  check_adam<optim::Adam>(optim::AdamOptions(0.05), false);
  check_adam<optim::Adam>(
      optim::AdamOptions(0.05).betas({0.8, 0.9}).eps(1e-6).weight_decay(0.1).amsgrad(true), false);
  check_adam<optim::AdamW>(optim::AdamWOptions(0.05), true);
}

TEST(Optimizer, LearningRateChangedByHand) {
  const Tensor x = parameter(1);
  optim::Adam adam({x}, 1e-3);
  auto& options = static_cast<optim::AdamOptions&>(adam.param_groups()[0].options());
  options.lr(0);
  fill_gradient(adam, x);
  adam.step();
  EXPECT_EQ(x[0].item<double>(), 1);
  options.lr() = 0.5;
  adam.param_groups()[0].options().set_lr(options.get_lr() * 0.5);
  EXPECT_EQ(options.lr(), 0.25);
  adam.step();
  EXPECT_NE(x[0].item<double>(), 1);
}

TEST(Optimizer, GroupsAndMissingGradients) {
  const Tensor a = parameter(1), b = parameter(1), c = parameter(1);
  std::vector<optim::OptimizerParamGroup> groups;
  groups.emplace_back(std::vector<Tensor>{a, c});
  groups.emplace_back(std::vector<Tensor>{b}, std::make_unique<optim::SGDOptions>(0.5));
  optim::SGD sgd(groups, optim::SGDOptions(0.1));
  (a * 2 + b * 2).sum().backward();
  sgd.step();
  EXPECT_DOUBLE_EQ(a[0].item<double>(), 0.8);
  EXPECT_DOUBLE_EQ(b[0].item<double>(), 0);
  EXPECT_DOUBLE_EQ(c[0].item<double>(), 1);
  EXPECT_EQ(sgd.size(), 3u);
  EXPECT_THROW(sgd.add_param_group({{a}}), Error);
  EXPECT_THROW(sgd.add_param_group({{a * 2}}), Error);
  EXPECT_THROW(optim::SGD({a}, optim::SGDOptions(-1)), Error);
}

TEST(Optimizer, ParametersOfOneGroupAtDifferentSteps) {
  const Tensor a = parameter(1), b = parameter(1);
  optim::Adam adam({a, b}, 0.1);
  (a * 2).sum().backward();
  adam.step();
  adam.zero_grad();
  (a * 2 + b * 2).sum().backward();
  adam.step();
  const auto step = [&](const Tensor& t) {
    return static_cast<optim::AdamParamState&>(*adam.state()[t.unsafeGetTensorImpl()]).step();
  };
  EXPECT_EQ(step(a), 2);
  EXPECT_EQ(step(b), 1);
  EXPECT_NEAR(b[0].item<double>(), 0.9, 1e-7);
  EXPECT_NEAR(a[0].item<double>(), 0.8, 1e-7);
}

TEST(Optimizer, Closure) {
  const Tensor x = parameter(1);
  optim::SGD sgd({x}, 0.1);
  const Tensor loss = sgd.step([&] {
    sgd.zero_grad();
    const Tensor value = (x * x).sum();
    value.backward();
    return value;
  });
  EXPECT_EQ(loss.item<double>(), 1);
  EXPECT_NEAR(x[0].item<double>(), 0.8, 1e-15);
}

TEST(Optimizer, WrittenByAUser) {
  struct SignOptions : optim::OptimizerCloneableOptions<SignOptions> {
    GROOVE_ARG(double, rate) = 0.1;
  };
  class Sign : public optim::Optimizer {
   public:
    explicit Sign(std::vector<Tensor> params)
        : Optimizer(std::move(params), std::make_unique<SignOptions>()) {}
    Tensor step(LossClosure = nullptr) override {
      const NoGradGuard no_grad;
      for (auto& group : param_groups_)
        for (auto& p : group.params())
          if (p.grad().defined())
            p.sub_(p.grad() / abs(p.grad()), static_cast<SignOptions&>(group.options()).rate());
      return {};
    }
  };
  const Tensor x = parameter(1);
  std::unique_ptr<optim::Optimizer> sign = std::make_unique<Sign>(std::vector<Tensor>{x});
  fill_gradient(*sign, x);
  sign->step();
  EXPECT_DOUBLE_EQ(x[0].item<double>(), 1.1);
}

TEST(Training, RegressionConverges) {
  struct Net : nn::Module {
    Net() {
      a = register_module("a", nn::Linear(1, 16));
      b = register_module("b", nn::Linear(16, 1));
    }
    Tensor forward(const Tensor& x) { return b(tanh(a(x))); }
    nn::Linear a{nullptr}, b{nullptr};
  };
  Net net;
  optim::Adam adam(net.parameters(), optim::AdamOptions(1e-2).betas({0.9, 0.99}));
  const Tensor x = linspace(-1, 1, 64).unsqueeze(1), y = sin(x * 3);
  double first = 0, last = 0;
  for (int i = 0; i < 400; ++i) {
    adam.zero_grad();
    const Tensor loss = nn::functional::mse_loss(net.forward(x), y);
    loss.backward();
    adam.step();
    if (i == 0) first = loss.item<double>();
    last = loss.item<double>();
  }
  EXPECT_LT(last, first / 50);
}

}  // namespace
}  // namespace groove
