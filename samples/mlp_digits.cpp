// Trains a small network on real handwritten digits: 8,000 to learn from, 2,000 to be tested on.
// A plain loop as one writes it for LibTorch; nothing in it speaks of compiling.
#include <groove/groove.h>

#include <cstdio>

#include "digits.h"
#include "sample_options.h"

namespace data = groove::data;
namespace nn = groove::nn;

struct Net : nn::Module {
  Net() {
    fc1 = register_module("fc1", nn::Linear(784, 128));
    fc2 = register_module("fc2", nn::Linear(128, 128));
    fc3 = register_module("fc3", nn::Linear(128, 10));
  }

  groove::Tensor forward(groove::Tensor x) {
    x = x.view({x.size(0), 784});
    x = groove::relu(fc1->forward(x));
    x = groove::relu(fc2->forward(x));
    return fc3->forward(x);
  }

  nn::Linear fc1{nullptr}, fc2{nullptr}, fc3{nullptr};
};

static void train(Net& model, const SampleOptions& options) {
  auto loader = data::make_data_loader<data::samplers::RandomSampler>(
      normalized_digits(options.data, 0, 8000),
      data::DataLoaderOptions(options.batch).drop_last(true));
  groove::optim::Adam optimizer(model.parameters(), groove::optim::AdamOptions(1e-3));

  Progress progress(options.steps, options.bits);
  int64_t step = 0;
  while (step < options.steps) {
    for (auto& batch : *loader) {
      optimizer.zero_grad();
      auto output = model.forward(batch.data);
      auto loss = nn::functional::cross_entropy(output, batch.target);
      loss.backward();
      optimizer.step();

      if (progress.wants(++step)) progress.show(step, loss.item<float>());
      progress.count();
      if (step == options.steps) break;
    }
  }
  progress.finish();
}

int main(int argc, char** argv) {
  SampleOptions defaults;
  defaults.steps = 6000;
  const auto options = parse_options(
      argc, argv, "Trains 784-128-128-10 on handwritten digits with Adam.", defaults, true);
  try {
    groove::manual_seed(options.seed);
    Net model;
    train(model, options);
    std::printf("test accuracy %.2f %%\n", test_accuracy(model, options.data));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mlp_digits: %s\n", error.what());
    return 1;
  }
}
