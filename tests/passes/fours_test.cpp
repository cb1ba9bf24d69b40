// Random numbers that are drawn four at once, in eager mode and by launches of their own in
// compiled code, have the bits that each has by itself: for every such operator, dtype and number
// of elements left over.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "jit/pipeline.h"
#include "kernels/backend.h"
#include "kernels/fours.h"
#include "kernels/pool.h"
#include "run_graph.h"

namespace groove::jit {
namespace {

// A draw of each of the sizes, with numbers of its own.
Graph draws(const Op& op, ScalarType dtype, const std::vector<Shape>& all_sizes) {
  const Sample sample = op.samples(dtype).front();
  Graph graph;
  for (const Shape& sizes : all_sizes) {
    std::vector<NumberRef> numbers;
    for (const Scalar& number : sample.numbers) numbers.push_back({-1, number});
    for (std::size_t i = 0; i < numbers.size(); ++i)
      if (std::string_view(op.number_names[i]) == "draw")
        numbers[i].constant = Scalar(7 + static_cast<std::int64_t>(graph.nodes.size()));
    const std::int32_t node =
        graph.add_node(op, {}, Attrs().add(IntArrayRef(sizes)).add(dtype), numbers);
    graph.outputs.push_back({graph.nodes[static_cast<std::size_t>(node)].outputs[0], -1, 0});
  }
  return graph;
}

template <typename Check>
int for_each_draw(const Check& check) {
  int operators = 0;
  for (const Op* op : all_ops()) {
    if (!kernels::fours_of(*op)) continue;
    ++operators;
    for (const ScalarType dtype : op->dtypes) check(*op, dtype);
  }
  return operators;
}

std::vector<LaunchPlan::Part> parts_of(const Graph& graph, const ProgramOptions& options) {
  std::vector<LaunchPlan::Part> parts;
  for (const LaunchPlan& launch : program_of(graph, options)->lowered().launches)
    parts.push_back(launch.part);
  return parts;
}

ProgramOptions any_size() {
  ProgramOptions options;
  options.is_for_many_sizes = options.takes_numbers = true;
  return options;
}

TEST(Fours, SameBitsAsOneByOne) {
  const int operators = for_each_draw([](const Op& op, ScalarType dtype) {
    for (const Shape& sizes : {Shape{}, Shape{0}, Shape{1}, Shape{2}, Shape{3}, Shape{4},
                               Shape{5, 7}, Shape{3, 2, 11}, Shape{1000}, Shape{131, 257}}) {
      const Graph graph = draws(op, dtype, {sizes});
      ProgramOptions one_by_one;
      one_by_one.is_fused = false;
      const Outcome expected = run_program(graph, {}, {}, one_by_one);
      EXPECT_EQ(compare(graph, expected, run_eagerly(graph, {}, {})), "")
          << op.name << ' ' << name(dtype) << ' ' << to_string(sizes);
      EXPECT_EQ(compare(graph, expected, run_program(graph, {}, {}, {})), "")
          << op.name << ' ' << name(dtype) << ' ' << to_string(sizes);
      if (element_count(sizes) > 100) continue;
      EXPECT_EQ(compare_programs(graph, 1, false), "") << op.name << ' ' << to_string(sizes);
    }
  });
  EXPECT_GE(operators, 9);  // four with their twins, and the mask of dropout
}

TEST(Fours, WhateverIsLeftOver) {
  for_each_draw([](const Op& op, ScalarType dtype) {
    for (std::int64_t first = 0; first <= 70; first += 6) {
      std::vector<Shape> sizes;
      for (std::int64_t n = first; n < first + 6; ++n) sizes.push_back({n});
      const Graph graph = draws(op, dtype, sizes);
      const Outcome expected = run_eagerly(graph, {}, {});
      for (const int threads : {1, 2}) {
        kernels::set_kernel_threads(threads);
        for (ProgramOptions options : {ProgramOptions{}, any_size()}) {
          options.is_never_serial = options.fills_freed_memory = threads > 1;
          EXPECT_EQ(compare(graph, expected, run_program(graph, {}, {}, options, 2)), "")
              << op.name << ' ' << name(dtype) << " from " << first;
        }
      }
      kernels::set_kernel_threads(0);
    }
  });
}

// Equal launches of one level are one table, whose parts threads share among themselves.
TEST(Fours, DrawsSideBySide) {
  for_each_draw([](const Op& op, ScalarType dtype) {
    const Graph graph = draws(op, dtype, {{1003}, {77, 13}, {4097}, {256}, {5}, {2, 2, 301}});
    EXPECT_EQ(compare_programs(graph, 1, false), "") << op.name << ' ' << name(dtype);
  });
}

TEST(Fours, LaunchesOfADraw) {
  using enum LaunchPlan::Part;
  const auto parts_at = [](std::int64_t n, const ProgramOptions& options) {
    return parts_of(parse_graph(fmt::format(R"(graph(x: f32[{0}]) {{
      r = rand() {{sizes: [{0}], dtype: f32}} <seed: 1, draw: 2>
      y = add(x, r)
      return y
    }})",
                                            n)),
                    options);
  };
  using Parts = std::vector<LaunchPlan::Part>;
  EXPECT_EQ(parts_at(1000, {}), (Parts{kFours, kWhole}));
  EXPECT_EQ(parts_at(1001, {}), (Parts{kFours, kRest, kWhole}));
  EXPECT_EQ(parts_at(1000, any_size()), (Parts{kFours, kRest, kWhole}));
  EXPECT_EQ(parts_at(8, {}), (Parts{kWhole}));
}

// What else reads a draw, and where else it lies: rows, columns, products, parts of a whole.
TEST(Fours, AmongOthers) {
  for (const std::int64_t n : {37, 64, 130}) {
    const Graph graph = parse_graph(fmt::format(
        R"(graph(x: f32[{0}, 65], w: f32[65, 65], b: f32[{0}, 3]) {{
      r = randn() {{sizes: [{0}, 65], dtype: f32}} <seed: 1, draw: 2>
      s = softmax(r) {{dim: 1}}
      c = sum(r) {{dims: [0], keepdim: false}}
      h = mm(x, w)
      d = dropout(h) <p: 0.25, seed: 5, draw: 3, scale: 1.3333333>
      k = rand() {{sizes: [{0}, 65], dtype: f32}} <seed: 1, draw: 4>
      e = cat(k, b) {{dim: 1}}
      l = rand() {{sizes: [{0}, 65], dtype: f32}} <seed: 1, draw: 5>
      m = rand() {{sizes: [{0}, 65], dtype: f32}} <seed: 1, draw: 6>
      f = cat(l, x, m) {{dim: 0}}
      t = permute(r) {{dims: [1, 0]}}
      u = mm(t, x)
      return s, c, d, e, f, u
    }})",
        n));
    ASSERT_EQ(verify(graph), "");
    EXPECT_EQ(compare_programs(graph, 3, true), "") << n;
  }
}

}  // namespace
}  // namespace groove::jit
