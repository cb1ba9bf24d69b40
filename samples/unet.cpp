// A small U-Net (Ronneberger et al. 2015) finds a handwritten digit's pixels among noise, stripes
// and shades that the sample makes up anew for every step.
#include <groove/groove.h>

#include <cstdio>

#include "sample_options.h"

namespace data = groove::data;
namespace nn = groove::nn;
namespace F = groove::nn::functional;

constexpr int64_t kTraining = 8000, kTest = 2000, kSide = 32, kChannels = 8;

// Two convolutions that keep the size.
static nn::Sequential block(int64_t in, int64_t out) {
  auto conv = [&](int64_t from) {
    return nn::Conv2d(nn::Conv2dOptions(from, out, 3).padding(1).bias(false));
  };
  return nn::Sequential(conv(in), nn::BatchNorm2d(out), nn::ReLU(), conv(out), nn::BatchNorm2d(out),
                        nn::ReLU());
}

static nn::ConvTranspose2d twice_the_size(int64_t in, int64_t out) {
  return nn::ConvTranspose2d(nn::ConvTranspose2dOptions(in, out, 2).stride(2));
}

// pictures [n, 1, h, w] -> logits [n, 1, h, w]; h and w are multiples of 4
struct UNet : nn::Module {
  UNet() {
    down1 = register_module("down1", block(1, kChannels));
    down2 = register_module("down2", block(kChannels, 2 * kChannels));
    bottom = register_module("bottom", block(2 * kChannels, 4 * kChannels));
    up2 = register_module("up2", twice_the_size(4 * kChannels, 2 * kChannels));
    join2 = register_module("join2", block(4 * kChannels, 2 * kChannels));
    up1 = register_module("up1", twice_the_size(2 * kChannels, kChannels));
    join1 = register_module("join1", block(2 * kChannels, kChannels));
    head = register_module("head", nn::Conv2d(nn::Conv2dOptions(kChannels, 1, 1)));
  }

  groove::Tensor forward(const groove::Tensor& x) {
    auto fine = down1->forward(x);
    auto coarse = down2->forward(groove::max_pool2d(fine, 2));
    auto y = bottom->forward(groove::max_pool2d(coarse, 2));
    y = join2->forward(groove::cat({coarse, up2->forward(y)}, 1));
    y = join1->forward(groove::cat({fine, up1->forward(y)}, 1));
    return head->forward(y);
  }

  nn::Sequential down1{nullptr}, down2{nullptr}, bottom{nullptr}, join2{nullptr}, join1{nullptr};
  nn::ConvTranspose2d up2{nullptr}, up1{nullptr};
  nn::Conv2d head{nullptr};
};

struct Scene {
  groove::Tensor picture, mask;
};

// Digits [n, 1, kSide, kSide] on slanted stripes of random phase and pace, under a shade that falls
// from one side, with noise over all.
static Scene make_scene(const groove::Tensor& digits) {
  const int64_t count = digits.size(0);
  auto rows = groove::arange(kSide).view({kSide, 1}), columns = groove::arange(kSide);
  auto drawn = groove::rand({5, count, 1, 1, 1});
  auto slanted = rows * (drawn[0] * 2 - 1) + columns * (drawn[1] * 2 - 1);
  auto stripes = 0.5 + 0.5 * groove::sin(slanted + drawn[2] * 6.2832);
  auto shade = 0.6 + 0.4 * drawn[3] * columns / static_cast<double>(kSide);
  auto picture = groove::maximum(digits, stripes * drawn[4]) * shade;
  picture = picture + 0.2 * groove::randn_like(picture);
  return {picture, digits.gt(0.5)};
}

// Pixels that are found and right, of those that are one or the other.
static double intersection_over_union(UNet& model, const groove::Tensor& digits) {
  groove::NoGradGuard no_grad;
  model.eval();
  int64_t both = 0, either = 0;
  for (const auto& part : digits.split(500)) {
    auto [picture, mask] = make_scene(part);
    auto found = model.forward(picture).gt(0.0);
    both += found.logical_and(mask).sum().item<int64_t>();
    either += found.logical_or(mask).sum().item<int64_t>();
  }
  model.train();
  return static_cast<double>(both) / static_cast<double>(either);
}

int main(int argc, char** argv) {
  SampleOptions defaults;
  defaults.steps = 600;
  defaults.batch = 16;
  const auto options = parse_options(
      argc, argv, "Trains a U-Net to find digits among stripes and noise.", defaults, true);
  try {
    groove::manual_seed(options.seed);
    const data::datasets::MNIST mnist(options.data, data::datasets::MNIST::Mode::kTest);
    const auto digits = groove::constant_pad_nd(mnist.images(), {2, 2, 2, 2}, 0.0);
    const auto learned = digits.slice(0, 0, kTraining);
    const auto tested = digits.slice(0, kTraining, kTraining + (options.bits ? 50 : kTest));
    UNet model;
    groove::optim::Adam optimizer(model.parameters(), groove::optim::AdamOptions(3e-3));
    const double before = intersection_over_union(model, tested);

    Progress progress(options.steps, options.bits);
    for (int64_t step = 1; step <= options.steps; ++step) {
      auto pick = groove::randint(kTraining, {options.batch});
      auto [picture, mask] = make_scene(learned.index_select(0, pick));
      optimizer.zero_grad();
      auto loss =
          F::binary_cross_entropy_with_logits(model.forward(picture), mask.to(groove::kFloat));
      loss.backward();
      optimizer.step();

      if (progress.wants(step)) progress.show(step, loss.item<float>());
      progress.count();
    }
    progress.finish();
    std::printf("intersection over union %.4f; %.4f before\n",
                intersection_over_union(model, tested), before);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "unet: %s\n", error.what());
    return 1;
  }
}
