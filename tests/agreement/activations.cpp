// Activations: values, gradients (also where they bend), in-place forms, modules and their text.

#include "cases.h"

namespace F = torch::nn::functional;
using namespace agreement;

namespace {

// With the points at which activations bend.
torch::Tensor bends() {
  return torch::tensor({-7.0, -3.0, -1.0, -0.5, -0.25, 0.0, 0.25, 0.5, 1.0, 3.0, 6.0, 30.0, -30.0},
                       torch::kDouble)
      .requires_grad_();
}

using Function = std::function<torch::Tensor(const torch::Tensor&)>;

void show_activation(const std::string& name, const Function& function) {
  const auto x = leaf({3, 4}, 0), y = bends();
  show_gradients(name, function(x * 4), {x});
  show_gradients(name + " bends", function(y), {y});
  show(name + " f32", function(filled({2, 3}, 4).to(torch::kFloat)).to(torch::kDouble) * 0 + 1);
}

void show_inplace(const std::string& name, const Function& function) {
  const auto x = leaf({3, 4}, 1), y = bends();
  show_gradients(name, function(x * 3), {x});
  show_gradients(name + " bends", function(y * 1.0), {y});
  const auto plain = filled({5}, 2);
  function(plain);
  show(name + " written", plain);
}

}  // namespace

CASE(activation_functions) {
  show_activation("selu", [](const auto& x) { return torch::selu(x); });
  show_activation("celu", [](const auto& x) { return torch::celu(x, 0.7); });
  show_activation("celu of 1", [](const auto& x) { return torch::celu(x); });
  show_activation("elu", [](const auto& x) { return torch::elu(x, 0.7, 1.3, 0.6); });
  show_activation("hardtanh", [](const auto& x) { return torch::hardtanh(x, -0.5, 1); });
  show_activation("relu6", [](const auto& x) { return torch::relu6(x); });
  show_activation("hardsigmoid", [](const auto& x) { return torch::hardsigmoid(x); });
  show_activation("hardswish", [](const auto& x) { return torch::hardswish(x); });
  show_activation("hardshrink", [](const auto& x) { return torch::hardshrink(x); });
  show_activation("hardshrink method", [](const auto& x) { return x.hardshrink(0.25); });
  show_activation("softshrink", [](const auto& x) { return torch::softshrink(x, 0.25); });
  show_activation("threshold", [](const auto& x) { return torch::threshold(x, 0.25, -2); });
  show_activation("log_sigmoid", [](const auto& x) { return torch::log_sigmoid(x); });
  show_activation("mish", [](const auto& x) { return torch::mish(x); });
  show_activation("rrelu", [](const auto& x) { return torch::rrelu(x, 0.1, 0.4); });
  show_error("celu", [] { torch::celu(filled({3}), 0); });
  show_error("softshrink", [] { torch::softshrink(filled({3}), -1); });
}

CASE(activation_inplace) {
  show_inplace("selu_", [](auto x) { return torch::selu_(x); });
  show_inplace("celu_", [](auto x) { return torch::celu_(x, 0.7); });
  show_inplace("elu_", [](auto x) { return torch::elu_(x, 0.7); });
  show_inplace("leaky_relu_", [](auto x) { return torch::leaky_relu_(x, 0.2); });
  show_inplace("hardtanh_", [](auto x) { return torch::hardtanh_(x); });
  show_inplace("relu6_", [](auto x) { return torch::relu6_(x); });
  show_inplace("hardsigmoid_", [](auto x) { return torch::hardsigmoid_(x); });
  show_inplace("hardswish_", [](auto x) { return torch::hardswish_(x); });
  show_inplace("threshold_", [](auto x) { return torch::threshold_(x, 0.25, 3); });
  show_inplace("silu_", [](auto x) { return torch::silu_(x); });
  show_inplace("mish_", [](auto x) { return torch::mish_(x); });
  show_inplace("rrelu_", [](auto x) { return torch::rrelu_(x); });
}

CASE(activation_functionals) {
  show_activation("selu", [](const auto& x) { return F::selu(x); });
  show_activation("celu", [](const auto& x) { return F::celu(x, F::CELUFuncOptions().alpha(2)); });
  show_activation("rrelu", [](const auto& x) {
    return F::rrelu(x, F::RReLUFuncOptions().lower(0.2).upper(0.3));
  });
  show_activation("threshold",
                  [](const auto& x) { return F::threshold(x, F::ThresholdFuncOptions(0.1, 9)); });
  show_activation("logsigmoid", [](const auto& x) { return F::logsigmoid(x); });
  show_activation("softsign", [](const auto& x) { return F::softsign(x); });
  show_activation("tanhshrink", [](const auto& x) { return F::tanhshrink(x); });
  show_activation("hardshrink", [](const auto& x) { return F::hardshrink(x, 0.3); });
  show_activation("softshrink", [](const auto& x) { return F::softshrink(x); });
  show_activation("hardtanh", [](const auto& x) { return F::hardtanh(x); });
  show_activation("relu6", [](const auto& x) { return F::relu6(x); });
  show_activation("elu", [](const auto& x) { return F::elu(x); });
  show_activation("leaky_relu", [](const auto& x) { return F::leaky_relu(x); });
  show_activation("mish", [](const auto& x) { return F::mish(x); });
  show_inplace("selu in place", [](auto x) { return F::selu(x, true); });
  show_inplace("celu in place",
               [](auto x) { return F::celu(x, F::CELUFuncOptions().inplace(true)); });
  show_inplace("threshold in place",
               [](auto x) { return F::threshold(x, F::ThresholdFuncOptions(0, 1).inplace(true)); });
  show_inplace("hardtanh in place",
               [](auto x) { return F::hardtanh(x, F::HardtanhFuncOptions().inplace(true)); });
}

