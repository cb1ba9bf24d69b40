// A compiler pass of one's own: relu(x) * relu(x) becomes square(clamp_min(x, 0)). First on a
// captured graph, where one can look at it, then in a training loop, whose forward, backward and
// update it sees as one graph.
#include <groove/groove.h>
#include <groove/jit/capture.h>
#include <groove/jit/pass.h>

#include <atomic>
#include <cstdio>
#include <string>

#include "sample_options.h"

namespace jit = groove::jit;
namespace nn = groove::nn;

// The pass. Nodes come in the order they run; a value knows who makes it and who reads it.
static std::atomic<int> replaced{0};

static void square_relu(jit::Graph& graph) {
  for (const jit::Node& node : graph.nodes()) {
    if (node.op() != "mul" || !(node.input(0) == node.input(1))) continue;
    const jit::Value factor = node.input(0);
    if (factor.is_input() || factor.producer().op() != "relu") continue;
    // Ordinary tensor code, recorded in the place of the node.
    const auto fresh =
        graph.insert_before(node, {factor.producer().input(0)}, [](const groove::Tensors& given) {
          return groove::Tensors{groove::square(groove::clamp_min(given[0], 0))};
        });
    graph.replace(node.output(), fresh[0]);
    ++replaced;
  }
  graph.remove_dead_code();  // a relu that nothing else reads
}

static groove::Tensor squared(const groove::Tensor& x) {
  const auto positive = groove::relu(x);
  return positive * positive;
}

// Losses of a small regression.
static std::vector<float> train(std::int64_t steps, std::uint64_t seed) {
  groove::manual_seed(seed);
  const auto x = groove::randn({64, 4});
  const auto y = x.sum(1, /*keepdim=*/true).square();
  nn::Linear hidden(4, 32), out(32, 1);
  auto parameters = hidden->parameters();
  for (const auto& parameter : out->parameters()) parameters.push_back(parameter);
  groove::optim::Adam optimizer(parameters, 0.01);
  std::vector<float> losses;
  for (std::int64_t step = 0; step < steps; ++step) {
    optimizer.zero_grad();
    auto loss = groove::mse_loss(out(squared(hidden(x))), y);
    loss.backward();
    optimizer.step();
    losses.push_back(loss.item<float>());
    if (step == 9) jit::synchronize();  // so that even these few steps see compiled code
  }
  return losses;
}

int main(int argc, char** argv) {
  SampleOptions defaults;
  defaults.steps = 100;
  const auto options =
      parse_options(argc, argv, "Shows a compiler pass of one's own.", defaults, false, false, {});
  try {
    jit::Graph graph = jit::capture([](const groove::Tensor& x) { return squared(x + 1).sum(); },
                                    {groove::randn({8})});
    const jit::Graph before = graph;
    std::printf("The function as captured:\n%s", before.text().c_str());

    jit::register_pass("square_relu", square_relu);
    jit::run_pass("square_relu", graph);
    std::printf("\nAfter the pass:\n%s", graph.text().c_str());

    const auto x = groove::randn({8});
    std::printf("\nOn the same numbers: %.6f before, %.6f after, %.6f compiled\n",
                before({x})[0].item<float>(), graph({x})[0].item<float>(),
                graph.compile()({x})[0].item<float>());

    // From here on the pass is part of every compilation.
    replaced = 0;
    const auto compiled = train(options.steps, options.seed);
    const auto hits = jit::summary().hits;
    std::printf("\n%lld steps, %llu of them compiled, the pass replaced %d product%s.\n",
                static_cast<long long>(options.steps), static_cast<unsigned long long>(hits),
                replaced.load(), replaced == 1 ? "" : "s");

    jit::unregister_pass("square_relu");
    jit::set_mode(jit::Mode::kEager);
    const bool is_same = compiled == train(options.steps, options.seed);
    std::printf("last loss %.6f; without compiling the losses are %s\n", compiled.back(),
                is_same ? "the same, bit for bit" : "others");
    return is_same ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "custom_pass: %s\n", error.what());
    return 1;
  }
}
