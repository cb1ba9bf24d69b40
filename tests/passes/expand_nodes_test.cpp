// Composites of one form are expanded by copying: the graph must be that of expanding each of them
// by running its code.
#include "jit/expand_nodes.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "kernels/ops/widen.h"

namespace groove::jit {
namespace {

bool is_composite(const Node& node) { return node.op->kind == OpKind::kComposite; }

std::string one_by_one(Graph graph) {
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    graph.nodes[i].source.line = static_cast<std::uint32_t>(i + 1);
  const auto count = static_cast<std::uint32_t>(graph.nodes.size());
  for (std::uint32_t line = 1; line <= count; ++line) {
    expand_nodes(
        graph,
        [&](const Graph&, const Node& node) {
          return is_composite(node) && node.source.line == line;
        },
        kernels::compose);
  }
  return print(graph);
}

std::string at_once(Graph graph) {
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    graph.nodes[i].source.line = static_cast<std::uint32_t>(i + 1);
  expand_nodes(
      graph, [](const Graph&, const Node& node) { return is_composite(node); }, kernels::compose);
  EXPECT_EQ(verify(graph), "");
  return print(graph);
}

TEST(ExpandNodes, CopiesAreWhatTheCodeRecords) {
  std::mt19937 random(3);
  const auto below = [&](unsigned bound) { return static_cast<int>(random() % bound); };
  for (int round = 0; round < 30; ++round) {
    std::string text =
        "graph(v0: f32[6, 8], v1: f32[6, 8], w: f32[8], u: f32[8], labels: i64[6],\n"
        "      #0: i64, #1: i64, #2: i64, #3: f64) {\n";
    int last = 1;
    for (int i = 0; i < 40; ++i) {
      const int a = std::max(0, last - below(3)), b = std::max(0, last - below(3));
      const char* const weights[] = {"w, u", "u, w", "w, w"};
      ++last;
      switch (below(7)) {
        case 0:
          text += fmt::format("  v{} = softmax(v{}) {{dim: {}}}\n", last, a, below(2));
          break;
        case 1:
          text += fmt::format("  v{} = log_softmax(v{}) {{dim: 1}}\n", last, a);
          break;
        case 2:
          text += fmt::format("  v{0}, m{0}, r{0} = layer_norm(v{1}, {2}) {{axes: 1, eps: {3}}}\n",
                              last, a, weights[below(3)], below(2) ? "0.25" : "0.5");
          break;
        case 3:
          text += fmt::format(
              "  l{} = cross_entropy(v{}, labels) {{reduction: 1, ignore_index: -100}}\n", last, a);
          text += fmt::format("  v{0} = add(v{1}, l{0})\n", last, b);
          break;
        case 4:
          text += fmt::format("  v{} = dropout(v{}) <p: {}, seed: #0, draw: #{}, scale: 2>\n", last, a,
                              below(2) ? "#3" : "0.5", 1 + below(2));
          break;
        default:
          text += fmt::format("  v{} = add(v{}, v{})\n", last, a, b);
      }
    }
    text += fmt::format("  return v{}, v{}\n}}\n", last, last - 1);
    const Graph graph = parse_graph(text);
    EXPECT_EQ(at_once(graph), one_by_one(graph));
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace groove::jit
