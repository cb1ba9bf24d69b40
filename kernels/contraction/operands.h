// From tensors to a contraction: how the operands of a matmul or linear are seen as matrices.
#pragma once

#include <string>

#include "kernels/lowering.h"

namespace groove::kernels {

struct ContractionOperands {
  ContractionShape shape;
  OrderClass order = OrderClass::kChain;
  Layout a = Layout::kRowMajor, b = Layout::kRowMajor;
  // An operand whose batch or row axes memory cannot walk as one must be made contiguous first
  // (for b: with its batch axes expanded to the result's).
  bool copy_a = false, copy_b = false;
};

/// `out_sizes` is the type rule's result; geometries are those of the two operands.
ContractionOperands contraction_operands(const ContractionLowering& how, const Geometry& a,
                                         const Geometry& b, const Shape& out_sizes);

}  // namespace groove::kernels
