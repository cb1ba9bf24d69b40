// jit::compile(): calls as they are, compiled from the second one on.
#include "tests/control/control.h"

namespace groove::testing {
namespace {

namespace tt = tracer::testing;

class Compile : public ::testing::Test {
 protected:
  void SetUp() override {
    tt::set_hot(2);
    tt::set_synchronous(true);
    tt::forget_everything();
    jit::set_mode(jit::Mode::kAuto);
  }
  void TearDown() override { tt::forget_everything(); }
  static std::uint64_t hits() { return jit::summary().hits; }
  // Between calls: a value is looked at, so that the call is over.
  static double look(const Tensor& x) { return x.sum().item<double>(); }
};

Tensor eagerly(const std::function<Tensor()>& body) {
  const jit::EagerGuard guard;
  return body();
}

TEST_F(Compile, FromTheSecondCallOn) {
  const Tensor w = groove::randn({8, 8});
  const auto body = [&](const Tensor& x, double scale) { return (x.mm(w) * scale).tanh() + x; };
  const auto fast = jit::compile(body);
  for (int call = 0; call < 14; ++call) {
    const Tensor x = groove::randn({3, 8});
    const Tensor y = fast(x, 0.5 + call);
    EXPECT_TRUE(same_bits(y, eagerly([&] { return body(x, 0.5 + call); })));
  }
  EXPECT_GE(hits(), 6u) << jit::explain();
}

TEST_F(Compile, EveryTypeOfArguments) {
  const auto body = [](const Tensors& parts, const std::tuple<Tensor, double>& pair,
                       const std::optional<Tensor>& bias) {
    Tensor sum = groove::cat(parts).exp() * std::get<1>(pair) + std::get<0>(pair);
    if (bias) sum = sum + *bias;
    return std::pair{sum, sum.sum()};
  };
  const auto fast = jit::compile(body);
  for (int call = 0; call < 48; ++call) {
    const std::int64_t n = 2 + call % 3;
    const Tensors parts{groove::randn({n}), groove::randn({n})};
    const std::tuple pair{groove::randn({2 * n}), 0.1 * call};
    std::optional<Tensor> bias;
    if (call % 2 == 0) bias = groove::randn({2 * n});
    const auto [sum, total] = fast(parts, pair, bias);
    const auto expected = [&] {
      const jit::EagerGuard guard;
      return body(parts, pair, bias);
    }();
    EXPECT_TRUE(same_bits(sum, expected.first)) << call;
    EXPECT_TRUE(same_bits(total, expected.second)) << call;
  }
  EXPECT_GE(hits(), 8u) << jit::explain();
}

TEST_F(Compile, NestedRecursiveAndThrowing) {
  const Tensor w = groove::randn({4, 4});
  const auto inner = jit::compile([&](const Tensor& x) { return x.mm(w).relu(); });
  const auto outer = jit::compile([&](const Tensor& x, bool fails) {
    const Tensor y = inner(x) + inner(x * 2.0);
    if (fails) throw std::runtime_error("the program's own");
    return y.sum(0);
  });
  for (int call = 0; call < 12; ++call) {
    const Tensor x = groove::randn({3, 4});
    if (call % 3 == 2) {
      EXPECT_THROW(outer(x, true), std::runtime_error);
      continue;
    }
    const Tensor y = outer(x, false);
    EXPECT_TRUE(
        same_bits(y, eagerly([&] { return (x.mm(w).relu() + (x * 2.0).mm(w).relu()).sum(0); })));
  }
  EXPECT_GE(hits(), 4u) << jit::explain();
}

TEST_F(Compile, BesideAndInsideLoops) {
  const auto run = [](jit::Mode mode) {
    jit::set_mode(mode);
    manual_seed(2);
    const Tensor w = (groove::randn({6, 6}) * 0.3).requires_grad_();
    optim::SGD optimizer({w}, optim::SGDOptions(0.1));
    const auto forward = jit::compile([&](const Tensor& x) { return x.mm(w).tanh(); });
    const auto measure = jit::compile([&](const Tensor& x) {
      const NoGradGuard guard;
      return (x.mm(w).tanh() - x).pow(2).mean();
    });
    Tensors seen;
    for (int i = 0; i < 40; ++i) {
      optimizer.zero_grad();
      const Tensor x = groove::randn({4, 6});
      (forward(x) - x).pow(2).mean().backward();
      optimizer.step();
      if (i % 5 == 0) seen.push_back(measure(x));
    }
    seen.push_back(w.detach());
    return seen;
  };
  const Tensors expected = run(jit::Mode::kEager);
  expect_same(run(jit::Mode::kAuto), expected);
  EXPECT_GE(hits(), 20u) << jit::explain();
}

// A whole training step as a function.
TEST_F(Compile, AStep) {
  const auto run = [](jit::Mode mode) {
    jit::set_mode(mode);
    manual_seed(3);
    nn::Sequential model(nn::Linear(5, 8), nn::Tanh(), nn::Linear(8, 1));
    optim::Adam optimizer(model->parameters(), optim::AdamOptions(0.01));
    const auto step = jit::compile([&](const Tensor& x, const Tensor& y) {
      optimizer.zero_grad();
      const Tensor loss = nn::functional::mse_loss(model->forward(x), y);
      loss.backward();
      optimizer.step();
      return loss.detach();
    });
    Tensors seen;
    for (int i = 0; i < 12; ++i) {
      const Tensor x = groove::randn({4, 5});
      seen.push_back(step(x, x.sum(1, true)));
    }
    for (const Tensor& p : model->parameters()) seen.push_back(p.detach());
    return seen;
  };
  const Tensors expected = run(jit::Mode::kEager);
  expect_same(run(jit::Mode::kAuto), expected);
  EXPECT_GE(hits(), 6u) << jit::explain();
  for (std::int64_t exit = 0; exit < 10; ++exit) {
    tt::forget_everything();
    tt::force_exit_at(exit);
    expect_same(run(jit::Mode::kAuto), expected);
  }
  tt::force_exit_at(-1);
}

}  // namespace
}  // namespace groove::testing
