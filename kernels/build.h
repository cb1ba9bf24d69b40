// From an op's lowering to kernel instructions: the one place where bodies, conversions and
// numbers are put together, used by eager mode for single ops and by the compiler for groups.
#pragma once

#include "kernels/lowering.h"

namespace groove::kernels {

/// The dtype in which a body receives number `index`: the compute dtype, or for raw numbers i64
/// or f64 as the number was written.
ScalarType number_dtype(const Signature& signature, const ElementwiseLowering& how,
                        ScalarType compute, std::size_t index);

/// Emits an elementwise op over inputs in their own dtypes and numbers in number_dtype(); gives
/// one expression per output, converted to the output dtypes.
Exprs emit_elementwise(Builder& builder, const Signature& signature, const TypeResult& types,
                       const Exprs& inputs, const Exprs& numbers,
                       std::function<Expr()> flat_index = {});

/// Before and after a reduction; see ReductionLowering.
Exprs emit_before_reduction(Builder& builder, const Signature& signature, const TypeResult& types,
                            Expr input);
Exprs emit_after_reduction(Builder& builder, const Signature& signature, const TypeResult& types,
                           const Exprs& reduced, Expr count);

/// Row order when the axes (sorted, non-negative) are a suffix of the shape, else column order. A
/// function of the logical shape alone.
Order reduction_order(std::size_t rank, IntArrayRef axes);
/// The axes a reduction op works on: its attribute, or all of them.
Shape reduction_axes(const Signature& signature);

}  // namespace groove::kernels
