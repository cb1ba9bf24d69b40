// A server: requests of all lengths, hardly one of them twice, through a small model.
#include "tests/programs/program.h"

namespace groove::programs {
namespace {

void run() {
  nn::Linear first(12, 32), second(32, 32), head(32, 4);
  InferenceMode guard;
  Dice dice(5);
  for (int request = 0; request < 240; ++request) {
    if (request == 120) steady();
    const std::int64_t length = 2 + dice.below(400);
    auto x = groove::rand({length, 12});
    auto h = groove::gelu(second(groove::relu(first(x))));
    auto pooled = h.mean(0, true);
    auto scores = groove::softmax(head(h * 0.5 + pooled), 1);
    auto [best, where] = scores.max(1);
    print("answer", best.sum().item<double>() + where.sum().item<double>());
  }
}

[[maybe_unused]] const bool registered = add({"serving", run});

}  // namespace
}  // namespace groove::programs
