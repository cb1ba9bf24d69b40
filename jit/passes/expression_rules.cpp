// The table. What is missing is missing for a reason: -(x - y) is not y - x (0 has a sign), x - x
// is not 0 (infinity), and sqrt(x * x) is not |x| (overflow).
#include "jit/passes/expression_rules.h"

#include <cmath>
#include <limits>

namespace groove::jit {
namespace {

using kernels::Prim;

Term prim(Prim which, std::vector<Term> operands) {
  return {Term::Kind::kPrim, 0, which, nullptr, std::move(operands)};
}
Term call(ScalarFunction function, Term x) {
  return {Term::Kind::kFunction, 0, Prim::kAdd, function, {std::move(x)}};
}
Term operator+(Term a, Term b) { return prim(Prim::kAdd, {std::move(a), std::move(b)}); }
Term operator-(Term a, Term b) { return prim(Prim::kSub, {std::move(a), std::move(b)}); }
Term operator*(Term a, Term b) { return prim(Prim::kMul, {std::move(a), std::move(b)}); }
Term operator/(Term a, Term b) { return prim(Prim::kDiv, {std::move(a), std::move(b)}); }
Term operator-(Term a) { return prim(Prim::kNeg, {std::move(a)}); }
Term abs(Term a) { return prim(Prim::kAbs, {std::move(a)}); }
Term sqrt(Term a) { return prim(Prim::kSqrt, {std::move(a)}); }
Term floor(Term a) { return prim(Prim::kFloor, {std::move(a)}); }
Term ceil(Term a) { return prim(Prim::kCeil, {std::move(a)}); }
Term trunc(Term a) { return prim(Prim::kTrunc, {std::move(a)}); }
Term round_even(Term a) { return prim(Prim::kRoundEven, {std::move(a)}); }
Term exp(Term a) { return call(kernels::exp, std::move(a)); }
Term log(Term a) { return call(kernels::log, std::move(a)); }
Term rsqrt(Term a) { return call(kernels::rsqrt, std::move(a)); }

using Number = std::optional<double>;

// A number as kernels of the dtype have it.
double rounded(ScalarType dtype, double value) {
  return dtype == kDouble ? value : static_cast<double>(static_cast<float>(value));
}
bool is_normal(ScalarType dtype, double value) {
  const double least = dtype == kDouble ? std::numeric_limits<double>::min()
                                        : static_cast<double>(std::numeric_limits<float>::min());
  return std::isfinite(rounded(dtype, value)) && std::fabs(value) >= least;
}

Number negated(ScalarType dtype, double c, double) {
  return is_floating(dtype) ? Number(-c) : std::nullopt;
}
Number if_minus_one(ScalarType, double c, double) { return c == -1 ? Number(c) : std::nullopt; }
// 0 - 0 is +0, -0 - 0 is -0; integers have one zero.
Number if_zero_of_negation(ScalarType dtype, double c, double) {
  return c == 0 && (std::signbit(c) || !is_floating(dtype)) ? Number(c) : std::nullopt;
}
Number inverse_of_power_of_two(ScalarType dtype, double c, double) {
  int exponent = 0;
  const double number = rounded(dtype, c);
  const bool is_power = is_floating(dtype) && std::fabs(std::frexp(number, &exponent)) == 0.5;
  return is_power && is_normal(dtype, number) && is_normal(dtype, 1 / number) ? Number(1 / number)
                                                                              : std::nullopt;
}
Number inverse(ScalarType dtype, double c, double) {
  const double number = rounded(dtype, c);
  return is_floating(dtype) && is_normal(dtype, number) && is_normal(dtype, 1 / number)
             ? Number(rounded(dtype, 1 / number))
             : std::nullopt;
}
Number product(ScalarType dtype, double a, double b) {
  const double both = rounded(dtype, a) * rounded(dtype, b);
  return is_floating(dtype) && is_normal(dtype, both) ? Number(rounded(dtype, both)) : std::nullopt;
}

}  // namespace

const std::vector<ExpressionRule>& expression_rules() {
  const auto number = [](int index) { return Term{Term::Kind::kNumber, index}; };
  const Term x, y{Term::Kind::kVariable, 1}, c = number(0), d = number(1);
  constexpr Exactness kFast = Exactness::kFast;
  // Never destroyed: see passes().
  static const auto& rules = *new std::vector<ExpressionRule>{
      {"x + -y -> x - y", x + -y, x - y},
      {"c + -x -> c - x", c + -x, c - x},
      {"x - -y -> x + y", x - -y, x + y},
      {"c - -x -> x + c", c - -x, x + c},
      {"-0 - x -> -x", c - x, -x, if_zero_of_negation},
      {"-x * -y -> x * y", -x * -y, x * y},
      {"-x / -y -> x / y", -x / -y, x / y},
      {"-x * c -> x * -c", -x * c, x * c, negated},
      {"-x / c -> x / -c", -x / c, x / c, negated},
      {"c / -x -> -c / x", c / -x, c / x, negated},
      {"-(x * c) -> x * -c", -(x * c), x * c, negated},
      {"-(x / c) -> x / -c", -(x / c), x / c, negated},
      {"-(c / x) -> -c / x", -(c / x), c / x, negated},
      {"x * -1 -> -x", x * c, -x, if_minus_one},
      {"x / -1 -> -x", x / c, -x, if_minus_one},
      {"x / 2^k -> x * 2^-k", x / c, x * c, inverse_of_power_of_two, Exactness::kExact, 0, true},
      {"|-x| -> |x|", abs(-x), abs(x)},
      {"||x|| -> |x|", abs(abs(x)), abs(x)},
      {"|x| * |x| -> x * x", abs(x) * abs(x), x * x},
      {"floor(floor(x)) -> floor(x)", floor(floor(x)), floor(x)},
      {"ceil(ceil(x)) -> ceil(x)", ceil(ceil(x)), ceil(x)},
      {"trunc(trunc(x)) -> trunc(x)", trunc(trunc(x)), trunc(x)},
      {"round(round(x)) -> round(x)", round_even(round_even(x)), round_even(x)},
      {"log(exp(x)) -> x", log(exp(x)), x, nullptr, kFast, 0},
      {"exp(log(x)) -> x", exp(log(x)), x, nullptr, kFast, 0},
      {"1 / sqrt(x) -> rsqrt(x)", c / sqrt(x), rsqrt(x),
       [](ScalarType, double one, double) { return one == 1 ? Number(one) : std::nullopt; }, kFast,
       1},
      {"x / c -> x * (1 / c)", x / c, x * c, inverse, kFast, 1.5},
      {"(x * c) * d -> x * (c * d)", (x * c) * d, x * c, product, kFast, 1.5},
  };
  return rules;
}

}  // namespace groove::jit
