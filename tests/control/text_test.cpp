// The text form of graphs with graphs inside.
#include "src/core/graph.h"
#include "src/core/subgraph.h"
#include "tests/control/control.h"

namespace groove::testing {
namespace {

const char* const kText = R"(graph(p: bool[], x: f32[3], #0: f64) {
  y = cond(p, x) {outputs: 1, if_true: graph(a: f32[3], #0: f64) {
      b = mul(a, a)
      return b
    }, if_false: graph(a: f32[3]) {
      b = neg(a)
      return b
    }} <#0>
  h, ys = scan(y, x) {outputs: 2, body: graph(h: f32[3], x: f32[]) {
      n = add(h, x) <1>
      return n, x
    }, steps: 3, carried: 1, scanned: 1, residuals: 0, reverse: false, draws: 0, last_draws_first: false}
  return h, ys
}
)";

TEST(GraphText, OfControlFlow) {
  const Graph graph = parse_graph(kText);
  EXPECT_EQ(verify(graph), "");
  const std::string text = print(graph);
  EXPECT_EQ(print(parse_graph(text)), text);
}

TEST(GraphText, WrongFunctionsAreErrors) {
  const auto changed = [](std::string from, const std::string& to) {
    std::string text = kText;
    return text.replace(text.find(from), from.size(), to);
  };
  for (const std::string& text :
       {changed("x: f32[3]", "x: f32[4]"), changed("neg(a)", "neg(c)"),
        changed("steps: 3", "steps: 4"), changed("b = neg(a)\n      return b", "return a, a"),
        changed("outputs: 2", "outputs: 3"), changed("carried: 1", "carried: 7"),
        changed("<#0>", ""), changed("carried: 1", "carried: -1")})
    EXPECT_NE(error_text([&] { parse_graph(text); }), "(no error)") << text;
}

TEST(Intern, IsByStructure) {
  const auto graph = [](const char* scale, const char* name) {
    return parse_graph(std::string("graph(") + name + ": f32[2]) { b = mul(" + name + ", " + name +
                       "); c = add(b, " + name + ") <" + scale + ">; return c }");
  };
  EXPECT_EQ(intern(graph("2.0", "a")), intern(graph("2.0", "x")));
  EXPECT_NE(intern(graph("2.0", "a")), intern(graph("3.0", "a")));
  EXPECT_NE(intern(graph("2.0", "a")), intern(graph("2", "a")));
}

}  // namespace
}  // namespace groove::testing
