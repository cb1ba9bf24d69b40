// Relays (jit/relay.h) against node-by-node execution on the interpreter, bit for bit, over blocks
// of every kind: whole, uneven, one for each batch entry and many.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "jit/pipeline.h"
#include "tests/passes/run_graph.h"

namespace groove::jit {
namespace {

// `relays`: how many the graph must become.
void expect_same(const std::string& text, std::size_t relays, std::uint64_t seed,
                 bool has_specials = false) {
  const Graph graph = parse_graph(text);
  ASSERT_EQ(verify(graph), "") << text;
  Graph lowered = graph;
  run_pipeline(lowered);
  for (const kernels::Machine& machine : test_machines()) {
    const std::string listed = launches_on(machine, lowered);
    std::size_t found = 0;
    for (std::size_t at = 0; (at = listed.find("relay:", at)) != std::string::npos; ++at) ++found;
    EXPECT_EQ(found, relays) << kernels::name(machine.isa) << "\n" << listed;
  }
  EXPECT_EQ(compare_programs(graph, seed, has_specials), "") << text;
}

struct Sizes {
  int batch, rows, columns, width, out;
};

std::string attention(const Sizes& s, const char* dtype, const std::string& body,
                      const std::string& more = "") {
  return fmt::format(
      "graph(q: {0}[{1}, {2}, {4}], k: {0}[{1}, {3}, {4}], v: {0}[{1}, {3}, {5}], "
      "hidden: bool[{2}, {3}]{6}) {{\n  t = permute(k) {{dims: [0, 2, 1]}}\n  s = bmm(q, t)\n{7}}}",
      dtype, s.batch, s.rows, s.columns, s.width, s.out, more, body);
}

const Sizes kSizes[] = {{3, 64, 64, 32, 32}, {2, 65, 37, 7, 5},     {1, 200, 100, 16, 24},
                        {5, 17, 513, 9, 33}, {2, 33, 1024, 16, 16}, {4, 40, 70, 300, 8},
                        {7, 16, 32, 8, 8},   {4, 1, 40, 8, 8},      {2, 130, 600, 16, 1}};

TEST(Relay, Attention) {
  for (const Sizes& s : kSizes) {
    for (const char* dtype : {"f32", "f64"}) {
      // One row of scores a batch entry is no product of rows.
      expect_same(attention(s, dtype, "p = softmax(s) {dim: 2}\ny = bmm(p, v)\nreturn y\n"), 1, 1);
    }
  }
}

// Scores and weights of 16 bits are rounded as they were when they went through memory.
TEST(Relay, AttentionOfHalves) {
  for (const char* dtype : {"f16", "bf16"}) {
    expect_same(attention({3, 70, 64, 32, 32}, dtype,
                          "p = softmax(s) {dim: 2}\ny = bmm(p, v)\nreturn y\n"),
                1, 12);
  }
}

TEST(Relay, MaskedAttentionWithSpecialValues) {
  for (const Sizes& s : kSizes) {
    expect_same(
        attention(s, "f32",
                  "a = mul_scalar(s) <number: 0.25>\nm = masked_fill(a, hidden) <value: -inf>\n"
                  "p = softmax(m) {dim: 2}\ny = bmm(p, v)\nreturn y\n"),
        1, 2, true);
  }
}

TEST(Relay, WhatBackwardNeedsIsStored) {
  for (const Sizes& s : kSizes) {
    expect_same(
        attention(s, "f32",
                  "a = mul_scalar(s) <number: 0.25>\np = softmax(a) {dim: 2}\ny = bmm(p, v)\n"
                  "return y, p, s\n"),
        1, 3);
  }
}

TEST(Relay, Dropout) {
  for (const Sizes& s : kSizes) {
    expect_same(attention(s, "f32",
                          "p = softmax(s) {dim: 2}\n"
                          "d = dropout(p) <p: 0.25, seed: 5, draw: 3, scale: 1.3333333>\n"
                          "y = bmm(d, v)\nreturn y\n"),
                1, 4);
  }
}

TEST(Relay, Backward) {
  for (const Sizes& s : kSizes) {
    const std::string text = fmt::format(
        "graph(q: f32[{0}, {1}, {3}], k: f32[{0}, {2}, {3}], v: f32[{0}, {2}, {4}], "
        "p: f32[{0}, {1}, {2}], g: f32[{0}, {1}, {4}]) {{\n"
        "vt = permute(v) {{dims: [0, 2, 1]}}\ndp = bmm(g, vt)\nw = mul(dp, p)\n"
        "r = sum(w) {{dims: [2], keepdim: true}}\nc = sub(dp, r)\nds = mul(c, p)\n"
        "dq = bmm(ds, k)\ndst = permute(ds) {{dims: [0, 2, 1]}}\ndk = bmm(dst, q)\n"
        "pt = permute(p) {{dims: [0, 2, 1]}}\ndv = bmm(pt, g)\nreturn dq, dk, dv\n}}",
        s.batch, s.rows, s.columns, s.width, s.out);
    expect_same(text, 1, 5);
  }
}

// One matrix for all rows, seen in batches by one product and not by the other.
TEST(Relay, SharedMatrices) {
  expect_same(R"(graph(x: f32[300, 48], w: f32[96, 48], u: f32[40, 96], b: f32[96], d: f32[40]) {
    h = linear(x, w, b)
    m = mean(h) {dims: [1], keepdim: true}
    c = sub(h, m)
    y = linear(c, u, d)
    return y
  })",
              1, 6);
  expect_same(R"(graph(x: f32[6, 40, 16], w: f32[6, 16, 33], u: f32[33, 20]) {
    h = bmm(x, w)
    p = softmax(h) {dim: 2}
    r = view(p) {sizes: [240, 33]}
    y = mm(r, u)
    return y
  })",
              1, 7);
}

