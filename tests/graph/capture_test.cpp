// Functions captured as graphs: what they show, and that they run as the function does.
#include <gtest/gtest.h>

#include "groove/groove.h"
#include "groove/jit/capture.h"
#include "groove/jit/differentiate.h"
#include "tests/graph/equal.h"

namespace groove {
namespace {

using testing::expect_same;

// Eagerly, compiled, and after a way through text: always what the function gives.
void expect_runs_as(const jit::Graph& graph, const Tensors& arguments, const Tensors& expected) {
  SCOPED_TRACE(graph.text());
  EXPECT_EQ(graph.problem(), "");
  expect_same(graph.run(arguments), expected);
  const jit::CompiledGraph compiled = graph.compile();
  for (int time = 0; time < 2; ++time) expect_same(compiled(arguments), expected);
}

TEST(Capture, FunctionOfTwoTensors) {
  const auto f = [](const Tensor& x, const Tensor& y) { return relu(x * 2 + y).sum(1); };
  const Tensor x = randn({3, 5}), y = randn({5});
  const jit::Graph graph = jit::capture(f, {x, y});
  EXPECT_EQ(graph.nodes().size(), 4u);
  EXPECT_EQ(graph.arguments().size(), 2u);
  EXPECT_EQ(graph.outputs()[0].type().text(), "f32[3]");
  EXPECT_EQ(graph.nodes()[2].op(), "relu");
  EXPECT_EQ(graph.nodes()[2].kind(), "elementwise");
  EXPECT_EQ(graph.nodes()[2].line(), 24u);
  EXPECT_TRUE(graph.nodes()[2].file().ends_with("capture_test.cpp"));
  EXPECT_EQ(graph.nodes()[3].attribute("dims").integers(), std::vector<std::int64_t>{1});
  EXPECT_EQ(graph.nodes()[0].numbers()[0].value.to_double(), 2);
  EXPECT_EQ(graph.nodes()[1].output().users()[0], graph.nodes()[2]);
  expect_runs_as(graph, {x, y}, {f(x, y)});
}

TEST(Capture, WhatChangesNothingIsNoNode) {
  nn::Dropout layer(0.5);
  layer->eval();
  const auto f = [&](const Tensor& x) {
    const Tensor same = layer->forward(dropout(dropout(x, 0, true), 0.5, false));
    return relu(same.to(kFloat).contiguous().reshape({3, 5}));
  };
  const Tensor x = randn({3, 5});
  const jit::Graph graph = jit::capture(f, {x});
  ASSERT_EQ(graph.nodes().size(), 1u) << graph.text();
  EXPECT_EQ(graph.nodes()[0].op(), "relu");
  expect_runs_as(graph, {x}, {f(x)});
}

TEST(Capture, ModuleNamesItsWeights) {
  nn::Sequential net(nn::Linear(4, 8), nn::Tanh(), nn::Linear(8, 2));
  const Tensor x = randn({3, 4});
  const jit::Graph graph = jit::capture(net, {x});
  ASSERT_EQ(graph.weights().size(), 4u);
  EXPECT_EQ(graph.weights()[0].first.name(), "0.weight");
  EXPECT_EQ(graph.weights()[3].first.name(), "2.bias");
  expect_runs_as(graph, {x}, {net->forward(x).detach()});
  {
    const NoGradGuard guard;
    net->parameters()[0].mul_(0.5);
  }
  expect_runs_as(graph, {x}, {net->forward(x).detach()});
}

TEST(Capture, RunHasGradients) {
  const Tensor w = randn({4, 4}).requires_grad_();
  const Tensor x = randn({2, 4});
  const jit::Graph graph = jit::capture([&](const Tensor& v) { return mm(v, w).sum(); }, {x});
  graph({x})[0].backward();
  const Tensor first = w.grad().clone();
  w.mutable_grad() = Tensor();
  mm(x, w).sum().backward();
  expect_same({first}, {w.grad()});
}

TEST(Capture, DrawsAnew) {
  const auto f = [](const Tensor& x) { return dropout(x, 0.5, true) + rand({8}); };
  const Tensor x = ones({8});
  const jit::Graph graph = jit::capture(f, {x});
  const jit::CompiledGraph compiled = graph.compile();
  const jit::Graph read = jit::Graph::parse(graph.text());
  EXPECT_EQ(read.text(), graph.text());
  manual_seed(3);
  const Tensors expected{f(x), f(x)};
  manual_seed(3);
  expect_same({graph({x})[0], graph({x})[0]}, expected);
  manual_seed(3);
  expect_same({compiled({x})[0], compiled({x})[0]}, expected);
  manual_seed(3);
  expect_same({read({x})[0], read({x})[0]}, expected);
}

TEST(Capture, ControlFlowStays) {
  const Tensor limit = full({}, 20.0);
  const auto f = [&](const Tensor& x) {
    const Tensor grown = while_loop([&](const Tensor& v) { return (v.sum() < limit); },
                                    [](const Tensor& v) { return v * 2; }, x);
    return cond(
        grown.max() > 5, [](const Tensor& v) { return v - 1; },
        [](const Tensor& v) { return v + 1; }, grown);
  };
  const Tensor x = ones({3});
  const jit::Graph graph = jit::capture(f, {x});
  bool has_loop = false;
  for (const jit::Node& node : graph.nodes())
    if (node.op() == "while_loop") {
      has_loop = true;
      EXPECT_EQ(node.attributes()[1].graph().nodes().size(), 2u);
    }
  EXPECT_TRUE(has_loop) << graph.text();
  expect_runs_as(graph, {x}, {f(x)});
  EXPECT_EQ(jit::Graph::parse(graph.text()).text(), graph.text());
}

TEST(Capture, ScanDraws) {
  const auto f = [](const Tensor& x) {
    return scan([](const Tensor& c, const Tensor& v) { return std::pair(c + v * rand({2}), c); },
                zeros({2}), x)
               .second +
           rand({2});
  };
  const Tensor x = ones({5, 2});
  const jit::Graph graph = jit::capture(f, {x});
  for (const jit::Graph& one : {graph, jit::Graph::parse(graph.text())}) {
    manual_seed(5);
    const Tensors expected{f(x), f(x)};
    manual_seed(5);
    expect_same({one({x})[0], one({x})[0]}, expected);
  }
}

TEST(Capture, ChecksValuesBeforeCode) {
  const Tensor table = randn({4, 3});
  const jit::Graph graph = jit::capture(
      [&](const Tensor& i) { return index_select(table, 0, i) * 2; }, {zeros({2}, kLong)});
  const jit::CompiledGraph compiled = graph.compile();
  const Tensor good = tensor({3, 1}, kLong), bad = tensor({3, 4}, kLong);
  expect_same(compiled({good}), {index_select(table, 0, good) * 2});
  EXPECT_THROW(graph({bad}), Error);
  EXPECT_THROW(compiled({bad}), Error);
}

TEST(Capture, SaysWhatItCannotDo) {
  const Tensor x = randn({3});
  const auto message = [&](const std::function<Tensor(const Tensor&)>& f) -> std::string {
    try {
      jit::capture(f, {x});
    } catch (const Error& error) {
      return error.msg();
    }
    return "(nothing)";
  };
  EXPECT_NE(
      message([](const Tensor& v) { return v * v.sum().item<float>(); }).find("only recorded"),
      std::string::npos);
  EXPECT_NE(message([](Tensor v) { return v.add_(1); }).find("writes in place"), std::string::npos);
  EXPECT_NE(message([](const Tensor&) { return Tensor(); }).find("undefined"), std::string::npos);
  const Tensor w = randn({3}).requires_grad_();
  EXPECT_NE(message([&](const Tensor& v) {
              (v * w).sum().backward();
              return v;
            }).find("require"),
            std::string::npos);
  const jit::Graph graph = jit::capture([](const Tensor& v) { return v + 1; }, {x});
  EXPECT_THROW(graph({}), Error);
  EXPECT_THROW(graph({x, x}), Error);
  EXPECT_THROW(graph({randn({4})}), Error);
  EXPECT_THROW(graph.compile()({x.to(kDouble)}), Error);
}

TEST(Differentiate, GivesWhatBackwardGives) {
  nn::Sequential net(nn::Linear(4, 8), nn::GELU(), nn::Linear(8, 3));
  const Tensor x = randn({6, 4}), target = randint(0, 3, {6}, kLong);
  const jit::Graph loss = jit::capture(
      [&](const Tensor& v) { return cross_entropy_loss(net->forward(v), target); }, {x});
  autodiff::GradientOptions options;
  options.keep_outputs = true;
  for (const auto& [value, tensor] : loss.weights())
    if (tensor.requires_grad()) options.inputs.push_back(value);
  const jit::Graph gradients = autodiff::differentiate(loss, options);
  EXPECT_EQ(gradients.arguments().size(), 1u);
  const Tensor eager = cross_entropy_loss(net->forward(x), target);
  eager.backward();
  Tensors expected{eager.detach()};
  for (const auto& [value, tensor] : loss.weights())
    if (tensor.requires_grad()) expected.push_back(tensor.grad());
  ASSERT_EQ(expected.size(), 5u);
  expect_runs_as(gradients, {x}, expected);
}

TEST(Differentiate, TakesCotangents) {
  const Tensor x = randn({3, 4}).requires_grad_(), c = randn({3, 4});
  const jit::Graph graph = jit::capture([](const Tensor& v) { return tanh(v) * v; }, {x});
  const jit::Graph gradient = autodiff::differentiate(graph);
  EXPECT_EQ(gradient.arguments().back().name(), "cotangent0");
  const Tensor y = tanh(x) * x;
  expect_runs_as(gradient, {x.detach(), c}, autograd::grad({y}, {x}, {c}));
  // And once more: the gradient of the sum of the gradient.
  const jit::Graph second = autodiff::differentiate(gradient, {{gradient.arguments()[0]}});
  const Tensor z = tanh(x) * x;
  const Tensor first = autograd::grad({z}, {x}, {c}, true, true)[0];
  expect_runs_as(second, {x.detach(), c, ones({3, 4})},
                 autograd::grad({first}, {x}, {ones({3, 4})}));
}

TEST(Differentiate, SaysWhatIsWrong) {
  const Tensor x = randn({3});
  const jit::Graph graph = jit::capture([](const Tensor& v) { return v > 0; }, {x});
  EXPECT_THROW(autodiff::differentiate(graph), Error);
  const jit::Graph other = jit::capture([](const Tensor& v) { return v.exp(); }, {x});
  EXPECT_THROW(autodiff::differentiate(other, {{graph.arguments()[0]}}), Error);
}

}  // namespace
}  // namespace groove
