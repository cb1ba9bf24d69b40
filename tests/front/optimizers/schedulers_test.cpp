// Learning-rate schedulers against the rates of Python's torch, their archives and their errors.
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <sstream>

#include "groove/factories.h"
#include "groove/ops/creation.h"
#include "groove/optim.h"
#include "groove/serialize.h"
#include "known.h"

namespace groove {
namespace {

using namespace optim;
constexpr int kEpochs = 30;

std::vector<OptimizerParamGroup> groups_of(std::unique_ptr<OptimizerOptions> first,
                                           std::unique_ptr<OptimizerOptions> second) {
  std::vector<OptimizerParamGroup> groups;
  groups.emplace_back(std::vector<Tensor>{zeros({1}).requires_grad_()}, std::move(first));
  groups.emplace_back(std::vector<Tensor>{zeros({1}).requires_grad_()}, std::move(second));
  return groups;
}
SGD sgd() {
  return SGD(groups_of(std::make_unique<SGDOptions>(0.5), std::make_unique<SGDOptions>(0.02)),
             SGDOptions(0.1).momentum(0.9));
}
AdamW adamw() {
  return AdamW(
      groups_of(std::make_unique<AdamWOptions>(0.5), std::make_unique<AdamWOptions>(0.02)));
}

enum class Momentum { kLeft, kCycled };

// `make` gives a scheduler of the optimizer. From an archive after 11 epochs, another one goes on
// with the same rates.
template <typename Own, typename Make>
void check(const std::string& name, Own make_optimizer, Make make,
           Momentum momentum = Momentum::kLeft) {
  const auto note = [&](std::vector<double>& values, Optimizer& optimizer) {
    for (OptimizerParamGroup& group : optimizer.param_groups())
      values.push_back(group.options().get_lr());
    if (momentum == Momentum::kCycled)
      values.push_back(*optimizer.param_groups()[0].options().get_momentum());
  };
  auto optimizer = make_optimizer();
  const auto scheduler = make(optimizer);
  std::vector<double> values;
  note(values, optimizer);
  std::stringstream of_scheduler, of_optimizer;
  for (int epoch = 1; epoch <= kEpochs; ++epoch) {
    scheduler->step();
    note(values, optimizer);
    EXPECT_EQ(scheduler->get_last_lr()[0], optimizer.param_groups()[0].options().get_lr());
    EXPECT_EQ(scheduler->get_last_lr()[1], optimizer.param_groups()[1].options().get_lr());
    if (epoch == 11) {
      save(*scheduler, of_scheduler);
      save(optimizer, of_optimizer);
    }
  }
  known::expect_close(name, values, known::numbers("known_rates.txt", name), 1e-14);

  auto other = make_optimizer();
  const auto resumed = make(other);
  load(*resumed, of_scheduler);
  load(other, of_optimizer);
  std::vector<double> rest;
  for (int epoch = 12; epoch <= kEpochs; ++epoch) {
    resumed->step();
    note(rest, other);
  }
  EXPECT_EQ(rest, std::vector<double>(values.end() - static_cast<std::ptrdiff_t>(rest.size()),
                                      values.end()))
      << name;
}

template <typename Scheduler, typename... Args>
auto made(Args... args) {
  return [=](Optimizer& optimizer) { return std::make_shared<Scheduler>(optimizer, args...); };
}

TEST(Schedulers, OfFunctions) {
  check("LambdaLR", sgd,
        made<LambdaLR>(std::vector<LRLambda>{
            [](std::int64_t epoch) { return std::pow(0.95, static_cast<double>(epoch)); },
            [](std::int64_t epoch) { return 1 / (1 + static_cast<double>(epoch)); }}));
  check("MultiplicativeLR", sgd, made<MultiplicativeLR>([](std::int64_t epoch) {
          return 1 - 0.5 / (1 + static_cast<double>(epoch));
        }));
}

TEST(Schedulers, Factors) {
  check("MultiStepLR", sgd, made<MultiStepLR>(std::vector<std::int64_t>{12, 0, 7, 12, 20}, 0.3));
  check("ConstantLR", sgd, made<ConstantLR>());
  check("ConstantLRLong", sgd, made<ConstantLR>(0.7, 11));
  check("LinearLR", sgd, made<LinearLR>());
  check("LinearLRFalling", sgd, made<LinearLR>(0.9, 0.1, 13));
  check("ExponentialLR", sgd, made<ExponentialLR>(0.9));
  check("PolynomialLR", sgd, made<PolynomialLR>());
  check("PolynomialLRLong", sgd, made<PolynomialLR>(23, 1.7));
}

TEST(Schedulers, Cosines) {
  check("CosineAnnealingLR", sgd, made<CosineAnnealingLR>(8, 0.01));
  check("CosineAnnealingWarmRestarts", sgd, made<CosineAnnealingWarmRestarts>(4, 2, 0.001));
  check("CosineAnnealingSameRestarts", sgd, made<CosineAnnealingWarmRestarts>(7));
}

TEST(Schedulers, ToTheRateOfAnAverage) {
  check("SWALR", sgd, made<swa_utils::SWALR>(0.05));
  check("SWALRLinear", sgd, made<SWALR>(PerGroup{0.05, 0.06}, 4, "linear"));
  check("SWALRAtOnce", sgd, made<SWALR>(0.05, 0));
}

TEST(Schedulers, Cycles) {
  const CyclicLROptions options = CyclicLROptions(0.01, 0.1).step_size_up(4);
  check("CyclicLR", sgd, made<CyclicLR>(options), Momentum::kCycled);
  check("CyclicLRTriangular2", adamw,
        made<CyclicLR>(CyclicLROptions({0.01, 0.02}, {0.1, 0.3})
                           .step_size_up(3)
                           .step_size_down(5)
                           .mode("triangular2")
                           .base_momentum(0.7)
                           .max_momentum(0.95)),
        Momentum::kCycled);
  check("CyclicLRRange", sgd,
        made<CyclicLR>(CyclicLROptions(options).mode("exp_range").gamma(0.95)), Momentum::kCycled);
  check("CyclicLROwn", sgd,
        made<CyclicLR>(CyclicLROptions(options)
                           .scale_fn([](double cycle) { return 1 / (1 + cycle); })
                           .cycle_momentum(false)),
        Momentum::kCycled);
  check("OneCycleLR", sgd, made<OneCycleLR>(OneCycleLROptions(0.3).total_steps(30)),
        Momentum::kCycled);
  check("OneCycleLRThreePhase", adamw,
        made<OneCycleLR>(OneCycleLROptions({0.3, 0.2})
                             .epochs(5)
                             .steps_per_epoch(7)
                             .pct_start(0.4)
                             .anneal_strategy("linear")
                             .three_phase(true)
                             .div_factor(10)),
        Momentum::kCycled);
}

using Schedulers = std::vector<std::shared_ptr<LRScheduler>>;

TEST(Schedulers, OneAfterTheOther) {
  check("SequentialLR", sgd, [](Optimizer& o) {
    return std::make_shared<SequentialLR>(
        o, Schedulers{std::make_shared<ConstantLR>(o, 0.1, 20), made<ExponentialLR>(0.9)(o)},
        std::vector<std::int64_t>{10});
  });
  check("SequentialLRMany", sgd, [](Optimizer& o) {
    return std::make_shared<SequentialLR>(
        o,
        Schedulers{made<LinearLR>(0.2, 1, 5)(o), made<CosineAnnealingLR>(8)(o),
                   made<CosineAnnealingWarmRestarts>(3)(o), made<PolynomialLR>(6, 2)(o)},
        std::vector<std::int64_t>{5, 13, 22});
  });
  // StepLR counts as in LibTorch, where it stands alone.
  check("SequentialLRSteps", sgd, [](Optimizer& o) {
    return std::make_shared<SequentialLR>(
        o,
        Schedulers{made<StepLR>(3, 0.5)(o),
                   made<MultiStepLR>(std::vector<std::int64_t>{0, 2, 5}, 0.5)(o),
                   made<LambdaLR>(LRLambda([](std::int64_t epoch) {
                     return 1 / (1 + static_cast<double>(epoch));
                   }))(o)},
        std::vector<std::int64_t>{10, 20});
  });
}

TEST(Schedulers, Together) {
  check("ChainedScheduler", sgd, [](Optimizer& o) {
    return std::make_shared<ChainedScheduler>(
        Schedulers{made<ConstantLR>(0.1, 4)(o), made<ExponentialLR>(0.9)(o)});
  });
}

template <typename Make>
void check_plateau(const std::string& name, double sign, Make make) {
  const std::vector<double>& metrics = known::numbers("known_rates.txt", "Metrics");
  SGD optimizer = sgd(), other = sgd();
  ReduceLROnPlateau scheduler = make(optimizer), resumed = make(other);
  std::vector<double> values = scheduler.get_last_lr(), rest;
  for (std::size_t epoch = 0; epoch < metrics.size(); ++epoch) {
    scheduler.step(sign * metrics[epoch]);
    for (const double rate : scheduler.get_last_lr()) values.push_back(rate);
    if (epoch == 11) {
      std::stringstream of_scheduler, of_optimizer;
      save(scheduler, of_scheduler);
      save(optimizer, of_optimizer);
      load(resumed, of_scheduler);
      load(other, of_optimizer);
      EXPECT_EQ(resumed.get_last_lr(), scheduler.get_last_lr());
    } else if (epoch > 11) {
      resumed.step(sign * metrics[epoch]);
      EXPECT_EQ(resumed.get_last_lr(), scheduler.get_last_lr());
    }
  }
  known::expect_close(name, values, known::numbers("known_rates.txt", name), 1e-15);
}

TEST(Schedulers, OnPlateaus) {
  check_plateau("ReduceLROnPlateau", 1,
                [](Optimizer& o) { return ReduceLROnPlateau(o, "min", 0.1, 2); });
  check_plateau("ReduceLROnPlateauFull", -1, [](Optimizer& o) {
    return ReduceLROnPlateau(o, "max", 0.5, 1, 0.01, "abs", 2, {0.1, 0.001});
  });
  // The best so far of a new one is infinite.
  SGD optimizer = sgd();
  ReduceLROnPlateau fresh(optimizer), resumed(optimizer);
  std::stringstream stream;
  save(fresh, stream);
  load(resumed, stream);
  resumed.step(1e300);
}

// ---- errors ----

TEST(Schedulers, RefuseArgumentsByName) {
  const auto refuse = [](const std::string& what, const std::function<void(Optimizer&)>& make) {
    SGD optimizer = sgd();
    try {
      make(optimizer);
      ADD_FAILURE() << "takes what it says of: " << what;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(what), std::string::npos) << error.what();
    }
    EXPECT_EQ(optimizer.param_groups()[0].options().get_lr(), 0.5) << what;
    EXPECT_FALSE(optimizer.param_groups()[0].initial_lr()) << what;
  };
  refuse("LambdaLR: lr_lambda has 1 functions for 2",
         [](Optimizer& o) { LambdaLR(o, std::vector<LRLambda>{[](std::int64_t) { return 1.; }}); });
  refuse("MultiplicativeLR: lr_lambda is an empty",
         [](Optimizer& o) { MultiplicativeLR(o, LRLambda()); });
  refuse("ConstantLR: factor is 1.5", [](Optimizer& o) { ConstantLR(o, 1.5); });
  refuse("LinearLR: start_factor is 0;", [](Optimizer& o) { LinearLR(o, 0); });
  refuse("LinearLR: end_factor is -1", [](Optimizer& o) { LinearLR(o, 0.5, -1); });
  refuse("PolynomialLR: total_iters is 0", [](Optimizer& o) { PolynomialLR(o, 0); });
  refuse("CosineAnnealingLR: T_max is -2", [](Optimizer& o) { CosineAnnealingLR(o, -2); });
  refuse("CosineAnnealingWarmRestarts: T_mult is 0",
         [](Optimizer& o) { CosineAnnealingWarmRestarts(o, 3, 0); });
  refuse("CyclicLR: mode is 'round'",
         [](Optimizer& o) { CyclicLR(o, CyclicLROptions(0.1, 0.2).mode("round")); });
  refuse("CyclicLR: max_lr has 3 numbers for 2", [](Optimizer& o) {
    CyclicLR(o, CyclicLROptions(0.1, {1, 2, 3}));
  });
  refuse("OneCycleLR: set total_steps",
         [](Optimizer& o) { OneCycleLR(o, OneCycleLROptions(0.1)); });
  refuse("OneCycleLR: total_steps is 0",
         [](Optimizer& o) { OneCycleLR(o, OneCycleLROptions(0.1).total_steps(0)); });
  refuse("OneCycleLR: pct_start is 1.5",
         [](Optimizer& o) { OneCycleLR(o, OneCycleLROptions(0.1).total_steps(9).pct_start(1.5)); });
  refuse("SWALR: anneal_strategy is 'exp'", [](Optimizer& o) { SWALR(o, 0.1, 3, "exp"); });
  refuse("SequentialLR: there is no scheduler", [](Optimizer& o) { SequentialLR(o, {}, {}); });
  refuse("ReduceLROnPlateau: mode is 'mean'", [](Optimizer& o) { ReduceLROnPlateau(o, "mean"); });
  refuse("ReduceLROnPlateau: factor is 1;", [](Optimizer& o) { ReduceLROnPlateau(o, "min", 1); });
  refuse("ReduceLROnPlateau: min_lr has 1 numbers for 2", [](Optimizer& o) {
    ReduceLROnPlateau(o, "min", 0.1, 1, 0, "rel", 0, std::vector<double>{0.1});
  });

