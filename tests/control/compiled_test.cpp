// Control flow inside loops that compile: the same bits, and nothing in it ends a stage.
#include "src/core/allocator.h"
#include "tests/control/control.h"

namespace groove::testing {
namespace {

namespace tt = tracer::testing;

class InLoops : public ::testing::Test {
 protected:
  void TearDown() override {
    tt::forget_everything();
    jit::set_mode(jit::Mode::kAuto);
  }
  // A loop in eager mode and compiled; `least_hits` of its iterations must run compiled.
  static void expect_compiled(const std::function<Tensors()>& loop, std::uint64_t least_hits) {
    jit::set_mode(jit::Mode::kEager);
    manual_seed(5);
    const Tensors expected = loop();
    tt::set_hot(1);
    tt::set_synchronous(true);
    tt::forget_everything();
    jit::set_mode(jit::Mode::kAuto);
    manual_seed(5);
    const Tensors given = loop();
    const jit::Summary summary = jit::summary();
    jit::set_mode(jit::Mode::kEager);
    expect_same(given, expected);
    EXPECT_GE(summary.hits, least_hits) << jit::explain();
    // Left at every word.
    for (std::int64_t exit = 0; exit < 14; ++exit) {
      SCOPED_TRACE("exit at " + std::to_string(exit));
      tt::forget_everything();
      tt::force_exit_at(exit);
      jit::set_mode(jit::Mode::kAuto);
      manual_seed(5);
      expect_same(loop(), expected);
      jit::set_mode(jit::Mode::kEager);
    }
    tt::force_exit_at(-1);
  }
};

TEST_F(InLoops, AdaptiveSteps) {
  expect_compiled(
      [] {
        const Tensor w = groove::randn({4, 4}) * 0.3;
        Tensor state = groove::ones({4});
        Tensors seen;
        for (int i = 0; i < 30; ++i) {
          const auto [turns, next] =
              while_loop([](const Tensor& n,
                            const Tensor& x) { return (x.abs().max() > 0.2).logical_and(n < 9); },
                         [&](const Tensor& n, const Tensor& x) {
                           return std::tuple{n + 1, w.mv(x) * 0.7};
                         },
                         std::tuple{groove::zeros({}, kLong), state});
          state = cond(
              turns > 3, [&] { return next + 1.0; }, [&] { return next * 0.5 + 0.6; });
        }
        seen.push_back(state);
        return seen;
      },
      20);
}

TEST_F(InLoops, TrainingByScan) {
  expect_compiled(
      [] {
        const Tensor w = (groove::randn({6, 6}) * 0.3).requires_grad_(),
                     u = (groove::randn({3, 6}) * 0.3).requires_grad_();
        optim::Adam optimizer({w, u}, optim::AdamOptions(0.01));
        const Tensor xs = groove::randn({8, 2, 3}), target = groove::randn({2, 6});
        Tensor loss;
        for (int i = 0; i < 30; ++i) {
          optimizer.zero_grad();
          const auto [h, ys] = scan(
              [&](const Tensor& s, const Tensor& x) {
                const Tensor next = (s.mm(w) + x.mm(u)).tanh();
                return std::pair{next, next};
              },
              groove::zeros({2, 6}), xs);
          loss = groove::mse_loss(h, target) + ys.pow(2).mean();
          loss.backward();
          optimizer.step();
        }
        return Tensors{w.detach(), u.detach(), loss.detach()};
      },
      20);
}

TEST_F(InLoops, TrainingByWhileAndCond) {
  expect_compiled(
      [] {
        const Tensor w = (groove::randn({5, 5}) * 0.4).requires_grad_();
        optim::SGD optimizer({w}, optim::SGDOptions(0.05));
        const Tensor x = groove::randn({2, 5});
        for (int i = 0; i < 30; ++i) {
          optimizer.zero_grad();
          const Tensor limit = groove::full({}, 3, kLong);
          const auto [n, y] =
              while_loop([&](const Tensor& turn, const Tensor&) { return turn < limit; },
                         [&](const Tensor& turn, const Tensor& s) {
                           return std::tuple{turn + 1, (s.mm(w) + x).tanh()};
                         },
                         std::tuple{groove::zeros({}, kLong), x});
          const Tensor loss = cond(
              y.sum() > 0.0, [&] { return y.pow(2).mean(); }, [&] { return (y * w.sum()).mean(); });
          loss.backward();
          optimizer.step();
        }
        return Tensors{w.detach()};
      },
      20);
}

// Functions are compiled beside the program, and go when there is no room for them.
TEST_F(InLoops, FunctionsComeAndGo) {
  const auto loop = [] {
    const Tensor w = (groove::randn({4, 4}) * 0.3).requires_grad_();
    Tensors seen;
    for (int i = 0; i < 40; ++i) {
      const Tensor xs = groove::randn({2 + i % 3, 4});
      const auto [h, ys] = scan(
          [&](const Tensor& s, const Tensor& x) {
            const Tensor next = (w.mv(s) + x).tanh();
            return std::pair{next, next};
          },
          groove::zeros({4}), xs);
      const Tensor y = while_loop([](const Tensor& a) { return a.sum() < 20.0; },
                                  [](const Tensor& a) { return a * a + 0.5; }, h);
      (y.mean() + ys.mean()).backward();
      seen.push_back(w.grad().clone());
      if (i % 10 == 9) jit::synchronize();
    }
    return seen;
  };
  jit::set_mode(jit::Mode::kEager);
  manual_seed(5);
  const Tensors expected = loop();
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{64} << 10, std::size_t{0}})
    for (const bool is_synchronous : {false, true}) {
      tt::set_cache_bytes(bytes);
      tt::set_synchronous(is_synchronous);
      for (const jit::Mode mode : {jit::Mode::kEager, jit::Mode::kAuto}) {
        jit::set_mode(mode);
        manual_seed(5);
        expect_same(loop(), expected);
      }
    }
}

