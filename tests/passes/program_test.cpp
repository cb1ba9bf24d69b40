// Programs against node-by-node execution on the interpreter, bit for bit.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstdio>
#include <cstring>
#include <memory>

#include "jit/pipeline.h"
#include "kernels/asmjit/code_memory.h"
#include "kernels/backend.h"
#include "kernels/pool.h"
#include "src/core/tensor_impl.h"
#include "tests/passes/mlp_graph.h"
#include "tests/passes/run_graph.h"

namespace groove::jit {
namespace {

// Compares every way of running the graph with the interpreter's node by node.
void expect_same(const Graph& graph, std::uint64_t seed, bool has_specials,
                 const std::vector<std::uint64_t>& scalars = {}) {
  const std::vector<Bytes> inputs = random_inputs(graph, seed, has_specials);
  kernels::Backend& usual = kernels::current_backend();
  kernels::set_current_backend(*kernels::find_backend("interpreter"));
  const Outcome expected = run_eagerly(graph, inputs, scalars);
  EXPECT_EQ(compare(graph, expected, run_program(graph, inputs, scalars, {})), "")
      << "interpreter, seed " << seed << "\n"
      << print(graph);
  kernels::set_current_backend(usual);
  for (const int threads : {1, 2, 3}) {
    kernels::set_kernel_threads(threads);
    for (const bool is_fused : {false, true}) {
      ProgramOptions options{is_fused, true};
      if (threads == 2) options.rematerialise = {0, 0, 1, 1e9};  // all that can be
      EXPECT_EQ(compare(graph, expected, run_program(graph, inputs, scalars, options, 2)), "")
          << usual.name() << ", " << threads << " threads, " << (is_fused ? "fused" : "unfused")
          << ", seed " << seed << "\n"
          << print(graph);
    }
  }
  kernels::set_kernel_threads(0);
}

TEST(Program, TinyMlpStep) { expect_same(mlp_step({4, 32, 32, 4}, 32), 1, false, mlp_numbers()); }
TEST(Program, OddMlpStep) { expect_same(mlp_step({7, 33, 5}, 19), 2, true, mlp_numbers()); }
TEST(Program, WideMlpStep) { expect_same(mlp_step({300, 130, 10}, 64), 3, false, mlp_numbers()); }

Graph parsed(const char* text) {
  const Graph graph = parse_graph(text);
  EXPECT_EQ(verify(graph), "");
  return graph;
}

TEST(Program, SplitsLongReductions) {
  expect_same(parsed(R"(graph(x: f32[3, 50001], y: f32[50001]) {
    a = mul(x, y)
    s = sum(a) {dims: [], keepdim: false}
    m = mean(a) {dims: [1], keepdim: false}
    n = neg(m)
    r = amax(y) {dims: [], keepdim: false}
    return s, n, r
  })"),
              4, false);
}

// Long enough that threads run at the same time, or stop each other halfway.
void expect_same_on_threads(const Graph& graph) {
  const std::vector<Bytes> inputs = random_inputs(graph, 9, false);
  kernels::set_kernel_threads(1);
  const Outcome expected = run_program(graph, inputs, {}, {});
  kernels::set_kernel_threads(3);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(compare(graph, expected, run_program(graph, inputs, {}, {}, 3)), "") << print(graph);
  }
  kernels::set_kernel_threads(0);
}

TEST(Program, ThreadsHaveRowsOfTheirOwn) {
  expect_same_on_threads(parsed(R"(graph(x: f32[1500, 4000], y: f32[4000]) {
    a = mul(x, y)
    p = softmax(a) {dim: 1}
    return p
  })"));
}

TEST(Program, ThreadsHaveScratchMemoryOfTheirOwn) {
  expect_same_on_threads(parsed(R"(graph(x: f32[400, 1500], y: f32[1500, 400]) {
    z = mm(x, y)
    return z
  })"));
}

// Code for one size alone would grow with their number.
TEST(Program, ProductsOfManySizesShareTheirCode) {
  ProgramOptions options;
  options.is_for_many_sizes = true;
  std::vector<std::unique_ptr<Program>> kept;
  const auto make = [&](int rows) {
    Graph graph =
        parse_graph(fmt::format("graph(x: f32[{}, 16], w: f32[16, 24]) {{ y = mm(x, w) "
                                "z = relu(y) return z }}",
                                rows));
    run_pipeline_for_many_sizes(graph);
    kept.push_back(std::make_unique<Program>(std::move(graph), options));
  };
  for (int rows = 64; rows < 96; ++rows) make(rows);
  const std::size_t bytes = kernels::assembly::code_bytes();
  for (int rows = 128; rows < 160; ++rows) make(rows);
  EXPECT_EQ(kernels::assembly::code_bytes(), bytes);
}

