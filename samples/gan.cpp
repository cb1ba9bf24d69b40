// A DCGAN (Radford et al. 2015) of handwritten digits: a generator learns to draw what a
// discriminator, which learns at the same time, takes for real.
#include <groove/groove.h>

#include <cstdio>
#include <string>
#include <tuple>

#include "digits.h"
#include "sample_options.h"

namespace data = groove::data;
namespace nn = groove::nn;
namespace F = groove::nn::functional;

constexpr int64_t kNoise = 64, kChannels = 16;

// noise [n, kNoise, 1, 1] -> pictures [n, 1, 28, 28] in [-1, 1]
static nn::Sequential make_generator() {
  auto up = [](int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t padding) {
    return nn::ConvTranspose2d(
        nn::ConvTranspose2dOptions(in, out, kernel).stride(stride).padding(padding).bias(false));
  };
  return nn::Sequential(up(kNoise, 4 * kChannels, 4, 1, 0), nn::BatchNorm2d(4 * kChannels),
                        nn::ReLU(), up(4 * kChannels, 2 * kChannels, 3, 2, 1),
                        nn::BatchNorm2d(2 * kChannels), nn::ReLU(),
                        up(2 * kChannels, kChannels, 4, 2, 1), nn::BatchNorm2d(kChannels),
                        nn::ReLU(), up(kChannels, 1, 4, 2, 1), nn::Tanh());
}

// pictures -> logits [n] of being real
static nn::Sequential make_discriminator() {
  auto down = [](int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t padding) {
    return nn::Conv2d(
        nn::Conv2dOptions(in, out, kernel).stride(stride).padding(padding).bias(false));
  };
  auto leaky = [] { return nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(0.2)); };
  return nn::Sequential(down(1, kChannels, 4, 2, 1), leaky(),
                        down(kChannels, 2 * kChannels, 4, 2, 1), nn::BatchNorm2d(2 * kChannels),
                        leaky(), down(2 * kChannels, 4 * kChannels, 4, 2, 1),
                        nn::BatchNorm2d(4 * kChannels), leaky(), down(4 * kChannels, 1, 3, 1, 0),
                        nn::Flatten(nn::FlattenOptions().start_dim(0)));
}

static void initialize(nn::Sequential& model) {
  groove::NoGradGuard no_grad;
  for (auto& module : model->modules(false)) {
    if (auto* norm = module->as<nn::BatchNorm2dImpl>()) {
      nn::init::normal_(norm->weight, 1.0, 0.02);
      continue;
    }
    for (auto& weight : module->parameters(false)) nn::init::normal_(weight, 0.0, 0.02);
  }
}

static groove::Tensor loss_against(const groove::Tensor& logits, double answer) {
  return F::binary_cross_entropy_with_logits(logits, groove::full_like(logits, answer));
}

// Pixels of [0, 1] become [-1, 1].
static auto pictures(const std::string& folder, size_t count) {
  return Digits(folder, 0, count)
      .map(data::transforms::Normalize<>(0.5, 0.5))
      .map(data::transforms::Stack<>());
}

static void train(nn::Sequential& generator, nn::Sequential& discriminator,
                  const SampleOptions& options) {
  auto loader = data::make_data_loader<data::samplers::RandomSampler>(
      pictures(options.data, 8000), data::DataLoaderOptions(options.batch).drop_last(true));
  const auto adam = groove::optim::AdamOptions(2e-4).betas(std::make_tuple(0.5, 0.999));
  groove::optim::Adam generator_optimizer(generator->parameters(), adam);
  groove::optim::Adam discriminator_optimizer(discriminator->parameters(), adam);

  Progress progress(options.steps, options.bits);
  int64_t step = 0;
  while (step < options.steps) {
    for (auto& batch : *loader) {
      discriminator_optimizer.zero_grad();
      auto of_real = discriminator->forward(batch.data);
      auto made = generator->forward(groove::randn({options.batch, kNoise, 1, 1}));
      auto of_made = discriminator->forward(made.detach());
      auto loss = loss_against(of_real, 0.9) + loss_against(of_made, 0.0);
      loss.backward();
      discriminator_optimizer.step();

      generator_optimizer.zero_grad();
      auto generator_loss = loss_against(discriminator->forward(made), 1.0);
      generator_loss.backward();
      generator_optimizer.step();

      if (progress.wants(++step)) progress.show(step, generator_loss.item<float>());
      if (!options.bits && step % 250 == 0) {
        std::printf("step %lld: D(x) %.3f, D(G(z)) %.3f\n", static_cast<long long>(step),
                    of_real.sigmoid().mean().item<float>(), of_made.sigmoid().mean().item<float>());
      }
      progress.count();
      if (step == options.steps) break;
    }
  }
  progress.finish();
}

static groove::Tensor generate(nn::Sequential& generator, int64_t count) {
  groove::NoGradGuard no_grad;
  generator->eval();
  auto made = generator->forward(groove::randn({count, kNoise, 1, 1}));
  generator->train();
  return made;
}

// The mean distance of `some` pictures from the nearest of `others`.
static double distance(const groove::Tensor& some, const groove::Tensor& others) {
  auto all = groove::cdist(some.flatten(1), others.flatten(1));
  return all.amin(1).mean().item<float>();
}

static void draw(const groove::Tensor& pictures) {
  auto shades = ((pictures + 1) * 2.4).to(groove::kLong);
  for (int64_t row = 2; row < 26; row += 2) {
    std::string line;
    for (int64_t n = 0; n < pictures.size(0); ++n) {
      for (int64_t column = 2; column < 26; ++column) {
        line += " .+*#"[shades[n][0][row][column].item<int64_t>()];
      }
    }
    std::printf("%s\n", line.c_str());
  }
}

int main(int argc, char** argv) {
  SampleOptions defaults;
  defaults.steps = 1200;
  defaults.batch = 32;
  const auto options = parse_options(
      argc, argv, "Trains a generator of digits against a discriminator.", defaults, true);
  try {
    groove::manual_seed(options.seed);
    auto generator = make_generator(), discriminator = make_discriminator();
    initialize(generator);
    initialize(discriminator);
    const data::datasets::MNIST digits(options.data, data::datasets::MNIST::Mode::kTest);
    const int64_t compared = options.bits ? 50 : 500;
    const auto real = (digits.images() * 2 - 1).slice(0, 0, 16 * compared);
    const auto others = (digits.images() * 2 - 1).slice(0, 9500, 9500 + compared);
    const double before = distance(generate(generator, compared), real);
    train(generator, discriminator, options);
    std::printf("distance from the nearest digit %.2f, %.2f before; of other digits %.2f\n",
                distance(generate(generator, compared), real), before, distance(others, real));
    if (!options.bits) draw(generate(generator, 4));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gan: %s\n", error.what());
    return 1;
  }
}
