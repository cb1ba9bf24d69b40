// Control flow as operators against the branch or loop written by hand, bit for bit.
#include "tests/control/control.h"

namespace groove::testing {
namespace {

TEST(Cond, IsTheIf) {
  const Tensor x = groove::randn({3, 5}), w = groove::randn({5, 4});
  for (const bool is_true : {true, false}) {
    const Tensor pred = groove::full({}, is_true ? 1 : 0, kBool);
    expect_as_by_hand(
        [&] {
          return Tensors{cond(
              pred, [&](const Tensor& a) { return a.mm(w).tanh() * 2.0; },
              [&](const Tensor& a) { return a.narrow(1, 0, 4) - 0.5; }, std::tuple{x})};
        },
        [&] { return Tensors{is_true ? x.mm(w).tanh() * 2.0 : x.narrow(1, 0, 4) - 0.5}; });
  }
}

TEST(Cond, SeveralResultsAndNoOperands) {
  const Tensor a = groove::randn({4}), b = groove::arange(4);
  const Tensor pred = groove::zeros({1});
  expect_as_by_hand(
      [&] {
        auto [x, y] = cond(
            pred,
            [&] {
              return std::pair{a + 1.0, b * 2};
            },
            [&] {
              return std::pair{a * 3.0, b - 1};
            });
        return Tensors{x, y};
      },
      [&] {
        return Tensors{a * 3.0, b - 1};
      });
}

TEST(WhileLoop, IsTheWhile) {
  const Tensor w = groove::randn({6, 6}) * 0.3;
  for (const int limit : {0, 1, 2, 17}) {
    SCOPED_TRACE(limit);
    expect_as_by_hand(
        [&] {
          const auto [i, x] =
              while_loop([&](const Tensor& step, const Tensor&) { return step < limit; },
                         [&](const Tensor& step, const Tensor& value) {
                           return std::tuple{step + 1, (value.mm(w) + 0.1).tanh()};
                         },
                         std::tuple{groove::zeros({}, kLong), groove::ones({2, 6})});
          return Tensors{i, x};
        },
        [&] {
          Tensor i = groove::zeros({}, kLong), x = groove::ones({2, 6});
          while ((i < limit).item<bool>()) {
            x = (x.mm(w) + 0.1).tanh();
            i = i + 1;
          }
          return Tensors{i, x};
        });
  }
}

// The number of turns follows from the values: Newton's method.
TEST(WhileLoop, EndsByValue) {
  const Tensor a = groove::full({}, 2.0, kDouble);
  expect_as_by_hand(
      [&] {
        return Tensors{while_loop([&](const Tensor& x) { return (x * x - a).abs() > 1e-12; },
                                  [&](const Tensor& x) { return (x + a / x) * 0.5; },
                                  groove::full({}, 7.0, kDouble))};
      },
      [&] {
        Tensor x = groove::full({}, 7.0, kDouble);
        while (((x * x - a).abs() > 1e-12).item<bool>()) x = (x + a / x) * 0.5;
        return Tensors{x};
      });
}

TEST(WhileLoop, Nested) {
  const Tensor x = groove::randn({8});
  expect_as_by_hand(
      [&] {
        return Tensors{std::get<1>(while_loop(
            [](const Tensor& i, const Tensor&) { return i < 3; },
            [&](const Tensor& i, const Tensor& value) {
              const auto [j, inner] = while_loop(
                  [&](const Tensor& turn, const Tensor&) { return turn <= i; },
                  [&](const Tensor& turn, const Tensor& v) {
                    const Tensor next = cond(
                        v.sum() > 0.0, [&] { return v * 0.5 + x; }, [&] { return v - x; });
                    return std::tuple{turn + 1, next};
                  },
                  std::tuple{groove::zeros({}, kLong), value});
              return std::tuple{i + 1, inner};
            },
            std::tuple{groove::zeros({}, kLong), x * 1.5}))};
      },
      [&] {
        Tensor value = x * 1.5;
        for (int i = 0; i < 3; ++i)
          for (int j = 0; j <= i; ++j)
            value = (value.sum() > 0.0).item<bool>() ? value * 0.5 + x : value - x;
        return Tensors{value};
      });
}

TEST(WhileLoop, StopsAtMaxIterations) {
  const auto endless = [] {
    while_loop([](const Tensor& x) { return x >= 0; }, [](const Tensor& x) { return x + 1; },
               groove::zeros({}, kLong), {.max_iterations = 10});
  };
  for (int time = 0; time < 4; ++time)
    EXPECT_NE(error_text(endless).find("after 10 iterations"), std::string::npos);
}

TEST(Scan, IsTheLoop) {
  const Tensor xs = groove::randn({7, 3, 4}), w = groove::randn({4, 4}) * 0.4,
               b = groove::randn({4});
  for (const bool is_reverse : {false, true}) {
    expect_as_by_hand(
        [&] {
          const auto [h, ys] = scan(
              [&](const Tensor& carried, const Tensor& x) {
                const Tensor next = (x + carried.mm(w) + b).tanh();
                return std::pair{next, std::tuple{next, next.sum(1) > 0.0}};
              },
              groove::zeros({3, 4}), xs, {.reverse = is_reverse});
          return Tensors{h, std::get<0>(ys), std::get<1>(ys)};
        },
        [&] {
          Tensor h = groove::zeros({3, 4});
          Tensors ys(7), signs(7);
          for (std::size_t k = 0; k < 7; ++k) {
            const std::size_t t = is_reverse ? 6 - k : k;
            h = (xs[static_cast<std::int64_t>(t)] + h.mm(w) + b).tanh();
            ys[t] = h;
            signs[t] = h.sum(1) > 0.0;
          }
          return Tensors{h, groove::stack(ys), groove::stack(signs)};
        });
  }
}

TEST(Scan, AxisLengthAndNoSteps) {
  const Tensor xs = groove::randn({2, 5});
  expect_as_by_hand(
      [&] {
        const auto [sum, partial] = scan(
            [](const Tensor& s, const Tensor& x) {
              return std::pair{s + x, s + x};
            },
            groove::zeros({2}), xs, {.dim = 1});
        const auto [power, none] = scan(
            [](const Tensor& p, const std::tuple<>&) {
              return std::pair{p * 1.5, std::tuple<>()};
            },
            groove::ones({3}), std::tuple<>(), {.length = 4});
        const auto [same, empty] = scan(
            [](const Tensor& s, const Tensor& x) {
              return std::pair{s + x, x * 2.0};
            },
            groove::ones({2}), groove::zeros({0, 2}));
        return Tensors{sum, partial, power, same, empty};
      },
      [&] {
        Tensor sum = groove::zeros({2}), power = groove::ones({3});
        Tensors partial;
        for (int t = 0; t < 5; ++t) partial.push_back(sum = sum + xs.select(1, t));
        for (int t = 0; t < 4; ++t) power = power * 1.5;
        return Tensors{sum, groove::stack(partial, 1), power, groove::ones({2}),
                       groove::zeros({0, 2})};
      });
}

// Numbers are run-time values: no graph is made for each of them.
TEST(Scan, NumbersVary) {
  const Tensor xs = groove::randn({3, 4});
  for (int i = 0; i < 10; ++i) {
    const double factor = 0.1 * i;
    expect_as_by_hand(
        [&] {
          return Tensors{scan(
                             [&](const Tensor& s, const Tensor& x) {
                               return std::pair{s * factor + x, s};
                             },
                             groove::ones({4}), xs)
                             .first};
        },
        [&] {
          Tensor s = groove::ones({4});
          for (int t = 0; t < 3; ++t) s = s * factor + xs[t];
          return Tensors{s};
        });
  }
}

struct Cell {
  Tensor h, c;
  friend auto groove_fields(Cell& cell) { return std::tie(cell.h, cell.c); }
};

TEST(Scan, CarriesAStruct) {
  const Tensor xs = groove::randn({4, 3});
  expect_as_by_hand(
      [&] {
        const auto [cell, ys] = scan(
            [](const Cell& now, const Tensor& x) {
              Cell next{(now.h + x).tanh(), now.c * 0.9 + x};
              return std::pair{next, next.h * next.c};
            },
            Cell{groove::zeros({3}), groove::ones({3})}, xs);
        return Tensors{cell.h, cell.c, ys};
      },
      [&] {
        Tensor h = groove::zeros({3}), c = groove::ones({3});
        Tensors ys;
        for (int t = 0; t < 4; ++t) {
          h = (h + xs[t]).tanh();
          c = c * 0.9 + xs[t];
          ys.push_back(h * c);
        }
        return Tensors{h, c, groove::stack(ys)};
      });
}

TEST(Scan, HalfAndValueChecks) {
  const Tensor xs = groove::randn({4, 3}).to(kBFloat16), table = groove::randn({5, 3});
  const Tensor index = groove::arange(4);
  expect_as_by_hand(
      [&] {
        const auto half = scan(
            [](const Tensor& s, const Tensor& x) {
              return std::pair{s + x, groove::softmax(s * x, 0)};
            },
            groove::zeros({3}, kBFloat16), xs);
        const auto looked_up = scan(
            [&](const Tensor& s, const Tensor& i) {
              return std::pair{s + table.index_select(0, i.unsqueeze(0)).squeeze(0), i};
            },
            groove::zeros({3}), index);
        return Tensors{half.first, half.second, looked_up.first};
      },
      [&] {
        Tensor s = groove::zeros({3}, kBFloat16), sum = groove::zeros({3});
        Tensors ys;
        for (int t = 0; t < 4; ++t) {
          ys.push_back(groove::softmax(s * xs[t], 0));
          s = s + xs[t];
          sum = sum + table[t];
        }
        return Tensors{s, groove::stack(ys), sum};
      });
}

TEST(ControlFlow, Errors) {
  const Tensor x = groove::ones({3}), yes = groove::ones({}, kBool);
  const auto same = [](const Tensor& a) { return a; };
  const struct {
    std::function<void()> call;
    const char* text;
  } cases[] = {
      {[&] { cond(x, same, same, std::tuple{x}); }, "the predicate has shape [3]"},
      {[&] {
         cond(
             yes, same, [](const Tensor& a) { return a.sum(); }, std::tuple{x});
       },
       "result 0 is f32[3] of true_fn and f32[] of false_fn"},
      {[&] {
         cond(
             yes, same, [](const Tensor& a) { return a.to(kDouble); }, std::tuple{x});
       },
       "f64[3] of false_fn"},
      {[&] { while_loop([](const Tensor& a) { return a < 2.0; }, same, x); },
       "cond_fn gives bool[3]"},
      {[&] {
         while_loop([](const Tensor& a) { return a.sum() < 9.0; },
                    [](const Tensor& a) {
                      return groove::cat({a, a});
                    },
                    x);
       },
       "carried value 0 is f32[3] before a step and f32[6] after it"},
      {[&] {
         scan(
             [](const Tensor& s, const Tensor& v) {
               return std::pair{s + v.item<float>(), v};
             },
             x, x);
       },
       "looks at a value"},
      {[&] {
         scan(
             [](Tensor s, const Tensor& v) {
               s.add_(v);
               return std::pair{s, v};
             },
             x, x);
       },
       "writes in place"},
      {[&] {
         scan(
             [&](const Tensor& s, const Tensor&) {
               return std::pair{s + groove::nonzero(s).sum(), s};
             },
             x, x);
       },
       "looks at a value"},
      {[&] {
         scan([](const Tensor& s, const Tensor&) { return std::pair{s, s}; }, x, yes);
       },
       "has no axis to walk along"},
  };
  for (const auto& one : cases) {
    const std::string text = error_text(one.call);
    EXPECT_NE(text.find(one.text), std::string::npos) << text << "\n  wanted: " << one.text;
  }
  // And nothing is left behind.
  EXPECT_EQ((x + 1.0).sum().item<float>(), 6.0f);
}

// The error is that of the operator, also in the middle of compiled code, and the next call is
// fine.
TEST(ControlFlow, ErrorsOfValues) {
  const Tensor table = groove::randn({4, 3});
  const auto run = [&](std::int64_t last) {
    return scan(
               [&](const Tensor& s, const Tensor& k) {
                 const Tensor place = (k * 2 - k).unsqueeze(0);
                 const Tensor next = cond(
                     s.sum() < 1e9, [&] { return s + table.index_select(0, place).squeeze(0); },
                     [&] { return s * 2.0; });
                 return std::pair{next, table.index_select(0, place + 0).exp()};
               },
               groove::zeros({3}), groove::full({3}, last, kLong))
        .first;
  };
  const Tensor good = run(2);
  for (int time = 0; time < 5; ++time) {
    const std::string text = error_text([&] { run(4); });
    EXPECT_NE(text.find("index_select"), std::string::npos) << text;
    EXPECT_TRUE(same_bits(run(2), good));
  }
}

TEST(ControlFlow, InPlaceOnOwnTensors) {
  const Tensor xs = groove::randn({4, 3});
  expect_as_by_hand(
      [&] {
        return Tensors{scan(
                           [](const Tensor& s, const Tensor& x) {
                             Tensor next = s * 2.0;
                             next.add_(x).relu_();
                             return std::pair{next, x};
                           },
                           groove::ones({3}), xs)
                           .first};
      },
      [&] {
        Tensor s = groove::ones({3});
        for (int t = 0; t < 4; ++t) s = (s * 2.0).add_(xs[t]).relu_();
        return Tensors{s};
      });
}

}  // namespace
}  // namespace groove::testing
