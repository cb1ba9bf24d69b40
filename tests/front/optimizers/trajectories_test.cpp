// The optimizers that Python's torch has beside LibTorch's: trajectories against torch's, archives,
// and options that cannot be right.
#include <gtest/gtest.h>

#include <sstream>

#include "groove/autograd.h"
#include "groove/factories.h"
#include "groove/ops/creation.h"
#include "groove/ops/math.h"
#include "groove/ops/reductions.h"
#include "groove/optim.h"
#include "groove/serialize.h"
#include "known.h"
#include "tests/front/front_files.h"

namespace groove {
namespace {

Tensor start(ScalarType dtype = kDouble) {
  return tensor({0.4, -1.2, 0.7, 1.1, -0.3, 0.05}, TensorOptions(dtype))
      .reshape({2, 3})
      .detach()
      .requires_grad_();
}

void step(optim::Optimizer& optimizer, const Tensor& p) {
  optimizer.zero_grad();
  const Tensor weights = tensor({1., 2., -0.5, 0.25, -1., 3.}, p.scalar_type()).reshape({2, 3});
  (sin(p * 3) * weights).sum().backward();
  optimizer.step();
}

void note(std::vector<double>& values, const Tensor& t) {
  const Tensor flat = t.detach().reshape({-1});
  for (std::int64_t i = 0; i < flat.size(0); ++i) values.push_back(flat[i].item<double>());
}

template <typename Optimizer, typename Options>
void check(const std::string& name, const Options& options) {
  const Tensor p = start();
  Optimizer optimizer({p}, options);
  std::vector<double> values;
  int done = 0;
  for (const int until : {1, 2, 5, 7, 10, 20}) {
    for (; done < until; ++done) step(optimizer, p);
    note(values, p);
  }
  known::expect_close(name, values, known::numbers("known_trajectories.txt", name), 1e-11);

  // The same bits when it goes on from an archive, whatever options it was made with.
  const Tensor first = start(kFloat), whole = start(kFloat);
  Optimizer stopped({first}, options), unstopped({whole}, options);
  for (int i = 0; i < 9; ++i) step(unstopped, whole);
  for (int i = 0; i < 4; ++i) step(stopped, first);
  std::stringstream stream;
  save(stopped, stream);
  const Tensor second = first.detach().clone().requires_grad_();
  Optimizer resumed({second}, Options(0.5));
  load(resumed, stream);
  EXPECT_TRUE(static_cast<const Options&>(resumed.param_groups()[0].options()) == options) << name;
  for (int i = 0; i < 5; ++i) step(resumed, second);
  EXPECT_TRUE(same_bits(whole, second)) << name;
}

TEST(NAdam, AsTorch) {
  using optim::NAdam;
  using optim::NAdamOptions;
  check<NAdam>("NAdam", NAdamOptions(0.05));
  check<NAdam>("NAdamDecay", NAdamOptions(0.05)
                                 .betas({0.8, 0.95})
                                 .eps(1e-3)
                                 .weight_decay(0.1)
                                 .momentum_decay(0.02)
                                 .maximize(true));
  check<NAdam>("NAdamDecoupled", NAdamOptions(0.05).weight_decay(0.1).decoupled_weight_decay(true));
}

TEST(RAdam, AsTorch) {
  using optim::RAdam;
  using optim::RAdamOptions;
  check<RAdam>("RAdam", RAdamOptions(0.05));
  check<RAdam>("RAdamDecay",
               RAdamOptions(0.05).betas({0.8, 0.95}).eps(1e-3).weight_decay(0.1).maximize(true));
  check<RAdam>("RAdamDecoupled", RAdamOptions(0.05).weight_decay(0.1).decoupled_weight_decay(true));
}

TEST(Adamax, AsTorch) {
  using optim::Adamax;
  using optim::AdamaxOptions;
  check<Adamax>("Adamax", AdamaxOptions(0.05));
  check<Adamax>("AdamaxDecay",
                AdamaxOptions(0.05).betas({0.8, 0.95}).eps(1e-3).weight_decay(0.1).maximize(true));
}

TEST(Adadelta, AsTorch) {
  using optim::Adadelta;
  using optim::AdadeltaOptions;
  check<Adadelta>("Adadelta", AdadeltaOptions());
  check<Adadelta>("AdadeltaDecay",
                  AdadeltaOptions(0.5).rho(0.8).eps(1e-3).weight_decay(0.1).maximize(true));
}

TEST(Asgd, AsTorch) {
  using optim::ASGD;
  using optim::ASGDOptions;
  const ASGDOptions decay =
      ASGDOptions(0.05).lambd(0.02).alpha(0.6).t0(6).weight_decay(0.1).maximize(true);
  check<ASGD>("ASGD", ASGDOptions(0.05));
  check<ASGD>("ASGDDecay", decay);

  const Tensor p = start();
  ASGD optimizer({p}, decay);
  for (int i = 0; i < 20; ++i) step(optimizer, p);
  std::vector<double> values;
  note(values,
       static_cast<optim::ASGDParamState&>(*optimizer.state()[p.unsafeGetTensorImpl()]).ax());
  known::expect_close("ax", values, known::numbers("known_trajectories.txt", "ASGDAverage"), 1e-12);
}

TEST(Rprop, AsTorch) {
  using optim::Rprop;
  using optim::RpropOptions;
  check<Rprop>("Rprop", RpropOptions(0.01));
  check<Rprop>("RpropRange",
               RpropOptions(0.02).etas({0.4, 1.5}).step_sizes({1e-3, 0.05}).maximize(true));
}

TEST(Lion, AsWritten) {
  using optim::Lion;
  using optim::LionOptions;
  check<Lion>("Lion", LionOptions(0.01));
  check<Lion>("LionDecay", LionOptions(0.02).betas({0.8, 0.95}).weight_decay(0.1).maximize(true));
}

TEST(Muon, AsTorch) {
  using optim::Muon;
  using optim::MuonOptions;
  check<Muon>("Muon", MuonOptions(0.02));
  check<Muon>(
      "MuonPlain",
      MuonOptions(0.02).weight_decay(0).momentum(0.8).nesterov(false).ns_steps(3).adjust_lr_fn(
          "match_rms_adamw"));
  check<Muon>("MuonUnclamped", MuonOptions(0.02)
                                   .ns_coefficients({3, -3.2, 1.2})
                                   .eps(1e-3)
                                   .adjust_lr_fn("spectral_unclamped"));
}

// ---- options ----

template <typename Optimizer, typename Options>
void refuse(const std::string& name, const Options& options, const std::string& what) {
  const auto expect = [&](const std::string& call, const std::function<void()>& make) {
    try {
      make();
      ADD_FAILURE() << "takes what it says of: " << what;
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).find(call + ": " + what), 0u) << error.what();
    }
  };
  const Tensor p = start();
  expect(name, [&] { Optimizer({p}, options); });
  expect(name, [&] {
    std::vector<optim::OptimizerParamGroup> groups;
    groups.emplace_back(std::vector<Tensor>{p}, std::make_unique<Options>(options));
    Optimizer made(groups);
  });
  Optimizer good({p});
  expect("add_param_group", [&] {
    good.add_param_group({{start()}, std::make_unique<Options>(options)});
  });
  EXPECT_EQ(good.param_groups().size(), 1u);
}

