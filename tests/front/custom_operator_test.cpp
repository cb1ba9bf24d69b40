// Operators that programs define: values against LibTorch's and against Groove's own operators of
// the same meaning, bits in compiled loops against eager mode, and every mistake as an error.
#include "groove/custom_operator.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <stdexcept>

#include "groove/groove.h"
#include "groove/jit/capture.h"

namespace groove {
namespace {

const CustomOperator soft_clip = define_elementwise_operator({
    .name = "test.soft_clip",
    .number_names = {"limit"},
    .body = [](Expr x, Expr limit) { return limit * tanh(x / limit); },
    .gradient =
        [](const OperatorGrad& g) {
          const Tensor part = g.output() / g.number();
          return Tensors{g.cotangent() * (1 - part * part)};
        },
    .saves_inputs = 0,
    .saves_outputs = 1,
});

// Of generic lambdas, too; two results, one of them a truth.
const CustomOperator product = define_elementwise_operator({
    .name = "test.product",
    .body =
        [](auto x, auto y) {
          return std::vector<Expr>{x * y + x, gt(x, y)};
        },
    .keeps_integers = true,
    .gradient =
        [](const OperatorGrad& g) {
          Tensors result(2);
          if (g.needs(0)) result[0] = g.cotangent() * (g.input(1) + 1);
          if (g.needs(1)) result[1] = g.cotangent() * g.input(0);
          return result;
        },
});

template <typename T>
void sum_so_far(const HostCall& call) {
  const T* x = call.input().data<const T>();
  T* y = call.output().data<T>();
  const std::int64_t count = call.input().numel(), step = call.attribute() ? -1 : 1;
  double sum = 0;
  for (std::int64_t k = 0, i = step > 0 ? 0 : count - 1; k < count; ++k, i += step) {
    sum = sum * call.number().to_double() + static_cast<double>(x[i]);
    y[i] = static_cast<T>(sum);
  }
}

// y[i] = keep y[i - 1] + x[i]; its gradient is the same from the other end.
const CustomOperator leaky_sum = define_host_operator({
    .name = "test.leaky_sum",
    .attribute_names = {"backwards"},
    .number_names = {"keep"},
    .run =
        [](const HostCall& call) {
          call.input().dtype() == kFloat ? sum_so_far<float>(call) : sum_so_far<double>(call);
        },
    .check =
        [](const HostCall& call) {
          if (call.input().dtype() != kFloat || call.input().numel() == 0) return;
          if (call.input().data<const float>()[0] > 100)
            throw Error("test.leaky_sum: begins with more than 100");
        },
    .gradient =
        [](const OperatorGrad& g) {
          return Tensors{leaky_sum({g.cotangent()}, {g.number()}, {1 - g.attribute()})};
        },
    .saves_inputs = 0,
});

// The first `count` columns.
const CustomOperator columns_before = define_host_operator({
    .name = "test.columns_before",
    .attribute_names = {"count"},
    .type =
        [](const OperatorTypes& types) {
          jit::TensorType type = types.input();
          if (type.sizes.size() != 2 || types.attribute() > type.sizes[1])
            throw Error("test.columns_before: there are not as many columns");
          type.sizes[1] = types.attribute();
          return std::vector<jit::TensorType>{type};
        },
    .run =
        [](const HostCall& call) {
          const std::int64_t all = call.input().sizes()[1], count = call.attribute();
          const float* from = call.input().data<const float>();
          float* to = call.output().data<float>();
          for (std::int64_t i = 0; i < call.output().numel(); ++i)
            to[i] = from[i / count * all + i % count];
        },
});

bool has_same_bits(const Tensor& a, const Tensor& b) {
  if (a.scalar_type() != b.scalar_type() || a.sizes() != b.sizes()) return false;
  const Tensor left = a.detach().contiguous(), right = b.detach().contiguous();
  return std::memcmp(left.data_ptr(), right.data_ptr(), left.nbytes()) == 0;
}

template <typename Function>
Error error_of(const Function& function) {
  try {
    function();
  } catch (const Error& error) {
    return error;
  }
  return Error("no error");
}

struct ModeScope {
  explicit ModeScope(jit::Mode mode) { jit::set_mode(mode); }
  ~ModeScope() { jit::set_mode(before); }
  const jit::Mode before = jit::mode();
};

// ---- what they compute ----

// torch: y = 2 * torch.tanh(x / 2); (y * w).sum().backward()
TEST(CustomOperator, HasLibTorchsValuesAndGradient) {
  const Tensor x = tensor({-3.0, -0.5, 0.0, 1.0, 4.0}, kDouble).requires_grad_();
  const Tensor y = soft_clip({x}, {2.0});
  (y * tensor({1.0, 2.0, 3.0, 4.0, 5.0}, kDouble)).sum().backward();
  const double values[] = {-1.8102965072897328, -0.48983732480741826, 0.0, 0.9242343145200195,
                           1.9280551601516338};
  const double slopes[] = {0.1807066389236486, 1.880029697612756, 3.0, 3.1457909318637096,
                           0.35325412426582214};
  for (std::int64_t i = 0; i < 5; ++i) {
    EXPECT_NEAR(y[i].item<double>(), values[i], 1e-15);
    EXPECT_NEAR(x.grad()[i].item<double>(), slopes[i], 2e-15);
  }
}

TEST(CustomOperator, HasTheBitsOfTheOperatorsItIsMadeOf) {
  const Tensor x = randn({3, 1, 5}), y = randn({4, 1});
  for (const ScalarType dtype : {kFloat, kDouble, kInt}) {
    const Tensor a = (x * 9).to(dtype), b = (y * 9).to(dtype);
    const Tensors results = product.results({a, b});
    EXPECT_TRUE(has_same_bits(results[0], a * b + a));
    EXPECT_TRUE(has_same_bits(results[1], a > b));
  }
}

TEST(CustomOperator, PromotesAndBroadcasts) {
  const Tensor whole = arange(0, 6).to(kInt).view({2, 3});
  EXPECT_EQ(soft_clip({whole}, {2.0}).scalar_type(), kFloat);
  EXPECT_EQ(product.results({whole, whole.to(kLong)})[0].scalar_type(), kLong);
  EXPECT_EQ(product.results({whole, ones({3}, kHalf)})[0].scalar_type(), kHalf);
  EXPECT_EQ(product.results({ones({3}, kHalf), ones({2, 1}, kFloat)})[0].scalar_type(), kFloat);
  const Tensors results = product.results({whole, ones({4, 1, 1}, kInt)});
  EXPECT_EQ(results[0].sizes(), (IntArrayRef{4, 2, 3}));
  EXPECT_EQ(results[1].scalar_type(), kBool);
}

TEST(CustomOperator, SumsGradientsToTheOperands) {
  const Tensor x = ones({2, 3}).requires_grad_(), y = (ones({3}, kDouble) * 2).requires_grad_();
  product.results({x, y})[0].sum().backward();
  EXPECT_TRUE(has_same_bits(x.grad(), full({2, 3}, 3.0, kFloat)));
  EXPECT_TRUE(has_same_bits(y.grad(), full({3}, 2.0, kDouble)));
}

TEST(CustomOperator, HasSecondDerivatives) {
  const Tensor x = tensor({0.3, -1.2}, kDouble).requires_grad_();
  const Tensor slope = autograd::grad({soft_clip({x}, {2.0}).sum()}, {x}, {}, true, true)[0];
  const Tensor curve = autograd::grad({slope.sum()}, {x})[0];
  for (const std::int64_t i : {0, 1}) {  // (2 tanh(x / 2))'' = -tanh(x / 2) (1 - tanh(x / 2)^2)
    const double part = std::tanh(x[i].item<double>() / 2);
    EXPECT_NEAR(curve[i].item<double>(), -part * (1 - part * part), 1e-15);
  }
}

TEST(CustomOperator, HostFunctionsComputeWhatTheySay) {
  const Tensor x = tensor({1.0, 2.0, 3.0}).requires_grad_();
  const Tensor y = leaky_sum({x}, {0.5}, {0});
  EXPECT_TRUE(has_same_bits(y, tensor({1.0f, 2.5f, 4.25f})));
  y.sum().backward();
  EXPECT_TRUE(has_same_bits(x.grad(), tensor({1.75f, 1.5f, 1.0f})));
  EXPECT_EQ(leaky_sum({ones({3}, kHalf)}, {1}, {0}).scalar_type(), kHalf);
  const Tensor wide = arange(0, 8, kFloat).view({4, 2}).t();
  EXPECT_TRUE(has_same_bits(columns_before({wide}, {}, {3}), wide.narrow(1, 0, 3)));
  EXPECT_FALSE(columns_before({wide.clone().requires_grad_()}, {}, {3}).requires_grad());
}

// ---- compiled ----

struct Training {
  std::vector<float> losses;
  Tensor weight;
};

Training train(jit::Mode mode) {
  const ModeScope scope(mode);
  manual_seed(3);
  nn::Linear layer(6, 6);
  optim::SGD optimizer(layer->parameters(), 0.05);
  const Tensor x = randn({8, 6});
  Training run;
  for (int step = 0; step < 40; ++step) {
    optimizer.zero_grad();
    const Tensor hidden = soft_clip({layer(x) * 2}, {1.5 + 0.01 * step}) + 1;
    const Tensor mixed = product.results({leaky_sum({hidden}, {0.9}, {0}), hidden})[0];
    Tensor loss = mixed.square().mean();
    loss.backward();
    optimizer.step();
    run.losses.push_back(loss.item<float>());
  }
  run.weight = layer->weight.detach().clone();
  return run;
}

TEST(CustomOperator, LoopsAreCompiledWithTheSameBits) {
  const Training eager = train(jit::Mode::kEager);
  const jit::Summary before = jit::summary();
  const Training compiled = train(jit::Mode::kStrict);  // leaving compiled code would throw
  EXPECT_TRUE(has_same_bits(eager.weight, compiled.weight));
  EXPECT_EQ(eager.losses, compiled.losses);
  const jit::Summary after = jit::summary();
  EXPECT_GT(after.ops_compiled - before.ops_compiled, 4 * (after.ops_eager - before.ops_eager));
}

TEST(CustomOperator, IsFusedWithItsNeighbours) {
  train(jit::Mode::kStrict);
  bool is_fused = false, is_called = false;
  std::string launches;
  for (const jit::SegmentView& segment : jit::inspect()) {
    for (const jit::LaunchView& launch : segment.launches) {
      is_fused |= launch.operators.find("test.product square mean") != std::string::npos;
      launches += launch.operators + "\n";
      is_called |= launch.operators == "test.leaky_sum";
    }
  }
  EXPECT_TRUE(is_fused) << launches;
  EXPECT_TRUE(is_called) << launches;
}

TEST(CustomOperator, GraphsNameIt) {
  const auto function = [](const Tensor& x) {
    return columns_before({soft_clip({x + 1}, {2.0})}, {}, {2});
  };
  const Tensor x = randn({3, 4});
  const jit::Graph graph = jit::capture(function, {x});
  const jit::Graph read = jit::Graph::parse(graph.text());
  EXPECT_TRUE(has_same_bits(read({x})[0], function(x)));
  EXPECT_TRUE(has_same_bits(read.compile()({x})[0], function(x)));
}

TEST(CustomOperator, ValuesAreRefusedAtTheCallInCompiledLoopsToo) {
  const auto run = [](jit::Mode mode) {
    const ModeScope scope(mode);
    std::vector<double> seen;
    Tensor state = zeros({4});
    const Tensor jump = tensor({1000.0f, 0.0f, 0.0f, 0.0f});
    for (int step = 0; step < 60; ++step) {
      const bool is_bad = step % 20 == 19;
      try {
        const Tensor next = leaky_sum({is_bad ? state + jump : state + 1}, {0.5}, {0}) * 0.25;
        state = next;
      } catch (const Error& error) {
        seen.push_back(static_cast<double>(error.line()) * 1000 + step);
      }
      if (step % 20 == 9) jit::synchronize();
    }
    seen.push_back(state.sum().item<double>());
    return seen;
  };
  const std::vector<double> eager = run(jit::Mode::kEager);
  EXPECT_EQ(eager.size(), 4u);
  EXPECT_EQ(eager, run(jit::Mode::kAuto));
}

TEST(CustomOperatorDeathTest, HostCodeOfACompiledLoopMayNotThrow) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto lose = [] {
    static int calls = 0;
    static const CustomOperator fragile = define_host_operator({
        .name = "test.fragile",
        .run =
            [](const HostCall& call) {
              if (++calls > 30) throw std::runtime_error("no more");
              *call.output().data<float>() = *call.input().data<const float>();
            },
    });
    jit::set_mode(jit::Mode::kStrict);
    Tensor x = ones({1});
    for (int step = 0; step < 60; ++step) {
      x = fragile({x * 2});
      x.sum().item<float>();
    }
  };
  EXPECT_DEATH(lose(), "the host function of test.fragile threw: no more; refuse values in check");
}

// ---- mistakes ----

template <typename Function>
void expect_error(const Function& function, const std::string& message) {
  EXPECT_EQ(error_of(function).msg(), message);
}

TEST(CustomOperator, DefinitionsAreChecked) {
  const auto define = [](const std::string& name, ElementwiseBody body, int numbers = 0) {
    return error_of([&] {
             define_elementwise_operator(
                 {.name = name,
                  .number_names = std::vector<std::string>(std::size_t(numbers), "n"),
                  .body = std::move(body)});
           })
        .msg();
  };
  const auto same = [](Expr x) { return x; };
  const std::string to = "define_elementwise_operator: ";
  EXPECT_EQ(define("relu", same),
            to + "there is an operator relu already, or no room for more; choose another name, "
                 "such as \"mine.relu\"");
  for (const char* const name : {"", "two words", "1st", "a..b", "a.", "a::b"})
    EXPECT_EQ(define(name, same),
              to + "\"" + name +
                  "\" is no name of an operator; letters, digits, `_` and single `.`, a letter "
                  "first");
  EXPECT_EQ(define("test.bad", {}),
            to + "the body of test.bad is a function of 0 expressions, which leaves no input "
                 "beside 0 numbers");
  EXPECT_EQ(define("test.bad", same, 1),
            to + "the body of test.bad is a function of 1 expressions, which leaves no input "
                 "beside 1 numbers");
  const std::string no_body = to + "the body of test.bad is no expression: ";
  EXPECT_EQ(define("test.bad", [](Expr x) { return x + gt(x, 0.0); }),
            no_body + "kernel expression add: operand dtypes Float and Bool differ");
  EXPECT_EQ(define("test.bad", [](Expr x) { return select(x, x, x); }),
            no_body + "%1 select: dtypes do not fit: f32 f32 f32 -> f32");
  EXPECT_EQ(define("test.bad", [](Expr x) { return x + Expr(); }),
            no_body + "kernel expression: an operand is undefined; give it a value first");
  EXPECT_EQ(define("test.bad", [](Expr) { return Expr(); }),
            no_body + "a result is none of the expressions of this call");
  EXPECT_EQ(define("test.bad", [](Expr) { return std::vector<Expr>(); }),
            no_body + "there is no result");
  EXPECT_EQ(
      define("test.bad",
             [](Expr x) -> Expr { throw std::runtime_error("no " + std::to_string(x.id())); }),
      no_body + "the body of test.bad threw: no 0");
  EXPECT_EQ(define("test.bad",
                   [](Expr x) {
                     static double changing = 0;
                     return x * ++changing;
                   }),
            no_body + "it is not the same when it is called again");
  // Nothing was defined by any of these.
  EXPECT_EQ(define("test.bad", same), "no error");
  expect_error([] { define_host_operator({.name = "test.bad_host"}); },
               "define_host_operator: test.bad_host has no host function; set run");
  expect_error(
      [] { define_host_operator({.name = "test.leaky_sum", .run = [](const HostCall&) {}}); },
      "define_host_operator: there is an operator test.leaky_sum already, or no room for more; "
      "choose another name, such as \"mine.test.leaky_sum\"");
}

TEST(CustomOperator, CallsAreChecked) {
  const Tensor x = ones({2, 3}), whole = arange(0, 3);
  const Error error = error_of([&] { soft_clip({x}); });
  const int line = __LINE__ - 1;
  EXPECT_EQ(error.msg(), "test.soft_clip: takes 1 numbers, not 0");
  EXPECT_EQ(error.line(), static_cast<std::uint_least32_t>(line));
  expect_error([&] { soft_clip({x, x}, {1.0}); }, "test.soft_clip: takes 1 tensors, not 2");
  expect_error([&] { leaky_sum({x}, {1.0}); }, "test.leaky_sum: takes 1 attributes, not 0");
  expect_error([&] { soft_clip({Tensor()}, {1.0}); },
               "test.soft_clip: operand 0 is undefined; assign it a tensor first");
  expect_error([&] { product({x, x}); }, "test.product: gives 2 results; call results()");
  expect_error(
      [&] {
        product.results({x, ones({2})});
      },
      "test.product: shapes [2, 3] and [2] do not broadcast (3 against 2)");
  expect_error([&] { leaky_sum({whole}, {1.0}, {0}); },
               "test.leaky_sum: not defined for Long tensors");
  expect_error([&] { columns_before({x}, {}, {4}); },
               "test.columns_before: there are not as many columns");
  expect_error([&] { leaky_sum({x * 1000}, {1.0}, {0}); },
               "test.leaky_sum: begins with more than 100");
  static const CustomOperator power = define_elementwise_operator(
      {.name = "test.power", .body = [](Expr a) { return exp(a); }, .keeps_integers = true});
  EXPECT_NE(error_of([&] { power({whole}); }).msg().find("test.power: not defined for Long"),
            std::string::npos);
}

TEST(CustomOperator, RulesAreChecked) {
  static std::vector<jit::TensorType> types;
  static void (*code)(const HostCall&) = [](const HostCall&) {};
  static const CustomOperator rules = define_host_operator({
      .name = "test.rules",
      .type = [](const OperatorTypes&) { return types; },
      .run = [](const HostCall& call) { code(call); },
  });
  std::int64_t rows = 1;
  const auto call = [&] { rules({ones({rows++})}); };  // a plan keeps what the rule said
  expect_error(call, "the type rule of test.rules gives 0 types for 1 results");
  types = {{kFloat, {2, -1}}};
  expect_error(call, "the type rule of test.rules gives [2, -1], which has a size below 0");
  types = {{ScalarType::Undefined, {2}}};
  expect_error(call, "the type rule of test.rules gives a result of no dtype");
  types = {{kFloat, {2}}};
  code = [](const HostCall& given) { given.output().data<double>(); };
  expect_error(call, "test.rules: output 0 is of dtype Float, its host function asks for Double");
  code = [](const HostCall& given) { given.input().data<float>(); };
  expect_error(call, "test.rules: input 0 is read as data<const …>(); only outputs are written");
  code = [](const HostCall& given) { given.input(1); };
  expect_error(call, "test.rules: there is no input 1, only 1");
  code = [](const HostCall&) { ones({2}) + 1; };
  expect_error(call,
               "the host function of test.rules calls full; it may not call tensor operators");
  code = [](const HostCall&) { throw std::runtime_error("of its own"); };
  expect_error(call, "the host function of test.rules threw: of its own");
}

TEST(CustomOperator, GradientsAreChecked) {
  static Tensors (*rule)(const OperatorGrad&) = nullptr;
  static const CustomOperator odd = define_elementwise_operator({
      .name = "test.odd",
      .body = [](Expr x) { return x * x; },
      .gradient = [](const OperatorGrad& g) { return rule(g); },
  });
  const auto back = [] { odd({ones({3}).requires_grad_()}).sum().backward(); };
  rule = [](const OperatorGrad&) { return Tensors(); };
  expect_error(back,
               "the gradient of test.odd gives 0 tensors for 1 inputs; give one for each, "
               "undefined ones for zero");
  rule = [](const OperatorGrad&) { return Tensors{ones({2})}; };
  expect_error(back, "the gradient of test.odd for input 0 has shape [2], the input [3]");
  rule = [](const OperatorGrad& g) { return Tensors{g.output()}; };
  expect_error(back, "the gradient of test.odd reads output 0, which saves_outputs does not name");
}

// ---- the author's check ----

TEST(CustomOperator, CheckAcceptsWhatIsRight) {
  const Tensor x = randn({5, 7});
  check_operator(soft_clip, {{{x}, {2.0}}, {{x.to(kHalf)}, {1}}, {{arange(0, 5)}, {2}}});
  check_operator(product, {{{x, randn({7})}}, {{arange(0, 5), arange(0, 5) - 2}}});
  check_operator(leaky_sum, {{{x}, {0.9}, {0}}, {{x.to(kBFloat16)}, {1}, {1}}});
  check_operator(columns_before, {{{x}, {}, {3}}});
}

TEST(CustomOperator, CheckFindsAWrongGradient) {
  static const CustomOperator wrong = define_elementwise_operator({
      .name = "test.wrong_gradient",
      .body = [](Expr x) { return x * x; },
      .gradient = [](const OperatorGrad& g) { return Tensors{g.cotangent() * g.input()}; },
  });
  const Error error = error_of([] { check_operator(wrong, {{{ones({2}, kDouble)}}}); });
  EXPECT_TRUE(error.msg().starts_with(
      "check_operator: test.wrong_gradient, sample 0: the gradient of element 0 of input 0 is 0.5, "
      "differences say 1"))
      << error.msg();
}

TEST(CustomOperator, CheckFindsWhatIsNotTheSameTwice) {
  static float calls = 0;
  static const CustomOperator changing = define_host_operator({
      .name = "test.changing",
      .run = [](const HostCall& call) { *call.output().data<float>() = ++calls; },
  });
  const Error error = error_of([] { check_operator(changing, {{{ones({1})}}}); });
  EXPECT_TRUE(error.msg().starts_with(
      "check_operator: test.changing, sample 0: element 0 of value 0 differs in eager mode, "))
      << error.msg();
}

}  // namespace
}  // namespace groove
