// Passes of the program: they change what is compiled, and an invalid one changes nothing.
#include <gtest/gtest.h>

#include <atomic>

#include "groove/groove.h"
#include "groove/jit/capture.h"
#include "groove/jit/pass.h"
#include "tests/graph/equal.h"
#include "tracer/tell/testing.h"

namespace groove {
namespace {

using testing::expect_same;

struct Registered {
  std::string name;
  Registered(const std::string& as, jit::PassFunction function,
             jit::PassPlace place = jit::PassPlace::kRecorded)
      : name(as) {
    jit::register_pass(name, std::move(function), place);
  }
  ~Registered() { jit::unregister_pass(name); }
};

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.msg();
  }
  return "(nothing)";
}

// x * x as square(x).
void square_products(jit::Graph& graph) {
  for (const jit::Node& node : graph.nodes()) {
    if (node.op() != "mul" || !(node.input(0) == node.input(1))) continue;
    graph.replace(node.output(), graph.insert_before(node, "square", {node.input(0)}).output());
  }
  graph.remove_dead_code();
}

jit::Graph example() {
  return jit::capture(
      [](const Tensor& x) {
        const Tensor r = relu(x);
        return (r * r).sum();
      },
      {randn({4})});
}

TEST(UserPass, RunsOnAGraph) {
  const Registered pass("square", square_products);
  jit::Graph graph = example();
  const Tensor x = randn({4});
  const Tensors before = graph({x});
  jit::run_pass("square", graph);
  EXPECT_EQ(graph.nodes()[1].op(), "square");
  EXPECT_EQ(graph.nodes()[1].line(), 49u);
  EXPECT_EQ(graph.nodes().size(), 3u);
  expect_same(graph({x}), before);
  expect_same(graph.compile()({x}), before);
}

TEST(UserPass, OrdinaryCodeInPlaceOfANode) {
  const Registered pass("cube", [](jit::Graph& graph) {
    for (const jit::Node& node : graph.nodes())
      if (node.op() == "mul")
        graph.replace(node.output(), graph.insert_before(node, node.inputs(), [](const Tensors& t) {
          return Tensors{gelu(t[0]) * t[1] + 1};
        })[0]);
  });
  jit::Graph graph = example();
  jit::run_pass("cube", graph);
  const Tensor x = randn({4}), r = relu(x);
  expect_same(graph({x}), {(gelu(r) * r + 1).sum()});
}

// The results of a loop in which something is compiled.
Tensors loop(jit::Mode mode = jit::Mode::kAuto) {
  tracer::testing::forget_everything();
  jit::set_mode(mode);
  Tensors results;
  Tensor x = full({64}, 0.5), w = full({64}, 1.5);
  const jit::Compiled step = jit::compile([](const Tensor& a, const Tensor& b) {
    const Tensor r = relu(a * b);
    return softmax(r * r, 0);
  });
  for (int i = 0; i < 6; ++i) results.push_back(step(x + i, w));
  for (Tensor& result : results) result = result.clone();
  return results;
}

TEST(UserPass, ChangesWhatIsCompiled) {
  tracer::testing::set_synchronous(true);
  const Tensors expected = loop(jit::Mode::kEager);
  for (const jit::PassPlace place :
       {jit::PassPlace::kRecorded, jit::PassPlace::kExpanded, jit::PassPlace::kOptimized}) {
    std::atomic<int> found{0};
    const Registered pass(
        "square",
        [&](jit::Graph& graph) {
          for (const jit::Node& node : graph.nodes())
            found += node.op() == "mul" && node.input(0) == node.input(1);
          square_products(graph);
        },
        place);
    expect_same(loop(), expected);
    EXPECT_GT(found.load(), 0) << static_cast<int>(place);
    bool is_shown = false;
    for (const jit::SegmentView& segment : jit::inspect())
      for (const jit::PassView& one : segment.passes) is_shown |= one.name == "square";
    EXPECT_TRUE(is_shown);
  }
}

