// RMSprop, Adagrad and the schedulers against torch's results (known_answers.h).
#include <gtest/gtest.h>

#include <sstream>

#include "front_files.h"
#include "groove/autograd.h"
#include "groove/factories.h"
#include "groove/jit.h"
#include "groove/ops/creation.h"
#include "groove/ops/math.h"
#include "groove/ops/reductions.h"
#include "groove/optim.h"
#include "groove/serialize.h"
#include "known_answers.h"

namespace groove {
namespace {

void step(optim::Optimizer& optimizer, const Tensor& p) {
  optimizer.zero_grad();
  (sin(p * 3) * tensor({1., 2.}, p.scalar_type())).sum().backward();
  optimizer.step();
}

Tensor start(ScalarType dtype = kDouble) {
  return tensor({0.4, -1.2}, TensorOptions(dtype)).requires_grad_();
}

template <typename Optimizer, typename Options>
void check(const std::vector<double>& known, const Options& options) {
  const Tensor p = start();
  Optimizer optimizer({p}, options);
  for (int i = 0; i < 5; ++i) step(optimizer, p);
  for (std::int64_t i = 0; i < 2; ++i)
    EXPECT_NEAR(p[i].item<double>(), known[static_cast<std::size_t>(i)], 1e-8);

  // The same bits when it goes on from an archive after three of the steps.
  const Tensor first = start();
  Optimizer stopped({first}, options);
  for (int i = 0; i < 3; ++i) step(stopped, first);
  std::stringstream stream;
  save(stopped, stream);
  const Tensor second = first.detach().clone().requires_grad_();
  Optimizer resumed({second}, Options(0.5));
  load(resumed, stream);
  for (int i = 0; i < 2; ++i) step(resumed, second);
  EXPECT_TRUE(same_bits(p, second));
}

TEST(Rmsprop, AsTorch) {
  using optim::RMSprop;
  using optim::RMSpropOptions;
  check<RMSprop>(known::kRmsprop, RMSpropOptions(0.05));
  check<RMSprop>(
      known::kRmspropFull,
      RMSpropOptions(0.05).alpha(0.9).eps(1e-3).weight_decay(0.1).momentum(0.8).centered(true));
  check<RMSprop>(known::kRmspropMomentum, RMSpropOptions(0.05).momentum(0.8));
  check<RMSprop>(known::kRmspropCentered, RMSpropOptions(0.05).centered(true));
  EXPECT_THROW(RMSprop({start()}, RMSpropOptions(-1)), Error);
}

TEST(Adagrad, AsTorch) {
  using optim::Adagrad;
  using optim::AdagradOptions;
  check<Adagrad>(known::kAdagrad, AdagradOptions(0.1));
  check<Adagrad>(
      known::kAdagradFull,
      AdagradOptions(0.1).lr_decay(0.2).weight_decay(0.1).initial_accumulator_value(0.3).eps(1e-3));
  EXPECT_THROW(Adagrad({start()}, AdagradOptions(-1)), Error);
}

// Long enough to be found and compiled, with a rate that changes meanwhile.
template <typename Optimizer, typename Options>
void check_traced(const Options& options) {
  const auto run = [&](jit::Mode mode) {
    jit::set_mode(mode);
    const Tensor p = start(kFloat);
    Optimizer optimizer({p}, options);
    optim::StepLR rates(optimizer, 20, 0.5);
    for (int i = 0; i < 80; ++i) {
      step(optimizer, p);
      rates.step();
    }
    jit::set_mode(jit::Mode::kAuto);
    return p.detach().clone();
  };
  EXPECT_TRUE(same_bits(run(jit::Mode::kEager), run(jit::Mode::kAuto)));
}

TEST(Optimizers, TracedLoopsGiveTheBitsOfEager) {
  check_traced<optim::RMSprop>(optim::RMSpropOptions(0.05).momentum(0.8).centered(true));
  check_traced<optim::RMSprop>(optim::RMSpropOptions(0.05).weight_decay(0.1));
  check_traced<optim::Adagrad>(optim::AdagradOptions(0.1).lr_decay(0.01));
}

TEST(Schedulers, StepLr) {
  const Tensor p = start();
  optim::SGD sgd({p}, 1.0);
  optim::StepLR rates(sgd, 3, 0.1);
  std::vector<double> seen;
  for (int i = 0; i < 8; ++i) {
    rates.step();
    seen.push_back(sgd.param_groups()[0].options().get_lr());
  }
  // LibTorch's own counting: the first change comes with call step_size + 1.
  const std::vector<double> expected = {1, 1, 1, 0.1, 0.1, 0.1, 0.01, 0.01};
  for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_DOUBLE_EQ(seen[i], expected[i]);
  EXPECT_THROW(optim::StepLR(sgd, 0), Error);
}

TEST(Schedulers, ReduceOnPlateau) {
  const Tensor p = start();
  optim::SGD sgd({p}, 1.0);
  using Scheduler = optim::ReduceLROnPlateauScheduler;
  Scheduler rates(sgd, Scheduler::min, 0.5f, 1, 1e-4, Scheduler::rel, 1, {0.2f});
  const auto after = [&](float metric) {
    rates.step(metric);
    return sgd.param_groups()[0].options().get_lr();
  };
  EXPECT_EQ(after(10), 1);
  EXPECT_EQ(after(9), 1);
  EXPECT_EQ(after(9), 1);
  EXPECT_EQ(after(9), 0.5);  // two bad ones
  EXPECT_EQ(after(9), 0.5);  // cooling down
  EXPECT_EQ(after(9), 0.5);
  EXPECT_EQ(after(9), 0.25);
  for (int i = 0; i < 3; ++i) after(9);
  EXPECT_FLOAT_EQ(static_cast<float>(after(9)), 0.2f);
}

}  // namespace
}  // namespace groove
