// The rules of replace_expressions: patterns over what operators compute, one a line.
#pragma once

#include <optional>
#include <vector>

#include "kernels/expr.h"

namespace groove::jit {

enum class Exactness : std::uint8_t {
  kExact,  // the same bits for every operand, any NaN counting as any other
  kFast,   // within a stated error; only under Numerics::kFast
};

using ScalarFunction = kernels::Expr (*)(kernels::Expr);

// A pattern: a variable (any value), a number known at compile time, or a primitive or function of
// patterns.
struct Term {
  enum class Kind : std::uint8_t { kVariable, kNumber, kPrim, kFunction };
  Kind kind = Kind::kVariable;
  int index = 0;  // which variable or number
  kernels::Prim prim = kernels::Prim::kAdd;
  ScalarFunction function = nullptr;
  std::vector<Term> operands = {};
  bool operator==(const Term&) const = default;
};

struct ExpressionRule {
  const char* text;
  Term left, right;  // the right is a variable, or one operation on variables and numbers
  // The number on the right from those on the left (the second may be 0); none: not for those.
  std::optional<double> (*number)(ScalarType dtype, double a, double b) = nullptr;
  Exactness exactness = Exactness::kExact;
  // Fast ones: how far the right is from what the left would be without rounding, in units in the
  // last place, where the left is defined and neither overflows nor underflows.
  double error_ulp = 0;
  // It holds for some numbers alone, of which a size may give one here and another there.
  bool is_of_some_numbers = false;
};

const std::vector<ExpressionRule>& expression_rules();

}  // namespace groove::jit
