// Type rules that ops share: the dtype that mixed operands compute in, and broadcasting.
#pragma once

#include "src/core/op.h"

namespace groove {

// How much an operand's dtype counts: within one category (bool < integer < float) a tensor with
// dimensions decides, then a 0-d tensor, then a number.
enum class OperandRank : std::uint8_t { kDimensioned, kZeroDim, kNumber };
struct Operand {
  ScalarType dtype;
  OperandRank rank = OperandRank::kDimensioned;
};
ScalarType result_type(ArrayRef<Operand> operands);
/// Of tensors and numbers; undefined operands do not count.
ScalarType result_type(ArrayRef<Type> tensors, ArrayRef<Scalar> numbers = {});

/// The common shape; throws "add: shapes [3, 4] and [5] do not broadcast (4 against 5)".
Shape broadcast_shapes(const std::string& op, IntArrayRef a, IntArrayRef b);
/// Of all defined inputs.
Shape broadcast_shapes(const std::string& op, ArrayRef<Type> inputs);

}  // namespace groove
