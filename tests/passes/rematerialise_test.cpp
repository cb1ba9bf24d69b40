// What is computed a second time: less memory, the same bits, and nothing where nothing is gained.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "jit/pipeline.h"
#include "jit/rematerialise.h"
#include "tests/passes/run_graph.h"

namespace groove::jit {
namespace {

constexpr RematerialiseOptions kAll{0, 0, 1, 1e9}, kCheap{0, 0, 0.1, 1e9};

// Nodes of the graph after the passes that run a second time: "exp mul".
std::string again(const std::string& text, const RematerialiseOptions& options = kAll) {
  Graph graph = parse_graph(text);
  run_pipeline(graph);
  std::vector<char> is_again;
  const Fusion fusion = fuse(graph);
  std::string names;
  if (!rematerialise(graph, fusion, is_again, options)) return names;
  EXPECT_EQ(verify(graph), "");
  EXPECT_EQ(is_again.size(), graph.nodes.size());
  for (std::size_t i = 0; i < is_again.size(); ++i) {
    if (is_again[i]) names += (names.empty() ? "" : " ") + graph.nodes[i].op->name;
  }
  return names;
}

std::size_t arena(const std::string& text, const RematerialiseOptions& rematerialise) {
  Graph graph = parse_graph(text);
  run_pipeline(graph);
  ProgramOptions options;
  options.rematerialise = rematerialise;
  return Program(std::move(graph), options).arena_bytes();
}

// Layers forward and back: what an activation function gives is read at once, and again on the way
// back, when its argument is read, too.
std::string layers(int count) {
  std::string text = "graph(x0: f32[256, 256], w: f32[256, 256]) {\n";
  for (int i = 1; i <= count; ++i) {
    text += fmt::format("a{0} = mm(x{1}, w)\nx{0} = gelu(a{0}) {{is_tanh: false}}\n", i, i - 1);
  }
  text += fmt::format("d{} = mm(x{}, w)\n", count, count);
  for (int i = count; i > 0; --i) {
    text += fmt::format(
        "e{0} = gelu_backward(d{0}, a{0}) {{is_tanh: false}}\nu{0} = mm(e{0}, x{0})\n"
        "d{1} = mm(u{0}, w)\n",
        i, i - 1);
  }
  return text + "return d0\n}";
}
const std::string kLayers = layers(6);

TEST(Rematerialise, FunctionsOfWhatIsAliveAnyway) {
  const std::string names = again(kLayers, kCheap);
  EXPECT_EQ(names.substr(0, 19), "gelu gelu gelu gelu");
}

TEST(Rematerialise, SavesMemoryAndKeepsBits) {
  const RematerialiseOptions none{std::int64_t{1} << 40, 0, 0};
  EXPECT_LT(arena(kLayers, kCheap), arena(kLayers, none));
  const Graph graph = parse_graph(kLayers);
  const std::vector<Bytes> inputs = random_inputs(graph, 7, true);
  ProgramOptions options{true, true};
  options.rematerialise = kAll;
  EXPECT_EQ(
      compare(graph, run_eagerly(graph, inputs, {}), run_program(graph, inputs, {}, options, 2)),
      "");
}

TEST(Rematerialise, NothingInSmallPrograms) { EXPECT_EQ(again(kLayers, {}), ""); }

TEST(Rematerialise, NothingWithoutTimeForIt) { EXPECT_EQ(again(kLayers, {0, 0, 1e-6}), ""); }

// Products and reductions too, through what lies between; a view of the value stays one.
TEST(Rematerialise, ChainsThroughProductsAndRows) {
  EXPECT_EQ(again(R"(graph(q: f32[32, 32], k: f32[32, 32], v: f32[32, 32]) {
    s = mm(q, k)
    p = softmax(s) {dim: 1}
    y = mm(p, v)
    a = mm(y, k)
    b = mm(a, v)
    c = mm(b, q)
    r = permute(p) {dims: [1, 0]}
    z = mm(r, c)
    return z
  })"),
            "mm amax sub exp sum rdiv_scalar mul");
}

// An input that is overwritten by then is no source.
TEST(Rematerialise, NotFromAnInputThatIsOverwrittenInAnEarlierStage) {
  const std::string text = R"(graph(x: f32[64, 64], w: f32[64, 64]) stages 2 {
    h = exp(x)
    a = mm(h, w)
    y = mul(a, w)
    b = mm(y, w) stage 1
    c = mm(b, w) stage 1
    d = mm(c, w) stage 1
    z = mm(d, h) stage 1
    return y -> x, z stage 1
  })";
  EXPECT_EQ(again(text), "");
  const std::size_t arrow = text.find(" -> x");
  EXPECT_EQ(again(std::string(text).erase(arrow, 5)), "exp");
}

}  // namespace
}  // namespace groove::jit
