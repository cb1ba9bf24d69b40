// A variational autoencoder (Kingma and Welling 2013) of handwritten digits: a picture becomes the
// mean and the variance of 16 numbers, and a sample of these a picture again.
#include <groove/groove.h>

#include <cmath>
#include <cstdio>
#include <tuple>

#include "digits.h"
#include "sample_options.h"

namespace data = groove::data;
namespace nn = groove::nn;
namespace F = groove::nn::functional;

constexpr int64_t kLatent = 16;

struct Vae : nn::Module {
  Vae() {
    conv1 = register_module("conv1", nn::Conv2d(nn::Conv2dOptions(1, 16, 4).stride(2).padding(1)));
    conv2 = register_module("conv2", nn::Conv2d(nn::Conv2dOptions(16, 32, 4).stride(2).padding(1)));
    mean = register_module("mean", nn::Linear(32 * 7 * 7, kLatent));
    log_variance = register_module("log_variance", nn::Linear(32 * 7 * 7, kLatent));
    fc = register_module("fc", nn::Linear(kLatent, 32 * 7 * 7));
    up1 = register_module(
        "up1", nn::ConvTranspose2d(nn::ConvTranspose2dOptions(32, 16, 4).stride(2).padding(1)));
    up2 = register_module(
        "up2", nn::ConvTranspose2d(nn::ConvTranspose2dOptions(16, 1, 4).stride(2).padding(1)));
  }

  std::tuple<groove::Tensor, groove::Tensor> encode(groove::Tensor x) {
    x = groove::relu(conv1->forward(x));
    x = groove::relu(conv2->forward(x)).flatten(1);
    return {mean->forward(x), log_variance->forward(x)};
  }

  // Gives the logits of the pixels.
  groove::Tensor decode(const groove::Tensor& z) {
    auto x = groove::relu(fc->forward(z)).view({-1, 32, 7, 7});
    return up2->forward(groove::relu(up1->forward(x)));
  }

  nn::Conv2d conv1{nullptr}, conv2{nullptr};
  nn::Linear mean{nullptr}, log_variance{nullptr}, fc{nullptr};
  nn::ConvTranspose2d up1{nullptr}, up2{nullptr};
};

struct Losses {
  groove::Tensor reconstruction, divergence;  // nats a digit
};

// The two parts of the negative evidence lower bound. The sample is drawn as mean + deviation * e,
// through which gradients flow.
static Losses losses_of(Vae& model, const groove::Tensor& images) {
  auto [mean, log_variance] = model.encode(images);
  auto z = mean + (log_variance * 0.5).exp() * groove::randn_like(mean);
  auto count = static_cast<double>(images.size(0));
  auto reconstruction = F::binary_cross_entropy_with_logits(
      model.decode(z), images,
      F::BinaryCrossEntropyWithLogitsFuncOptions().reduction(groove::kSum));
  auto divergence = (1 + log_variance - mean.pow(2) - log_variance.exp()).sum() * -0.5;
  return {reconstruction / count, divergence / count};
}

static auto plain_digits(const std::string& folder, size_t first, size_t count) {
  return Digits(folder, first, count).map(data::transforms::Stack<>());
}

static void train(Vae& model, const SampleOptions& options) {
  auto loader = data::make_data_loader<data::samplers::RandomSampler>(
      plain_digits(options.data, 0, 8000), data::DataLoaderOptions(options.batch).drop_last(true));
  groove::optim::Adam optimizer(model.parameters(), groove::optim::AdamOptions(1e-3));

  Progress progress(options.steps, options.bits);
  int64_t step = 0;
  while (step < options.steps) {
    for (auto& batch : *loader) {
      optimizer.zero_grad();
      auto losses = losses_of(model, batch.data);
      auto loss = losses.reconstruction + losses.divergence;
      loss.backward();
      optimizer.step();

      if (progress.wants(++step)) progress.show(step, loss.item<float>());
      progress.count();
      if (step == options.steps) break;
    }
  }
  progress.finish();
}

static void test(Vae& model, const SampleOptions& options) {
  groove::NoGradGuard no_grad;
  const size_t batches = options.bits ? 1 : 10;
  auto loader = data::make_data_loader<data::samplers::SequentialSampler>(
      plain_digits(options.data, 8000, batches * 200), 200);
  double reconstruction = 0, divergence = 0;
  for (auto& batch : *loader) {
    auto losses = losses_of(model, batch.data);
    reconstruction += losses.reconstruction.item<float>() / static_cast<double>(batches);
    divergence += losses.divergence.item<float>() / static_cast<double>(batches);
  }
  std::printf("test loss %.2f nats a digit: reconstruction %.2f, divergence %.2f\n",
              reconstruction + divergence, reconstruction, divergence);
}

int main(int argc, char** argv) {
  SampleOptions defaults;
  defaults.steps = 1500;
  const auto options = parse_options(
      argc, argv, "Trains a variational autoencoder on handwritten digits.", defaults, true);
  try {
    groove::manual_seed(options.seed);
    Vae model;
    test(model, options);
    train(model, options);
    test(model, options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "vae: %s\n", error.what());
    return 1;
  }
}
