// Programs that take on other sizes, against the interpreter: a program for some sizes becomes, by
// its numbers alone, what the program for others is.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>

#include "kernels/backend.h"
#include "kernels/pool.h"
#include "tests/passes/mlp_graph.h"
#include "tests/passes/run_graph.h"

namespace groove::jit {
namespace {

constexpr std::int32_t kNone = std::numeric_limits<std::int32_t>::max();

ProgramOptions any_size() {
  ProgramOptions options;
  options.is_for_many_sizes = options.takes_numbers = true;
  return options;
}

// Made by the same choices.
ProgramOptions like(const Program& program) {
  ProgramOptions options = any_size();
  options.choices = program.choices().followed();
  return options;
}

// Sets the numbers of a program to those of another one of the same structure; gives the stages
// that need not run again.
std::int32_t become(Program& program, Program& other) {
  ProgramNumbers own, theirs;
  EXPECT_TRUE(program.list_numbers(own));
  EXPECT_TRUE(other.list_numbers(theirs));
  EXPECT_EQ(own.structure, theirs.structure);
  if (own.structure != theirs.structure) return 0;
  NumbersSet set;
  for (std::size_t i = 0; i < own.numbers.size(); ++i) {
    // Room for what is smaller does no harm, and is not given back.
    const std::int64_t value = theirs.numbers[i].value();
    if (own.numbers[i].is_room() && value < own.numbers[i].value()) continue;
    if (own.numbers[i].set(value)) set.add(own.numbers[i]);
  }
  return program.settle(set);
}

// `graph_at(n)` at each of the sizes, by one program.
template <typename GraphAt>
void expect_same_at(const std::vector<std::int64_t>& sizes, const GraphAt& graph_at,
                    const std::vector<std::uint64_t>& numbers = {}) {
  kernels::Backend& usual = kernels::current_backend();
  for (const int threads : {1, 3}) {
    kernels::set_kernel_threads(threads);
    const std::unique_ptr<Program> program = program_of(graph_at(sizes.back()), any_size());
    for (const std::int64_t size : sizes) {
      const Graph graph = graph_at(size);
      become(*program, *program_of(graph, like(*program)));
      const std::vector<Bytes> inputs =
          random_inputs(graph, static_cast<std::uint64_t>(size), true);
      kernels::set_current_backend(*kernels::find_backend("interpreter"));
      const Outcome expected = run_eagerly(graph, inputs, numbers);
      kernels::set_current_backend(usual);
      EXPECT_EQ(compare(graph, expected, run_program(*program, graph, inputs, numbers, 2)), "")
          << threads << " threads, size " << size << "\n"
          << print(graph);
    }
  }
  kernels::set_kernel_threads(0);
}

TEST(AnySize, OfATrainingStep) {
  expect_same_at(
      {9, 64, 17, 33, 60, 8, 11},
      [](std::int64_t batch) {
        return mlp_step({5, 24, 3}, batch);
      },
      mlp_numbers());
}

TEST(AnySize, OfRowsAndColumns) {
  expect_same_at({40, 7, 100, 12, 33}, [](std::int64_t n) {
    return parse_graph(fmt::format(R"(graph(x: f32[{0}, 20], y: f32[20], k: f32[{0}, 3]) {{
      a = softmax(x) {{dim: 1}}
      b = mean(a) {{dims: [0], keepdim: false}}
      c = mul(b, y)
      d = mean(x) {{dims: [], keepdim: false}}
      e = cat(x, k) {{dim: 1}}
      f = tanh(e)
      g = cumsum(k) {{dim: 0, reverse: false}}
      return c, d, f, g
    }})",
                                   n));
  });
}

// However much room the tiles of a product need at one of them.
TEST(AnySize, OfProductsThatNeedMoreRoomOrLess) {
  expect_same_at({20, 28, 17, 300, 64}, [](std::int64_t n) {
    return parse_graph(fmt::format(R"(graph(x: f32[{}, 512], w: f32[512, 128], b: f32[128]) {{
      a = mm(x, w)
      c = add(a, b)
      return c
    }})",
                                   n));
  });
}

// What the first stage does is no other when only the second one's sizes are; what it gives to the
// second lies where it lay.
TEST(AnySize, StagesBeforeASizeWasKnownStay) {
  const auto graph_at = [](std::int64_t n, std::int64_t m) {
    return parse_graph(fmt::format(
        R"(graph(x: f32[{0}, 20], w: f32[20, 6], k: i64[{1}]) stages 2 {{
      a = tanh(x)
      b = mm(a, w)
      s = sum(a) {{dims: [], keepdim: false}}
      c = index_select(b, k) {{dim: 0}} stage 1
      d = exp(c) stage 1
      e = sum(d) {{dims: [], keepdim: false}} stage 1
      return s, d stage 1, e stage 1
    }})",
        n, m));
  };
  const std::unique_ptr<Program> program = program_of(graph_at(30, 12), any_size());
  EXPECT_EQ(become(*program, *program_of(graph_at(30, 25), any_size())), 1);
  EXPECT_EQ(become(*program, *program_of(graph_at(30, 9), any_size())), 1);
  EXPECT_EQ(become(*program, *program_of(graph_at(40, 9), any_size())), 0);
  EXPECT_EQ(become(*program, *program_of(graph_at(40, 9), any_size())), kNone);
}

