// Ops that compute one primitive, or one function that a rule speaks of, whatever their names.
#pragma once

#include <vector>

#include "jit/passes/expression_rules.h"
#include "src/core/op.h"

namespace groove::jit {

inline constexpr int kNumberOperand = -1;

// What an op computes in a dtype, over its inputs and its number in the order of the primitive.
struct Operation {
  bool is_known = false;
  kernels::Prim prim = kernels::Prim::kAdd;
  ScalarFunction function = nullptr;  // instead of the primitive
  std::vector<int> operands;          // inputs by index, or kNumberOperand
};

/// Of an op without attributes on operands of one dtype; asked of its body once for each dtype.
/// What holds for f32 holds for 16-bit floats, which compute in f32 and round once.
const Operation& operation_of(const Op& op, ScalarType dtype);
/// Is it what the root of the term is, over as many operands?
bool is_operation(const Operation& operation, const Term& term);

}  // namespace groove::jit
