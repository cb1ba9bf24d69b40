// A conversion to a dtype that holds all there is changes nothing for the next one: every chain of
// two, from and to every dtype, over special values, against eager mode; and which of them go.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "jit/pipeline.h"
#include "kernels/backend.h"
#include "tests/passes/run_graph.h"

namespace groove::jit {
namespace {

const char* const kNames[] = {"bool", "u8", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64"};

std::size_t conversions_left(const Graph& graph) {
  Graph compiled = graph;
  run_pipeline(compiled);
  std::size_t count = 0;
  for (const Node& node : compiled.nodes) count += node.op->name == std::string("cast");
  return count;
}
Graph chain(const char* from, const char* between, const char* to) {
  return parse_graph(fmt::format(
      "graph(x: {}[64]) {{ a = cast(x) {{dtype: {}}}; b = cast(a) {{dtype: {}}}; return b }}", from,
      between, to));
}

// All bits are drawn: any integer, any float.
std::vector<Bytes> any_bits(const Graph& graph) {
  std::mt19937 random(3);
  std::vector<Bytes> inputs = random_inputs(graph, 3, true);
  const bool is_bool = graph.type(graph.inputs[0].value).dtype == kBool;
  for (std::size_t i = inputs[0].size() / 4; i < inputs[0].size(); ++i)
    inputs[0][i] = static_cast<unsigned char>(is_bool ? random() & 1 : random());
  return inputs;
}

TEST(Conversions, ChainsGiveTheBitsOfTheirSteps) {
  kernels::Backend& usual = kernels::current_backend();
  for (const char* from : kNames) {
    for (const char* between : kNames) {
      for (const char* to : kNames) {
        if (std::string(from) == between || std::string(between) == to) continue;
        const Graph graph = chain(from, between, to);
        const std::vector<Bytes> inputs = any_bits(graph);
        kernels::set_current_backend(*kernels::find_backend("interpreter"));
        const Outcome expected = run_eagerly(graph, inputs, {});
        const Outcome actual = run_program(graph, inputs, {}, {});
        kernels::set_current_backend(usual);
        EXPECT_EQ(compare(graph, expected, actual), "") << from << " " << between << " " << to;
      }
    }
  }
}

TEST(Conversions, ThoseThatChangeNothingGo) {
  EXPECT_EQ(conversions_left(chain("f16", "f32", "f16")), 0u);
  EXPECT_EQ(conversions_left(chain("f32", "f64", "bf16")), 1u);
  EXPECT_EQ(conversions_left(chain("bool", "f32", "i64")), 1u);
  EXPECT_EQ(conversions_left(chain("i32", "f64", "i32")), 0u);
  EXPECT_EQ(conversions_left(chain("u8", "bf16", "u8")), 0u);
}

TEST(Conversions, ThoseThatRoundOrWrapStay) {
  EXPECT_EQ(conversions_left(chain("f32", "f16", "f32")), 2u);
  EXPECT_EQ(conversions_left(chain("bf16", "f16", "bf16")), 2u);
  EXPECT_EQ(conversions_left(chain("i32", "f32", "i32")), 2u);
  EXPECT_EQ(conversions_left(chain("i16", "f16", "i16")), 2u);
  EXPECT_EQ(conversions_left(chain("u8", "i8", "i32")), 2u);
  EXPECT_EQ(conversions_left(chain("i8", "u8", "i32")), 2u);
  EXPECT_EQ(conversions_left(chain("f64", "i64", "f64")), 2u);
}

}  // namespace
}  // namespace groove::jit
