// Averages of weights: as Python's torch, as modules, and in traced loops; and loops with the
// optimizers that torch has beside LibTorch's, compiled with eager mode's bits.
#include <gtest/gtest.h>

#include <sstream>

#include "groove/autograd.h"
#include "groove/factories.h"
#include "groove/jit.h"
#include "groove/nn.h"
#include "groove/ops/creation.h"
#include "groove/ops/losses.h"
#include "groove/ops/math.h"
#include "groove/ops/reductions.h"
#include "groove/optim.h"
#include "groove/serialize.h"
#include "known.h"
#include "tests/front/front_files.h"

namespace groove {
namespace {

using optim::swa_utils::AveragedModel;
using optim::swa_utils::AverageFunction;
using optim::swa_utils::get_ema_avg_fn;
using optim::swa_utils::get_swa_avg_fn;

nn::Sequential network() {
  nn::Sequential net(nn::Linear(2, 2), nn::BatchNorm1d(2));
  net->to(kDouble);
  const NoGradGuard no_grad;
  double i = 0;
  for (const Tensor& p : net->parameters())
    p.copy_(arange(p.numel(), TensorOptions(kDouble)).reshape(p.sizes()) * 0.1 + i++);
  return net;
}

void note(std::vector<double>& values, const Tensor& t) {
  const Tensor flat = t.detach().to(kDouble).reshape({-1});
  for (std::int64_t i = 0; i < flat.size(0); ++i) values.push_back(flat[i].item<double>());
}

void check(const std::string& name, const AverageFunction& function, bool use_buffers) {
  nn::Sequential net = network();
  AveragedModel<nn::SequentialImpl> average(net, std::nullopt, function, use_buffers);
  for (int step = 0; step < 4; ++step) {
    net->forward(tensor({1., -2., 0.5, 3., 1. * step, 1.}, kDouble).reshape({3, 2}));
    {
      const NoGradGuard no_grad;
      for (const Tensor& p : net->parameters()) p.mul_(0.75).add_(0.1 * step);
    }
    average.update_parameters(net);
  }
  std::vector<double> values;
  note(values, average.n_averaged);
  const auto parameters = average.named_parameters();
  const auto buffers = average.named_buffers();
  for (const char* const key :
       {"module.0.weight", "module.0.bias", "module.1.weight", "module.1.bias"})
    note(values, parameters[key]);
  for (const char* const key :
       {"module.1.running_mean", "module.1.running_var", "module.1.num_batches_tracked"})
    note(values, buffers[key]);
  known::expect_close(name, values, known::numbers("known_rates.txt", name), 1e-14);

  // A file of it makes another one go on with the same bits.
  std::stringstream stream;
  save(average, stream);
  AveragedModel<nn::SequentialImpl> resumed(network(), std::nullopt, function, use_buffers);
  load(resumed, stream);
  average.update_parameters(net);
  resumed.update_parameters(net);
  EXPECT_EQ(resumed.n_averaged.item<std::int64_t>(), 5);
  for (std::size_t i = 0; i < average.parameters().size(); ++i)
    EXPECT_TRUE(same_bits(average.parameters()[i], resumed.parameters()[i]));
  for (std::size_t i = 0; i < average.buffers().size(); ++i)
    EXPECT_TRUE(same_bits(average.buffers()[i], resumed.buffers()[i]));
}

TEST(AveragedModel, AsTorch) {
  check("AverageSwa", get_swa_avg_fn(), false);
  check("AverageEma", get_ema_avg_fn(0.9), false);
  check("AverageEmaBuffers", get_ema_avg_fn(0.9), true);
}

TEST(AveragedModel, IsACopy) {
  nn::Sequential net = network();
  AveragedModel<nn::SequentialImpl> average(net);
  average.update_parameters(net);
  average.eval();
  EXPECT_TRUE(net->is_training());
  const Tensor before = average.parameters()[0].detach().clone();
  {
    const NoGradGuard no_grad;
    net->parameters()[0].fill_(7);
  }
  EXPECT_TRUE(same_bits(average.parameters()[0], before));
  EXPECT_EQ(average.forward(ones({1, 2}, TensorOptions(kDouble))).sizes(), IntArrayRef({1, 2}));
}

TEST(AveragedModel, Errors) {
  EXPECT_THROW(get_ema_avg_fn(1.5), Error);
  EXPECT_THROW(get_ema_avg_fn(-0.1), Error);
  nn::Sequential net = network();
  EXPECT_THROW(AveragedModel<nn::SequentialImpl>(net, std::nullopt, AverageFunction()), Error);
  AveragedModel<nn::SequentialImpl> average(net);
  EXPECT_THROW(average.update_parameters(nn::Linear(2, 2)), Error);
  EXPECT_THROW(average.update_parameters(nn::Sequential(nn::Linear(2, 3), nn::BatchNorm1d(3))),
               Error);
  EXPECT_EQ(average.n_averaged.item<std::int64_t>(), 0);
}

// ---- traced ----

// A loop with a rate that changes, an average, and every 25 steps another optimizer.
template <typename Optimizer, typename Options>
std::vector<Tensor> train(const Options& options, jit::Mode mode) {
  jit::set_mode(mode);
  manual_seed(3);
  nn::Sequential net(nn::Linear(4, 6), nn::Tanh(), nn::Linear(6, 3));
  const Tensor x = randn({8, 4}), y = randn({8, 3});
  std::vector<Tensor> matrices;
  for (const Tensor& p : net->parameters())
    if (p.dim() == 2) matrices.push_back(p);
  AveragedModel<nn::SequentialImpl> average(net, std::nullopt, get_ema_avg_fn(0.9));
  for (int epoch = 0; epoch < 8; ++epoch) {
    Optimizer optimizer(matrices, options);
    optim::CosineAnnealingLR rates(optimizer, 20, 1e-3);
    for (int i = 0; i < 25; ++i) {
      optimizer.zero_grad();
      mse_loss(net->forward(x), y).backward();
      optimizer.step();
      rates.step();
      average.update_parameters(net);
    }
  }
  jit::set_mode(jit::Mode::kAuto);
  std::vector<Tensor> results = average.parameters();
  for (const Tensor& p : net->parameters()) results.push_back(p);
  for (Tensor& result : results) result = result.detach().clone();
  return results;
}

template <typename Optimizer, typename Options>
void check_traced(const Options& options) {
  const std::vector<Tensor> eager = train<Optimizer>(options, jit::Mode::kEager);
  const std::vector<Tensor> traced = train<Optimizer>(options, jit::Mode::kAuto);
  for (std::size_t i = 0; i < eager.size(); ++i) EXPECT_TRUE(same_bits(eager[i], traced[i])) << i;
}

TEST(Optimizers, TracedLoopsHaveTheBitsOfEager) {
  using namespace optim;
  check_traced<NAdam>(NAdamOptions(0.02).weight_decay(0.01));
  check_traced<RAdam>(RAdamOptions(0.02).weight_decay(0.01).decoupled_weight_decay(true));
  check_traced<Adamax>(AdamaxOptions(0.02));
  check_traced<Adadelta>(AdadeltaOptions(0.5));
  check_traced<ASGD>(ASGDOptions(0.05).lambd(0.01).t0(9));
  check_traced<Rprop>(RpropOptions(0.01));
  check_traced<Lion>(LionOptions(0.01).weight_decay(0.01));
  check_traced<Muon>(MuonOptions(0.02));
}

}  // namespace
}  // namespace groove