  SGD one = sgd(), two = sgd();
  const auto scheduler = std::make_shared<ExponentialLR>(one, 0.5);
  EXPECT_THROW(SequentialLR(two, {scheduler}, {}), Error);
  EXPECT_THROW(SequentialLR(one, {scheduler}, {3}), Error);
  EXPECT_THROW(ChainedScheduler({scheduler, nullptr}), Error);
  EXPECT_THROW(ChainedScheduler({}), Error);
  Adagrad adagrad({zeros({1}).requires_grad_()});
  EXPECT_THROW(CyclicLR(adagrad, CyclicLROptions(0.1, 0.2)), Error);
  EXPECT_EQ(adagrad.param_groups()[0].options().get_lr(), 1e-2);
  OneCycleLR cycle(one, OneCycleLROptions(0.1).total_steps(2));
  cycle.step();
  cycle.step();
  const std::vector<double> last = cycle.get_last_lr();
  EXPECT_THROW(cycle.step(), Error);
  EXPECT_EQ(cycle.get_last_lr(), last);
}

TEST(Schedulers, LoadAllOrNothing) {
  SGD optimizer = sgd();
  const auto constant = std::make_shared<ConstantLR>(optimizer);
  ChainedScheduler chain({constant, std::make_shared<ExponentialLR>(optimizer, 0.5)});
  serialize::OutputArchive archive;
  constant->save(archive);  // that of one alone
  std::stringstream stream;
  archive.save_to(stream);
  chain.step();
  const std::vector<double> last = chain.get_last_lr();
  EXPECT_THROW(load(chain, stream), Error);
  EXPECT_EQ(chain.get_last_lr(), last);
  EXPECT_EQ(constant->last_epoch(), 1);
}

}  // namespace
}  // namespace groove