// A product's order is another where both sides are short. Few rows are no other program's
// business, few columns are.
TEST(AnySize, OrdersGoByTheNumberOfRows) {
  const auto graph_at = [](std::int64_t rows, std::int64_t columns) {
    return parse_graph(fmt::format(R"(graph(x: f32[{}, 20], w: f32[20, {}], b: f32[{}]) {{
      y = mm(x, w)
      z = add(y, b)
      return z
    }})",
                                   rows, columns, columns));
  };
  const auto structure_at = [&](std::int64_t rows, std::int64_t columns) {
    ProgramNumbers numbers;
    EXPECT_TRUE(program_of(graph_at(rows, columns), any_size())->list_numbers(numbers));
    return numbers.structure;
  };
  EXPECT_EQ(structure_at(7, 3), structure_at(100, 3));
  EXPECT_EQ(structure_at(7, 30), structure_at(100, 30));
  EXPECT_NE(structure_at(3, 7), structure_at(3, 8));
  EXPECT_EQ(structure_at(3, 7), structure_at(3, 5));
  for (const std::int64_t columns : {1, 3, 7, 9})
    expect_same_at({100, 8, 7, 2, 40, 5, 9},
                   [&](std::int64_t rows) { return graph_at(rows, columns); });
}

// Sums of short rows, of as many rows as have a loop of their own or fewer.
TEST(AnySize, ShortRowsMayBeFew) {
  expect_same_at({30, 4, 9, 2, 100}, [](std::int64_t n) {
    return parse_graph(fmt::format(R"(graph(x: f32[{}, 6]) {{
      a = tanh(x)
      b = sum(a) {{dims: [1], keepdim: true}}
      c = mul(a, b)
      return a, c
    }})",
                                   n));
  });
}

// Whether two maps of what was stored are better one depends on how many elements they have.
Graph siblings_at(std::int64_t n) {
  return parse_graph(fmt::format(R"(graph(x: f32[{0}, 8], c: f32[{0}, 8]) {{
      a = tanh(x)
      b = square(a)
      d = sigmoid(x)
      e = mul(d, c)
      f = sigmoid(e)
      return b, f
    }})",
                                 n));
}

// Whether a product is better late depends on what it frees.
Graph late_at(std::int64_t n) {
  return parse_graph(fmt::format(R"(graph(x: f32[{0}, 8], y: f32[{0}, 64], v: f32[64, 64]) {{
      a = exp(x)
      b = permute(a) {{dims: [1, 0]}}
      c = mm(b, y)
      d = mm(v, v)
      e = mm(d, v)
      f = mm(e, v)
      g = mm(c, f)
      return g
    }})",
                                 n));
}

TEST(AnySize, OfWhatIsOneLaunchAtSomeSizes) {
  expect_same_at({16, 200, 33, 37, 500, 64}, siblings_at);
  expect_same_at({16, 200, 33, 37, 500, 64}, late_at);
}

template <typename GraphAt>
void expect_one_structure_at(const std::vector<std::int64_t>& sizes, const GraphAt& graph_at) {
  const auto structure_of = [](const std::unique_ptr<Program>& program) {
    ProgramNumbers numbers;
    EXPECT_TRUE(program->list_numbers(numbers));
    return numbers.structure;
  };
  const std::unique_ptr<Program> first = program_of(graph_at(48), any_size());
  bool is_other = false;
  for (const std::int64_t n : sizes) {
    EXPECT_EQ(structure_of(program_of(graph_at(n), like(*first))), structure_of(first)) << n;
    is_other |= structure_of(program_of(graph_at(n), any_size())) != structure_of(first);
  }
  EXPECT_TRUE(is_other) << "nothing here goes by cost: " << print(graph_at(48));
}

// Draws by fours, and what is left over of them, though there be none.
Graph draws_at(std::int64_t n) {
  return parse_graph(fmt::format(R"(graph(x: f32[{0}, 3], y: f64[{0}]) {{
    d = dropout(x) <p: 0.25, seed: 5, draw: 3, scale: 1.3333333>
    r = randn() {{sizes: [{0}], dtype: f64}} <seed: 1, draw: 4>
    z = add(y, r)
    k = randint() {{sizes: [{0}, 7], dtype: i64}} <seed: 1, draw: 5, low: 0, range: 10>
    u = rand() {{sizes: [{0}, 3], dtype: f32}} <seed: 1, draw: 6>
    c = cat(u, x) {{dim: 0}}
    return d, z, k, c
  }})",
                                 n));
}

// Draws that one group reads, or each its own where they are large.
Graph several_draws_at(std::int64_t n) {
  return parse_graph(fmt::format(R"(graph(x: f32[{0}]) {{
    r = rand() {{sizes: [{0}], dtype: f32}} <seed: 5, draw: 3>
    a = add(x, r)
    s = rand() {{sizes: [{0}], dtype: f32}} <seed: 5, draw: 4>
    b = mul(a, s)
    t = rand() {{sizes: [{0}], dtype: f32}} <seed: 5, draw: 5>
    c = sub(b, t)
    return c
  }})",
                                 n));
}

TEST(AnySize, OfDraws) {
  expect_same_at({50, 70003, 48}, several_draws_at);
  expect_same_at({48, 49, 50, 51, 7, 2, 3, 4, 5, 1003, 64, 333, 3001}, draws_at);
  expect_same_at({4097, 4098, 4099, 4100, 5, 2, 6}, draws_at);
}

TEST(AnySize, WhatGoesByCostIsDoneAsAtTheFirst) {
  expect_one_structure_at({2, 5, 8, 16, 33, 37, 200, 500, 2000}, siblings_at);
  expect_one_structure_at({8, 16, 33, 37, 200, 500, 2000}, late_at);
  expect_one_structure_at({2, 3, 4, 5, 16, 33, 37, 200, 501, 2002}, draws_at);
  expect_one_structure_at({4, 50, 70003, 200000}, several_draws_at);
}

}  // namespace
}  // namespace groove::jit
