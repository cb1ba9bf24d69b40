// LeNet-5 on real handwritten digits, with checkpoints: `--checkpoint file` keeps model, optimizer,
// loader and random state, and `--resume` goes on as if the run had never stopped, bit for bit.
#include <groove/groove.h>

#include <cstdio>
#include <filesystem>

#include "digits.h"
#include "sample_options.h"

namespace data = groove::data;
namespace nn = groove::nn;
namespace serialize = groove::serialize;

struct LeNet : nn::Module {
  LeNet() {
    conv1 = register_module("conv1", nn::Conv2d(nn::Conv2dOptions(1, 6, 5)));
    conv2 = register_module("conv2", nn::Conv2d(nn::Conv2dOptions(6, 16, 5)));
    fc1 = register_module("fc1", nn::Linear(256, 120));
    fc2 = register_module("fc2", nn::Linear(120, 84));
    fc3 = register_module("fc3", nn::Linear(84, 10));
  }

  groove::Tensor forward(groove::Tensor x) {
    x = groove::max_pool2d(groove::relu(conv1->forward(x)), 2);
    x = groove::max_pool2d(groove::relu(conv2->forward(x)), 2);
    x = x.flatten(1);
    x = groove::relu(fc1->forward(x));
    x = groove::relu(fc2->forward(x));
    return fc3->forward(x);
  }

  nn::Conv2d conv1{nullptr}, conv2{nullptr};
  nn::Linear fc1{nullptr}, fc2{nullptr}, fc3{nullptr};
};

// All that training changes, in one file.
template <typename Loader>
struct Checkpoint {
  LeNet& model;
  groove::optim::Adam& optimizer;
  Loader& loader;

  void save(const std::string& path, int64_t step) {
    serialize::OutputArchive archive, of_model, of_optimizer, of_loader;
    model.save(of_model);
    optimizer.save(of_optimizer);
    loader.save(of_loader);
    archive.write("model", of_model);
    archive.write("optimizer", of_optimizer);
    archive.write("loader", of_loader);
    archive.write("random", groove::get_random_state());
    archive.write("step", step);
    archive.save_to(path);
  }

  // Gives the number of steps done.
  int64_t load(const std::string& path) {
    serialize::InputArchive archive, of_model, of_optimizer, of_loader;
    archive.load_from(path);
    archive.read("model", of_model);
    archive.read("optimizer", of_optimizer);
    archive.read("loader", of_loader);
    groove::RandomState random;
    archive.read("random", random);
    groove::IValue step;
    archive.read("step", step);
    model.load(of_model);
    optimizer.load(of_optimizer);
    loader.load(of_loader);
    groove::set_random_state(random);
    return step.toInt();
  }
};

static void train(LeNet& model, const SampleOptions& options) {
  auto loader = data::make_data_loader<data::samplers::RandomSampler>(
      normalized_digits(options.data, 0, 8000),
      data::DataLoaderOptions(options.batch).drop_last(true));
  groove::optim::Adam optimizer(model.parameters(), groove::optim::AdamOptions(1e-3));
  Checkpoint<std::decay_t<decltype(*loader)>> checkpoint{model, optimizer, *loader};

  int64_t step = 0;
  if (options.resume && std::filesystem::exists(options.checkpoint)) {
    step = checkpoint.load(options.checkpoint);
    std::fprintf(stderr, "going on after step %lld\n", static_cast<long long>(step));
  }
  Progress progress(options.steps, options.bits, step);
  while (step < options.steps) {
    for (auto& batch : *loader) {
      optimizer.zero_grad();
      auto loss = nn::functional::cross_entropy(model.forward(batch.data), batch.target);
      loss.backward();
      optimizer.step();

      if (progress.wants(++step)) progress.show(step, loss.item<float>());
      progress.count();
      const bool is_due = step % options.checkpoint_every == 0 || step == options.steps;
      if (!options.checkpoint.empty() && is_due) checkpoint.save(options.checkpoint, step);
      if (step == options.steps) break;
    }
  }
  progress.finish();
}

int main(int argc, char** argv) {
  SampleOptions defaults;
  defaults.steps = 2000;
  const auto options = parse_options(
      argc, argv, "Trains LeNet-5 on handwritten digits with Adam.", defaults, true, true);
  try {
    groove::manual_seed(options.seed);
    LeNet model;
    train(model, options);
    std::printf("test accuracy %.2f %%\n", test_accuracy(model, options.data));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cnn_mnist: %s\n", error.what());
    return 1;
  }
}
