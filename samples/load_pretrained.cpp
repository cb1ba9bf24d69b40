// A network that Python's torch trained (data/make_digits_net.py) is loaded from its file, answers,
// and learns with its last layer alone to read digits that lie on their side.
#include <groove/groove.h>

#include <cstdio>
#include <string>

#include "sample_options.h"

namespace nn = groove::nn;

constexpr int64_t kTraining = 8000, kShown = 10;

// The names are those of the Python class, and so of the file.
struct DigitsNet : nn::Module {
  DigitsNet() {
    conv1 = register_module("conv1", conv(1, 8));
    bn1 = register_module("bn1", nn::BatchNorm2d(8));
    conv2 = register_module("conv2", conv(8, 16));
    bn2 = register_module("bn2", nn::BatchNorm2d(16));
    conv3 = register_module("conv3", conv(16, 16));
    bn3 = register_module("bn3", nn::BatchNorm2d(16));
    fc = register_module("fc", nn::Linear(256, 10));
  }

  static nn::Conv2d conv(int64_t in, int64_t out) {
    return nn::Conv2d(nn::Conv2dOptions(in, out, 3).stride(2).padding(1));
  }

  groove::Tensor forward(groove::Tensor x) {
    x = groove::relu(bn1->forward(conv1->forward(x)));
    x = groove::relu(bn2->forward(conv2->forward(x)));
    x = groove::relu(bn3->forward(conv3->forward(x)));
    return fc->forward(x.flatten(1));
  }

  nn::Conv2d conv1{nullptr}, conv2{nullptr}, conv3{nullptr};
  nn::BatchNorm2d bn1{nullptr}, bn2{nullptr}, bn3{nullptr};
  nn::Linear fc{nullptr};
};

static void show_answers(DigitsNet& model, const groove::Tensor& images,
                         const groove::Tensor& labels) {
  groove::NoGradGuard no_grad;
  auto [chances, guesses] = groove::softmax(model.forward(images), 1).max(1);
  for (int64_t i = 0; i < images.size(0); ++i) {
    std::printf("a %d: %d, %.2f %%\n", labels[i].item<int>(), guesses[i].item<int>(),
                100 * chances[i].item<double>());
  }
}

static double accuracy(DigitsNet& model, const groove::Tensor& images,
                       const groove::Tensor& labels) {
  groove::NoGradGuard no_grad;
  return 100 * model.forward(images).argmax(1).eq(labels).to(groove::kDouble).mean().item<double>();
}

// The other layers stay as they were, in what they learned and in what they counted.
static void fine_tune(DigitsNet& model, const groove::Tensor& images, const groove::Tensor& labels,
                      const SampleOptions& options) {
  for (auto& parameter : model.parameters()) parameter.requires_grad_(false);
  for (auto& parameter : model.fc->parameters()) parameter.requires_grad_(true);
  groove::optim::Adam optimizer(model.fc->parameters(), groove::optim::AdamOptions(3e-3));

  Progress progress(options.steps, options.bits);
  for (int64_t step = 1; step <= options.steps; ++step) {
    auto pick = groove::randint(images.size(0), {options.batch});
    optimizer.zero_grad();
    auto logits = model.forward(images.index_select(0, pick));
    auto loss = nn::functional::cross_entropy(logits, labels.index_select(0, pick));
    loss.backward();
    optimizer.step();

    if (progress.wants(step)) progress.show(step, loss.item<float>());
    progress.count();
  }
  progress.finish();
}

int main(int argc, char** argv) {
  SampleOptions defaults;
  defaults.steps = 2000;
  bool reads_safetensors = false;
  const auto options = parse_options(
      argc, argv, "Loads a network that Python's torch trained and fine-tunes its last layer.",
      defaults, true, false,
      {{"--safetensors", "read digits_net.safetensors, not digits_net.pt", &reads_safetensors}});
  try {
    groove::manual_seed(options.seed);
    const groove::data::datasets::MNIST digits(options.data,
                                               groove::data::datasets::MNIST::Mode::kTest);
    const auto upright = (digits.images() - 0.1307) / 0.3081, labels = digits.targets();
    const auto lying = upright.transpose(2, 3).flip({3}).contiguous();
    const auto tested = labels.slice(0, kTraining);

    DigitsNet model;
    groove::load(model,
                 options.data + (reads_safetensors ? "/digits_net.safetensors" : "/digits_net.pt"));
    model.eval();
    show_answers(model, upright.slice(0, kTraining, kTraining + kShown),
                 tested.slice(0, 0, kShown));
    std::printf("upright digits: %.2f %% right\n",
                accuracy(model, upright.slice(0, kTraining), tested));
    const double before = accuracy(model, lying.slice(0, kTraining), tested);
    fine_tune(model, lying.slice(0, 0, kTraining), labels.slice(0, 0, kTraining), options);
    std::printf("lying digits: %.2f %% right, %.2f %% before\n",
                accuracy(model, lying.slice(0, kTraining), tested), before);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "load_pretrained: %s\n", error.what());
    return 1;
  }
}
