// Nodes of the tape that LibTorch programs define by deriving from torch::autograd::Node.
#include <gtest/gtest.h>

#include <string>

#include "groove/compat/torch/torch.h"

namespace {

using torch::Tensor;
using torch::autograd::variable_list;

// y = x * w * factor, x of [rows, n], w of [n].
struct Scaled : torch::autograd::Node {
  explicit Scaled(double factor) : factor(factor) {}
  variable_list apply(variable_list&& gradients) override {
    ++calls;
    const Tensor x = saved_x.unpack(), w = saved_w.unpack();
    variable_list result(2);
    if (should_compute_output(0)) result[0] = gradients[0] * w * factor;
    if (task_should_compute_output(1)) result[1] = (gradients[0] * x).sum(0) * factor;
    return result;
  }
  void release_variables() override {
    saved_x.reset_data();
    saved_w.reset_data();
  }
  double factor;
  int calls = 0;
  torch::autograd::SavedVariable saved_x, saved_w;
};

std::shared_ptr<Scaled> last_node;

Tensor scaled(const Tensor& x, const Tensor& w, double factor) {
  std::shared_ptr<Scaled> node;
  if (torch::autograd::any_variable_requires_grad({x, w})) {
    node = c10::make_intrusive<Scaled>(factor);
    node->set_next_edges(torch::autograd::collect_next_edges(x, w));
    node->saved_x = torch::autograd::SavedVariable(x, false);
    node->saved_w = torch::autograd::SavedVariable(w, false);
  }
  Tensor result;
  {
    const torch::NoGradGuard no_grad;
    result = x * w * factor;
  }
  if (node) torch::autograd::create_gradient_edge(result, node);
  last_node = node;
  return result;
}

template <typename Function>
std::string error_of(const Function& function) {
  try {
    function();
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  }
  return "";
}

TEST(LibTorchNodes, GradientsAreThoseOfTheExpression) {
  const Tensor x = torch::arange(6, torch::kDouble).view({2, 3}).requires_grad_();
  const Tensor w = torch::tensor({1.0, -2.0, 0.5}, torch::kDouble).requires_grad_();
  const Tensor weights = torch::arange(6, torch::kDouble).view({2, 3}).cos();
  const auto expected = torch::autograd::grad({((x * 3).exp() * w * 0.5 * weights).sum()}, {x, w});
  const auto found =
      torch::autograd::grad({(scaled((x * 3).exp(), w, 0.5) * weights).sum()}, {x, w});
  EXPECT_TRUE(torch::allclose(found[0], expected[0], 1e-12));
  EXPECT_TRUE(torch::allclose(found[1], expected[1], 1e-12));
  (scaled(x, w, 2) * weights).sum().backward();
  EXPECT_TRUE(torch::allclose(x.grad(), w * 2 * weights));
  EXPECT_TRUE(torch::allclose(w.grad(), (x * weights).sum(0) * 2));
}

TEST(LibTorchNodes, AreSeenAsGradFn) {
  const Tensor x = torch::ones({2, 3}).requires_grad_(), w = torch::ones({3}).requires_grad_();
  const Tensor y = scaled(x * 2, w, 1);
  const auto node = y.grad_fn();
  EXPECT_EQ(node, last_node);
  EXPECT_NE(node->name().find("Scaled"), std::string::npos);
  EXPECT_EQ(node->num_inputs(), 1U);
  EXPECT_EQ(node->num_outputs(), 2U);
  EXPECT_EQ(node->next_edge(0).function->name(), "MulBackward1");
  EXPECT_EQ(node->next_edge(1).function->name(), "torch::autograd::AccumulateGrad");
  EXPECT_TRUE(y.requires_grad());
  EXPECT_FALSE(y.is_leaf());
  // nodes of operators are the same ones whenever they are asked for
  const Tensor z = y.exp();
  EXPECT_EQ(z.grad_fn(), z.grad_fn());
  EXPECT_EQ(z.grad_fn()->next_edge(0).function, node);
  EXPECT_EQ(z.grad_fn().get(), (z + 1).grad_fn()->next_edge(0).function.get());
  EXPECT_FALSE(scaled(x.detach(), w.detach(), 1).requires_grad());
}

TEST(LibTorchNodes, OnlyWantedGradientsAreAskedFor) {
  const Tensor x = torch::ones({2, 3}), w = torch::ones({3}).requires_grad_();
  const Tensor y = scaled(x, w, 1);
  EXPECT_FALSE(last_node->should_compute_output(0));
  EXPECT_TRUE(last_node->should_compute_output(1));
  y.sum().backward();
  EXPECT_TRUE(torch::equal(w.grad(), torch::full({3}, 2.0F)));
}

TEST(LibTorchNodes, SeveralResultsAreOneCall) {
  struct Split : torch::autograd::Node {
    variable_list apply(variable_list&& gradients) override {
      ++calls;
      Tensor total;
      for (std::size_t i = 0; i < gradients.size(); ++i) {
        if (!gradients[i].defined()) continue;
        const Tensor part = gradients[i] * static_cast<double>(i + 2);
        total = total.defined() ? total + part : part;
      }
      return {total};
    }
    int calls = 0;
  };
  const Tensor x = torch::ones({3}).requires_grad_();
  const auto node = std::shared_ptr<Split>(new Split, torch::autograd::deleteNode);
  node->set_next_edges(torch::autograd::collect_next_edges(x));
  const Tensor a = x.detach() * 2, b = x.detach() * 3;
  torch::autograd::set_history({a, b}, node);
  EXPECT_EQ(a.grad_fn(), b.grad_fn());
  EXPECT_EQ(b.output_nr(), 1);
  (a.sum() + (b * b).sum()).backward({}, /*retain_graph=*/true);
  EXPECT_EQ(node->calls, 1);
  EXPECT_TRUE(torch::equal(x.grad(), torch::full({3}, 2.0F + 6.0F * 3.0F)));
  x.mutable_grad().reset();
  b.sum().backward();  // the other gradient is undefined
  EXPECT_TRUE(torch::equal(x.grad(), torch::full({3}, 3.0F)));
}

TEST(LibTorchNodes, WhatIsWrongIsSaid) {
  const Tensor x = torch::ones({2, 3}).requires_grad_(), w = torch::ones({3}).requires_grad_();
  Tensor y = scaled(x, w, 1);
  EXPECT_NE(error_of([&] { torch::autograd::create_gradient_edge(y, last_node); }).find("history"),
            std::string::npos);
  Tensor other = torch::ones({2, 3});
  EXPECT_NE(
      error_of([&] { torch::autograd::create_gradient_edge(other, last_node); }).find("one call"),
      std::string::npos);
  EXPECT_NE(error_of([&] { last_node->set_next_edges({}); }).find("on the tape already"),
            std::string::npos);
  {
    const torch::NoGradGuard no_grad;
    w.add_(1);
  }
  EXPECT_NE(error_of([&] { y.sum().backward(); }).find("modified by an inplace operation"),
            std::string::npos);
  y = scaled(x, w, 1);
  y.sum().backward();
  EXPECT_NE(error_of([&] { y.sum().backward(); }).find("a second time"), std::string::npos);

  struct Wrong : torch::autograd::Node {
    variable_list apply(variable_list&&) override { return {}; }
  };
  const auto wrong = c10::make_intrusive<Wrong>();
  wrong->set_next_edges(torch::autograd::collect_next_edges(x));
  torch::autograd::create_gradient_edge(other, wrong);
  EXPECT_NE(error_of([&] { other.sum().backward(); }).find("invalid number of gradients"),
            std::string::npos);
}

// The same numbers as with the library's operators, however many iterations are compiled.
TEST(LibTorchNodes, LoopsTrainWithThem) {
  const auto train = [](bool with_node) {
    Tensor x = torch::linspace(-1, 1, 12).view({4, 3});
    const Tensor w = torch::tensor({0.5F, 1.0F, 2.0F}).requires_grad_();
    const Tensor v = torch::eye(3).requires_grad_();
    torch::optim::SGD optimizer({v, w}, 0.05);
    for (int i = 0; i < 60; ++i) {
      optimizer.zero_grad();
      const Tensor h = torch::tanh(torch::mm(x, v));
      const Tensor y = with_node ? scaled(h, w, 0.5) : h * w * 0.5;
      (y - 1).pow(2).mean().backward();
      optimizer.step();
    }
    return std::make_pair(w.detach().clone(), v.detach().clone());
  };
  const auto expected = train(false), found = train(true);
  EXPECT_TRUE(torch::allclose(found.first, expected.first, 1e-5, 1e-6));
  EXPECT_TRUE(torch::allclose(found.second, expected.second, 1e-5, 1e-6));
}

}  // namespace
