// Loops that nobody announces: no optimizer step, no host read, nested, with other things between.
// Each must be found, give eager mode's bits, and run compiled for the most part once it is found.
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <random>

#include "groove/groove.h"
#include "groove/jit.h"
#include "tests/tracer/numbered_calls.h"
#include "tracer/tell/testing.h"
#include "tracer/watch/discovery.h"

namespace groove::testing {
namespace {

namespace tt = tracer::testing;

using Numbers = std::vector<double>;

// ---- programs ----

Tensor weights(std::int64_t rows, std::int64_t columns) {
  return groove::randn({rows, columns}) * 0.2;
}

Numbers inference(int steps) {
  const Tensor a = weights(8, 16), b = weights(16, 4), inputs = groove::randn({steps, 3, 8});
  const NoGradGuard no_grad;
  Tensor total = groove::zeros({3, 4});
  for (int i = 0; i < steps; ++i) {
    const Tensor hidden = inputs.select(0, i).matmul(a).relu();
    total += groove::softmax(hidden.matmul(b), 1);
  }
  return {total.sum().item<double>(), total.select(0, 1).select(0, 2).item<double>()};
}

// The same function at four places: no call but the last ones come once in a step.
Tensor slope(const Tensor& y, const Tensor& a) { return groove::tanh(y.matmul(a)) - y * 0.5; }

Numbers runge_kutta(int steps) {
  const Tensor a = weights(4, 4);
  Tensor y = groove::ones({2, 4});
  const double h = 0.05;
  for (int i = 0; i < steps; ++i) {
    const Tensor k1 = slope(y, a);
    const Tensor k2 = slope(y + k1 * (h / 2), a);
    const Tensor k3 = slope(y + k2 * (h / 2), a);
    const Tensor k4 = slope(y + k3 * h, a);
    y = y + (k1 + k2 * 2 + k3 * 2 + k4) * (h / 6);
  }
  return {y.sum().item<double>(), y.select(0, 1).select(0, 3).item<double>()};
}

Numbers adaptive_steps(int steps) {
  const Tensor a = weights(4, 4);
  Tensor y = groove::ones({2, 4});
  double h = 0.4, t = 0;
  Numbers numbers;
  for (int i = 0; i < steps; ++i) {
    const Tensor k1 = slope(y, a);
    const Tensor k2 = slope(y + k1 * h, a);
    const Tensor error = (k2 - k1) * (h / 2);
    const auto size = error.abs().max().item<double>();
    if (size < 0.02) {
      y = y + k1 * h + error;
      t += h;
      h *= 1.3;
    } else {
      h *= 0.5;
    }
    numbers.push_back(size);
  }
  numbers.push_back(t);
  numbers.push_back(y.sum().item<double>());
  return numbers;
}

Numbers heat_equation(int steps) {
  Tensor u = groove::rand({10, 10});
  for (int i = 0; i < steps; ++i) {
    const Tensor inside = u.slice(0, 1, 9).slice(1, 1, 9);
    const Tensor around = u.slice(0, 0, 8).slice(1, 1, 9) + u.slice(0, 2, 10).slice(1, 1, 9) +
                          u.slice(0, 1, 9).slice(1, 0, 8) + u.slice(0, 1, 9).slice(1, 2, 10);
    const Tensor next = inside + (around - inside * 4) * 0.1;
    u.slice(0, 1, 9).slice(1, 1, 9).copy_(next);
  }
  return {u.sum().item<double>(), u.select(0, 5).select(0, 5).item<double>()};
}

Numbers descent_by_hand(int steps) {
  Tensor w = weights(6, 3).requires_grad_(), b = groove::zeros({3}).requires_grad_();
  const Tensor x = groove::randn({12, 6}), y = groove::randn({12, 3});
  for (int i = 0; i < steps; ++i) {
    const Tensor loss = (groove::tanh(x.matmul(w) + b) - y).pow(2).mean();
    loss.backward();
    const NoGradGuard no_grad;
    w -= w.grad() * 0.1;
    b -= b.grad() * 0.1;
    w.grad().zero_();
    b.grad().zero_();
  }
  return {w.detach().sum().item<double>(), b.detach().sum().item<double>()};
}

Numbers k_means(int steps) {
  const Tensor points = groove::randn({40, 2});
  Tensor centers = points.slice(0, 0, 4).clone();
  Numbers numbers;
  for (int i = 0; i < steps; ++i) {
    const Tensor away = (points.unsqueeze(1) - centers.unsqueeze(0)).pow(2).sum(2);
    const Tensor nearest = groove::one_hot(away.argmin(1), 4).to(kFloat);
    const Tensor next = nearest.t().matmul(points) / (nearest.sum(0).unsqueeze(1) + 1e-6);
    numbers.push_back((next - centers).abs().max().item<double>());
    centers = next;
  }
  return numbers;
}

Numbers power_iteration(int steps) {
  const Tensor half = groove::randn({8, 8}), a = half.matmul(half.t());
  Tensor v = groove::ones({8});
  for (int i = 0; i < steps; ++i) {
    v = a.mv(v);
    v = v / v.pow(2).sum().sqrt();
  }
  return {v.dot(a.mv(v)).item<double>()};
}

Numbers evaluation_now_and_then(int steps) {
  Tensor w = weights(6, 3).requires_grad_();
  optim::SGD optimizer({w}, optim::SGDOptions(0.05).momentum(0.9));
  const Tensor x = groove::randn({12, 6}), y = groove::randn({12, 3});
  const Tensor tests = groove::randn({3, 5, 6});
  Numbers numbers;
  for (int i = 0; i < steps; ++i) {
    optimizer.zero_grad();
    (groove::tanh(x.matmul(w)) - y).pow(2).mean().backward();
    optimizer.step();
    if (i % 5 != 4) continue;
    const NoGradGuard no_grad;
    Tensor sum = groove::zeros({});
    for (int k = 0; k < 3; ++k) {
      const Tensor out = groove::tanh(tests.select(0, k).matmul(w));
      sum = sum + (out * out).mean();
    }
    numbers.push_back(sum.item<double>());
  }
  return numbers;
}

// Two loops, one in the other, always of the same length.
Numbers nested(int steps) {
  const Tensor a = weights(4, 4), b = weights(4, 4);
  Tensor total = groove::zeros({2, 4});
  const Tensor inputs = groove::randn({steps, 12, 2, 4});
  for (int i = 0; i < steps; ++i) {
    Tensor h = groove::zeros({2, 4});
    const Tensor sequence = inputs.select(0, i);
    for (int t = 0; t < 12; ++t) {
      const Tensor gate = groove::sigmoid(h.matmul(a) + sequence.select(0, t));
      h = gate * groove::tanh(h.matmul(b)) + (1 - gate) * h;
    }
    total = total * 0.9 + h;
  }
  return {total.sum().item<double>()};
}

// The length of the inner loop changes; what follows it is always the same.
Numbers suffix_after_varying_length(int steps) {
  const Tensor a = weights(4, 4), v = weights(4, 1);
  Numbers numbers;
  double best = 0;
  std::mt19937 random(5);
  for (int i = 0; i < steps; ++i) {
    const auto length = static_cast<int>(3 + random() % 9);
    std::vector<Tensor> states;
    Tensor h = groove::full({1, 4}, 0.1 * i);
    for (int t = 0; t < length; ++t) {
      h = groove::tanh(h.matmul(a) + 0.1);
      states.push_back(h);
    }
    const Tensor all = groove::cat(states, 0);
    const Tensor score = groove::sigmoid(all.matmul(v));
    const Tensor mean = score.mean(), spread = (score - mean).pow(2).mean().sqrt();
    const Tensor worth = mean * 2 - spread * 0.5 + groove::exp(mean * -1);
    best = worth.item<double>();
    numbers.push_back(best);
  }
  return numbers;
}

Tensor noise_a(const Tensor& x) { return x * 1.01; }
Tensor noise_b(const Tensor& x) { return x + 0.01; }
Tensor noise_c(const Tensor& x) { return x - 0.02; }

// A stretch without any cut, and never the same around it.
Numbers other_things_between(int steps) {
  Tensor x = groove::rand({3, 3}) * 0.1;
  const Tensor a = weights(3, 3);
  std::mt19937 random(7);
  for (int i = 0; i < steps; ++i) {
    for (std::uint32_t k = 2 + random() % 5; k > 0; --k) {
      const std::uint32_t which = random() % 3;
      x = which == 0 ? noise_a(x) : which == 1 ? noise_b(x) : noise_c(x);
    }
    const Tensor y = groove::tanh(x.matmul(a));
    const Tensor z = groove::sigmoid(y + x) * groove::tanh(y - x);
    const Tensor w = (z - z.mean()) / (z.pow(2).mean() + 0.1).sqrt();
    x = x * 0.5 + w * groove::exp(y * -1) * 0.1;
  }
  return {x.sum().item<double>()};
}

// Actions by looking at a value; a step of the optimizer after each episode, however long.
Numbers episodes(int steps) {
  Tensor w = weights(4, 2).requires_grad_();
  optim::SGD optimizer({w}, optim::SGDOptions(0.05));
  Numbers numbers;
  std::mt19937 random(11);
  for (int i = 0; i < steps; ++i) {
    Tensor state = groove::full({1, 4}, 0.1);
    std::vector<Tensor> states;
    const auto length = static_cast<int>(4 + random() % 7);
    for (int t = 0; t < length; ++t) {
      double chance = 0;
      {
        const NoGradGuard no_grad;
        chance = groove::softmax(state.matmul(w), 1).select(1, 0).item<double>();
        states.push_back(state);
        state = groove::tanh(state * 0.9 + (chance > 0.5 ? 0.1 : -0.1)) + 0.05;
      }
      numbers.push_back(chance);
    }
    const Tensor all = groove::cat(states, 0);
    const Tensor loss = (groove::log_softmax(all.matmul(w), 1) * 0.5).mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
  return numbers;
}

// ---- the tests ----

struct Program {
  const char* name;
  Numbers (*run)(int steps);
  int steps;
  double share;  // of the work, that must have run compiled in the second half
};

void PrintTo(const Program& program, std::ostream* to) { *to << program.name; }

class Find : public ::testing::TestWithParam<Program> {
 protected:
  void SetUp() override {
    tt::set_hot(2);
    tt::set_synchronous(true);
    tt::forget_everything();
  }
  void TearDown() override {
    jit::set_mode(jit::Mode::kAuto);
    tt::forget_everything();
  }
  static Numbers run(jit::Mode mode, int steps) {
    jit::set_mode(mode);
    manual_seed(3);
    return GetParam().run(steps);
  }
  struct Work {
    double compiled = 0, eager = 0;
  };
  static Work work() {
    const jit::Summary all = jit::summary();
    return {static_cast<double>(all.ops_compiled), static_cast<double>(all.ops_eager)};
  }
};

TEST_P(Find, RunsCompiledWithTheSameBits) {
  const int steps = GetParam().steps;
  const Numbers expected = run(jit::Mode::kEager, steps);
  const Work start = work();
  EXPECT_EQ(run(jit::Mode::kAuto, steps), expected);
  const Work end = work();
  EXPECT_GT(jit::summary().hits, 0u) << jit::explain();
  const double compiled = end.compiled - start.compiled, eager = end.eager - start.eager;
  std::printf("%s: %.0f of %.0f operators compiled\n", GetParam().name, compiled, compiled + eager);
  EXPECT_GE(compiled / (compiled + eager), GetParam().share) << jit::explain();
}

INSTANTIATE_TEST_SUITE_P(
    All, Find,
    ::testing::Values(Program{"inference", inference, 60, 0.7},
                      Program{"runge_kutta", runge_kutta, 60, 0.8},
                      Program{"adaptive_steps", adaptive_steps, 60, 0.5},
                      Program{"heat_equation", heat_equation, 60, 0.8},
                      Program{"descent_by_hand", descent_by_hand, 60, 0.8},
                      Program{"k_means", k_means, 60, 0.8},
                      Program{"power_iteration", power_iteration, 120, 0.8},
                      Program{"evaluation_now_and_then", evaluation_now_and_then, 80, 0.5},
                      Program{"nested", nested, 30, 0.8},
                      Program{"suffix_after_varying_length", suffix_after_varying_length, 60, 0.5},
                      Program{"other_things_between", other_things_between, 200, 0.4},
                      Program{"episodes", episodes, 40, 0.3}),
    [](const auto& info) { return std::string(info.param.name); });

// ---- the finder alone ----

TEST(Finder, FindsPlantedRepeats) {
  std::mt19937_64 random(17);
  for (int round = 0; round < 50; ++round) {
    // A few different stretches, each at several places, among calls that never come again.
    const std::size_t kinds = 1 + random() % 3;
    std::vector<std::vector<std::uint64_t>> planted(kinds);
    std::uint64_t next = 1'000'000;
    for (std::size_t k = 0; k < kinds; ++k) {
      const std::size_t length = 5 + random() % 40;
      for (std::size_t i = 0; i < length; ++i) planted[k].push_back(call(k * 1000 + i));
    }
    std::vector<std::uint64_t> tokens;
    std::vector<std::size_t> times(kinds, 0);
    for (int i = 0; i < 30; ++i) {
      for (std::size_t n = 1 + random() % 12; n > 0; --n) tokens.push_back(call(next++));
      const std::size_t k = static_cast<std::size_t>(i) % kinds;
      tokens.insert(tokens.end(), planted[k].begin(), planted[k].end());
      ++times[k];
    }
    const std::vector<tracer::Repeat> found = tracer::find_repeats(tokens);
    ASSERT_EQ(found.size(), kinds) << "round " << round;
    for (const tracer::Repeat& repeat : found) {
      const std::vector<std::uint64_t> stretch(
          tokens.begin() + static_cast<std::ptrdiff_t>(repeat.begin),
          tokens.begin() + static_cast<std::ptrdiff_t>(repeat.end));
      const auto k = std::find(planted.begin(), planted.end(), stretch);
      ASSERT_NE(k, planted.end()) << "round " << round;
      EXPECT_EQ(repeat.count, times[static_cast<std::size_t>(k - planted.begin())]);
    }
  }
}

TEST(Finder, FindsNothingInNoise) {
  std::vector<std::uint64_t> tokens;
  EXPECT_TRUE(tracer::find_repeats(tokens).empty());
  for (std::uint64_t i = 0; i < 3000; ++i) tokens.push_back(call(i));
  EXPECT_TRUE(tracer::find_repeats(tokens).empty());
}

// Whatever part of a cycle was seen last, as often as it came: how long it is, its returns tell.
TEST(Finder, APartOfACycleIsNoStretch) {
  for (std::size_t period = 2; period < 60; ++period) {
    for (std::size_t length = 3 * period; length < 12 * period; ++length) {
      std::vector<std::uint64_t> tokens;
      for (std::size_t i = 0; i < 7; ++i) tokens.push_back(call(1000 + i));
      for (std::size_t i = 0; i < length; ++i) tokens.push_back(call(i % period));
      const std::size_t others = length % period == 0 ? 5 : 0;
      for (std::size_t i = 0; i < others; ++i) tokens.push_back(call(2000 + i));
      for (const tracer::Repeat& repeat : tracer::find_repeats(tokens))
        EXPECT_EQ(repeat.end - repeat.begin, period) << length << " tokens";
    }
  }
}

TEST(Finder, AWholeRunOfOneWordIsBounded) {
  const std::vector<std::uint64_t> tokens(4096, call(1));
  for (const tracer::Repeat& repeat : tracer::find_repeats(tokens))
    EXPECT_LE((repeat.end - repeat.begin) * repeat.count, tokens.size());
}

// A stretch has the same sums, whether its calls came one by one or as runs.
TEST(Stretch, Composes) {
  std::mt19937_64 random(23);
  for (int round = 0; round < 200; ++round) {
    tracer::Stretch whole, pieces, first, rest;
    const std::size_t cut = random() % 1000, length = cut + random() % 1000;
    tracer::Stretch piece;
    for (std::size_t i = 0; i < length; ++i) {
      const std::uint64_t w = random();
      whole.append(w);
      (i < cut ? first : rest).append(w);
      piece.append(w);
      if (random() % 7 != 0) continue;
      pieces.append(piece);
      piece = {};
    }
    pieces.append(piece);
    EXPECT_EQ(pieces, whole);
    EXPECT_EQ(whole.since(first), rest);
    rest.append(first);
    EXPECT_EQ(rest.loop(), whole.loop());
  }
}

// Few kinds of calls in no order: short stretches come again all the time, and none is a loop.
TEST(Discovery, ChanceIsNoLoop) {
  using tracer::Discovery;
  tt::set_synchronous(true);
  Discovery discovery;
  discovery.set_hot(2);
  std::mt19937_64 random(29);
  for (int i = 0; i < 30'000; ++i) {
    const std::uint64_t next = call(random() % 8);
    ASSERT_EQ(discovery.plan(next), nullptr) << "after " << i << " calls";
    discovery.on_call(next, Discovery::kOpCost);
  }
}

// A step by hand in a loop whose rows differ each time: the parameters come one after the other,
// at the same sizes as ever.
TEST(Discovery, ALoopAtAnySizesMayHaveCallsThatComeAgain) {
  using tracer::Discovery;
  Discovery discovery;
  discovery.set_hot(2);
  constexpr std::uint64_t kSized = 5, kParameters = 4, kLength = kSized + kParameters;
  for (std::uint64_t i = 0; i < 2; ++i) discovery.on_call(call(kSized), Discovery::kOpCost);
  for (std::uint64_t i = 0; i < 40 * kLength; ++i) {
    const std::uint64_t at = std::min(i % kLength, kSized);
    if (const Discovery::Plan* const plan = discovery.plan(call(at))) {
      EXPECT_EQ(plan->length, kLength);
      return;
    }
    if (at < kSized) discovery.note_any_size();
    discovery.on_call(call(at), Discovery::kOpCost);
  }
  FAIL() << "not found";
}

// The program enters a loop between a forward and the backward through it, which a recording that
// begins there cannot hold: the loop is recorded from the call after that.
TEST(Discovery, ALoopAroundABackwardBeginsAfterIt) {
  using tracer::Discovery;
  Discovery discovery;
  discovery.set_hot(2);
  constexpr std::uint64_t kLength = 12, kBackward = 2;
  for (std::uint64_t i = 0; i < 4 * kLength; ++i) {
    const std::uint64_t at = i % kLength;
    if (const Discovery::Plan* const plan = discovery.plan(call(at))) {
      EXPECT_EQ(at, kBackward + 1);
      EXPECT_EQ(plan->length, kLength);
      return;
    }
    if (at == kBackward)
      discovery.on_outside(call(at));
    else
      discovery.on_call(call(at), Discovery::kOpCost);
  }
  FAIL() << "not found";
}

// An outer loop is found while the inner one runs compiled, after as few iterations as without.
TEST(Discovery, FindsTheOuterLoopAroundCompiledRuns) {
  using tracer::Discovery;
  Discovery discovery;
  discovery.set_hot(2);
  constexpr int kInner = 128;
  tracer::Stretch inner;
  for (std::uint64_t i = 1; i <= 6; ++i) inner.append(call(i));
  for (int outer = 0; outer < 6; ++outer) {
    const Discovery::Plan* const plan = discovery.plan(call(0));
    if (outer >= 4) {
      ASSERT_NE(plan, nullptr) << "iteration " << outer;
      EXPECT_EQ(plan->length, 2u + kInner * 6);
      EXPECT_TRUE(plan->covers_runs);
      return;
    }
    discovery.on_call(call(0), Discovery::kOpCost);
    for (int t = 0; t < kInner; ++t) {
      if (outer == 0 && t < 5) {  // watched still
        for (std::uint64_t i = 1; i <= 6; ++i) discovery.on_call(call(i), Discovery::kOpCost);
        continue;
      }
      discovery.on_run_start();
      discovery.on_run(call(1), call(6), inner, true);
    }
    discovery.on_call(call(7), Discovery::kOpCost);
  }
}

// What the program looks at every 40 iterations has 40 times as many calls between, and is compiled
// already: no loop of its own.
TEST(Discovery, ManyCompiledRunsAreNoIteration) {
  using tracer::Discovery;
  Discovery discovery;
  discovery.set_hot(2);
  tracer::Stretch run;
  for (std::uint64_t i = 1; i <= 20; ++i) run.append(call(i));
  for (int look = 0; look < 12; ++look) {
    for (int i = 0; i < 40; ++i) {
      ASSERT_EQ(discovery.plan(call(1)), nullptr) << "look " << look;
      discovery.on_run_start();
      discovery.on_run(call(1), call(20), run, true);
    }
    ASSERT_EQ(discovery.plan(call(21)), nullptr) << "look " << look;
    discovery.on_call(call(21), Discovery::kOpCost);
    discovery.on_host_read();
  }
}

}  // namespace
}  // namespace groove::testing
