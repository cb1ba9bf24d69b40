// The 16-bit floats: conversions from and to f32 lanes, and their way through memory. In registers
// they are f32 lanes, which hold each of their values. A conversion to one leaves the f32 as it is
// and marks it: a store rounds anyway, and any other use rounds first.
#include <bit>

#include "kernels/asmjit/emitter.h"
#include "src/core/half.h"

namespace groove::kernels::assembly {
namespace {

constexpr int kToNearestEven = 0;

Mem of_bytes(Mem memory, int bytes) {
  memory.setSize(static_cast<std::uint32_t>(bytes));
  return memory;
}

}  // namespace

std::uint32_t half_as_float_bits(ScalarType dtype, std::uint64_t bits) {
  const auto half = static_cast<std::uint16_t>(bits);
  const float value = dtype == kHalf ? float_from_half(half) : float_from_bfloat16(half);
  return std::bit_cast<std::uint32_t>(value);
}

// bf16: the upper halves of these lanes are the result, rounded by an addition.
Vec Emitter::rounded_upper_halves(const Value& value) {
  const Vec v = reg(value, 0);
  const Vec last = shifted(Inst::kIdVpsrlvd, v, 16);
  cc_.emit(Inst::kIdVandps, last, last, function_.constant32(1));
  cc_.emit(Inst::kIdVpaddd, last, last, function_.constant32(0x7fff));
  const Vec sum = op2(Inst::kIdVpaddd, last, v);
  const Value is_nan = compare(Prim::kNe, kFloat, from_vec(v), from_vec(v));
  return select(kInt, is_nan, constant(kInt, 0x7fc00000, true), from_vec(sum)).vec[0];
}

Value Emitter::rounded(ScalarType dtype, const Value& value) {
  if (!value.is_unrounded) return value;
  if (dtype == kBFloat16) {
    return from_vec(
        op2(Inst::kIdVandps, rounded_upper_halves(value), function_.constant32(0xffff0000)));
  }
  return from_vec(op1(Inst::kIdVcvtph2ps, packed_halves(dtype, value)));
}

// One after the other in the lower half of a vector.
Vec Emitter::packed_halves(ScalarType dtype, const Value& value) {
  const Vec packed = function_.new_half_vec();
  if (dtype == kHalf) {
    cc_.emit(Inst::kIdVcvtps2ph, packed, reg(value, 0), asmjit::Imm(kToNearestEven));
    return packed;
  }
  return pack_words(half_lanes(dtype, value).vec[0]);
}

// The lower 16 bits of 32-bit lanes that have no others.
Vec Emitter::pack_words(const Vec& lanes) {
  const Vec packed = function_.new_half_vec();
  if (function_.is_wide()) {
    cc_.emit(Inst::kIdVpmovdw, packed, lanes);
  } else {
    const Vec mixed = op2(Inst::kIdVpackusdw, lanes, lanes);
    cc_.emit(Inst::kIdVmovaps, packed, op2(Inst::kIdVpermq, mixed, 0x08).xmm());
  }
  return packed;
}

// The bits as i32 lanes.
Value Emitter::half_lanes(ScalarType dtype, const Value& value) {
  if (dtype == kHalf) return from_vec(op1(Inst::kIdVpmovzxwd, packed_halves(dtype, value)));
  const Vec v = value.is_unrounded ? rounded_upper_halves(value) : reg(value, 0);
  return from_vec(shifted(Inst::kIdVpsrlvd, v, 16));
}

Value Emitter::from_half_lanes(ScalarType dtype, const Value& lanes) {
  if (dtype == kBFloat16) return from_vec(shifted(Inst::kIdVpsllvd, reg(lanes, 0), 16));
  return from_vec(op1(Inst::kIdVcvtph2ps, pack_words(reg(lanes, 0))));
}

Value Emitter::load_halves(ScalarType dtype, const Mem& address, const Tail* tail) {
  const int bytes = function_.lanes() * 2;
  Operand from = of_bytes(address, bytes);
  if (tail && function_.is_wide()) {
    const Vec packed = function_.new_half_vec();
    cc_.k(tail->wmask).z().emit(Inst::kIdVmovdqu16, packed, of_bytes(address, bytes));
    from = packed;
  } else if (tail) {
    cc_.emit(Inst::kIdVmovups, scratch(0), zeros());
    copy_bytes(scratch(0), address, tail->count, 2);
    from = of_bytes(scratch(0), bytes);
  }
  if (dtype == kHalf) return from_vec(op1(Inst::kIdVcvtph2ps, from));
  return from_half_lanes(dtype, from_vec(op1(Inst::kIdVpmovzxwd, from)));
}

void Emitter::store_halves(ScalarType dtype, const Mem& address, const Value& value,
                           const Tail* tail) {
  const Vec packed = packed_halves(dtype, value);
  const Mem to = of_bytes(address, function_.lanes() * 2);
  if (!tail) {
    cc_.emit(Inst::kIdVmovups, to, packed);
  } else if (function_.is_wide()) {
    cc_.k(tail->wmask).emit(Inst::kIdVmovdqu16, to, packed);
  } else {
    cc_.emit(Inst::kIdVmovups, of_bytes(scratch(1), 16), packed);
    copy_bytes(address, scratch(1), tail->count, 2);
  }
}

}  // namespace groove::kernels::assembly
