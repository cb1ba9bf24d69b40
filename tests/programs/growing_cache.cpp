// Answering word by word: keys and values of all words so far are kept in one tensor, of which each
// word reads one row more.
#include <cmath>

#include "tests/programs/program.h"

namespace groove::programs {
namespace {

void run() {
  constexpr std::int64_t kWidth = 16, kMost = 220;
  nn::Linear query(kWidth, kWidth), key(kWidth, kWidth), value(kWidth, kWidth), out(kWidth, kWidth);
  InferenceMode guard;
  auto keys = groove::zeros({kMost, kWidth}), values = groove::zeros({kMost, kWidth});
  for (int sequence = 0; sequence < 2; ++sequence) {
    auto x = groove::rand({1, kWidth});
    for (std::int64_t t = 0; t < kMost; ++t) {
      if (sequence == 0 && t == 110) steady();
      keys.narrow(0, t, 1).copy_(key(x));
      values.narrow(0, t, 1).copy_(value(x));
      auto scores = groove::matmul(query(x), keys.narrow(0, 0, t + 1).t()) / std::sqrt(16.0);
      auto mixed = groove::matmul(groove::softmax(scores, 1), values.narrow(0, 0, t + 1));
      x = groove::tanh(x + out(mixed));
      print("word", x.sum().item<double>());
    }
  }
}

[[maybe_unused]] const bool registered = add({"growing_cache", run});

}  // namespace
}  // namespace groove::programs
