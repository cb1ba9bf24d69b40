// Every rule of replace_expressions: exact ones bit for bit over all special values of their
// variables and numbers in every dtype they hold for, fast ones within the error they state.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <set>

#include "jit/passes/expression_rules.h"
#include "kernels/backend.h"
#include "kernels/ops/rules.h"
#include "src/core/host_value.h"

namespace groove::jit {
namespace {

using kernels::Builder;
using kernels::Expr;
using kernels::Prim;

struct Values {
  Expr variables[2], numbers[2];
};

Expr emit(Builder& builder, const Term& term, const Values& values, ScalarType dtype) {
  if (term.kind == Term::Kind::kVariable) return values.variables[term.index];
  if (term.kind == Term::Kind::kNumber) return values.numbers[term.index];
  Expr operands[2];
  for (std::size_t i = 0; i < term.operands.size(); ++i)
    operands[i] = emit(builder, term.operands[i], values, dtype);
  if (term.kind == Term::Kind::kFunction) return term.function(operands[0]);
  return builder.emit(term.prim, dtype, operands[0], operands[1]);
}

void walk(const Term& term, const std::function<void(const Term&)>& each) {
  each(term);
  for (const Term& operand : term.operands) walk(operand, each);
}
int count_of(const Term& term, Term::Kind kind) {
  std::set<int> found;
  walk(term, [&](const Term& part) {
    if (part.kind == kind) found.insert(part.index);
  });
  return static_cast<int>(found.size());
}
bool divides(const Term& term) {
  bool found = false;
  walk(term, [&](const Term& part) {
    found |=
        part.kind == Term::Kind::kPrim && (part.prim == Prim::kDiv || part.prim == Prim::kSqrt);
  });
  return found;
}
bool takes_floats_only(const Term& term) {
  bool found = divides(term);
  walk(term, [&](const Term& part) {
    const bool rounds = part.prim == Prim::kFloor || part.prim == Prim::kCeil ||
                        part.prim == Prim::kTrunc || part.prim == Prim::kRoundEven;
    found |= part.kind == Term::Kind::kFunction || (part.kind == Term::Kind::kPrim && rounds);
  });
  return found;
}
bool takes_magnitudes(const Term& term) {
  bool found = false;
  walk(term, [&](const Term& part) {
    found |= part.kind == Term::Kind::kPrim && part.prim == Prim::kAbs;
  });
  return found;
}

const ScalarType kDtypes[] = {kFloat, kDouble, kInt, kLong, kShort, kChar, kByte};

std::vector<double> specials(ScalarType dtype) {
  if (dtype == kFloat || dtype == kDouble) {
    const double tiny = dtype == kFloat ? 1e-45 : 5e-324, small = dtype == kFloat ? 1e-40 : 1e-310;
    const double least = dtype == kFloat ? 1.17549435e-38 : 2.2250738585072014e-308;
    const double most = dtype == kFloat ? 3.4028234e38 : 1.7976931348623157e308;
    std::vector<double> values;
    for (const double x : {0.0, tiny, small, least, 3 * least, 0.1, 0.5, 1.0, 1.5, 2.5, 3.0, 4.0,
                           1e10, most / 3, most, std::numeric_limits<double>::infinity()}) {
      values.push_back(x);
      values.push_back(-x);
    }
    values.push_back(std::numeric_limits<double>::quiet_NaN());
    return values;
  }
  const int bits = static_cast<int>(8 * element_size(dtype)) - (dtype == kByte ? 0 : 1);
  const double half = std::ldexp(1.0, std::min(bits, 52) - 1);
  return {0, 1, 2, 3, 7, half, half + 1, 2 * half - 1, -1, -2, -3, -half, std::ldexp(-1.0, bits)};
}

std::uint64_t word(ScalarType dtype, double value) { return Scalar(value).bits_as(dtype); }
std::uint64_t run(ScalarType dtype, Builder& builder, Expr result, std::uint64_t x,
                  std::uint64_t y) {
  builder.store(dtype, kernels::StrideClass::kContiguous, result);
  const auto code =
      kernels::compile_cached(*kernels::find_backend("interpreter"), builder.finish());
  std::uint64_t stored = 0;
  void* pointers[] = {&x, &y, &stored};
  const std::int64_t strides[3][kernels::kMaxAxes] = {{1}, {1}, {1}};
  kernels::Launch launch;
  launch.pointers = pointers;
  launch.strides = strides;
  code->run(launch);
  return stored;
}
std::uint64_t evaluate(const Term& term, ScalarType dtype, std::uint64_t x, std::uint64_t y,
                       const double (&numbers)[2]) {
  Builder builder;
  Values values;
  for (Expr& variable : values.variables)
    variable = builder.load(dtype, kernels::StrideClass::kContiguous);
  for (int i = 0; i < 2; ++i)
    values.numbers[i] = builder.constant_bits(dtype, word(dtype, numbers[i]));
  // Both loads stay, so that pointers are numbered alike.
  const Expr result = emit(builder, term, values, dtype);
  const Expr both = values.variables[0] + values.variables[1];
  const Expr never = kernels::ne(result, result) & kernels::eq(result, result);
  return run(dtype, builder, kernels::select(never, both, result), x, y);
}
bool is_same(ScalarType dtype, std::uint64_t a, std::uint64_t b) {
  if (is_floating(dtype) && std::isnan(host_value(&a, dtype).toDouble()) &&
      std::isnan(host_value(&b, dtype).toDouble())) {
    return true;
  }
  return std::memcmp(&a, &b, element_size(dtype)) == 0;
}

class RuleTest : public testing::TestWithParam<std::size_t> {
 protected:
  const ExpressionRule& rule() const { return expression_rules()[GetParam()]; }
};

TEST_P(RuleTest, GivesTheSameBits) {
  if (rule().exactness != Exactness::kExact) GTEST_SKIP() << "a fast rule";
  const int variables = count_of(rule().left, Term::Kind::kVariable);
  const bool has_number = count_of(rule().left, Term::Kind::kNumber) > 0;
  int compared = 0;
  for (const ScalarType dtype : kDtypes) {
    if (!is_floating(dtype) && takes_floats_only(rule().left)) continue;
    if (dtype == kByte && takes_magnitudes(rule().left)) continue;  // abs() is no operation there
    const std::vector<double> all = specials(dtype);
    for (const double c : has_number ? all : std::vector<double>{1}) {
      double number = c;
      if (rule().number) {
        const std::optional<double> found = rule().number(dtype, c, 0);
        if (!found) continue;
        number = *found;
      }
      for (const double x : all) {
        for (const double y : variables > 1 ? all : std::vector<double>{1}) {
          const std::uint64_t left =
              evaluate(rule().left, dtype, word(dtype, x), word(dtype, y), {c, 0});
          const std::uint64_t right =
              evaluate(rule().right, dtype, word(dtype, x), word(dtype, y), {number, 0});
          ++compared;
          EXPECT_TRUE(is_same(dtype, left, right))
              << rule().text << " for " << name(dtype) << " x " << x << ", y " << y << ", c " << c
              << ": " << host_value(&left, dtype).toDouble() << " and "
              << host_value(&right, dtype).toDouble();
        }
      }
    }
  }
  EXPECT_GT(compared, 0);
}

// What the left is without rounding.
double exact_value(const Term& term, double x, const double (&numbers)[2]) {
  if (term.kind == Term::Kind::kVariable) return x;
  if (term.kind == Term::Kind::kNumber)
    return static_cast<double>(static_cast<float>(numbers[term.index]));
  const double a = exact_value(term.operands[0], x, numbers);
  if (term.kind == Term::Kind::kFunction) {
    if (term.function == static_cast<ScalarFunction>(kernels::exp)) return std::exp(a);
    if (term.function == static_cast<ScalarFunction>(kernels::log)) return std::log(a);
    ADD_FAILURE() << "a function that the test does not know";
    return 0;
  }
  const double b = term.operands.size() > 1 ? exact_value(term.operands[1], x, numbers) : 0;
  switch (term.prim) {
    case Prim::kMul:
      return a * b;
    case Prim::kDiv:
      return a / b;
    case Prim::kSqrt:
      return std::sqrt(a);
    default:
      ADD_FAILURE() << "a primitive that the test does not know";
      return 0;
  }
}

TEST_P(RuleTest, StaysWithinItsStatedError) {
  if (rule().exactness == Exactness::kExact) GTEST_SKIP() << "an exact rule";
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> exponent(-6, 6);
  double worst = 0;
  for (int i = 0; i < 20000; ++i) {
    const auto drawn = [&] {
      return static_cast<double>(static_cast<float>(std::exp(exponent(random))));
    };
    const double x = drawn();
    const double numbers[2] = {i % 3 == 0 ? 1 : drawn(), drawn()};
    double number = numbers[0];
    if (rule().number) {
      const std::optional<double> found = rule().number(kFloat, numbers[0], numbers[1]);
      if (!found) continue;
      number = *found;
    }
    const double expected = exact_value(rule().left, x, numbers);
    // exp() of more than 88 is infinite on the left.
    if (!std::isfinite(expected) || x > 80) continue;
    const std::uint64_t bits = evaluate(rule().right, kFloat, word(kFloat, x), 0, {number, 0});
    const double unit = std::ldexp(1.0, std::ilogb(expected) - 23);
    worst = std::max(worst, std::fabs(host_value(&bits, kFloat).toDouble() - expected) / unit);
  }
  // exact_value() computes in f64, whose own rounding shows for exp and log.
  EXPECT_LE(worst, rule().error_ulp + 1e-6) << rule().text;
}

std::vector<std::size_t> all_rules() {
  std::vector<std::size_t> rules(expression_rules().size());
  for (std::size_t i = 0; i < rules.size(); ++i) rules[i] = i;
  return rules;
}
INSTANTIATE_TEST_SUITE_P(Every, RuleTest, testing::ValuesIn(all_rules()));

}  // namespace
}  // namespace groove::jit