TEST(UserPass, InvalidOnesAreUndone) {
  tracer::testing::set_synchronous(true);
  const std::pair<const char*, jit::PassFunction> bad[] = {
      {"throws", [](jit::Graph&) { throw std::runtime_error("no idea"); }},
      {"another graph", [](jit::Graph& graph) { graph = jit::Graph(); }},
      {"read before",
       [](jit::Graph& graph) {
         const auto nodes = graph.nodes();
         const jit::Node last = graph.add_node("relu", {nodes.front().output()});
         for (const jit::Node& node : nodes)
           for (std::size_t i = 0; i < node.inputs().size(); ++i)
             if (node.input(i).defined() && node.input(i) == nodes.front().output())
               graph.set_input(node, i, last.output());
       }},
      {"number of outputs", [](jit::Graph& graph) { graph.set_outputs({}); }},
      {"number of inputs",
       [](jit::Graph& graph) {
         graph.add_input("more", {kFloat, {3}});
       }},
      {"nobody checked",
       [](jit::Graph& graph) {
         const jit::Node last = graph.nodes().back();
         const auto made = graph.insert_before(last, last.inputs(), [](const Tensors& t) {
           const Tensor flat = t[0].flatten();
           return Tensors{index_select(flat, 0, flat.to(kLong))};
         });
         graph.set_input(last, 0, graph.insert_before(last, {made[0]}, [&](const Tensors& t) {
           return Tensors{t[0].reshape(last.input(0).type().sizes)};
         })[0]);
       }},
      {"draws",
       [](jit::Graph& graph) {
         graph.insert_before(graph.nodes()[0], {},
                             [](const Tensors&) { return Tensors{rand({3})}; });
       }},
      {"another type",
       [](jit::Graph& graph) {
         const jit::Node first = graph.nodes()[0];
         graph.replace(first.output(), graph.insert_before(first, {}, [](const Tensors&) {
           return Tensors{zeros({9})};
         })[0]);
       }},
  };
  const Tensors expected = loop(jit::Mode::kEager);
  for (const auto& [name, function] : bad) {
    SCOPED_TRACE(name);
    const Registered pass(name, function);
    jit::Graph graph = example();
    const std::string before = graph.text();
    const std::string said = error_of([&] { jit::run_pass(name, graph); });
    EXPECT_NE(said.find(std::string("pass `") + name + "`"), std::string::npos) << said;
    EXPECT_EQ(graph.text(), before);
    ::testing::internal::CaptureStderr();
    expect_same(loop(), expected);
    const std::string warned = ::testing::internal::GetCapturedStderr();
    EXPECT_NE(warned.find(name), std::string::npos);
    EXPECT_EQ(warned.find("compiling without it"), warned.rfind("compiling without it"));
  }
}

TEST(UserPass, NamesAreTakenOnce) {
  const Registered pass("mine", [](jit::Graph&) {});
  EXPECT_NE(error_of([] { jit::register_pass("mine", [](jit::Graph&) {}); }).find("mine"),
            std::string::npos);
  EXPECT_NE(error_of([] { jit::register_pass("simplify", [](jit::Graph&) {}); }).find("own"),
            std::string::npos);
  EXPECT_FALSE(jit::unregister_pass("yours"));
  jit::Graph graph = example();
  EXPECT_NE(error_of([&] { jit::run_pass("yours", graph); }).find("yours"), std::string::npos);
  jit::run_pass("simplify", graph);
}

TEST(GraphEdit, SaysWhatIsWrong) {
  jit::Graph graph = example(), other = example();
  const jit::Node relu = graph.nodes()[0], mul = graph.nodes()[1];
  EXPECT_NE(error_of([&] { graph.erase(relu); }).find("still read by mul"), std::string::npos);
  EXPECT_NE(error_of([&] { graph.add_node("nothing", {}); }).find("no operator"),
            std::string::npos);
  EXPECT_NE(error_of([&] { graph.add_node("mul", {relu.output()}); }).find("2 operands"),
            std::string::npos);
  EXPECT_NE(error_of([&] { graph.add_node("relu", {other.inputs()[0]}); }).find("another graph"),
            std::string::npos);
  EXPECT_NE(error_of([&] { graph.add_node("sum", {relu.output()}); }).find("2 attributes"),
            std::string::npos);
  EXPECT_NE(error_of([&] {
              graph.add_node("sum", {relu.output()}, {{"dims", true}, {"keepdim", true}});
            }).find("not a list of integers"),
            std::string::npos);
  EXPECT_NE(error_of([&] {
              graph.add_input("x", {kFloat, {-2}});
            }).find("size -2"),
            std::string::npos);
  EXPECT_NE(error_of([&] {
              jit::Graph::parse("graph(x: f32[2]) {\n  y = add(x)\n}");
            }).find("add takes 2 operands, not 1"),
            std::string::npos);
  EXPECT_EQ(mul.text().substr(0, 9), "t1 = mul(");
}

TEST(GraphEdit, BuildsByHand) {
  jit::Graph graph;
  const jit::Value x = graph.add_input("x", {kFloat, {2, 3}});
  const Tensor weight = randn({3});
  const jit::Value w = graph.add_weight("w", weight);
  const jit::Value y = graph.add_node("mul", {x, w}).output();
  const jit::Value s =
      graph.add_node("sum", {y}, {{"dims", std::vector<std::int64_t>{1}}, {"keepdim", false}})
          .output();
  graph.set_outputs({s});
  const Tensor data = randn({2, 3});
  expect_same(graph({data}), {(data * weight).sum(1)});
  const jit::Graph copy = graph;
  graph.set_weight(w, Tensor());
  expect_same(graph({data, weight}), copy({data}));
}

}  // namespace
}  // namespace groove