TEST(Optimizers, RefuseOptionsByName) {
  using namespace optim;
  refuse<NAdam>("NAdam", NAdamOptions(-1), "lr is -1");
  refuse<NAdam>("NAdam", NAdamOptions().momentum_decay(-0.5), "momentum_decay is -0.5");
  refuse<NAdam>("NAdam", NAdamOptions().betas({0.5, 1}), "betas are (0.5, 1)");
  refuse<RAdam>("RAdam", RAdamOptions().eps(-2), "eps is -2");
  refuse<RAdam>("RAdam", RAdamOptions().betas({-0.1, 0.5}), "betas are (-0.1, 0.5)");
  refuse<Adamax>("Adamax", AdamaxOptions().weight_decay(-2), "weight_decay is -2");
  refuse<Adadelta>("Adadelta", AdadeltaOptions().rho(1.5), "rho is 1.5");
  refuse<ASGD>("ASGD", ASGDOptions().lambd(-3), "lambd is -3");
  refuse<ASGD>("ASGD", ASGDOptions().alpha(std::nan("")), "alpha is nan");
  refuse<Rprop>("Rprop", RpropOptions().etas({1.5, 2}), "etas are (1.5, 2)");
  refuse<Rprop>("Rprop", RpropOptions().step_sizes({3, 2}), "step_sizes are (3, 2)");
  refuse<Lion>("Lion", LionOptions().betas({0.9, 1.5}), "betas are (0.9, 1.5)");
  refuse<Muon>("Muon", MuonOptions().momentum(-1), "momentum is -1");
  refuse<Muon>("Muon", MuonOptions().ns_steps(100), "ns_steps is 100");
  refuse<Muon>("Muon", MuonOptions().adjust_lr_fn("none"), "adjust_lr_fn is 'none'");
}

TEST(Muon, TakesMatricesOnly) {
  const Tensor bias = zeros({3}).requires_grad_();
  EXPECT_THROW(optim::Muon({bias}), Error);
  optim::Muon muon({start()});
  muon.add_param_group({{bias}});
  bias.sum().backward();
  EXPECT_THROW(muon.step(), Error);
  EXPECT_TRUE(muon.state().empty());
}

TEST(Optimizers, GroupsHaveTheirOwnOptions) {
  const Tensor a = start(), b = start(), c = start();
  std::vector<optim::OptimizerParamGroup> groups;
  groups.emplace_back(std::vector<Tensor>{a});
  groups.emplace_back(std::vector<Tensor>{b}, std::make_unique<optim::LionOptions>(0.25));
  optim::Lion lion(groups, optim::LionOptions(0.5).weight_decay(0.1));
  optim::Lion alone({c}, optim::LionOptions(0.25).weight_decay(0.1));
  (sin(a).sum() + sin(b).sum() + sin(c).sum()).backward();
  lion.step();
  alone.step();
  EXPECT_TRUE(same_bits(b, c));
  EXPECT_FALSE(same_bits(a, c));
}

// Those that wait keep their own mu_product.
TEST(NAdam, ParametersAtDifferentSteps) {
  const Tensor a = start(), b = start(), alone = start();
  optim::NAdam both({a, b}, 0.05), one({alone}, 0.05);
  for (int i = 0; i < 6; ++i) {
    both.zero_grad();
    one.zero_grad();
    Tensor loss = sin(a).sum();
    if (i >= 3) {
      loss = loss + cos(b).sum();
      cos(alone).sum().backward();
    }
    loss.backward();
    both.step();
    if (i >= 3) one.step();
  }
  EXPECT_TRUE(same_bits(b, alone));
}

}  // namespace
}  // namespace groove
