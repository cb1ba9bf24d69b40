// Ops without inputs whose neighbouring elements share work: four of them at once.
#pragma once

#include "kernels/lowering.h"

namespace groove::kernels {

/// The elements from flat index 4 q on, with the bits that the body of the op gives to each;
/// flat_index() is q.
using FourAtOnce = Exprs (*)(Body& body);
void define_fours(const Op& op, FourAtOnce fours);
FourAtOnce fours_of(const Op& op);  // null for most

/// Emits them, converted to the dtype of the output.
Exprs emit_fours(Builder& builder, const Signature& signature, const TypeResult& types,
                 const Exprs& numbers, Expr four);

}  // namespace groove::kernels
