// Joined products (jit/join_siblings.h) against node-by-node execution on the interpreter, bit for
// bit: every layout of both matrices, epilogues, dtypes, batches and numbers of threads.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>

#include "jit/join_siblings.h"
#include "jit/pipeline.h"
#include "tests/passes/run_graph.h"

namespace groove::jit {
namespace {

std::size_t count(const std::string& text, const std::string& word) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; ++at) ++found;
  return found;
}

// `bars`: of joined products in what the graph becomes, one fewer than pieces.
void expect_same(const std::string& text, std::size_t bars, std::uint64_t seed,
                 bool has_specials = false, const std::vector<std::uint64_t>& numbers = {}) {
  const Graph graph = parse_graph(text);
  ASSERT_EQ(verify(graph), "") << text;
  Graph lowered = graph;
  run_pipeline(lowered);
  for (const kernels::Machine& machine : test_machines()) {
    const std::string listed = launches_on(machine, lowered);
    EXPECT_EQ(count(listed, " |"), bars) << kernels::name(machine.isa) << "\n" << listed << text;
  }
  EXPECT_EQ(compare_programs(graph, seed, has_specials, numbers), "") << text;
}

class Siblings : public testing::Test {
 protected:
  Siblings() { set_joins_all_siblings(true); }
  ~Siblings() override { set_joins_all_siblings(false); }
};

struct Sizes {
  int m, k;
  std::vector<int> columns;
};

const Sizes kSizes[] = {{64, 64, {4, 1}},   {33, 7, {1, 3, 2}},    {9, 300, {1, 1, 1, 5}},
                        {700, 40, {6, 1}},  {130, 513, {3, 4}},    {257, 16, {2, 2, 2, 2, 2}},
                        {64, 1, {1, 2}},    {8, 64, {64, 64, 64}}, {61, 30, {1, 100, 17, 31}},
                        {16, 257, {40, 90}}};

// linear: right matrices lie transposed; mm: as they are.
std::string heads(const Sizes& s, const char* dtype, const char* op, const std::string& after,
                  const std::string& returned, bool has_bias = true) {
  std::string inputs = fmt::format("x: {}[{}, {}]", dtype, s.m, s.k), body, results;
  const bool is_linear = std::string(op) == "linear";
  for (std::size_t i = 0; i < s.columns.size(); ++i) {
    const int n = s.columns[i];
    inputs += is_linear ? fmt::format(", w{}: {}[{}, {}]", i, dtype, n, s.k)
                        : fmt::format(", w{}: {}[{}, {}]", i, dtype, s.k, n);
    if (is_linear && has_bias) inputs += fmt::format(", b{}: {}[{}]", i, dtype, n);
    const std::string bias = has_bias ? fmt::format("b{}", i) : "_";
    body += is_linear ? fmt::format("  y{} = linear(x, w{}, {})\n", i, i, bias)
                      : fmt::format("  y{} = mm(x, w{})\n", i, i);
    body += fmt::format(fmt::runtime(after), i);
    results += fmt::format("{}{}{}", i ? ", " : "", returned, i);
  }
  return fmt::format("graph({}) {{\n{}  return {}\n}}", inputs, body, results);
}

TEST_F(Siblings, EveryLayoutOfRightMatrices) {
  for (const Sizes& s : kSizes) {
    for (const char* dtype : {"f32", "f64"}) {
      expect_same(heads(s, dtype, "linear", "", "y"), s.columns.size() - 1, 1);
      expect_same(heads(s, dtype, "mm", "", "y"), s.columns.size() - 1, 2);
    }
  }
}

TEST_F(Siblings, Epilogues) {
  for (const Sizes& s : kSizes) {
    for (const char* op : {"linear", "mm"}) {
      expect_same(heads(s, "f32", op, "  z{0} = relu(y{0})\n", "z"), s.columns.size() - 1, 3, true);
      expect_same(heads(s, "f32", op, "  z{0} = gt_scalar(y{0}) <number: 0.0>\n", "z"),
                  s.columns.size() - 1, 4);
      expect_same(heads(s, "f32", op, "  t{0} = abs(y{0})\n  z{0} = mul(t{0}, y{0})\n", "z"),
                  s.columns.size() - 1, 5, true);
    }
  }
}

