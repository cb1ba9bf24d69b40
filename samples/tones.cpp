// Four kinds of sounds in noise, told apart by their spectra: a steady tone, one that rises, one
// that falls, one that wavers. stft and the logarithm of its powers are part of the training step.
#include <groove/groove.h>

#include <cstdio>
#include <numbers>

#include "sample_options.h"

namespace nn = groove::nn;

constexpr int64_t kKinds = 4, kSamples = 1024, kWindow = 64, kHop = 32;
constexpr double kTau = 2 * std::numbers::pi;

struct Sounds {
  groove::Tensor waves;  // [batch, samples]
  groove::Tensor kinds;  // [batch]
};

// The frequency goes its way between 0.05 and 0.25 of the sampling rate; the phase is its sum.
static Sounds draw_sounds(int64_t batch) {
  auto kinds = groove::randint(kKinds, {batch});
  auto time = groove::linspace(0, 1, kSamples).unsqueeze(0);
  auto start = groove::rand({batch, 1}) * 0.1 + 0.1;
  auto reach = groove::rand({batch, 1}) * 0.06 + 0.03;
  auto ways = groove::stack({time * 0, time, 1 - time, (time * kTau * 4).sin() * 0.5});
  auto way = ways.index_select(0, kinds).squeeze(1);
  auto phase = ((start + reach * way) * kTau).cumsum(1) + groove::rand({batch, 1}) * kTau;
  return {phase.sin() + groove::randn({batch, kSamples}) * 0.7, kinds};
}

struct ListenerImpl : nn::Module {
  ListenerImpl() {
    window = register_buffer("window", groove::hann_window(kWindow));
    layers = register_module(
        "layers", nn::Sequential(nn::Conv1d(kWindow / 2 + 1, 32, 3), nn::ReLU(),
                                 nn::Conv1d(32, 32, 3), nn::ReLU(), nn::AdaptiveAvgPool1d(4),
                                 nn::Flatten(), nn::Linear(4 * 32, kKinds)));
  }
  groove::Tensor forward(const groove::Tensor& waves) {
    auto spectra = groove::stft(waves, kWindow, kHop, kWindow, window, false, true, true);
    return layers->forward((spectra.abs().square() + 1e-3).log());
  }
  groove::Tensor window;
  nn::Sequential layers{nullptr};
};
GROOVE_MODULE(Listener);

int main(int argc, char** argv) {
  SampleOptions defaults;
  defaults.steps = 400;
  defaults.batch = 32;
  const auto options = parse_options(
      argc, argv, "Learns to tell four kinds of sounds apart by their spectra.", defaults);
  try {
    groove::manual_seed(options.seed);
    Listener model;
    groove::optim::Adam optimizer(model->parameters(), groove::optim::AdamOptions(2e-3));

    Progress progress(options.steps, options.bits);
    for (int64_t step = 1; step <= options.steps; ++step) {
      auto sounds = draw_sounds(options.batch);
      optimizer.zero_grad();
      auto loss = nn::functional::cross_entropy(model->forward(sounds.waves), sounds.kinds);
      loss.backward();
      optimizer.step();

      if (progress.wants(step)) progress.show(step, loss.item<float>());
      progress.count();
    }
    progress.finish();

    groove::NoGradGuard no_grad;
    auto sounds = draw_sounds(512);
    auto right = model->forward(sounds.waves).argmax(1).eq(sounds.kinds).sum().item<int64_t>();
    std::printf("test accuracy %.1f %%\n", 100.0 * static_cast<double>(right) / 512.0);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tones: %s\n", error.what());
    return 1;
  }
}
