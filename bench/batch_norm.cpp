// What a batch norm and its activation add to a training step of two convolutions: the most that
// statistics in the first one's epilogue and normalisation in the second one's prologue could save.
// Blocks of steps in turn, the least time of each. Lines of "name value unit".
#include <groove/groove.h>

#include <algorithm>
#include <chrono>
#include <CLI/CLI.hpp>
#include <cstdio>

namespace {

using groove::Tensor;

struct Layer {
  std::int64_t channels, size;  // of images of size x size
};

class Step {
 public:
  Step(Layer layer, std::int64_t images, bool normalises) {
    const std::int64_t c = layer.channels;
    images_ = groove::randn({images, c, layer.size, layer.size});
    const auto convolution = [&] {
      return groove::nn::Conv2d(groove::nn::Conv2dOptions(c, c, 3).padding(1).bias(false));
    };
    layers_->push_back(convolution());
    if (normalises) {
      layers_->push_back(groove::nn::BatchNorm2d(c));
      layers_->push_back(groove::nn::ReLU());
    }
    layers_->push_back(convolution());
  }
  /// The least time of a step out of `steps`, in milliseconds.
  double least(int steps) {
    double least = 1e300;
    for (int step = 0; step < steps; ++step) {
      const auto start = std::chrono::steady_clock::now();
      layers_->zero_grad();
      Tensor loss = layers_->forward(images_).square().mean();
      loss.backward();
      volatile double value = loss.item<double>();
      (void)value;
      const std::chrono::duration<double, std::milli> time =
          std::chrono::steady_clock::now() - start;
      least = std::min(least, time.count());
    }
    return least;
  }

 private:
  Tensor images_;
  groove::nn::Sequential layers_;
};

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("What a batch norm and its activation add to a training step of two convolutions.");
  std::int64_t images = 32;
  int rounds = 5, steps = 20;
  app.add_option("--images", images, "in a batch");
  app.add_option("--rounds", rounds, "blocks of each");
  app.add_option("--steps", steps, "in a block");
  CLI11_PARSE(app, argc, argv);
  groove::manual_seed(1);
  for (const Layer layer : {Layer{16, 64}, Layer{32, 32}, Layer{64, 32}, Layer{128, 16}}) {
    Step plain(layer, images, false), normalised(layer, images, true);
    double without = 1e300, with = 1e300;
    for (int round = 0; round <= rounds; ++round) {
      const double a = plain.least(steps), b = normalised.least(steps);
      if (round == 0) continue;  // recorded and compiled
      without = std::min(without, a);
      with = std::min(with, b);
    }
    std::printf("channels_%d_of_%dx%d.without %.3f ms\n", int(layer.channels), int(layer.size),
                int(layer.size), without);
    std::printf("channels_%d_of_%dx%d.with %.3f ms\n", int(layer.channels), int(layer.size),
                int(layer.size), with);
    std::printf("channels_%d_of_%dx%d.added %.1f %%\n", int(layer.channels), int(layer.size),
                int(layer.size), 100 * (with / without - 1));
  }
}