CASE(activation_glu_prelu) {
  const auto x = leaf({4, 6, 2}, 0), w = leaf({6}, 2), one = leaf({1}, 3), row = leaf({6}, 4);
  show_gradients("glu", torch::glu(x, 1), {x});
  show_gradients("glu row", F::glu(row), {row});
  show_gradients("prelu", torch::prelu(x, w), {x, w});
  show_gradients("prelu method", x.prelu(one), {x, one});
  show_gradients("prelu row", torch::prelu(row, one), {row, one});
  show_error("glu", [&] { torch::glu(x.narrow(1, 0, 5), 1); });
  show_error("glu scalar", [&] { F::glu(torch::tensor(1.0)); });
  show_error("prelu", [&] { torch::prelu(x, filled({4})); });
}

CASE(activation_modules) {
  const auto x = leaf({3, 4}, 0);
  const auto show_module = [&](auto module) {
    show_gradients(printed(*module), module(x * 3), {x});
  };
  show_module(torch::nn::SELU());
  show_module(torch::nn::CELU());
  show_module(torch::nn::CELU(torch::nn::CELUOptions().alpha(0.3)));
  show_module(torch::nn::LogSigmoid());
  show_module(torch::nn::Softsign());
  show_module(torch::nn::Tanhshrink());
  show_module(torch::nn::Hardshrink());
  show_module(torch::nn::Hardshrink(0.2));
  show_module(torch::nn::Softshrink());
  show_module(torch::nn::Softshrink(torch::nn::SoftshrinkOptions(0.7)));
  show_module(torch::nn::Threshold(0.25, 2));
  show_module(torch::nn::Threshold(torch::nn::ThresholdOptions(-1, 0.5)));
  show_module(torch::nn::Softmin(1));
  show_module(torch::nn::Softmin(torch::nn::SoftminOptions(0)));
  torch::nn::RReLU rrelu(torch::nn::RReLUOptions().lower(0.3).upper(0.5));
  rrelu->eval();
  show_module(rrelu);
  show("SELU text", printed(*torch::nn::SELU(torch::nn::SELUOptions().inplace(true))));
  show("CELU text", printed(*torch::nn::CELU(torch::nn::CELUOptions().inplace(true))));
  show("RReLU text", printed(*torch::nn::RReLU(torch::nn::RReLUOptions().inplace(true))));
  show("Threshold text",
       printed(*torch::nn::Threshold(torch::nn::ThresholdOptions(1, 2).inplace(true))));
}

CASE(activation_softmaxes) {
  const auto x = leaf({2, 3, 2, 2}, 0), image = leaf({3, 2, 2}, 1), row = leaf({3, 4}, 2);
  torch::nn::Softmax2d module;
  show_gradients(printed(*module), module(x), {x});
  show_gradients("image", module(image), {image});
  show_error("softmax2d", [&] { module(row); });
  show_gradients("softmin", F::softmin(row, 1), {row});
  show("softmin dtype", F::softmin(row, F::SoftminFuncOptions(0).dtype(torch::kDouble)));
  const auto soft = F::gumbel_softmax(row);
  show("gumbel sum", soft.sum(-1));
  show("gumbel positive", soft.ge(0).all());
  const auto hard =
      F::gumbel_softmax(row, F::GumbelSoftmaxFuncOptions().hard(true).dim(0).tau(0.5));
  show("gumbel hard sum", hard.sum(0));
  show("gumbel hard values", hard.round().eq(0).logical_or(hard.round().eq(1)).all());
}

CASE(activation_rrelu_training) {
  const auto x = leaf({400}, 0);
  const auto y = torch::rrelu(x, 0.2, 0.4, true);
  const auto slope = (y / x).detach();
  show("slopes", slope.ge(0.2).logical_and(slope.le(0.4)).logical_or(x.gt(0)).all());
  show("positive", slope.eq(1).logical_or(x.le(0)).all());
  y.sum().backward();
  show("gradient", (x.grad() - slope).abs().lt(1e-12).all());
  show_error("bounds", [&] { torch::rrelu(x, 0.5, 0.4, true); });
}
