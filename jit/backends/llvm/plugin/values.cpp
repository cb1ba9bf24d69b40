#include "jit/backends/llvm/plugin/values.h"

#include <llvm/IR/IntrinsicsX86.h>

#include <numeric>

#include "kernels/scalings.h"

namespace groove::llvm_tier {
namespace {

using llvm::Intrinsic::ID;

bool is_float(ScalarType dtype) { return dtype == kFloat || dtype == kDouble; }
bool is_signed(ScalarType dtype) { return dtype != kByte && dtype != kBool; }
bool is_greatest(Prim prim) { return prim == Prim::kReduceMax || prim == Prim::kReduceArgMax; }

}  // namespace

llvm::Type* Values::element_type(ScalarType dtype) const {
  if (dtype == kFloat) return b.getFloatTy();
  if (dtype == kDouble) return b.getDoubleTy();
  if (dtype == kBool) return b.getInt1Ty();
  return b.getIntNTy(static_cast<unsigned>(8 * element_size(dtype)));
}

llvm::Type* Values::memory_type(ScalarType dtype) const {
  return dtype == kBool ? b.getInt8Ty() : element_type(dtype);
}

llvm::FixedVectorType* Values::vector_of(llvm::Type* element) const {
  return llvm::FixedVectorType::get(element, static_cast<unsigned>(lanes_));
}

Value* Values::to_memory(ScalarType dtype, Value* x) {
  if (dtype != kBool) return x;
  llvm::Type* const byte = b.getInt8Ty();
  return b.CreateZExt(x, x->getType()->isVectorTy() ? vector_of(byte) : byte);
}

Value* Values::from_memory(ScalarType dtype, Value* x) {
  return dtype == kBool ? b.CreateIsNotNull(x) : x;
}

llvm::Constant* Values::constant(ScalarType dtype, std::uint64_t bits) const {
  llvm::Type* const element = element_type(dtype);
  llvm::Constant* value;
  if (is_float(dtype)) {
    const llvm::APInt raw(dtype == kFloat ? 32 : 64, dtype == kFloat ? bits & 0xffffffff : bits);
    value = llvm::ConstantFP::get(element->getContext(),
                                  llvm::APFloat(element->getFltSemantics(), raw));
  } else {
    const unsigned width = element->getIntegerBitWidth();
    value = llvm::ConstantInt::get(element, width == 64 ? bits : bits & ((1ull << width) - 1));
  }
  return llvm::ConstantVector::getSplat(
      llvm::ElementCount::getFixed(static_cast<unsigned>(lanes_)), value);
}

llvm::Constant* Values::iota(llvm::Type* element) const {
  llvm::SmallVector<llvm::Constant*, 16> lanes;
  for (int i = 0; i < lanes_; ++i) {
    lanes.push_back(llvm::ConstantInt::get(element, static_cast<std::uint64_t>(i)));
  }
  return llvm::ConstantVector::get(lanes);
}

Value* Values::any(Value* mask) {
  return b.CreateIsNotNull(b.CreateBitCast(mask, b.getIntNTy(static_cast<unsigned>(lanes_))));
}

Value* Values::pure(const Instr& instr, ScalarType operand, Value* const* args) {
  switch (instr.prim) {
    case Prim::kConstant:
      return constant(instr.dtype, instr.imm);
    case Prim::kEq:
    case Prim::kNe:
    case Prim::kLt:
    case Prim::kLe:
    case Prim::kGt:
    case Prim::kGe:
      return compare(instr.prim, operand, args[0], args[1]);
    case Prim::kMax:
      return b.CreateSelect(compare(Prim::kGt, operand, args[0], args[1]), args[0], args[1]);
    case Prim::kMin:
      return b.CreateSelect(compare(Prim::kLt, operand, args[0], args[1]), args[0], args[1]);
    case Prim::kSelect:
    case Prim::kIfAnyEnd:
      return b.CreateSelect(args[0], args[1], args[2]);
    case Prim::kConvert:
      return convert(instr.dtype, operand, args[0]);
    case Prim::kBitcast:
      return b.CreateBitCast(args[0], type(instr.dtype));
    default:
      return is_float(instr.dtype) ? float_pure(instr, args) : integer_pure(instr, args);
  }
}

Value* Values::float_pure(const Instr& instr, Value* const* args) {
  llvm::Type* const whole = type(instr.dtype);
  const auto intrinsic = [&](ID id, llvm::ArrayRef<Value*> operands) -> Value* {
    return b.CreateIntrinsic(id, {whole}, operands);
  };
  switch (instr.prim) {
    case Prim::kAdd:
      return b.CreateFAdd(args[0], args[1]);
    case Prim::kSub:
      return b.CreateFSub(args[0], args[1]);
    case Prim::kMul:
      if (instr.imm == kernels::kScaling) return scale(instr.dtype, args[0], args[1]);
      return b.CreateFMul(args[0], args[1]);
    case Prim::kDiv:
      return b.CreateFDiv(args[0], args[1]);
    case Prim::kNeg:
      return b.CreateFNeg(args[0]);
    case Prim::kAbs:
      return intrinsic(llvm::Intrinsic::fabs, {args[0]});
    case Prim::kSqrt:
      return intrinsic(llvm::Intrinsic::sqrt, {args[0]});
    case Prim::kFma:
      return intrinsic(llvm::Intrinsic::fma, {args[0], args[1], args[2]});
    case Prim::kFloor:
      return intrinsic(llvm::Intrinsic::floor, {args[0]});
    case Prim::kCeil:
      return intrinsic(llvm::Intrinsic::ceil, {args[0]});
    case Prim::kTrunc:
      return intrinsic(llvm::Intrinsic::trunc, {args[0]});
    case Prim::kRoundEven:
      return intrinsic(llvm::Intrinsic::roundeven, {args[0]});
    default:
      return nullptr;
  }
}

// AVX-512 with 16 lanes only; the exponents are integers.
Value* Values::scale(ScalarType dtype, Value* x, Value* exponent) {
  constexpr std::uint32_t kCurrentDirection = 4;
  const bool is_double = dtype == kDouble;
  const ID id = is_double ? llvm::Intrinsic::x86_avx512_mask_scalef_pd_512
                          : llvm::Intrinsic::x86_avx512_mask_scalef_ps_512;
  const int piece = is_double ? 8 : 16;
  int first = 0;
  return in_pieces(x, piece, [&](Value* part) -> Value* {
    Value* const power = lanes_ == piece ? exponent : piece_of(exponent, first, piece);
    first += piece;
    return b.CreateIntrinsic(
        id, {},
        {part, power, llvm::Constant::getNullValue(part->getType()),
         llvm::Constant::getAllOnesValue(b.getIntNTy(static_cast<unsigned>(piece))),
         b.getInt32(kCurrentDirection)});
  });
}

Value* Values::integer_pure(const Instr& instr, Value* const* args) {
  switch (instr.prim) {
    case Prim::kAdd:
      return b.CreateAdd(args[0], args[1]);
    case Prim::kSub:
      return b.CreateSub(args[0], args[1]);
    case Prim::kMul:
      return b.CreateMul(args[0], args[1]);
    case Prim::kDiv:
      return divide(instr.dtype, args[0], args[1]);
    case Prim::kNeg:
      return b.CreateNeg(args[0]);
    case Prim::kAbs: {
      if (!is_signed(instr.dtype)) return args[0];
      Value* const is_negative = b.CreateICmpSLT(args[0], constant(instr.dtype, 0));
      return b.CreateSelect(is_negative, b.CreateNeg(args[0]), args[0]);
    }
    case Prim::kMulHigh:
      return mul_high(args[0], args[1]);
    case Prim::kAnd:
      return b.CreateAnd(args[0], args[1]);
    case Prim::kOr:
      return b.CreateOr(args[0], args[1]);
    case Prim::kXor:
      return b.CreateXor(args[0], args[1]);
    case Prim::kNot:
      return b.CreateNot(args[0]);
    case Prim::kShiftLeft:
    case Prim::kShiftRightLogical:
    case Prim::kShiftRightArithmetic:
      return shift(instr.prim, instr.dtype, args[0], args[1]);
    default:
      return nullptr;
  }
}

Value* Values::compare(Prim prim, ScalarType dtype, Value* x, Value* y) {
  using Predicate = llvm::CmpInst::Predicate;
  struct Row {
    Predicate floats, signeds, unsigneds;
  };
  static constexpr Row kRows[] = {
      {Predicate::FCMP_OEQ, Predicate::ICMP_EQ, Predicate::ICMP_EQ},
      {Predicate::FCMP_UNE, Predicate::ICMP_NE, Predicate::ICMP_NE},
      {Predicate::FCMP_OLT, Predicate::ICMP_SLT, Predicate::ICMP_ULT},
      {Predicate::FCMP_OLE, Predicate::ICMP_SLE, Predicate::ICMP_ULE},
      {Predicate::FCMP_OGT, Predicate::ICMP_SGT, Predicate::ICMP_UGT},
      {Predicate::FCMP_OGE, Predicate::ICMP_SGE, Predicate::ICMP_UGE},
  };
  const Row& row = kRows[static_cast<int>(prim) - static_cast<int>(Prim::kEq)];
  if (is_float(dtype)) return b.CreateFCmp(row.floats, x, y);
  return b.CreateICmp(is_signed(dtype) ? row.signeds : row.unsigneds, x, y);
}

// x / 0 is 0 and lowest / -1 is lowest; LLVM sees neither. Up to 32 bits the quotient of the f64
// values, cut off, is the integer quotient.
Value* Values::divide(ScalarType dtype, Value* x, Value* y) {
  llvm::Constant* const zero = constant(dtype, 0);
  Value* const by_zero = b.CreateICmpEQ(y, zero);
  Value* unsafe = by_zero;
  Value* by_minus_one = nullptr;
  if (is_signed(dtype)) {
    by_minus_one = b.CreateICmpEQ(y, constant(dtype, ~0ull));
    unsafe = b.CreateOr(by_zero, by_minus_one);
  }
  Value* const divisor = b.CreateSelect(unsafe, constant(dtype, 1), y);
  Value* quotient;
  if (dtype == kLong) {
    quotient = b.CreateSDiv(x, divisor);
  } else {
    quotient = b.CreateFDiv(convert(kDouble, dtype, x), convert(kDouble, dtype, divisor));
    quotient = convert(dtype, kDouble, quotient);
  }
  if (by_minus_one) quotient = b.CreateSelect(by_minus_one, b.CreateNeg(x), quotient);
  return b.CreateSelect(by_zero, zero, quotient);
}

Value* Values::shift(Prim prim, ScalarType dtype, Value* x, Value* amount) {
  const std::uint64_t width = 8 * element_size(dtype);
  Value* const fits = b.CreateICmpULT(amount, constant(dtype, width));
  if (prim == Prim::kShiftRightArithmetic && is_signed(dtype)) {
    return b.CreateAShr(x, b.CreateSelect(fits, amount, constant(dtype, width - 1)));
  }
  Value* const by = b.CreateSelect(fits, amount, constant(dtype, 0));
  Value* const shifted = prim == Prim::kShiftLeft ? b.CreateShl(x, by) : b.CreateLShr(x, by);
  return b.CreateSelect(fits, shifted, constant(dtype, 0));
}

Value* Values::mul_high(Value* x, Value* y) {
  llvm::Type* const wide = vector_of(b.getInt64Ty());
  Value* const product = b.CreateMul(b.CreateZExt(x, wide), b.CreateZExt(y, wide));
  return b.CreateTrunc(b.CreateLShr(product, 32), vector_of(b.getInt32Ty()));
}

Value* Values::convert(ScalarType to, ScalarType from, Value* x) {
  if (from == kHalf) return half_to_float(x);
  if (to == kHalf) return float_to_half(x);
  if (to == kBFloat16) return float_to_bfloat(x);
  if (from == kBFloat16) {
    return b.CreateBitCast(b.CreateShl(b.CreateZExt(x, vector_of(b.getInt32Ty())), 16), type(to));
  }
  if (to == kBool) {
    return is_float(from) ? b.CreateFCmpUNE(x, constant(from, 0)) : b.CreateIsNotNull(x);
  }
  if (is_float(to)) {
    if (from == kFloat) return b.CreateFPExt(x, type(to));
    if (from == kDouble) return b.CreateFPTrunc(x, type(to));
    return is_signed(from) ? b.CreateSIToFP(x, type(to)) : b.CreateUIToFP(x, type(to));
  }
  if (!is_float(from)) {
    return is_signed(from) ? b.CreateSExtOrTrunc(x, type(to)) : b.CreateZExtOrTrunc(x, type(to));
  }
  return to == kLong ? float_to_long(from, x) : b.CreateTrunc(float_to_int(from, x), type(to));
}

// ---- x86's own truncation, whose answer to NaN and to what does not fit is the lowest integer ---

Value* Values::piece_of(Value* x, int first, int count) {
  llvm::SmallVector<int, 16> lanes(static_cast<std::size_t>(count), -1);
  for (int i = 0; i < count && first + i < lanes_; ++i) {
    lanes[static_cast<std::size_t>(i)] = first + i;
  }
  return b.CreateShuffleVector(x, lanes);
}

// Applies a conversion of `piece` lanes to all; a narrower vector is padded.
template <typename Convert>
Value* Values::in_pieces(Value* x, int piece, const Convert& convert_piece) {
  if (lanes_ == piece) return convert_piece(x);
  llvm::SmallVector<Value*, 4> pieces;
  for (int first = 0; first < lanes_; first += piece) {
    pieces.push_back(convert_piece(piece_of(x, first, piece)));
  }
  int width = piece;
  while (pieces.size() > 1) {
    llvm::SmallVector<int, 16> all(static_cast<std::size_t>(2 * width));
    std::iota(all.begin(), all.end(), 0);
    for (std::size_t i = 0; i < pieces.size() / 2; ++i) {
      pieces[i] = b.CreateShuffleVector(pieces[2 * i], pieces[2 * i + 1], all);
    }
    pieces.resize(pieces.size() / 2);
    width *= 2;
  }
  if (width == lanes_) return pieces[0];
  llvm::SmallVector<int, 16> first(static_cast<std::size_t>(lanes_));
  std::iota(first.begin(), first.end(), 0);
  return b.CreateShuffleVector(pieces[0], first);
}

Value* Values::masked_conversion(ID id, Value* x, llvm::Type* to) {
  const unsigned lanes = llvm::cast<llvm::FixedVectorType>(x->getType())->getNumElements();
  llvm::Type* const result = llvm::FixedVectorType::get(to, lanes);
  constexpr std::uint32_t kCurrentDirection = 4;
  return b.CreateIntrinsic(id, {},
                           {x, llvm::Constant::getNullValue(result),
                            llvm::Constant::getAllOnesValue(b.getIntNTy(lanes)),
                            b.getInt32(kCurrentDirection)});
}

Value* Values::float_to_int(ScalarType from, Value* x) {
  using namespace llvm::Intrinsic;
  const ID wide = from == kFloat ? x86_avx512_mask_cvttps2dq_512 : x86_avx512_mask_cvttpd2dq_512;
  const ID narrow = from == kFloat ? x86_avx_cvtt_ps2dq_256 : x86_avx_cvtt_pd2dq_256;
  const int piece = (is_wide_ ? 16 : 8) / (from == kFloat ? 1 : 2);
  return in_pieces(x, piece, [&](Value* part) -> Value* {
    if (is_wide_) return masked_conversion(wide, part, b.getInt32Ty());
    return b.CreateIntrinsic(narrow, {}, {part});
  });
}

Value* Values::float_to_long(ScalarType from, Value* x) {
  using namespace llvm::Intrinsic;
  if (is_wide_) {
    const ID id = from == kFloat ? x86_avx512_mask_cvttps2qq_512 : x86_avx512_mask_cvttpd2qq_512;
    return in_pieces(
        x, 8, [&](Value* part) { return masked_conversion(id, part, b.getInt64Ty()); });
  }
  const ID id = from == kFloat ? x86_sse_cvttss2si64 : x86_sse2_cvttsd2si64;
  llvm::Type* const xmm =
      llvm::FixedVectorType::get(element_type(from), from == kFloat ? 4 : 2);
  Value* result = llvm::PoisonValue::get(type(kLong));
  for (int i = 0; i < lanes_; ++i) {
    Value* const one =
        b.CreateInsertElement(llvm::Constant::getNullValue(xmm), lane(x, i), std::uint64_t{0});
    result = b.CreateInsertElement(result, b.CreateIntrinsic(id, {}, {one}), std::uint64_t(i));
  }
  return result;
}

// ---- 16-bit floats -----------------------------------------------------------------------------

// The bits moved into place make a float that is 2^112 too small, exactly, denormals included.
Value* Values::half_to_float(Value* x) {
  llvm::Type* const words = vector_of(b.getInt32Ty());
  Value* const bits = b.CreateZExt(x, words);
  Value* const size = b.CreateShl(b.CreateAnd(bits, constant(kInt, 0x7fff)), 13);
  Value* const scaled =
      b.CreateFMul(b.CreateBitCast(size, type(kFloat)), constant(kFloat, 0x77800000));  // 2^112
  Value* const is_finite = b.CreateICmpULT(size, constant(kInt, 0x0f800000));
  Value* const special = b.CreateOr(size, constant(kInt, 0x7f800000));
  Value* const result = b.CreateSelect(is_finite, b.CreateBitCast(scaled, words), special);
  Value* const sign = b.CreateShl(b.CreateAnd(bits, constant(kInt, 0x8000)), 16);
  return b.CreateBitCast(b.CreateOr(result, sign), type(kFloat));
}

Value* Values::float_to_half(Value* x) {
  constexpr std::uint32_t kNearestEven = 0;
  Value* const rounded = in_pieces(x, 8, [&](Value* part) -> Value* {
    return b.CreateIntrinsic(llvm::Intrinsic::x86_vcvtps2ph_256, {},
                             {part, b.getInt32(kNearestEven)});
  });
  llvm::Type* const halves = vector_of(b.getInt16Ty());
  Value* const words = b.CreateBitCast(x, vector_of(b.getInt32Ty()));
  Value* const sign = b.CreateAnd(b.CreateTrunc(b.CreateLShr(words, 16), halves),
                                  constant(kShort, 0x8000));
  Value* const nan = b.CreateOr(sign, constant(kShort, 0x7e00));
  return b.CreateSelect(b.CreateFCmpUNO(x, x), nan, rounded);
}

Value* Values::float_to_bfloat(Value* x) {
  llvm::Type* const halves = vector_of(b.getInt16Ty());
  Value* const bits = b.CreateBitCast(x, vector_of(b.getInt32Ty()));
  Value* const last = b.CreateAnd(b.CreateLShr(bits, 16), constant(kInt, 1));
  Value* const rounded = b.CreateAdd(b.CreateAdd(bits, constant(kInt, 0x7fff)), last);
  Value* const sign = b.CreateAnd(b.CreateLShr(bits, 16), constant(kInt, 0x8000));
  Value* const nan = b.CreateOr(sign, constant(kInt, 0x7fc0));
  return b.CreateTrunc(
      b.CreateSelect(b.CreateFCmpUNO(x, x), nan, b.CreateLShr(rounded, 16)), halves);
}

// ---- reductions --------------------------------------------------------------------------------

Value* Values::combine(Prim reduction, ScalarType dtype, Value* a, Value* later) {
  switch (reduction) {
    case Prim::kReduceSum:
      return is_float(dtype) ? b.CreateFAdd(a, later) : b.CreateAdd(a, later);
    case Prim::kReduceProd:
      return is_float(dtype) ? b.CreateFMul(a, later) : b.CreateMul(a, later);
    default: {
      const Prim better = is_greatest(reduction) ? Prim::kGt : Prim::kLt;
      Value* const best = b.CreateSelect(compare(better, dtype, later, a), later, a);
      return is_float(dtype) ? b.CreateSelect(b.CreateFCmpUNO(later, later), later, best) : best;
    }
  }
}

Value* Values::replaces(Prim reduction, ScalarType dtype, Value* best, Value* x) {
  Value* const better = compare(is_greatest(reduction) ? Prim::kGt : Prim::kLt, dtype, x, best);
  if (!is_float(dtype)) return better;
  return b.CreateOr(better, b.CreateAnd(b.CreateFCmpUNO(x, x), b.CreateFCmpORD(best, best)));
}

}  // namespace groove::llvm_tier
