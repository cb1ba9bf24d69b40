// Epilogues of convolutions against node-by-node execution on the interpreter, bit for bit: every
// way in which images, channels and rows are handed over in blocks.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "jit/pipeline.h"
#include "kernels/asmjit/isa.h"
#include "kernels/backend.h"
#include "kernels/pool.h"
#include "tests/passes/run_graph.h"

namespace groove::jit {
namespace {

using kernels::Isa;

void expect_same(const std::string& text, const std::string& launched, std::uint64_t seed,
                 bool has_specials = false) {
  const Graph graph = parse_graph(text);
  ASSERT_EQ(verify(graph), "") << text;
  Graph lowered = graph;
  run_pipeline(lowered);
  EXPECT_EQ(launches(lowered), launched) << text;
  const std::vector<Bytes> inputs = random_inputs(graph, seed, has_specials);
  kernels::Backend& usual = kernels::current_backend();
  kernels::set_current_backend(*kernels::find_backend("interpreter"));
  const Outcome expected = run_eagerly(graph, inputs, {});
  EXPECT_EQ(compare(graph, expected, run_program(graph, inputs, {}, {}, 2)), "") << "interpreter\n"
                                                                                 << text;
  kernels::set_current_backend(usual);
  const Isa usual_isa = kernels::isa();
  for (const Isa isa : {Isa::kAvx2, Isa::kAvx512}) {
    kernels::set_isa_limit(isa);
    for (const int threads : {1, 2, 3, 7}) {
      kernels::set_kernel_threads(threads);
      ProgramOptions options;
      options.fills_freed_memory = options.is_never_serial = true;
      EXPECT_EQ(compare(graph, expected, run_program(graph, inputs, {}, options, 2)), "")
          << kernels::name(kernels::isa()) << ", " << threads << " threads\n"
          << text;
    }
  }
  kernels::set_kernel_threads(0);
  kernels::set_isa_limit(usual_isa);
}

struct Case {
  int images, groups, in, out;  // channels of one group
  int height, width, kernel, stride, padding, dilation;

