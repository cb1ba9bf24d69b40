// Random draws in functions of control flow: those of the loop or branch written by hand where that
// is known before it runs, the same in every mode, and the same again in gradients.
#include "tests/control/control.h"

namespace groove::testing {
namespace {

namespace tt = tracer::testing;

std::function<Tensors()> seeded(const std::function<Tensors()>& body) {
  return [=] {
    manual_seed(11);
    Tensors results = body();
    results.push_back(groove::rand({2}));  // where the random state is
    return results;
  };
}

Tensor noisy(const Tensor& s, const Tensor& x, const Tensor& w) {
  const Tensor kept = groove::dropout(s.mm(w) + x, 0.3, true);
  return (kept + groove::randn({2, 4}, s.options()) * 0.1).tanh() +
         groove::bernoulli(groove::full({2, 4}, 0.5, s.options())) * 0.25;
}

// The value and the gradients of a sum over the results.
Tensors with_gradients(const std::function<Tensor(const Tensors&)>& loss, const Tensors& values) {
  Tensors leaves;
  for (const Tensor& value : values) leaves.push_back(value.clone().requires_grad_());
  Tensors results{loss(leaves)};
  results[0].backward();
  for (const Tensor& leaf : leaves) results.push_back(leaf.grad());
  results[0] = results[0].detach();
  return results;
}

Tensors scan_values(ScalarType dtype) {
  manual_seed(3);
  return {groove::randn({2, 4}, dtype), groove::randn({5, 2, 4}, dtype),
          groove::randn({4, 4}, dtype) * 0.5};
}

TEST(DrawsInScan, AreThoseOfTheLoop) {
  const Tensors values = scan_values(kFloat);
  for (const bool is_reverse : {false, true}) {
    SCOPED_TRACE(is_reverse);
    expect_as_by_hand(
        seeded([&] {
          return with_gradients(
              [&](const Tensors& v) {
                const auto [h, ys] = scan(
                    [&](const Tensor& s, const Tensor& x) {
                      const Tensor next = noisy(s, x, v[2]);
                      return std::pair{next, next * 2.0};
                    },
                    v[0], v[1], {.reverse = is_reverse});
                return (h * h).sum() + ys.sum();
              },
              values);
        }),
        seeded([&] {
          return with_gradients(
              [&](const Tensors& v) {
                Tensor h = v[0];
                Tensors ys(5);
                for (int k = 0; k < 5; ++k) {
                  const int t = is_reverse ? 4 - k : k;
                  h = noisy(h, v[1][t], v[2]);
                  ys[static_cast<std::size_t>(t)] = h * 2.0;
                }
                return (h * h).sum() + groove::stack(ys).sum();
              },
              values);
        }));
  }
}

TEST(DrawsInCond, DoNotDependOnTheBranch) {
  const Tensor x = groove::ones({2, 4});
  const auto ours = [&](bool is_true) {
    return seeded([=] {
      return Tensors{cond(
          groove::full({}, is_true, kBool), [&] { return x * groove::rand({2, 4}); },
          [&] {
            const Tensor first = groove::rand({2, 4});
            return x + first - groove::randn({2, 4});
          })};
    });
  };
  for (const bool is_true : {true, false})
    expect_as_by_hand(ours(is_true), seeded([=] {
                        const Tensor first = groove::rand({2, 4}), second = groove::randn({2, 4});
                        return Tensors{is_true ? x * first : x + first - second};
                      }));
}

TEST(DrawsInWhile, DifferFromTurnToTurn) {
  const auto ours = seeded([] {
    const auto [n, values] = while_loop(
        [](const Tensor& n, const Tensor&) { return n < 6; },
        [](const Tensor& n, const Tensor& v) {
          return std::tuple{n + 1, groove::cat({v.slice(0, 1), groove::rand({1})})};
        },
        std::tuple{groove::zeros({}, kLong), groove::zeros({6})});
    return Tensors{values};
  });
  jit::set_mode(jit::Mode::kEager);
  const Tensors once = ours();
  const Tensor sorted = std::get<0>(once[0].sort());
  EXPECT_GT((sorted.slice(0, 1) - sorted.slice(0, 0, 5)).min().item<double>(), 0.0);
  expect_as_by_hand(ours, [&] { return once; });
  // One turn by hand takes as many draws, and the first turn is that of the loop by hand.
  const Tensors by_hand = seeded([] { return Tensors{groove::rand({1})}; })();
  expect_same({once[0][0]}, {by_hand[0][0]});
  expect_same({once[1]}, {by_hand[1]});
  jit::set_mode(jit::Mode::kAuto);
}

// Scan in a while_loop in a branch: each loss is made of the same draws.
Tensor nested(const Tensors& v) {
  return cond(
      v[0].sum() < 100.0,
      [&] {
        const auto [n, s] = while_loop(
            [](const Tensor& n, const Tensor&) { return n < 3; },
            [&](const Tensor& n, const Tensor& s) {
              const auto [h, ys] = scan(
                  [&](const Tensor& a, const Tensor& x) {
                    const Tensor next = noisy(a, x, v[2]);
                    const Tensor y = cond(
                        n > 0, [&] { return next * groove::rand({2, 4}, next.options()); },
                        [&] { return next.sin(); });
                    return std::pair{next, y};
                  },
                  s, v[1]);
              return std::tuple{n + 1, h + ys.mean(0)};
            },
            std::tuple{groove::zeros({}, kLong), v[0]});
        return (s * s).sum();
      },
      [&] { return v[0].sum(); });
}

TEST(Draws, NestedGradientsAreFiniteDifferences) {
  const Tensors values = scan_values(kDouble);
  const auto loss = [](const Tensors& v) {
    manual_seed(11);
    return nested(v);
  };
  const Tensors given = with_gradients(loss, values);
  constexpr double kStep = 1e-6;
  for (std::size_t k = 0; k < values.size(); ++k)
    for (std::int64_t i = 0; i < values[k].numel(); ++i) {
      const auto at = [&](double change) {
        Tensors moved = values;
        moved[k] = values[k].clone();
        moved[k].view({-1})[i].add_(change);
        return loss(moved).item<double>();
      };
      const double difference = (at(kStep) - at(-kStep)) / (2 * kStep);
      EXPECT_NEAR(given[k + 1].flatten()[i].item<double>(), difference,
                  1e-6 * std::max(1.0, std::abs(difference)))
          << "value " << k << " element " << i;
    }
  jit::set_mode(jit::Mode::kEager);
  const auto all = seeded([&] { return with_gradients(nested, scan_values(kFloat)); });
  const Tensors expected = all();
  expect_as_by_hand(all, [&] { return expected; });
}

TEST(Draws, TrainingRunsCompiled) {
  const auto train = [] {
    manual_seed(4);
    const Tensor w = (groove::randn({4, 4}) * 0.4).requires_grad_();
    optim::SGD optimizer({w}, optim::SGDOptions(0.05));
    const Tensor x = groove::randn({2, 4}), xs = groove::randn({3, 2, 4});
    Tensors seen;
    for (int i = 0; i < 24; ++i) {
      optimizer.zero_grad();
      const Tensor loss = nested({x, xs, w});
      loss.backward();
      optimizer.step();
      seen.push_back(loss.detach());
      seen.push_back(groove::rand({2}));
    }
    seen.push_back(w.detach());
    return seen;
  };
  jit::set_mode(jit::Mode::kEager);
  const Tensors expected = train();
  tt::set_hot(1);
  tt::set_synchronous(true);
  tt::forget_everything();
  jit::set_mode(jit::Mode::kAuto);
  expect_same(train(), expected);
  EXPECT_GE(jit::summary().hits, 15u) << jit::explain();
  tt::forget_everything();
}

}  // namespace
}  // namespace groove::testing
