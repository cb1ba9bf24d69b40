// ResNet-20 (He et al. 2015) on CIFAR-10, whose binary files are read from --data; where there are
// none, on the handwritten digits as coloured pictures of 32x32 pixels.
#include <groove/groove.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "sample_options.h"

namespace nn = groove::nn;

constexpr int64_t kSide = 32, kPixels = 3 * kSide * kSide, kMargin = 4, kTest = 2000;

struct BasicBlock : nn::Module {
  BasicBlock(int64_t in, int64_t out) {
    const int64_t stride = in == out ? 1 : 2;
    conv1 = register_module("conv1", conv(in, out, 3, stride));
    bn1 = register_module("bn1", nn::BatchNorm2d(out));
    conv2 = register_module("conv2", conv(out, out, 3, 1));
    bn2 = register_module("bn2", nn::BatchNorm2d(out));
    if (in != out) {
      shortcut = register_module("shortcut",
                                 nn::Sequential(conv(in, out, 1, stride), nn::BatchNorm2d(out)));
    }
  }

  static nn::Conv2d conv(int64_t in, int64_t out, int64_t kernel, int64_t stride) {
    return nn::Conv2d(
        nn::Conv2dOptions(in, out, kernel).stride(stride).padding(kernel / 2).bias(false));
  }

  groove::Tensor forward(const groove::Tensor& x) {
    auto y = groove::relu(bn1->forward(conv1->forward(x)));
    y = bn2->forward(conv2->forward(y));
    return groove::relu(y + (shortcut ? shortcut->forward(x) : x));
  }

  nn::Conv2d conv1{nullptr}, conv2{nullptr};
  nn::BatchNorm2d bn1{nullptr}, bn2{nullptr};
  nn::Sequential shortcut{nullptr};
};

// Three stages of three blocks.
struct ResNet : nn::Module {
  ResNet() {
    conv = register_module("conv", BasicBlock::conv(3, 16, 3, 1));
    bn = register_module("bn", nn::BatchNorm2d(16));
    blocks = register_module("blocks", nn::Sequential());
    int64_t in = 16;
    for (const int64_t out : {16, 16, 16, 32, 32, 32, 64, 64, 64}) {
      blocks->push_back(std::make_shared<BasicBlock>(in, out));
      in = out;
    }
    fc = register_module("fc", nn::Linear(in, 10));
  }

  groove::Tensor forward(groove::Tensor x) {
    x = groove::relu(bn->forward(conv->forward(x)));
    return fc->forward(blocks->forward(x).mean({2, 3}));
  }

  nn::Conv2d conv{nullptr};
  nn::BatchNorm2d bn{nullptr};
  nn::Sequential blocks{nullptr};
  nn::Linear fc{nullptr};
};

struct Pictures {
  groove::Tensor images, labels;  // [n, 3, 32, 32], of mean 0 and deviation 1 or so, and [n]
};

// One byte of label, then the pixels of the red, the green and the blue picture.
static Pictures read_cifar(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path)) {
    throw std::runtime_error(path + " is missing or cannot be read");
  }
  std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  if (bytes.empty() || bytes.size() % (1 + kPixels) != 0) {
    throw std::runtime_error(path + " has " + std::to_string(bytes.size()) +
                             " bytes; CIFAR-10's files have 3073 for each picture");
  }
  const auto count = static_cast<int64_t>(bytes.size()) / (1 + kPixels);
  auto records = groove::from_blob(bytes.data(), {count, 1 + kPixels}, groove::kByte);
  auto labels = records.select(1, 0).to(groove::kLong);
  if (const auto most = labels.max().item<int64_t>(); most > 9) {
    throw std::runtime_error(path + " has the label " + std::to_string(most) + ", beyond 9");
  }
  auto pixels = records.slice(1, 1).to(groove::kFloat).view({count, 3, kSide, kSide});
  return {(pixels / 255 - 0.473) / 0.251, labels};
}

struct DataSet {
  Pictures train, test;
  double flip_chance;
};

