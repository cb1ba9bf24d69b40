// Prediction only: a model is run over batches under InferenceMode and answers are collected.
#include <vector>

#include "tests/programs/program.h"

namespace groove::programs {
namespace {

void run() {
  nn::Sequential net(nn::Linear(8, 32), nn::ReLU(), nn::Linear(32, 32), nn::Tanh(),
                     nn::Linear(32, 5));
  net->eval();
  InferenceMode guard;
  std::vector<Tensor> answers;
  for (int step = 0; step < 200; ++step) {
    if (step == 80) steady();
    auto x = groove::rand({4, 8});
    auto p = groove::softmax(net->forward(x), 1);
    auto [confidence, answer] = p.max(1);
    answers.push_back(answer);
    if (step % 10 == 0) print("confidence", confidence.mean().item<double>());
  }
  print("answers", groove::cat(answers));
}

[[maybe_unused]] const bool registered = add({"inference", run});

}  // namespace
}  // namespace groove::programs