// What is read and dies takes no second place; two products may make the rows, two may read them.
TEST(Relay, SeveralProducts) {
  expect_same(R"(graph(x: f32[3, 50, 16], w: f32[3, 16, 80], y: f32[3, 50, 24], z: f32[3, 24, 80],
                       u: f32[3, 80, 30], t: f32[3, 80, 10]) {
    a = bmm(x, w)
    b = bmm(y, z)
    r = sum(a) {dims: [2], keepdim: true}
    c = mul(b, r)
    p = softmax(c) {dim: 2}
    d = bmm(p, u)
    e = bmm(p, t)
    f = exp(d)
    return f, e
  })",
              1, 8);
}

// What overwrites an input may lie in its memory only after all blocks have read it.
TEST(Relay, OverwritesWhatItReads) {
  for (const char* name : {"q", "k", "v"}) {
    expect_same(fmt::format(R"(graph(q: f32[2, 48, 48], k: f32[2, 48, 48], v: f32[2, 48, 48]) {{
      s = bmm(q, k)
      p = softmax(s) {{dim: 2}}
      y = bmm(p, v)
      return y -> {}
    }})",
                            name),
                1, 9);
    expect_same(fmt::format(R"(graph(q: f32[2, 48, 48], k: f32[2, 48, 48], v: f32[2, 48, 48]) {{
      s = bmm(q, k)
      a = add(s, {0})
      p = softmax(a) {{dim: 2}}
      y = bmm(p, v)
      return y, p -> {0}
    }})",
                            name),
                1, 10);
  }
}

TEST(Relay, NoneAroundALaunchInBetween) {
  expect_same(R"(graph(q: f32[4, 64, 32], k: f32[4, 32, 64], v: f32[4, 64, 32]) {
    s = bmm(q, k)
    p = softmax(s) {dim: 2}
    c = sum(s) {dims: [1], keepdim: false}
    w = mul_scalar(c) <number: 0.001>
    e = view(w) {sizes: [4, 64, 1]}
    f = add(v, e)
    y = bmm(p, f)
    return y
  })",
              0, 11);
}

}  // namespace
}  // namespace groove::jit
