// Learns to continue waves with an LSTMCell that a plain loop calls once a point: the recurrent
// network as one writes it by hand.
#include <groove/groove.h>

#include <cstdio>
#include <tuple>
#include <vector>

#include "sample_options.h"

namespace nn = groove::nn;

constexpr int64_t kPoints = 32, kHidden = 32;

struct Waves : nn::Module {
  Waves() {
    cell = register_module("cell", nn::LSTMCell(1, kHidden));
    head = register_module("head", nn::Linear(kHidden, 1));
  }

  // wave [batch, points]; gives what the network expects after each point but the last.
  groove::Tensor forward(const groove::Tensor& wave) {
    auto h = groove::zeros({wave.size(0), kHidden}), c = groove::zeros({wave.size(0), kHidden});
    std::vector<groove::Tensor> expected;
    for (int64_t t = 0; t + 1 < wave.size(1); ++t) {
      std::tie(h, c) = cell->forward(wave.slice(1, t, t + 1), std::make_tuple(h, c));
      expected.push_back(head->forward(h));
    }
    return groove::cat(expected, 1);
  }

  nn::LSTMCell cell{nullptr};
  nn::Linear head{nullptr};
};

// Sines of random phase and pace.
static groove::Tensor draw_waves(int64_t count) {
  auto phase = groove::rand({count, 1}) * 6.2832, pace = groove::rand({count, 1}) * 0.3 + 0.2;
  return groove::sin(phase + pace * groove::arange(kPoints));
}

static groove::Tensor error_of(Waves& model, const groove::Tensor& wave) {
  return groove::mse_loss(model.forward(wave), wave.slice(1, 1));
}

int main(int argc, char** argv) {
  SampleOptions defaults;
  defaults.steps = 2000;
  defaults.batch = 16;
  const auto options =
      parse_options(argc, argv, "Learns to continue sine waves, point by point.", defaults);
  try {
    groove::manual_seed(options.seed);
    Waves model;
    groove::optim::Adam optimizer(model.parameters(), groove::optim::AdamOptions(3e-3));

    Progress progress(options.steps, options.bits);
    for (int64_t step = 1; step <= options.steps; ++step) {
      optimizer.zero_grad();
      auto loss = error_of(model, draw_waves(options.batch));
      loss.backward();
      optimizer.step();

      if (progress.wants(step)) progress.show(step, loss.item<float>());
      progress.count();
    }
    progress.finish();

    groove::NoGradGuard no_grad;
    std::printf("mean squared error %.6f\n", error_of(model, draw_waves(500)).item<float>());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "lstm_cell: %s\n", error.what());
    return 1;
  }
}