// A fused value of 16 bits is rounded as if it had been stored; sums and products are not.
TEST(Program, RoundsHalvesWhereAnOpEnds) {
  for (const char* dtype : {"f16", "bf16"}) {
    std::string text = R"(graph(x: DT[9, 70], w: DT[33, 70], b: DT[33], t: i64[9], r: f32[33],
                                 long: DT[50001], c: i8[9, 33], u: u8[9, 33], k: i16[9, 33]) {
      h = linear(x, w, b)
      a = tanh(h)
      d = mul(a, r)
      e = exp(h)
      s = softmax(e) {dim: 1}
      m = mean(e) {dims: [0], keepdim: false}
      l = cross_entropy(e, t) {reduction: 1, ignore_index: -100}
      z = sum(long) {dims: [], keepdim: false}
      p = add(a, c)
      q = cast(e) {dtype: u8}
      v = add(u, q)
      o = mul(k, c)
      n = cast(o) {dtype: DT}
      y = mul_scalar(p) <number: 0.3>
      g = cast(d) {dtype: DT}
      f = cast(g) {dtype: f64}
      i = cast(f) {dtype: DT}
      return s, m, l, z, y, v, n, i, d
    })";
    for (std::size_t at; (at = text.find("DT")) != std::string::npos;) text.replace(at, 2, dtype);
    expect_same(parsed(text.c_str()), 8, false);
    expect_same(parsed(text.c_str()), 9, true);
  }
}

TEST(Program, PicksFromRows) {
  expect_same(parsed(R"(graph(x: f32[9, 7], index: i64[9, 1], rows: i64[4]) {
    m = amax(x) {dims: [1], keepdim: true}
    d = sub(x, m)
    e = exp(d)
    s = sum(e) {dims: [1], keepdim: true}
    l = log(s)
    p = sub(d, l)
    g = gather(p, index) {dim: 1}
    h = index_select(e, rows) {dim: 0}
    return g, p, h
  })"),
              5, false);
}

TEST(Program, MovesSlicesByRunTimeNumbers) {
  const Graph graph = parsed(R"(graph(x: f32[40, 5], #0: i64) {
    s = slice(x) {dim: 0, length: 8, step: 2} <start: #0>
    y = exp(s)
    t = permute(s) {dims: [1, 0]}
    z = mm(t, y)
    return y, z
  })");
  for (const std::uint64_t start : {0u, 3u, 25u}) expect_same(graph, 6, false, {start});
}

// A square product whose epilogue reads what the product reads.
TEST(Program, KeepsTheOperandOfAProductInMemory) {
  expect_same(parse_graph(R"(graph(x: f32[8, 8], y: f32[8, 8]) {
  a = exp(x)
  b = mm(a, y)
  c = add(b, a)
  return c
})"),
              14, false);
}

// Elements in reverse order are not one axis, nor is memory in another order.
TEST(Program, ReducesWhatIsReversedOrReordered) {
  expect_same(parse_graph(R"(graph(x: f32[6, 5]) {
  a = flip(x) {dims: [1]}
  b = sum(a) {dims: [], keepdim: false}
  return a, b
})"),
              15, false);
  expect_same(parse_graph(R"(graph(x: f32[2, 3, 4]) {
  a = sigmoid(x)
  b = mean(a) {dims: [], keepdim: false}
  c = sum(a) {dims: [0, 2], keepdim: true}
  return b, c
})"),
              16, false);
}

TEST(Program, RunsInStages) {
  expect_same(parsed(R"(graph(x: f32[8, 16], w: f32[16, 4], b: f32[4]) stages 2 {
    h = mm(x, w)
    a = add(h, b)
    loss = sum(a) {dims: [], keepdim: false}
    e = exp(a) stage 1
    xt = permute(x) {dims: [1, 0]} stage 1
    g = mm(xt, e) stage 1
    w2 = sub(w, g) stage 1
    b2 = sum(e) {dims: [0], keepdim: false} stage 1
    return loss, w2 -> w stage 1, b2 -> b stage 1
  })"),
              7, false);
}

// The new value of each input is made from the old value of the other.
TEST(Program, ExchangesInputs) {
  expect_same(parsed(R"(graph(x: f32[100], y: f32[100]) {
    a = neg(y)
    b = exp(x)
    return a -> x, b -> y
  })"),
              8, true);
}

