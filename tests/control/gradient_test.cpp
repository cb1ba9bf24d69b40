// Gradients of control flow: the bits of the loop written by hand, finite differences, and second
// derivatives.
#include "tests/control/control.h"

namespace groove::testing {
namespace {

// The gradients of `loss(leaves)` with respect to the leaves; each call on fresh ones.
using Loss = std::function<Tensor(const Tensors&)>;
Tensors gradients(const Loss& loss, const Tensors& values) {
  Tensors leaves;
  for (const Tensor& value : values) leaves.push_back(value.clone().requires_grad_());
  loss(leaves).backward();
  Tensors result;
  for (const Tensor& leaf : leaves) result.push_back(leaf.grad());
  return result;
}
void expect_gradients_as_by_hand(const Loss& ours, const Loss& by_hand, const Tensors& values) {
  expect_as_by_hand([&] { return gradients(ours, values); },
                    [&] { return gradients(by_hand, values); });
}

void expect_finite_differences(const Loss& loss, const Tensors& values) {
  const Tensors exact = gradients(loss, values);
  constexpr double kStep = 1e-6;
  for (std::size_t v = 0; v < values.size(); ++v) {
    for (std::int64_t i = 0; i < values[v].numel(); ++i) {
      const auto at = [&](double change) {
        Tensors moved = values;
        moved[v] = values[v].clone();
        moved[v].view({-1})[i].add_(change);
        for (Tensor& value : moved) value = value.clone().requires_grad_();
        return loss(moved).item<double>();
      };
      const double difference = (at(kStep) - at(-kStep)) / (2 * kStep);
      const double given = exact[v].defined() ? exact[v].flatten()[i].item<double>() : 0.0;
      EXPECT_NEAR(given, difference, 1e-6 * std::max(1.0, std::abs(difference)))
          << "value " << v << " element " << i;
    }
  }
}

// ---- an Elman cell that reads its state and both weights more than once ----

std::pair<Tensor, Tensor> cell(const Tensor& h, const Tensor& x, const Tensor& w, const Tensor& u) {
  const Tensor gate = (h.mm(w) + x.mm(u)).sigmoid();
  const Tensor next = gate * h + (1.0 - gate) * (x.mm(u) + (gate * h).mm(w)).tanh();
  return {next, next};
}
Loss scanned(bool uses_last, bool is_reverse = false) {
  return [=](const Tensors& v) {
    const auto [h, ys] =
        scan([&](const Tensor& s, const Tensor& x) { return cell(s, x, v[2], v[3]); }, v[0], v[1],
             {.reverse = is_reverse});
    Tensor loss = (ys * ys).sum();
    if (uses_last) loss = loss + h.sin().sum();
    return loss;
  };
}
Loss by_hand(bool uses_last, bool is_reverse = false) {
  return [=](const Tensors& v) {
    Tensor h = v[0];
    const auto steps = static_cast<std::size_t>(v[1].size(0));
    Tensors ys(steps);
    for (std::size_t k = 0; k < steps; ++k) {
      const std::size_t t = is_reverse ? steps - 1 - k : k;
      h = cell(h, v[1][static_cast<std::int64_t>(t)], v[2], v[3]).first;
      ys[t] = h;
    }
    const Tensor stacked = groove::stack(ys);
    Tensor loss = (stacked * stacked).sum();
    if (uses_last) loss = loss + h.sin().sum();
    return loss;
  };
}
Tensors cell_values(ScalarType dtype, std::int64_t steps = 5) {
  return {groove::randn({2, 4}, dtype), groove::randn({steps, 2, 3}, dtype),
          groove::randn({4, 4}, dtype) * 0.5, groove::randn({3, 4}, dtype) * 0.5};
}

TEST(ScanGradient, IsThatOfTheLoop) {
  manual_seed(1);
  for (const bool uses_last : {false, true})
    for (const bool is_reverse : {false, true})
      for (const std::int64_t steps : {1, 2, 6})
        expect_gradients_as_by_hand(scanned(uses_last, is_reverse), by_hand(uses_last, is_reverse),
                                    cell_values(kFloat, steps));
}

TEST(ScanGradient, OfDoubles) {
  manual_seed(2);
  const Tensors values = cell_values(kDouble, 3);
  expect_finite_differences(scanned(true), values);
  expect_gradients_as_by_hand(scanned(true), by_hand(true), values);
}

// The weights are read after the loop, too, and the first state before it: what they add comes in
// the order of the tape.
TEST(ScanGradient, SumsGoOnWhereTheyAre) {
  manual_seed(3);
  const auto around = [](const Loss& inner) {
    return [=](const Tensors& v) {
      Tensors used = v;
      used[0] = v[0] * 1.5;
      const Tensor before = (used[0].mm(v[2]) * 0.3).sum();
      const Tensor first = inner(used);
      const Tensor second = inner({used[0], v[1] * 0.5, v[2], v[3]});
      return before + first + second + used[0].mm(v[2]).tanh().sum() + (v[1] * v[1]).sum() * 0.01;
    };
  };
  expect_gradients_as_by_hand(around(scanned(true)), around(by_hand(true)), cell_values(kFloat));
}

TEST(ScanGradient, SomeInputsOnly) {
  manual_seed(4);
  const Tensors values = cell_values(kFloat);
  for (std::size_t which = 0; which < 4; ++which) {
    const auto only = [&](const Loss& inner) {
      return [&values, inner, which](const Tensors& v) {
        Tensors all = values;
        all[which] = v[0];
        return inner(all);
      };
    };
    expect_gradients_as_by_hand(only(scanned(true)), only(by_hand(true)), {values[which]});
  }
}

TEST(ScanGradient, CompositesAndNoGradInside) {
  manual_seed(5);
  const auto body = [](const Tensor& s, const Tensor& x, const Tensor& w) {
    const Tensor p = groove::softmax(x.matmul(w) + s, -1);
    Tensor fixed;
    {
      const NoGradGuard guard;
      fixed = (p * 3.0).exp();
    }
    const Tensor next =
        nn::functional::layer_norm(p * s + fixed, nn::functional::LayerNormFuncOptions({3})) +
        groove::gelu(s);
    return std::pair{next, groove::log_softmax(next, -1)};
  };
  expect_gradients_as_by_hand(
      [&](const Tensors& v) {
        const auto [s, ys] =
            scan([&](const Tensor& a, const Tensor& x) { return body(a, x, v[2]); }, v[0], v[1]);
        return (ys * ys).mean() + s.sum();
      },
      [&](const Tensors& v) {
        Tensor s = v[0];
        Tensors ys;
        for (int t = 0; t < 4; ++t) {
          auto [next, y] = body(s, v[1][t], v[2]);
          s = next;
          ys.push_back(y);
        }
        const Tensor stacked = groove::stack(ys);
        return (stacked * stacked).mean() + s.sum();
      },
      {groove::randn({2, 3}), groove::randn({4, 2, 3}), groove::randn({3, 3})});
}

// Operators that look at values: embedding, cross entropy.
TEST(ScanGradient, ValueChecksInside) {
  manual_seed(11);
  const Tensor words = groove::randint(6, {5, 3}), targets = groove::randint(4, {5, 3});
  const auto step = [](const Tensor& s, const Tensor& word, const Tensor& target,
                       const Tensors& v) {
    const Tensor next = (groove::embedding(v[0], word) + s.mm(v[1])).tanh();
    return std::pair{next, groove::cross_entropy_loss(next, target)};
  };
  expect_gradients_as_by_hand(
      [&](const Tensors& v) {
        const auto [s, losses] = scan(
            [&](const Tensor& state, const std::tuple<Tensor, Tensor>& x) {
              return step(state, std::get<0>(x), std::get<1>(x), v);
            },
            groove::zeros({3, 4}), std::tuple{words, targets});
        return losses.mean();
      },
      [&](const Tensors& v) {
        Tensor s = groove::zeros({3, 4});
        Tensors losses;
        for (int t = 0; t < 5; ++t) {
          auto [next, loss] = step(s, words[t], targets[t], v);
          s = next;
          losses.push_back(loss);
        }
        return groove::stack(losses).mean();
      },
      {groove::randn({6, 4}), groove::randn({4, 4}) * 0.5});
}

// ---- while ----

Loss looped(int turns) {
  return [=](const Tensors& v) {
    const auto [i, h] = while_loop([=](const Tensor& step, const Tensor&) { return step < turns; },
                                   [&](const Tensor& step, const Tensor& s) {
                                     return std::tuple{step + 1, cell(s, v[1], v[2], v[3]).first};
                                   },
                                   std::tuple{groove::zeros({}, kLong), v[0]});
    return (h * h).sum();
  };
}
Loss looped_by_hand(int turns) {
  return [=](const Tensors& v) {
    Tensor h = v[0];
    for (int i = 0; i < turns; ++i) h = cell(h, v[1], v[2], v[3]).first;
    return (h * h).sum();
  };
}
Tensors loop_values(ScalarType dtype) {
  Tensors values = cell_values(dtype);
  values[1] = groove::randn({2, 3}, dtype);
  return values;
}

TEST(WhileGradient, IsThatOfTheLoop) {
  manual_seed(6);
  for (const int turns : {1, 2, 9})
    expect_gradients_as_by_hand(looped(turns), looped_by_hand(turns), loop_values(kFloat));
  const Tensors values = loop_values(kFloat);
  expect_gradients_as_by_hand(
      [&](const Tensors& v) {
        return looped(0)({v[0], values[1], values[2], values[3]});
      },
      [](const Tensors& v) { return (v[0] * v[0]).sum(); }, {values[0]});
  expect_finite_differences(looped(4), loop_values(kDouble));
}

TEST(WhileGradient, SumsGoOnWhereTheyAre) {
  manual_seed(7);
  const auto around = [](const Loss& inner) {
    return [=](const Tensors& v) {
      const Tensor state = v[0] * 2.0;
      const Tensor loss = inner({state, v[1], v[2], v[3]});
      return loss + state.mm(v[2]).sum() + (state.sigmoid() * 0.1).sum();
    };
  };
  expect_gradients_as_by_hand(around(looped(5)), around(looped_by_hand(5)), loop_values(kFloat));
}

TEST(WhileGradient, ThirdDerivativeSaysSo) {
  const Tensor x = groove::ones({2, 4}).requires_grad_();
  const Tensor y = while_loop([](const Tensor& a) { return a.sum() < 20.0; },
                              [](const Tensor& a) { return a * a + 0.5; }, x);
  const Tensor g = autograd::grad({y.sum()}, {x}, {}, true, true)[0];
  const Tensor h = autograd::grad({g.sum()}, {x}, {}, true, true)[0];
  EXPECT_NE(error_text([&] { h.sum().backward(); }).find("third derivatives"), std::string::npos);
}

TEST(CondGradient, IsThatOfTheIf) {
  manual_seed(8);
  const Tensors values{groove::randn({3, 4}), groove::randn({4, 4})};
  for (const bool is_true : {true, false}) {
    const Tensor pred = groove::full({}, is_true ? 1 : 0, kBool);
    const auto if_true = [](const Tensor& x, const Tensor& w) { return (x.mm(w) + x).tanh(); };
    const auto if_false = [](const Tensor& x, const Tensor& w) { return x * w.sum() * x; };
    const auto around = [](const std::function<Tensor(const Tensor&, const Tensor&)>& choice) {
      return [=](const Tensors& v) {
        const Tensor x = v[0].sin();
        const Tensor y = choice(x, v[1]);
        return (y * y).sum() + x.mm(v[1]).sum() + (x * 0.3).sum();
      };
    };
    expect_gradients_as_by_hand(around([&](const Tensor& x, const Tensor& w) {
                                  return cond(
                                      pred, [&] { return if_true(x, w); },
                                      [&] { return if_false(x, w); });
                                }),
                                around([&](const Tensor& x, const Tensor& w) {
                                  return is_true ? if_true(x, w) : if_false(x, w);
                                }),
                                values);
  }
}

TEST(CondGradient, InsideScanInsideWhile) {
  manual_seed(9);
  const Tensors values{groove::randn({2, 4}, kDouble), groove::randn({3, 2, 4}, kDouble),
                       groove::randn({4, 4}, kDouble) * 0.4};
  const auto step = [](const Tensor& s, const Tensor& x, const Tensor& w) {
    return (s.mm(w) + x).tanh();
  };
  const Loss ours = [&](const Tensors& v) {
    const auto [i, s] = while_loop([](const Tensor& turn, const Tensor&) { return turn < 3; },
                                   [&](const Tensor& turn, const Tensor& state) {
                                     const auto [last, ys] = scan(
                                         [&](const Tensor& now, const Tensor& x) {
                                           const Tensor next = cond(
                                               now.sum() > 0.0, [&] { return step(now, x, v[2]); },
                                               [&] { return now * 0.5 - x; });
                                           return std::pair{next, next.sum()};
                                         },
                                         state, v[1]);
                                     return std::tuple{turn + 1, last + ys.sum() * 0.1};
                                   },
                                   std::tuple{groove::zeros({}, kLong), v[0]});
    return (s * s).sum();
  };
  const Loss hand = [&](const Tensors& v) {
    Tensor state = v[0];
    for (int turn = 0; turn < 3; ++turn) {
      Tensors ys;
      for (int t = 0; t < 3; ++t) {
        state =
            (state.sum() > 0.0).item<bool>() ? step(state, v[1][t], v[2]) : state * 0.5 - v[1][t];
        ys.push_back(state.sum());
      }
      state = state + groove::stack(ys).sum() * 0.1;
    }
    return (state * state).sum();
  };
  expect_finite_differences(ours, values);
  const Tensors exact = gradients(hand, values), given = gradients(ours, values);
  for (std::size_t i = 0; i < exact.size(); ++i)
    EXPECT_LT((exact[i] - given[i]).abs().max().item<double>(), 1e-12);
}

// ---- second order ----

TEST(SecondOrder, ScanAndCond) {
  manual_seed(10);
  const auto penalty = [](const Loss& loss) {
    return [=](const Tensors& v) {
      const Tensors g = autograd::grad({loss(v)}, {v[0], v[2]}, {}, true, true);
      return (g[0] * g[0]).sum() + (g[1].sin()).sum();
    };
  };
  expect_finite_differences(penalty(scanned(true)), cell_values(kDouble, 3));
  const Tensors values = cell_values(kDouble, 4);
  const Tensors exact = gradients(penalty(by_hand(true)), values),
                given = gradients(penalty(scanned(true)), values);
  for (std::size_t i = 0; i < exact.size(); ++i)
    EXPECT_LT((exact[i] - given[i]).abs().max().item<double>(), 1e-10);

  const Tensor pred = groove::ones({}, kBool);
  expect_finite_differences(
      penalty([&](const Tensors& v) {
        return cond(
            pred, [&] { return (v[0].mm(v[2]).tanh() * v[0]).sum(); }, [&] { return v[0].sum(); });
      }),
      {groove::randn({2, 4}, kDouble), groove::ones({1}, kDouble), groove::randn({4, 4}, kDouble)});
}

TEST(SecondOrder, WhileLoop) {
  manual_seed(12);
  const auto penalty = [](const Loss& loss) {
    return [=](const Tensors& v) {
      const Tensors g = autograd::grad({loss(v)}, {v[0], v[2]}, {}, true, true);
      return (g[0] * g[0]).sum() + (g[1].sin()).sum();
    };
  };
  for (const int turns : {1, 4}) {
    const Tensors values = loop_values(kDouble);
    expect_finite_differences(penalty(looped(turns)), values);
    const Tensors exact = gradients(penalty(looped_by_hand(turns)), values),
                  given = gradients(penalty(looped(turns)), values);
    for (std::size_t i = 0; i < exact.size(); ++i)
      EXPECT_LT((exact[i] - given[i]).abs().max().item<double>(), 1e-10);
  }
  // The same in every tier, node by node and compiled.
  const Tensors values = loop_values(kFloat);
  jit::set_mode(jit::Mode::kEager);
  const Tensors first = gradients(penalty(looped(5)), values);
  expect_as_by_hand([&] { return gradients(penalty(looped(5)), values); }, [&] { return first; });
}

// One that is not entered, and one whose body closes over what needs no gradient.
TEST(SecondOrder, WhileLoopAtItsEdges) {
  manual_seed(13);
  const Tensor offset = groove::randn({3}, kDouble), count = groove::full({3}, 2, kLong);
  const auto penalty = [&](int turns) {
    return [&, turns](const Tensors& v) {
      const auto [n, y] = while_loop(
          [=](const Tensor& n, const Tensor&) { return n < turns; },
          [&](const Tensor& n, const Tensor& s) {
            return std::tuple{n + 1, (s * s * 0.3 + offset) * v[1] + s / (n + 1) + count};
          },
          std::tuple{groove::zeros({}, kLong), v[0].sin()});
      const Tensor g = autograd::grad({(y * y).sum()}, {v[0]}, {}, true, true)[0];
      return (g * g).sum() + (v[1] * v[1]).sum();
    };
  };
  for (const int turns : {0, 1, 3})
    expect_finite_differences(penalty(turns),
                              {groove::randn({3}, kDouble) * 0.3, groove::randn({3}, kDouble) * 0.3});
}

}  // namespace
}  // namespace groove::testing
