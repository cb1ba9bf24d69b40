// Sums of products (jit/join_sums.h) against node-by-node execution on the interpreter, bit for
// bit: every layout, lengths of k beyond a chunk, epilogues, batches and numbers of threads.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "jit/pipeline.h"
#include "tests/passes/run_graph.h"

namespace groove::jit {
namespace {

// `sums`: the lines of what the graph becomes that are sums; -1: any.
void expect_same(const std::string& text, int sums, std::uint64_t seed, bool has_specials = false) {
  const Graph graph = parse_graph(text);
  ASSERT_EQ(verify(graph), "") << text;
  Graph lowered = graph;
  run_pipeline(lowered);
  for (const kernels::Machine& machine : test_machines()) {
    const std::string listed = launches_on(machine, lowered);
    int found = 0;
    for (std::size_t at = 0; (at = listed.find("mm | ", at)) != std::string::npos; ++at) {
      ++found;
      at = listed.find('\n', at);
    }
    if (sums >= 0) {
      EXPECT_EQ(found, sums) << kernels::name(machine.isa) << "\n" << listed << text;
    }
  }
  EXPECT_EQ(compare_programs(graph, seed, has_specials), "") << text;
}

struct Sizes {
  int m, n;
  std::vector<int> k;
};

const Sizes kSizes[] = {{64, 128, {32, 32, 32}}, {33, 7, {5, 1, 9, 256}}, {8, 64, {700, 256, 3}},
                        {300, 40, {1, 1}},       {1, 90, {20, 256}},      {70, 17, {257, 31, 8, 8}},
                        {9, 500, {16, 40}},      {130, 513, {4, 1}}};

// Every matrix straight or transposed.
std::string sum(const Sizes& s, const char* dtype, unsigned turned, const std::string& more,
                const std::string& after, const std::string& returned) {
  std::string inputs = more, body, last;
  for (std::size_t i = 0; i < s.k.size(); ++i) {
    const int k = s.k[i];
    const bool turns_left = (turned >> (2 * i)) & 1, turns_right = (turned >> (2 * i + 1)) & 1;
    inputs += inputs.empty() ? "" : ", ";
    inputs += turns_left ? fmt::format("x{}: {}[{}, {}]", i, dtype, k, s.m)
                         : fmt::format("x{}: {}[{}, {}]", i, dtype, s.m, k);
    inputs += turns_right ? fmt::format(", w{}: {}[{}, {}]", i, dtype, s.n, k)
                          : fmt::format(", w{}: {}[{}, {}]", i, dtype, k, s.n);
    if (turns_left) body += fmt::format("  a{0} = permute(x{0}) {{dims: [1, 0]}}\n", i);
    if (turns_right) body += fmt::format("  b{0} = permute(w{0}) {{dims: [1, 0]}}\n", i);
    body += fmt::format("  y{} = mm({}{}, {}{})\n", i, turns_left ? "a" : "x", i,
                        turns_right ? "b" : "w", i);
    if (i > 0) {
      const bool is_first = i % 2 == 0;  // addition commutes
      body += is_first ? fmt::format("  s{} = add({}, y{})\n", i, last, i)
                       : fmt::format("  s{} = add(y{}, {})\n", i, i, last);
    }
    last = fmt::format("{}{}", i > 0 ? "s" : "y", i);
  }
  return fmt::format("graph({}) {{\n{}{}  return {}\n}}", inputs, body,
                     fmt::format(fmt::runtime(after), last),
                     fmt::format(fmt::runtime(returned), last));
}

TEST(Sums, EveryLayout) {
  std::uint64_t seed = 1;
  for (const Sizes& s : kSizes) {
    for (const char* dtype : {"f32", "f64"}) {
      for (const unsigned turned : {0u, 0xaau, 0x55u, 0xffu})
        expect_same(sum(s, dtype, turned, "", "", "{0}"), 1, ++seed);
    }
  }
}

// Where tiles of the first product walk columns, rows of a further one do not fit.
TEST(Sums, MixedLayouts) {
  for (const Sizes& s : kSizes) {
    for (const unsigned turned : {0x06u, 0x21u, 0x88u, 0x4cu}) {
      const std::string text = sum(s, "f32", turned, "", "", "{0}");
      const Graph graph = parse_graph(text);
      const std::vector<Bytes> inputs = random_inputs(graph, turned, false);
      const Outcome expected = run_eagerly(graph, inputs, {});
      EXPECT_EQ(compare(graph, expected, run_program(graph, inputs, {}, {})), "") << text;
    }
  }
}

TEST(Sums, SpecialValues) {
  for (const Sizes& s : kSizes) expect_same(sum(s, "f32", 0, "", "", "{0}"), 1, 50, true);
}

TEST(Sums, Epilogues) {
  for (const Sizes& s : kSizes) {
    expect_same(sum(s, "f32", 0, fmt::format("r: f32[{}, {}]", s.m, s.n),
                    "  t = relu({0})\n  u = add(t, r)\n", "u"),
                1, 60);
    expect_same(sum(s, "f64", 0xff, "", "  t = gt_scalar({0}) <number: 0.0>\n", "t, {0}"), 1, 61);
  }
}

// Sums that nothing but an update reads are added up by the update.
TEST(Sums, InputsAreOverwritten) {
  for (const Sizes& s : kSizes) {
    expect_same(sum(s, "f32", 0x55, fmt::format("r: f32[{}, {}]", s.m, s.n), "  t = add(r, {0})\n",
                    "t -> r"),
                -1, 70);
  }
}

TEST(Sums, Batches) {
  expect_same(R"(graph(x: f32[5, 40, 24], w: f32[5, 24, 18], y: f32[5, 40, 7], v: f32[5, 7, 18]) {
    a = bmm(x, w)
    b = bmm(y, v)
    c = add(a, b)
    return c
  })",
              1, 80);
}

// As a time loop leaves them: the gradient of a weight grows with every step.
TEST(Sums, OfATimeLoop) {
  std::string text = "graph(x: f32[40, 8, 20], g: f32[40, 8, 48]) {\n";
  for (int t = 0; t < 40; ++t) {
    text += fmt::format(
        "  x{0} = select(x) {{dim: 0}} <index: {0}>\n  g{0} = select(g) {{dim: 0}} <index: {0}>\n"
        "  h{0} = tanh(g{0})\n  t{0} = permute(h{0}) {{dims: [1, 0]}}\n  y{0} = mm(t{0}, x{0})\n",
        t);
    if (t > 0) text += fmt::format("  s{0} = add({1}{2}, y{0})\n", t, t > 1 ? "s" : "y", t - 1);
  }
  expect_same(text + "  return s39\n}", 1, 90);
}

TEST(Sums, StaysApart) {
  // The second product has two chunks.
  expect_same(sum({20, 30, {10, 257}}, "f32", 0, "", "", "{0}"), 0, 100);
  // Others read the first.
  expect_same(sum({20, 30, {10, 11}}, "f32", 0, "", "", "{0}, y0"), 0, 101);
  // It is subtracted.
  expect_same(R"(graph(x: f32[20, 8], w: f32[8, 30], y: f32[20, 8], v: f32[8, 30]) {
    a = mm(x, w)
    b = mm(y, v)
    c = sub(a, b)
    return c
  })",
              0, 102);
}

}  // namespace
}  // namespace groove::jit
