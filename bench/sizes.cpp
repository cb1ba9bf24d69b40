// Small models whose sizes never settle: batches of 1 to 64 rows, experts that get rows by value,
// rows chosen by a mask, sequences of 1 to 100, in pairs of fresh processes.
#include <groove/groove.h>

#include <vector>

#include "bench/pairs/pairs.h"

namespace {

using groove::Tensor;
using pairs::learn;
using pairs::Step;
namespace nn = groove::nn;

int width = 32;

nn::Sequential network(std::int64_t in, std::int64_t out) { return pairs::network(in, width, out); }

// A drawn number of 1 … most that does not depend on the library's generator.
int drawn(int step, int most) {
  auto bits = static_cast<std::uint64_t>(step + 1) * 0x9e3779b97f4a7c15u;
  bits = (bits ^ (bits >> 31)) * 0xbf58476d1ce4e5b9u;
  return 1 + static_cast<int>((bits >> 33) % static_cast<std::uint64_t>(most));
}

Step ragged_batches() {
  auto net = network(8, 1);
  return learn(net->parameters(), [net](int step) mutable {
    const Tensor x = groove::randn({drawn(step, 64), 8});
    return nn::functional::mse_loss(net->forward(x), x.sum(1, true));
  });
}

Step masks() {
  auto net = network(8, 1);
  return learn(net->parameters(), [net](int) mutable {
    const Tensor all = groove::randn({64, 8});
    const Tensor x = all.index({all.select(1, 0) > 0.1});
    return nn::functional::mse_loss(net->forward(x), x.sum(1, true));
  });
}

Step experts() {
  auto gate = nn::Linear(8, 4);
  std::vector<nn::Sequential> of;
  std::vector<Tensor> parameters = gate->parameters();
  for (int i = 0; i < 4; ++i) {
    of.push_back(network(8, 1));
    for (const Tensor& p : of.back()->parameters()) parameters.push_back(p);
  }
  return learn(parameters, [gate, of](int) mutable {
    const Tensor x = groove::randn({64, 8});
    const Tensor scores = groove::softmax(gate(x), 1);
    const Tensor chosen = scores.argmax(1);
    Tensor y = groove::zeros({64, 1});
    for (int i = 0; i < 4; ++i) {
      const Tensor rows = groove::nonzero(chosen == i).squeeze(1);
      if (rows.numel() == 0) continue;
      const Tensor part = of[static_cast<std::size_t>(i)]->forward(x.index_select(0, rows));
      y = y.index_add(0, rows, part * scores.index_select(0, rows).narrow(1, i, 1));
    }
    return nn::functional::mse_loss(y, x.sum(1, true));
  });
}

Step sequences() {
  auto cell = nn::Linear(2 * width, width);
  auto head = nn::Linear(width, 1);
  std::vector<Tensor> parameters = cell->parameters();
  for (const Tensor& p : head->parameters()) parameters.push_back(p);
  return learn(parameters, [cell, head](int step) mutable {
    Tensor h = groove::zeros({4, width});
    for (int t = drawn(step, 100); t > 0; --t)
      h = groove::tanh(cell(groove::cat({h, groove::randn({4, width})}, 1)));
    return head(h).pow(2).mean();
  });
}

Step attention() {
  auto in = nn::Linear(width, 3 * width);
  auto out = nn::Linear(width, width);
  std::vector<Tensor> parameters = in->parameters();
  for (const Tensor& p : out->parameters()) parameters.push_back(p);
  return learn(parameters, [in, out](int step) mutable {
    const Tensor x = groove::randn({drawn(step, 100), width});
    const auto parts = in(x).chunk(3, 1);
    const Tensor a = groove::softmax(parts[0].matmul(parts[1].t()) * 0.2, 1);
    return nn::functional::mse_loss(out(a.matmul(parts[2])), x);
  });
}

const std::vector<pairs::Loop> kLoops = {{"ragged batches of 1..64", ragged_batches},
                                         {"rows by a mask", masks},
                                         {"experts by value", experts},
                                         {"recurrent, 1..100 steps", sequences},
                                         {"attention, 1..100 tokens", attention}};

}  // namespace

int main(int count, char** words) {
  CLI::App app("Small models at sizes that never settle, automatic mode against eager mode");
  const pairs::Pairs in_pairs(app);
  app.add_option("--width", width, "of the hidden layers");
  CLI11_PARSE(app, count, words);
  return in_pairs.compare(kLoops) ? 0 : 1;
}
