// jit::compile: a function of tensors and numbers, and one that takes and gives a struct, called
// from places and with shapes that vary.
#include "groove/jit.h"
#include "tests/programs/program.h"

namespace groove::programs {
namespace {

struct Pair {
  Tensor mean, spread;
};
[[maybe_unused]] auto groove_fields(Pair& pair) { return std::tie(pair.mean, pair.spread); }

void run() {
  const auto smooth = jit::compile([](const Tensor& x, double factor) {
    auto y = groove::tanh(x * factor) + 0.5 * x;
    return y.cumsum(0) / (1 + y.abs().sum());
  });
  const auto update = jit::compile([](const Pair& pair, const Tensor& x) {
    auto mean = pair.mean * 0.9 + x * 0.1;
    return Pair{mean, pair.spread * 0.9 + (x - mean).square() * 0.1};
  });
  Pair pair{groove::zeros({6}), groove::ones({6})};
  for (int step = 0; step < 400; ++step) {
    if (step == 200) steady();
    auto x = groove::rand({6}) + smooth(groove::ones({step % 3 == 2 ? 4 : 6}), 0.1 * step).sum();
    pair = update(pair, x);
    if (step % 10 == 0) print("mean", pair.mean.sum().item<double>());
  }
  print("spread", pair.spread);
}

[[maybe_unused]] const bool registered = add({"compiled_function", run});

}  // namespace
}  // namespace groove::programs
