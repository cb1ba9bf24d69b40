// 16-bit floats where the body of an op is not scalar expressions: contractions, composites and
// host code compute in f32 on widened operands, and each result is rounded once.
#pragma once

#include "kernels/lowering.h"

namespace groove::kernels {

inline bool is_half(ScalarType dtype) { return dtype == kHalf || dtype == kBFloat16; }

/// Is this a call with 16-bit operands of an op whose body must not see them?
bool needs_widening(const Op& op, ArrayRef<Type> inputs);
/// The types of the operands that the body sees.
std::vector<Type> widened(ArrayRef<Type> inputs);

/// The results of a composite's tensor code, dispatched as ordinary ops.
Tensors compose(const Signature& signature, ArrayRef<Tensor> inputs);
/// Dispatches casts, `op` on wide operands and casts back.
Tensors call_widened(const Signature& signature, ArrayRef<Tensor> inputs);

/// The op's gradient rule. That of a composite or a reduction, which may count and sum, is run on
/// widened values, too.
Tensors gradient_of(const Grad& grad);

}  // namespace groove::kernels
