// The exact rules of simplify, one a line, over scalar instructions.
#pragma once

#include <vector>

#include "kernels/expr.h"

namespace groove::jit {

struct ScalarRule {
  const char* text;  // "x * 1 -> x"
  kernels::Prim prim;
  /// Operand that the instruction equals bit for bit (any NaN counting as any other), -1: none.
  int (*gives_back)(const kernels::Builder& builder, const kernels::Instr& instr);
};

const std::vector<ScalarRule>& scalar_rules();

/// Applies the rules from `expr` downwards; the access when a plain load is left, -1 otherwise.
std::int32_t simplified_to_load(const kernels::Builder& builder, kernels::Expr expr);

}  // namespace groove::jit