// Values too large for one thread, at the end of pages that may be read, with one thread and two.
TEST_F(InLoops, ThreadsAndGuardPages) {
  const auto train = [] {
    manual_seed(8);
    const Tensor w = (groove::randn({67, 67}) * 0.1).requires_grad_();
    const Tensor xs = groove::randn({5, 33, 67});
    Tensors seen;
    for (int i = 0; i < 4; ++i) {
      const auto [h, ys] = scan(
          [&](const Tensor& s, const Tensor& x) {
            const Tensor next = (s.mm(w) + x).tanh();
            return std::pair{next, next.narrow(1, 3, 31) * 2.0};
          },
          groove::zeros({33, 67}), xs);
      const Tensor end = while_loop([](const Tensor& a) { return a.abs().max() > 0.4; },
                                    [&](const Tensor& a) { return a.mm(w).sin(); }, h);
      ((end * end).sum() + ys.mean()).backward();
      seen.push_back(end.detach());
    }
    seen.push_back(w.grad());
    return seen;
  };
  const int threads = groove::get_num_threads();
  groove::set_num_threads(1);
  jit::set_mode(jit::Mode::kEager);
  const Tensors expected = train();
  for (const int count : {1, 2, 3}) {
    groove::set_num_threads(count);
    set_guard_pages(count == 2);
    expect_same(train(), expected);
    set_guard_pages(false);
  }
  groove::set_num_threads(threads);
}

// The text form of a recorded loop holds the functions, and reads back.
TEST_F(InLoops, IsShown) {
  tt::set_hot(1);
  tt::set_synchronous(true);
  jit::set_mode(jit::Mode::kAuto);
  Tensor x = groove::ones({4});
  for (int i = 0; i < 10; ++i) {
    x = while_loop([](const Tensor& a) { return a.sum() > 2.0; },
                   [](const Tensor& a) { return a * 0.75; }, x);
    x = (x + 1.0).tanh() * x.exp();
  }
  x.sum().item<float>();
  bool is_found = false;
  for (const jit::SegmentView& view : jit::inspect()) {
    if (view.graph.find("while_loop(") == std::string::npos) continue;
    is_found = true;
    EXPECT_NE(view.graph.find("body: graph("), std::string::npos);
  }
  EXPECT_TRUE(is_found) << jit::explain();
}

// Errors that depend on values, out of functions of control flow in compiled code.
TEST_F(InLoops, ErrorsOfValues) {
  const auto run = [](jit::Mode mode) {
    jit::set_mode(mode);
    const Tensor table = groove::arange(12).to(kFloat).view({4, 3});
    Tensor x = groove::ones({3});
    std::string texts;
    for (int i = 0; i < 24; ++i) {
      const Tensor index = groove::full({2}, i == 17 ? 4 : i % 4, kLong);
      try {
        const auto [sum, none] = scan(
            [&](const Tensor& s, const Tensor& k) {
              return std::pair{(s + table.index_select(0, k.unsqueeze(0)).squeeze(0)) * 0.5, k};
            },
            x, index);
        x = (sum * 0.9).tanh() + sum.sigmoid();
        const auto [turn, last] =
            while_loop([&](const Tensor& n, const Tensor&) { return n < (i == 20 ? 9 : 3); },
                       [](const Tensor& n, const Tensor& v) {
                         return std::tuple{n + 1, v * 0.5};
                       },
                       std::tuple{groove::zeros({}, kLong), x}, {.max_iterations = 5});
        x = last + 1.0;
        if (i % 6 == 5) texts += std::to_string(x.sum().item<float>()) + "\n";
      } catch (const Error& error) {
        texts += std::to_string(i) + ": " + error.what() + "\n";
      }
    }
    return std::pair{texts, Tensors{x}};
  };
  const auto expected = run(jit::Mode::kEager);
  tt::set_hot(1);
  tt::set_synchronous(true);
  tt::forget_everything();
  const auto given = run(jit::Mode::kAuto);
  EXPECT_EQ(given.first, expected.first);
  expect_same(given.second, expected.second);
}

}  // namespace
}  // namespace groove::testing
