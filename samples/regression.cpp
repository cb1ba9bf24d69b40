// Fits a noisy wave with a small tanh network and SGD with momentum, on data drawn anew each step.
#include <groove/groove.h>

#include <cstdio>

#include "sample_options.h"

namespace nn = groove::nn;

static groove::Tensor wave(const groove::Tensor& x) { return groove::sin(3.0 * x) + 0.5 * x; }

int main(int argc, char** argv) {
  SampleOptions defaults;
  defaults.steps = 5000;
  const auto options =
      parse_options(argc, argv, "Fits y = sin(3x) + x/2 from noisy samples on [-2, 2].", defaults);
  try {
    groove::manual_seed(options.seed);
    nn::Linear fc1(1, 32), fc2(32, 32), fc3(32, 1);
    auto model = [&](const groove::Tensor& x) {
      return fc3(groove::tanh(fc2(groove::tanh(fc1(x)))));
    };
    std::vector<groove::Tensor> parameters;
    for (const auto& layer : {fc1, fc2, fc3}) {
      for (const auto& parameter : layer->parameters()) parameters.push_back(parameter);
    }
    groove::optim::SGD optimizer(parameters, groove::optim::SGDOptions(0.02).momentum(0.9));

    Progress progress(options.steps, options.bits);
    for (int64_t step = 1; step <= options.steps; ++step) {
      auto x = groove::rand({options.batch, 1}) * 4.0 - 2.0;
      auto y = wave(x) + 0.1 * groove::randn({options.batch, 1});

      optimizer.zero_grad();
      auto loss = groove::mse_loss(model(x), y);
      loss.backward();
      optimizer.step();

      if (progress.wants(step)) progress.show(step, loss.item<float>());
      progress.count();
    }
    progress.finish();

    groove::NoGradGuard no_grad;
    auto x = groove::arange(-2.0, 2.0, 0.01).view({-1, 1});
    auto error = groove::mse_loss(model(x), wave(x)).item<float>();
    std::printf("mean squared error %.6f\n", error);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "regression: %s\n", error.what());
    return 1;
  }
}
