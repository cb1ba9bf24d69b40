// Values of the kernel IR as LLVM vectors: every value, uniform ones too, is a vector of one width,
// bool as i1, 16-bit floats as i16. Each primitive is written so that LLVM can neither fuse, nor
// reorder, nor round otherwise than the numeric contract says.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "kernels/ir.h"

namespace groove::llvm_tier {

using llvm::Value;
using kernels::Instr;
using kernels::Prim;

class Values {
 public:
  Values(llvm::IRBuilder<>& builder, int lanes, bool is_wide)
      : b(builder), lanes_(lanes), is_wide_(is_wide) {}

  llvm::Type* element_type(ScalarType dtype) const;  // in registers
  llvm::Type* memory_type(ScalarType dtype) const;   // bool: i8
  llvm::FixedVectorType* vector_of(llvm::Type* element) const;
  llvm::FixedVectorType* type(ScalarType dtype) const { return vector_of(element_type(dtype)); }
  llvm::FixedVectorType* in_memory(ScalarType dtype) const {
    return vector_of(memory_type(dtype));
  }
  Value* to_memory(ScalarType dtype, Value* x);
  Value* from_memory(ScalarType dtype, Value* x);

  llvm::Constant* constant(ScalarType dtype, std::uint64_t bits) const;  // a splat
  llvm::Constant* iota(llvm::Type* element) const;
  Value* splat(Value* x) { return b.CreateVectorSplat(static_cast<unsigned>(lanes_), x); }
  Value* lane(Value* x, int index) { return b.CreateExtractElement(x, std::uint64_t(index)); }
  /// Is any lane of a mask set? An i1.
  Value* any(Value* mask);

  /// Arithmetic, comparisons, select, conversions and bits. `operand` is the dtype of the operands.
  Value* pure(const Instr& instr, ScalarType operand, Value* const* args);
  Value* convert(ScalarType to, ScalarType from, Value* x);
  /// `a` is the operand of lower index. Works on scalars too.
  Value* combine(Prim reduction, ScalarType dtype, Value* a, Value* b);
  /// For arg reductions: does `x` replace the best so far?
  Value* replaces(Prim reduction, ScalarType dtype, Value* best, Value* x);

 private:
  Value* float_pure(const Instr& instr, Value* const* args);
  Value* integer_pure(const Instr& instr, Value* const* args);
  Value* scale(ScalarType dtype, Value* x, Value* exponent);
  Value* compare(Prim prim, ScalarType dtype, Value* x, Value* y);
  Value* divide(ScalarType dtype, Value* x, Value* y);
  Value* shift(Prim prim, ScalarType dtype, Value* x, Value* amount);
  Value* mul_high(Value* x, Value* y);
  Value* float_to_int(ScalarType from, Value* x);
  Value* float_to_long(ScalarType from, Value* x);
  Value* half_to_float(Value* x);
  Value* float_to_half(Value* x);
  Value* float_to_bfloat(Value* x);
  Value* masked_conversion(llvm::Intrinsic::ID id, Value* x, llvm::Type* to);
  template <typename Convert>
  Value* in_pieces(Value* x, int piece, const Convert& convert);
  Value* piece_of(Value* x, int first, int count);

  llvm::IRBuilder<>& b;
  const int lanes_;
  const bool is_wide_;
};

}  // namespace groove::llvm_tier