  int after(int size) const {
    return (size + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1;
  }
  std::string input() const {
    return fmt::format("[{}, {}, {}, {}]", images, groups * in, height, width);
  }
  std::string weight() const {
    return fmt::format("[{}, {}, {}, {}]", groups * out, in, kernel, kernel);
  }
  std::string result() const {
    return fmt::format("[{}, {}, {}, {}]", images, groups * out, after(height), after(width));
  }
  int results() const { return images * groups * out * after(height) * after(width); }
  std::string attributes() const {
    return fmt::format("stride: [{0}, {0}], padding: [{1}, {1}], dilation: [{2}, {2}], groups: {3}",
                       stride, padding, dilation, groups);
  }
};

// Full and partly filled lanes, strips of few images, single images, rows of several bands, odd
// channels, more channels than a tile has, planes of one pixel.
const Case kCases[] = {
    {16, 1, 3, 6, 9, 9, 3, 1, 1, 1},   {19, 1, 5, 7, 8, 6, 3, 1, 1, 1},
    {33, 3, 2, 5, 7, 7, 2, 2, 0, 1},   {2, 1, 3, 17, 30, 11, 3, 1, 1, 1},
    {1, 1, 4, 9, 41, 13, 5, 1, 2, 1},  {3, 2, 1, 3, 25, 10, 3, 2, 1, 2},
    {1, 1, 1, 1, 5, 5, 5, 1, 0, 1},    {8, 4, 1, 1, 10, 10, 3, 1, 1, 1},
    {17, 1, 40, 33, 4, 4, 3, 1, 1, 1}, {16, 1, 24, 20, 40, 36, 3, 1, 1, 1},
    {5, 1, 7, 70, 6, 6, 1, 1, 0, 1},   {4, 1, 3, 4, 24, 7, 3, 3, 2, 2},
};

// Where a walk over memory that is saved is worth more than the sums' way through the nearest
// cache.
const Case kLarge[] = {{16, 1, 5, 20, 40, 36, 3, 1, 1, 1}, {5, 2, 4, 9, 51, 47, 3, 1, 2, 2}};

TEST(ConvolutionEpilogue, BiasResidualAndRelu) {
  std::uint64_t seed = 0;
  for (const Case& c : kCases) {
    for (const char* dtype : {"f32", "f64"}) {
      ++seed;
      expect_same(
          fmt::format("graph(x: {0}{1}, w: {0}{2}, b: {0}[{3}, 1, 1], o: {0}{4}) {{\n"
                      "c = convolution(x, w) {{{5}}}\nd = add(c, b)\ne = add(d, o)\n"
                      "r = relu(e)\nm = le_scalar(e) <number: 0>\nreturn r, m\n}}",
                      dtype, c.input(), c.weight(), c.groups * c.out, c.result(), c.attributes()),
          "contraction: convolution add add relu le_scalar\n", seed, seed % 2 == 0);
    }
  }
}

TEST(ConvolutionEpilogue, SumsAreStoredForOtherReaders) {
  for (const Case& c : kLarge) {
    for (const char* dtype : {"f32", "f64"}) {
      expect_same(fmt::format("graph(x: {0}{1}, w: {0}{2}, o: {0}{3}) {{\n"
                              "c = convolution(x, w) {{{4}}}\nd = mul(c, o)\ne = sub(d, c)\n"
                              "return e, c\n}}",
                              dtype, c.input(), c.weight(), c.result(), c.attributes()),
                  "contraction: convolution mul sub\n", 7);
    }
  }
}

TEST(ConvolutionEpilogue, GradientOfTheInputThroughAMask) {
  for (const Case& c : kCases) {
    for (const char* dtype : {"f32", "f64"}) {
      expect_same(
          fmt::format("graph(g: {0}{1}, w: {0}{2}, m: bool{3}, n: {0}[{4}, 1, 1]) {{\n"
                      "d = convolution_backward_data(g, w) {{{5}, input_size: [{6}, {7}]}}\n"
                      "e = mul(d, n)\nh = masked_fill(e, m) <value: 0>\nreturn h\n}}",
                      dtype, c.result(), c.weight(), c.input(), c.groups * c.in, c.attributes(),
                      c.height, c.width),
          "contraction: convolution_backward_data mul masked_fill\n", 11, true);
    }
  }
}

// The place of an element counts over the whole result, not within a block. Few elements are drawn
// in the epilogue; so are many where that was chosen for few.
TEST(ConvolutionEpilogue, DropoutCountsOverTheWholeResult) {
  const auto graph_of = [](const Case& c) {
    return parse_graph(
        fmt::format("graph(x: f32{}, w: f32{}) {{\nc = convolution(x, w) {{{}}}\n"
                    "d = dropout(c) <p: 0.25, seed: 5, draw: 3, scale: 1.3333333>\n"
                    "return d\n}}",
                    c.input(), c.weight(), c.attributes()));
  };
  ProgramOptions options;
  options.is_for_many_sizes = options.takes_numbers = options.is_never_serial = true;
  const Case few{7, 1, 1, 1, 2, 2, 1, 1, 0, 1};
  options.choices = program_of(graph_of(few), options)->choices().followed();
  for (const Case& c : kCases) {
    const Graph graph = graph_of(c);
    EXPECT_EQ(program_of(graph, options)->launch_count(), 1U) << print(graph);
    const std::vector<Bytes> inputs = random_inputs(graph, 13, false);
    const Outcome expected = run_eagerly(graph, inputs, {});
    for (const int threads : {1, 2, 3, 7}) {
      kernels::set_kernel_threads(threads);
      EXPECT_EQ(compare(graph, expected, run_program(graph, inputs, {}, options, 2)), "")
          << threads << " threads\n"
          << print(graph);
    }
  }
  kernels::set_kernel_threads(0);
}

// The mask is there before the product: four elements of it are drawn at once.
TEST(ConvolutionEpilogue, Dropout) {
  for (const Case& c : kLarge) {
    expect_same(fmt::format("graph(x: f32{}, w: f32{}) {{\nc = convolution(x, w) {{{}}}\n"
                            "d = dropout(c) <p: 0.25, seed: 5, draw: 3, scale: 1.3333333>\n"
                            "return d\n}}",
                            c.input(), c.weight(), c.attributes()),
                std::string("map: dropout_mask\n") +
                    (c.results() % 4 != 0 ? "map: dropout_mask\n" : "") +
                    "contraction: convolution mul_scalar where_scalar\n",
                13);
  }
}

// A row that a sum is taken of needs the whole plane; what each element needs does not.
TEST(ConvolutionEpilogue, RowsReadWhatItMakes) {
  for (const Case& c : kLarge) {
    expect_same(
        fmt::format("graph(g: f32{}, w: f32{}, m: bool{}, o: f32{}) {{\n"
                    "d = convolution_backward_data(g, w) {{{}, input_size: [{}, {}]}}\n"
                    "h = masked_fill(d, m) <value: 0>\ns = sum(h) {{dims: [2, 3], keepdim: true}}\n"
                    "p = mul(h, o)\nt = sum(p) {{dims: [2, 3], keepdim: true}}\nreturn h, s, t\n}}",
                    c.result(), c.weight(), c.input(), c.input(), c.attributes(), c.height,
                    c.width),
        "contraction: convolution_backward_data masked_fill\nrow: sum mul sum\n", 19);
  }
}

// The next one reads what the epilogue made; the first one's input is overwritten in place.
TEST(ConvolutionEpilogue, OneAfterTheOther) {
  expect_same(
      "graph(x: f32[18, 6, 10, 10], w: f32[6, 6, 3, 3], v: f32[6, 6, 3, 3], b: f32[6, 1, 1]) {\n"
      "c = convolution(x, w) {stride: [1, 1], padding: [1, 1], dilation: [1, 1], groups: 1}\n"
      "d = add(c, b)\ne = relu(d)\n"
      "f = convolution(e, v) {stride: [1, 1], padding: [1, 1], dilation: [1, 1], groups: 1}\n"
      "g = add(f, b)\nh = add(g, x)\ni = relu(h)\nreturn i\n}",
      "contraction: convolution add relu\ncontraction: convolution add add relu\n", 17);
}

}  // namespace
}  // namespace groove::jit