static DataSet load_data(const std::string& folder) {
  std::vector<groove::Tensor> images, labels;
  for (int part = 1; part <= 5; ++part) {
    const std::string path = folder + "/data_batch_" + std::to_string(part) + ".bin";
    if (!std::filesystem::exists(path)) continue;
    auto read = read_cifar(path);
    images.push_back(read.images);
    labels.push_back(read.labels);
  }
  if (!images.empty()) {
    std::fprintf(stderr, "CIFAR-10, %zu of 5 parts\n", images.size());
    return {
        {groove::cat(images), groove::cat(labels)}, read_cifar(folder + "/test_batch.bin"), 0.5};
  }
  std::fprintf(stderr, "no data_batch_1.bin … in %s: taking digits for pictures\n", folder.c_str());
  const groove::data::datasets::MNIST digits(folder, groove::data::datasets::MNIST::Mode::kTest);
  auto coloured = ((groove::constant_pad_nd(digits.images(), {2, 2, 2, 2}, 0.0) - 0.1) / 0.27)
                      .expand({-1, 3, kSide, kSide});
  const int64_t count = coloured.size(0) - kTest;
  auto part = [&](int64_t from, int64_t to) {
    return Pictures{coloured.slice(0, from, to), digits.targets().slice(0, from, to)};
  };
  return {part(0, count), part(count, count + kTest), 0.0};
}

// Each picture moved by up to kMargin pixels, the rest filled with zeros, and perhaps flipped.
static groove::Tensor augment(const groove::Tensor& images, double flip_chance) {
  const int64_t count = images.size(0);
  auto moves = groove::randint(2 * kMargin + 1, {2, count, 1});
  auto flips = groove::rand({count, 1}).lt(flip_chance);
  auto along = groove::arange(kSide);
  auto rows = moves[0] + along;
  auto columns = moves[1] + groove::where(flips, kSide - 1 - along, along);
  auto padded = groove::constant_pad_nd(images, {kMargin, kMargin, kMargin, kMargin}, 0.0);
  auto each = groove::arange(count).view({count, 1, 1, 1});
  auto channels = groove::arange(3).view({1, 3, 1, 1});
  return padded.index(
      {each, channels, rows.view({count, 1, kSide, 1}), columns.view({count, 1, 1, kSide})});
}

// Of the first `most` pictures.
static double test_accuracy(ResNet& model, const Pictures& test, int64_t most) {
  groove::NoGradGuard no_grad;
  model.eval();
  const int64_t count = std::min(most, test.labels.size(0));
  int64_t right = 0;
  for (int64_t from = 0; from < count; from += 100) {
    const int64_t to = std::min(from + 100, count);
    auto guess = model.forward(test.images.slice(0, from, to)).argmax(1);
    right += guess.eq(test.labels.slice(0, from, to)).sum().item<int64_t>();
  }
  return 100.0 * static_cast<double>(right) / static_cast<double>(count);
}

static void train(ResNet& model, const DataSet& data, const SampleOptions& options) {
  groove::optim::SGD optimizer(
      model.parameters(),
      groove::optim::SGDOptions(0.1).momentum(0.9).weight_decay(1e-4).nesterov(true));
  // A tenth of the rate for the last third of the steps.
  groove::optim::StepLR schedule(optimizer, static_cast<unsigned>(options.steps * 2 / 3 + 1), 0.1);
  const int64_t count = data.train.labels.size(0);
  Progress progress(options.steps, options.bits);
  for (int64_t step = 1; step <= options.steps; ++step) {
    auto pick = groove::randint(count, {options.batch});
    auto images = augment(data.train.images.index_select(0, pick), data.flip_chance);
    optimizer.zero_grad();
    auto loss = nn::functional::cross_entropy(model.forward(images),
                                              data.train.labels.index_select(0, pick));
    loss.backward();
    optimizer.step();
    schedule.step();

    if (progress.wants(step)) progress.show(step, loss.item<float>());
    progress.count();
  }
  progress.finish();
}

int main(int argc, char** argv) {
  SampleOptions defaults;
  defaults.steps = 200;
  defaults.batch = 32;
  const auto options =
      parse_options(argc, argv, "Trains ResNet-20 on CIFAR-10 or on handwritten digits with SGD.",
                    defaults, true);
  try {
    groove::manual_seed(options.seed);
    const DataSet data = load_data(options.data);
    ResNet model;
    train(model, data, options);
    const int64_t tested = options.bits ? 20 : kTest;
    std::printf("test accuracy %.2f %%\n", test_accuracy(model, data.test, tested));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "resnet_cifar: %s\n", error.what());
    return 1;
  }
}
