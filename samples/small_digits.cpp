// The classic small exercise: handwritten digits of 8x8 pixels, all in memory, and a network of a
// few thousand weights.
#include <groove/groove.h>

#include <cstdio>

#include "sample_options.h"

namespace nn = groove::nn;

constexpr int64_t kTraining = 8000, kTest = 2000, kPixels = 64;

// 28x28 pixels with a margin of 2, in blocks of 4x4.
static groove::Tensor small_images(const groove::data::datasets::MNIST& digits) {
  const auto padded = groove::constant_pad_nd(digits.images(), {2, 2, 2, 2}, 0.0);
  return groove::avg_pool2d(padded, 4).view({-1, kPixels}) * 4.0 - 1.0;
}

int main(int argc, char** argv) {
  SampleOptions defaults;
  defaults.steps = 20000;
  defaults.batch = 16;
  const auto options =
      parse_options(argc, argv, "Trains 64-32-32-10 on handwritten digits of 8x8 pixels with Adam.",
                    defaults, true);
  try {
    groove::manual_seed(options.seed);
    const groove::data::datasets::MNIST digits(options.data,
                                               groove::data::datasets::MNIST::Mode::kTest);
    const auto images = small_images(digits), labels = digits.targets();

    nn::Sequential model(nn::Linear(kPixels, 32), nn::ReLU(), nn::Linear(32, 32), nn::ReLU(),
                         nn::Linear(32, 10));
    groove::optim::Adam optimizer(model->parameters(), groove::optim::AdamOptions(2e-3));

    Progress progress(options.steps, options.bits);
    for (int64_t step = 1; step <= options.steps; ++step) {
      auto pick = groove::randint(kTraining, {options.batch});
      optimizer.zero_grad();
      auto output = model->forward(images.index_select(0, pick));
      auto loss = nn::functional::cross_entropy(output, labels.index_select(0, pick));
      loss.backward();
      optimizer.step();

      if (progress.wants(step)) progress.show(step, loss.item<float>());
      progress.count();
    }
    progress.finish();

    groove::NoGradGuard no_grad;
    auto guess = model->forward(images.slice(0, kTraining)).argmax(1);
    auto right = guess.eq(labels.slice(0, kTraining)).sum().item<int64_t>();
    std::printf("test accuracy %.2f %%\n",
                100.0 * static_cast<double>(right) / static_cast<double>(kTest));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "small_digits: %s\n", error.what());
    return 1;
  }
}