// Three slices of one input and two of an intermediate value: no base is copied, whoever reads it.
TEST(Program, WritesSlicesInPlace) {
  const Graph graph = parsed(R"(graph(x: f32[64, 32], y: f32[4, 32]) {
    before = sum(x) {dims: [1], keepdim: false}
    a = write_strided(x, y) {sizes: [4, 32], strides: [32, 1], offset: 0}
    e = exp(y)
    b = write_strided(a, e) {sizes: [4, 32], strides: [32, 1], offset: 256}
    top = slice(b) {dim: 0, length: 4, step: 1} <start: 6>
    n = neg(top)
    c = write_strided(b, n) {sizes: [4, 32], strides: [64, 1], offset: 640}
    t = exp(c)
    u = write_strided(t, y) {sizes: [4, 32], strides: [32, 1], offset: 0}
    v = write_strided(u, e) {sizes: [4, 32], strides: [32, 1], offset: 32}
    return before, c -> x, v
  })");
  expect_same(graph, 10, true);
  Graph compiled = graph;
  run_pipeline(compiled);
  const Program program(std::move(compiled));
  EXPECT_EQ(program.launch_count(), 9u) << program.describe();
}

// Whatever their sizes.
TEST(Program, UpdatesAllParametersInOneLaunch) {
  const Graph graph = parsed(R"(graph(a: f32[100, 3], b: f32[100], c: f32[7, 11], ga: f32[100, 3],
                                      gb: f32[100], gc: f32[7, 11], #0: f64) {
    sa = mul_scalar(ga) <number: #0>
    na = sub(a, sa)
    sb = mul_scalar(gb) <number: #0>
    nb = sub(b, sb)
    sc = mul_scalar(gc) <number: #0>
    nc = sub(c, sc)
    return na -> a, nb -> b, nc -> c
  })");
  expect_same(graph, 12, true, {std::bit_cast<std::uint64_t>(0.1)});
  Graph compiled = graph;
  run_pipeline(compiled);
  const Program program(std::move(compiled));
  EXPECT_EQ(program.launch_count(), 1u) << program.describe();
}

// Here the base is read after, or is an output itself: it must be copied.
TEST(Program, KeepsBasesThatAreNeeded) {
  expect_same(parsed(R"(graph(x: f32[64, 32], y: f32[4, 32], z: f32[64, 32]) {
    a = write_strided(x, y) {sizes: [4, 32], strides: [32, 1], offset: 0}
    s = sum(a) {dims: [], keepdim: false}
    late = mul(x, s)
    e = exp(z)
    b = write_strided(e, y) {sizes: [4, 32], strides: [32, 1], offset: 64}
    c = write_strided(z, y) {sizes: [4, 32], strides: [32, 1], offset: 0}
    d = write_strided(z, y) {sizes: [4, 32], strides: [32, 1], offset: 64}
    row = slice(z) {dim: 0, length: 4, step: 1} <start: 6>
    f = write_strided(z, row) {sizes: [4, 32], strides: [32, 1], offset: 160}
    return late, e, b, c, d, a -> x, f -> z
  })"),
              11, true);
}

// Two values each overwrite a region of one base: one of them may have its memory, the other not,
// whichever comes first.
TEST(Program, GivesABaseToOneOfTwoThatOverwriteIt) {
  expect_same(parsed(R"(graph(x: f32[4, 4], y: f32[4], z: f32[4], w: f32[4, 4], v: f32[4, 4]) {
    a = write_strided(x, y) {sizes: [4], strides: [1], offset: 0}
    b = write_strided(x, z) {sizes: [4], strides: [1], offset: 12}
    s = sin(b)
    e = exp(w)
    c = write_strided(e, y) {sizes: [4], strides: [1], offset: 4}
    d = write_strided(e, z) {sizes: [4], strides: [1], offset: 8}
    t = mul(c, d)
    f = write_strided(v, y) {sizes: [4], strides: [1], offset: 4}
    u = neg(f)
    g = write_strided(v, z) {sizes: [4], strides: [1], offset: 4}
    return s, t, u, a -> x, g -> v
  })"),
              13, true);
}

// Input x is overwritten in stage 0 and read, as it was, in stage 1; z is not bound before that.
TEST(Program, KeepsOldValuesForLaterStages) {
  expect_same(parsed(R"(graph(x: f32[6, 10], y: f32[6, 10], z: f32[6, 10]) stages 2 {
    a = add(x, y)
    s = sum(a) {dims: [], keepdim: false}
    t = permute(x) {dims: [1, 0]} stage 1
    m = mm(t, z) stage 1
    b = mul(x, z) stage 1
    return s, a -> x, m stage 1, b stage 1
  })"),
              9, true);
}

}  // namespace
}  // namespace groove::jit
