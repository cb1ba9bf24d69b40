// Conversions between dtypes (numerics.md §1): x86's own truncation, whose answer to NaN and to
// what does not fit is the smallest integer. What AVX2 lacks goes lane by lane through the stack.
#include "kernels/asmjit/emitter.h"
#include "src/core/faults.h"

namespace groove::kernels::assembly {
namespace {

using Id = asmjit::InstId;

bool is_int32_class(ScalarType dtype) {
  return dtype == kByte || dtype == kChar || dtype == kShort || dtype == kInt;
}

}  // namespace

Vec Emitter::half(const Value& value, int part) {
  const Vec whole = reg(value, 0);
  if (part == 0) return low_half(whole);
  if (function_.is_wide()) {
    const Vec high = function_.new_half_vec();
    cc_.emit(Inst::kIdVextractf64x4, high, whole, 1);
    return high;
  }
  const Vec high = function_.new_xmm();
  cc_.emit(Inst::kIdVextractf128, high, whole, 1);
  return high;
}

Value Emitter::join(const Vec& low, const Vec& high) {
  const Vec to = function_.new_vec();
  const Vec whole = function_.is_wide() ? Vec(low.zmm()) : Vec(low.ymm());
  cc_.emit(function_.is_wide() ? Inst::kIdVinsertf64x4 : Inst::kIdVinsertf128, to, whole, high, 1);
  return from_vec(to);
}

Value Emitter::long_to_int(const Value& a) {
  if (!function_.is_wide()) return join_masks(reg(a, 0), reg(a, 1));
  const Vec low = function_.new_half_vec(), high = function_.new_half_vec();
  cc_.emit(Inst::kIdVpmovqd, low, reg(a, 0));
  cc_.emit(Inst::kIdVpmovqd, high, reg(a, 1));
  return join(low, high);
}

Value Emitter::float_to_int(ScalarType from, const Value& a) {
  if (from == kFloat) return from_vec(op1(Inst::kIdVcvttps2dq, operand(a, 0)));
  Vec halves[2];
  for (int part = 0; part < 2; ++part) {
    halves[part] = function_.new_half_vec();
    cc_.emit(Inst::kIdVcvttpd2dq, halves[part], reg(a, part));
  }
  return join(halves[0], halves[1]);
}

Value Emitter::float_to_long(ScalarType from, const Value& a) {
  Value result;
  if (function_.is_wide()) {
    for (int part = 0; part < 2; ++part) {
      result.vec[part] = from == kFloat ? op1(Inst::kIdVcvttps2qq, half(a, part))
                                        : op1(Inst::kIdVcvttpd2qq, operand(a, part));
    }
    return result;
  }
  spill(from, scratch(0), a);
  const Gp t = function_.new_gp();
  for (int lane = has_fault(Fault::kLostAvx2Lane); lane < function_.lanes(); ++lane) {
    const Id id = from == kFloat ? Inst::kIdVcvttss2si : Inst::kIdVcvttsd2si;
    cc_.emit(id, t, with_offset(scratch(0), lane * (from == kFloat ? 4 : 8)));
    cc_.mov(with_offset(scratch(1), lane * 8), t);
  }
  return reload(kLong, scratch(1));
}

Value Emitter::long_to_float(ScalarType to, const Value& a) {
  if (function_.is_wide()) {
    if (to == kDouble) {
      return from_vecs(op1(Inst::kIdVcvtqq2pd, operand(a, 0)),
                       op1(Inst::kIdVcvtqq2pd, operand(a, 1)));
    }
    const Vec low = function_.new_half_vec(), high = function_.new_half_vec();
    cc_.emit(Inst::kIdVcvtqq2ps, low, reg(a, 0));
    cc_.emit(Inst::kIdVcvtqq2ps, high, reg(a, 1));
    return join(low, high);
  }
  spill(kLong, scratch(0), a);
  const Vec zero = zeros().xmm();
  const Vec t = function_.new_xmm();
  for (int lane = 0; lane < function_.lanes(); ++lane) {
    Mem from = with_offset(scratch(0), lane * 8);
    from.setSize(8);
    if (to == kFloat) {
      cc_.emit(Inst::kIdVcvtsi2ss, t, zero, from);
      cc_.emit(Inst::kIdVmovss, with_offset(scratch(1), lane * 4), t);
    } else {
      cc_.emit(Inst::kIdVcvtsi2sd, t, zero, from);
      cc_.emit(Inst::kIdVmovsd, with_offset(scratch(1), lane * 8), t);
    }
  }
  return reload(to, scratch(1));
}

Value Emitter::bool_to_number(ScalarType to, const Value& a) {
  std::uint64_t one = 1;
  if (to == kFloat) one = 0x3f800000u;
  if (to == kDouble) one = 0x3ffull << 52;
  const bool is_long = is_wide_dtype(to);
  const Mem ones =
      is_long ? function_.constant64(one) : function_.constant32(static_cast<std::uint32_t>(one));
  Value result;
  for (int part = 0; part < parts_of(to); ++part) {
    if (!function_.is_wide()) {
      result.vec[part] = op2(Inst::kIdVandps, is_long ? mask_part(a, part) : reg(a, 0), ones);
      continue;
    }
    result.vec[part] = function_.new_vec();
    cc_.k(is_long ? wmask_part(a, part) : a.mask)
        .z()
        .emit(is_long ? Inst::kIdVmovupd : Inst::kIdVmovups, result.vec[part], ones);
  }
  return result;
}

Value Emitter::convert(ScalarType to, ScalarType from, const Value& a) {
  if (is_half_dtype(from) && !has_fault(Fault::kDroppedRounding)) return rounded(from, a);
  if (is_half_dtype(to)) {
    Value result = a;
    result.is_shared = result.is_unrounded = true;
    return result;
  }
  if (to == kBool) return compare(Prim::kNe, from, a, constant(from, 0, false));
  if (from == kBool) return bool_to_number(to, a);
  if (is_int32_class(to)) {
    Value result;
    if (is_int32_class(from)) {
      result = copy(kInt, a);
    } else {
      result = from == kLong ? long_to_int(a) : float_to_int(from, a);
    }
    normalise(to, result);
    return result;
  }
  if (to == kLong) {
    if (from == kFloat || from == kDouble) return float_to_long(from, a);
    return from_vecs(op1(Inst::kIdVpmovsxdq, half(a, 0)), op1(Inst::kIdVpmovsxdq, half(a, 1)));
  }
  if (from == kLong) return long_to_float(to, a);
  if (to == kDouble) {
    const Id id = from == kFloat ? Inst::kIdVcvtps2pd : Inst::kIdVcvtdq2pd;
    return from_vecs(op1(id, half(a, 0)), op1(id, half(a, 1)));
  }
  if (from != kDouble) return from_vec(op1(Inst::kIdVcvtdq2ps, operand(a, 0)));
  Vec halves[2];
  for (int part = 0; part < 2; ++part) {
    halves[part] = function_.new_half_vec();
    cc_.emit(Inst::kIdVcvtpd2ps, halves[part], reg(a, part));
  }
  return join(halves[0], halves[1]);
}

}  // namespace groove::kernels::assembly
