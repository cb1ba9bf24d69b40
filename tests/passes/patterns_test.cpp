// Forms that people write by hand (norms, activations, attention, losses with their gradients): in
// how many launches they run, and that these give eager mode's bits. tests/passes/patterns/*.graph
// is a graph, a line `---` and its launches; a line `differentiate` asks for the gradients of the
// first result by all floating inputs, too.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "jit/pipeline.h"
#include "kernels/backend.h"
#include "kernels/derivative.h"
#include "kernels/pool.h"
#include "src/core/subgraph.h"
#include "tests/passes/run_graph.h"

namespace groove::jit {
namespace {

std::vector<std::filesystem::path> cases() {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(
           std::filesystem::path(__FILE__).parent_path() / "patterns"))
    found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

// The graph with the gradients of its first result as further results.
Graph with_gradients(const Graph& graph) {
  kernels::DerivativeRequest request;
  request.graph = intern(graph);
  for (const GraphInput& input : graph.inputs)
    request.wanted.push_back(is_floating(graph.type(input.value).dtype));
  request.seeded.assign(request.wanted.size(), 0);
  request.given.assign(graph.outputs.size(), 0);
  request.given[0] = 1;
  const Graph& gradients = interned_graph(kernels::derivative(request, {}));
  Graph both = graph;
  std::vector<ValueId> names(gradients.values.size(), kNoValue);
  for (std::size_t i = 0; i < gradients.inputs.size(); ++i) {
    const ValueId value = gradients.inputs[i].value;
    names[static_cast<std::size_t>(value)] =
        i < graph.inputs.size()
            ? both.inputs[i].value
            : both.add_input(gradients.type(value), gradients.inputs[i].strides);
  }
  for (const Node& node : gradients.nodes) {
    std::vector<ValueId> inputs;
    for (const ValueId id : node.inputs)
      inputs.push_back(id == kNoValue ? id : names[static_cast<std::size_t>(id)]);
    const std::int32_t copy =
        both.add_node(*node.op, inputs, node.attrs, node.numbers, node.source, node.stage);
    for (std::size_t k = 0; k < node.outputs.size(); ++k)
      names[static_cast<std::size_t>(node.outputs[k])] =
          both.nodes[static_cast<std::size_t>(copy)].outputs[k];
  }
  for (const GraphOutput& output : gradients.outputs)
    both.outputs.push_back({names[static_cast<std::size_t>(output.value)], -1, 0});
  return both;
}

class Pattern : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(Pattern, RunsInTheseLaunchesWithTheBitsOfEagerMode) {
  std::ifstream file(GetParam());
  std::string text(std::istreambuf_iterator<char>(file), {});
  const std::string wish = "differentiate\n";
  const bool has_gradients = text.starts_with(wish);
  if (has_gradients) text.erase(0, wish.size());
  const std::size_t cut = text.find("\n---\n");
  ASSERT_NE(cut, std::string::npos) << "no --- line";
  Graph graph = parse_graph(text.substr(0, cut));
  if (has_gradients) graph = with_gradients(graph);
  ASSERT_EQ(verify(graph), "");
  Graph compiled = graph;
  run_pipeline(compiled);
  EXPECT_EQ(launches(compiled), text.substr(cut + 5)) << print(compiled);

  for (const bool has_specials : {false, true}) {
    const std::vector<Bytes> inputs = random_inputs(graph, 5, has_specials);
    kernels::Backend& usual = kernels::current_backend();
    kernels::set_current_backend(*kernels::find_backend("interpreter"));
    const Outcome expected = run_eagerly(graph, inputs, {});
    kernels::set_current_backend(usual);
    for (const int threads : {1, 3}) {
      kernels::set_kernel_threads(threads);
      EXPECT_EQ(compare(graph, expected, run_program(graph, inputs, {}, {}, 2)), "")
          << threads << " threads\n"
          << print(compiled);
    }
    kernels::set_kernel_threads(0);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Pattern, testing::ValuesIn(cases()),
                         [](const auto& info) { return info.param.stem().string(); });

}  // namespace
}  // namespace groove::jit