TEST_F(Siblings, NumbersOfTheRun) {
  // Each piece finds its own; #0 is the second piece's.
  const std::string text = R"(graph(x: f32[50, 20], w: f32[20, 3], v: f32[20, 2], #0: f64,
                                    #1: f64, #2: f64) {
    a = mm(x, w)
    b = mul_scalar(a) <number: #1>
    c = add_scalar(b) <number: #2>
    d = mm(x, v)
    e = mul_scalar(d) <number: #0>
    return c, e
  })";
  const auto bits = [](double value) { return std::bit_cast<std::uint64_t>(value); };
  expect_same(text, 1, 6, false, {bits(0.3), bits(-1.7), bits(2.25)});
}

TEST_F(Siblings, LeftMatricesThatLieOtherwise) {
  // Transposed, a slice, rows far apart, and no rows at a stride at all.
  for (const char* left : {"t = permute(x) {dims: [1, 0]}\n",
                           "t = slice(x) {dim: 0, length: 40, step: 2} <start: 3>\n"}) {
    const bool is_slice = std::string(left).find("slice") != std::string::npos;
    expect_same(fmt::format("graph(x: f32[{}], w: f32[30, 5], v: f32[30, 2]) {{\n{}"
                            "a = mm(t, w)\nb = mm(t, v)\nreturn a, b\n}}",
                            is_slice ? "90, 30" : "30, 40", left),
                1, 7);
  }
  expect_same(R"(graph(x: f32[70, 1024], w: f32[3, 1024], v: f32[2, 1024], b: f32[2]) {
    a = linear(x, w, _)
    c = linear(x, v, b)
    return a, c
  })",
              1, 8);
}

TEST_F(Siblings, Batches) {
  expect_same(R"(graph(x: f32[5, 40, 24], w: f32[5, 24, 3], v: f32[5, 24, 2], u: f32[5, 1, 2]) {
    a = bmm(x, w)
    b = bmm(x, v)
    c = add(b, u)
    return a, c
  })",
              1, 9);
  // Leading axes are rows of one product.
  expect_same(R"(graph(x: f64[6, 11, 20], w: f64[3, 20], b: f64[3], v: f64[1, 20]) {
    r = view(x) {sizes: [66, 20]}
    a = linear(r, w, b)
    c = linear(r, v, _)
    d = abs(c)
    return a, d
  })",
              1, 10);
}

TEST_F(Siblings, Halves) {
  for (const char* dtype : {"bf16", "f16"})
    expect_same(heads(kSizes[0], dtype, "linear", "  z{0} = relu(y{0})\n", "z"), 1, 11);
}

// The left matrix dies here, a residual dies in one piece and is an operand of the other, results
// overwrite inputs and lie in a larger value.
TEST_F(Siblings, MemoryOfOthers) {
  expect_same(R"(graph(x: f32[48, 30], w: f32[30, 4], v: f32[30, 4], r: f32[48, 4]) {
    h = relu(x)
    s = exp(r)
    a = mm(h, w)
    b = add(a, s)
    c = mm(h, v)
    d = mul(c, s)
    return b -> r, d
  })",
              1, 12);
  expect_same(R"(graph(x: f32[48, 30], w: f32[30, 4], v: f32[30, 3]) {
    a = mm(x, w)
    b = mm(x, v)
    c = cat(a, b) {dim: 1}
    y = relu(c)
    return y
  })",
              1, 13);
}

TEST_F(Siblings, StaysApart) {
  // One depends on the other, through a launch between them.
  expect_same(R"(graph(x: f32[64, 32], w: f32[32, 2], v: f32[32, 2]) {
    a = mm(x, w)
    m = sum(a) {dims: [0], keepdim: false}
    b = mm(x, v)
    c = add(b, m)
    return a, c
  })",
              0, 15);
  // Order class dot.
  expect_same(R"(graph(x: f32[6, 32], w: f32[32, 2], v: f32[32, 3]) {
    a = mm(x, w)
    b = mm(x, v)
    return a, b
  })",
              0, 16);
}

// One's result is the other's right matrix, or is added to the other's: never side by side.
TEST_F(Siblings, OneNeedsTheOther) {
  expect_same(R"(graph(x: f32[24, 24], w: f32[24, 4]) {
    a = mm(x, w)
    b = mm(x, a)
    return a, b
  })",
              0, 5);
  expect_same(R"(graph(x: f32[24, 9], w: f32[9, 4], v: f32[9, 4]) {
    a = mm(x, w)
    b = mm(x, v)
    c = add(b, a)
    return a, c
  })",
              0, 6);
}

}  // namespace
}  // namespace groove::jit
