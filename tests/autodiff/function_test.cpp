// Functions written by users, and the tracer's deferred nodes.
#include <gtest/gtest.h>

#include <cmath>

#include "autodiff/tape.h"
#include "groove/autograd_function.h"
#include "groove/factories.h"
#include "groove/ops/math.h"
#include "groove/ops/reductions.h"

namespace groove {
namespace {

using autograd::AutogradContext;
using autograd::tensor_list;
using autograd::Variable;

struct ScaledExp : autograd::Function<ScaledExp> {
  static Tensor forward(AutogradContext* ctx, Tensor x, Tensor y, double scale) {
    const Tensor out = exp(x) * scale + y;
    ctx->saved_data["scale"] = scale;
    ctx->save_for_backward({x, out});
    EXPECT_TRUE(ctx->needs_input_grad(0));
    EXPECT_FALSE(ctx->needs_input_grad(1));
    return out;
  }
  static tensor_list backward(AutogradContext* ctx, tensor_list grads) {
    const auto saved = ctx->get_saved_variables();
    EXPECT_TRUE(saved[1].defined());
    return {grads[0] * exp(saved[0]) * ctx->saved_data["scale"].toDouble(), Variable(), Variable()};
  }
};

TEST(Function, UserGradient) {
  const Tensor x = tensor({0.5, 1.}, TensorOptions(kDouble)).requires_grad_();
  const Tensor y = tensor({1., 1.}, TensorOptions(kDouble));
  const Tensor out = ScaledExp::apply(x, y, 3.0);
  EXPECT_FALSE(out.is_leaf());
  const Tensor first = autograd::grad({out.sum()}, {x}, {}, std::nullopt, true)[0];
  EXPECT_NEAR(first[1].item<double>(), 3 * std::exp(1.0), 1e-12);
  const Tensor second = autograd::grad({first.sum()}, {x})[0];
  EXPECT_NEAR(second[0].item<double>(), 3 * std::exp(0.5), 1e-12);
}

TEST(Function, StaleAndFreed) {
  const Tensor x = tensor({0.5}, TensorOptions(kDouble)).requires_grad_();
  const Tensor out = ScaledExp::apply(x, x.detach(), 1.0);
  out.backward();
  EXPECT_THROW(out.backward(), Error);
  const Tensor again = ScaledExp::apply(x, x.detach(), 1.0);
  {
    const NoGradGuard guard;
    x.add_(1);
  }
  EXPECT_THROW(again.backward(), Error);
}

TEST(Deferred, IsReplacedByTheNodesItMakes) {
  struct Later final : autodiff::DeferredNode {
    const char* name() const override { return "later"; }
    void materialize() override {
      if (!made.defined()) made = x * x;
    }
    autodiff::Edge target(std::uint32_t) override { return autodiff::gradient_edge(made); }
    bool may_run(std::uint32_t, bool) const override { return false; }
    std::uint64_t first_position() const override { return sequence; }
    void apply(ArrayRef<Tensor>, ArrayRef<bool>, Tensor*) override { FAIL(); }
    Tensor x, made;
  };
  const Tensor x = tensor({3.}, TensorOptions(kDouble)).requires_grad_();
  Tensor y;
  {
    const NoGradGuard guard;
    y = x * x;
  }
  auto* later = new Later;
  later->x = x;
  autodiff::set_history(*y.impl(), TapeNodePtr(later), 0);
  (y * 2).backward();
  EXPECT_EQ(x.grad()[0].item<double>(), 12);
}

}  // namespace
}  // namespace groove
