// Arithmetic, comparisons and fma: floats and the integers that have vector instructions.
#include "kernels/asmjit/emitter.h"

namespace groove::kernels::assembly {
namespace {

using Id = asmjit::InstId;

Id float_id(Prim prim, bool is_double) {
  switch (prim) {
    case Prim::kAdd:
      return is_double ? Inst::kIdVaddpd : Inst::kIdVaddps;
    case Prim::kSub:
      return is_double ? Inst::kIdVsubpd : Inst::kIdVsubps;
    case Prim::kMul:
      return is_double ? Inst::kIdVmulpd : Inst::kIdVmulps;
    case Prim::kDiv:
      return is_double ? Inst::kIdVdivpd : Inst::kIdVdivps;
    // a > b ? a : b with the second operand on NaN and equality: what vmaxps does.
    case Prim::kMax:
      return is_double ? Inst::kIdVmaxpd : Inst::kIdVmaxps;
    default:
      return is_double ? Inst::kIdVminpd : Inst::kIdVminps;
  }
}

bool commutes(Prim prim) { return prim == Prim::kAdd || prim == Prim::kMul; }

// Predicates of vcmpps: ordered and quiet, except "not equal".
int float_predicate(Prim prim) {
  switch (prim) {
    case Prim::kEq:
      return 0x00;
    case Prim::kNe:
      return 0x04;
    case Prim::kLt:
      return 0x11;
    case Prim::kLe:
      return 0x12;
    case Prim::kGt:
      return 0x1e;
    default:
      return 0x1d;
  }
}

// Predicates of vpcmpd.
int integer_predicate(Prim prim) {
  switch (prim) {
    case Prim::kEq:
      return 0;
    case Prim::kNe:
      return 4;
    case Prim::kLt:
      return 1;
    case Prim::kLe:
      return 2;
    case Prim::kGt:
      return 6;
    default:
      return 5;
  }
}

}  // namespace

Value Emitter::binary(Prim prim, ScalarType dtype, const Value& a, const Value& b) {
  if (dtype == kBool) return bitwise(prim == Prim::kMax ? Prim::kOr : Prim::kAnd, dtype, a, b);
  if (commutes(prim) && a.in_memory && !b.in_memory) return binary(prim, dtype, b, a);
  Value result;
  if (dtype == kFloat || dtype == kDouble) {
    for (int part = 0; part < parts_of(dtype); ++part) {
      result.vec[part] = op2(float_id(prim, dtype == kDouble), reg(a, part), operand(b, part));
    }
    return result;
  }
  if (prim == Prim::kDiv) return divide_integers(dtype, a, b);
  if (dtype == kLong) {
    if (prim == Prim::kMul) return multiply_long(a, b);
    for (int part = 0; part < 2; ++part) {
      const Vec x = reg(a, part);
      if (prim == Prim::kAdd || prim == Prim::kSub) {
        result.vec[part] =
            op2(prim == Prim::kAdd ? Inst::kIdVpaddq : Inst::kIdVpsubq, x, operand(b, part));
      } else if (function_.is_wide()) {
        result.vec[part] =
            op2(prim == Prim::kMax ? Inst::kIdVpmaxsq : Inst::kIdVpminsq, x, operand(b, part));
      } else {
        const Vec y = reg(b, part);
        const Vec is_greater = op2(Inst::kIdVpcmpgtq, x, y);
        result.vec[part] = prim == Prim::kMax ? op3(Inst::kIdVblendvpd, y, x, is_greater)
                                              : op3(Inst::kIdVblendvpd, x, y, is_greater);
      }
    }
    return result;
  }
  Id id = Inst::kIdVpaddd;
  if (prim == Prim::kSub) id = Inst::kIdVpsubd;
  if (prim == Prim::kMul) id = Inst::kIdVpmulld;
  if (prim == Prim::kMax) id = Inst::kIdVpmaxsd;
  if (prim == Prim::kMin) id = Inst::kIdVpminsd;
  result.vec[0] = op2(id, reg(a, 0), operand(b, 0));
  normalise(dtype, result);
  return result;
}

Value Emitter::unary(Prim prim, ScalarType dtype, const Value& a) {
  if (dtype == kBool) return compare(Prim::kEq, kBool, a, constant(kBool, 0, true));
  Value result;
  if (prim == Prim::kNot) {
    const Vec ones = reg(constant(kInt, 0xffffffffu, true), 0);
    for (int part = 0; part < parts_of(dtype); ++part) {
      result.vec[part] = op2(Inst::kIdVxorps, ones, operand(a, part));
    }
    normalise(dtype, result);
    return result;
  }
  const bool is_double = dtype == kDouble;
  if (dtype == kFloat || is_double) {
    for (int part = 0; part < parts_of(dtype); ++part) {
      if (prim == Prim::kSqrt) {
        result.vec[part] = op1(is_double ? Inst::kIdVsqrtpd : Inst::kIdVsqrtps, operand(a, part));
      } else if (prim == Prim::kNeg || prim == Prim::kAbs) {
        const Mem sign =
            prim == Prim::kNeg
                ? (is_double ? function_.constant64(1ull << 63) : function_.constant32(1u << 31))
                : (is_double ? function_.constant64(~0ull >> 1) : function_.constant32(~0u >> 1));
        result.vec[part] =
            op2(prim == Prim::kNeg ? Inst::kIdVxorps : Inst::kIdVandps, reg(a, part), sign);
      } else {
        int mode = 8;  // to nearest even, no exceptions
        if (prim == Prim::kFloor) mode = 9;
        if (prim == Prim::kCeil) mode = 10;
        if (prim == Prim::kTrunc) mode = 11;
        const Id narrow = is_double ? Inst::kIdVroundpd : Inst::kIdVroundps;
        const Id wide = is_double ? Inst::kIdVrndscalepd : Inst::kIdVrndscaleps;
        result.vec[part] = op2(function_.is_wide() ? wide : narrow, operand(a, part), mode);
      }
    }
    return result;
  }
  const bool is_long = dtype == kLong;
  for (int part = 0; part < parts_of(dtype); ++part) {
    if (prim == Prim::kNeg) {
      result.vec[part] =
          op2(is_long ? Inst::kIdVpsubq : Inst::kIdVpsubd, zeros(), operand(a, part));
    } else if (!is_long) {
      result.vec[part] = op1(Inst::kIdVpabsd, operand(a, part));
    } else if (function_.is_wide()) {
      result.vec[part] = op1(Inst::kIdVpabsq, operand(a, part));
    } else {
      const Vec x = reg(a, part);
      const Vec sign = op2(Inst::kIdVpcmpgtq, zeros(), x);
      result.vec[part] = op2(Inst::kIdVpsubq, op2(Inst::kIdVxorps, x, sign), sign);
    }
  }
  normalise(dtype, result);
  return result;
}

// One of the three forms of vfmadd, so that the register that dies (or the copy that has to be made
// anyway) becomes the result and a constant stays in memory.
Value Emitter::fma(std::int32_t id, const Instr& instr) {
  const ScalarType dtype = instr.dtype;
  const bool is_double = dtype == kDouble;
  const Value& c = values_[instr.args[2]];
  int first = 0, second = 1;
  const auto factor = [&](int i) -> const Value& { return values_[instr.args[i]]; };
  const auto dies = [&](int i) {
    for (int other = 0; other < 3; ++other) {
      if (other != i && instr.args[other] == instr.args[i]) return false;
    }
    return may_destroy(id, instr.args[i]);
  };
  // `first` is the factor that the result replaces, unless the result replaces c.
  if (dies(1) || (!dies(0) && factor(1).in_memory)) std::swap(first, second);
  const bool factor_dies = dies(first);
  const bool onto_c = !factor_dies && (dies(2) || (c.in_memory && !factor(first).in_memory));
  const bool is_negated = folded_[instr.args[0]] != folded_[instr.args[1]];
  const auto form = [&](Id single, Id dual, Id negated_single, Id negated_dual) {
    if (is_negated) return is_double ? negated_dual : negated_single;
    return is_double ? dual : single;
  };
  Value result;
  for (int part = 0; part < parts_of(dtype); ++part) {
    const Value& replaced = onto_c ? c : factor(first);
    const bool in_place = onto_c ? dies(2) : factor_dies;
    Vec to;
    if (in_place) {
      to = replaced.vec[part];
    } else if (replaced.in_memory) {
      to = op1(Inst::kIdVmovups, replaced.memory[part]);
    } else {
      to = op1(Inst::kIdVmovaps, replaced.vec[part]);
    }
    if (onto_c) {
      cc_.emit(form(Inst::kIdVfmadd231ps, Inst::kIdVfmadd231pd, Inst::kIdVfnmadd231ps,
                    Inst::kIdVfnmadd231pd),
               to, reg(factor(first), part), operand(factor(second), part));
    } else if (factor(second).in_memory) {
      cc_.emit(form(Inst::kIdVfmadd132ps, Inst::kIdVfmadd132pd, Inst::kIdVfnmadd132ps,
                    Inst::kIdVfnmadd132pd),
               to, reg(c, part), operand(factor(second), part));
    } else {
      cc_.emit(form(Inst::kIdVfmadd213ps, Inst::kIdVfmadd213pd, Inst::kIdVfnmadd213ps,
                    Inst::kIdVfnmadd213pd),
               to, factor(second).vec[part], operand(c, part));
    }
    result.vec[part] = to;
  }
  return result;
}

// AVX-512 only; the exponent is an integer.
Value Emitter::scale(ScalarType dtype, const Value& a, const Value& b) {
  Value result;
  for (int part = 0; part < parts_of(dtype); ++part) {
    result.vec[part] = op2(dtype == kDouble ? Inst::kIdVscalefpd : Inst::kIdVscalefps,
                           reg(a, part), operand(b, part));
  }
  return result;
}

Value Emitter::compare(Prim prim, ScalarType dtype, const Value& a, const Value& b) {
  const bool is_wide = function_.is_wide();
  if (dtype == kBool) {
    // Over {0, 1}: a < b is !a & b, a <= b is !(b < a), a == b is !(a ^ b).
    const auto invert = [&](const Value& v) {
      Value result;
      if (is_wide) {
        result.mask = function_.new_mask();
        cc_.knotw(result.mask, v.mask);
      } else {
        result.vec[0] = op2(Inst::kIdVxorps, reg(v, 0), function_.constant32(~0u));
      }
      return result;
    };
    const auto less = [&](const Value& x, const Value& y) {
      Value result;
      if (is_wide) {
        result.mask = mask2(Inst::kIdKandnw, x.mask, y.mask);
      } else {
        result.vec[0] = op2(Inst::kIdVandnps, reg(x, 0), operand(y, 0));
      }
      return result;
    };
    switch (prim) {
      case Prim::kEq:
        return invert(bitwise(Prim::kXor, kBool, a, b));
      case Prim::kNe:
        return bitwise(Prim::kXor, kBool, a, b);
      case Prim::kLt:
        return less(a, b);
      case Prim::kGt:
        return less(b, a);
      case Prim::kLe:
        return invert(less(b, a));
      default:
        return invert(less(a, b));
    }
  }
  const bool is_float = dtype == kFloat || dtype == kDouble;
  const bool is_long = is_wide_dtype(dtype);
  const int parts = parts_of(dtype);
  if (is_wide) {
    MaskReg k[2];
    Id id = is_long ? Inst::kIdVpcmpq : Inst::kIdVpcmpd;
    if (is_float) id = is_long ? Inst::kIdVcmppd : Inst::kIdVcmpps;
    for (int part = 0; part < parts; ++part) {
      k[part] = function_.new_mask();
      cc_.emit(id, k[part], reg(a, part), operand(b, part),
               asmjit::Imm(is_float ? float_predicate(prim) : integer_predicate(prim)));
    }
    if (is_long) return join_masks(k[0], k[1]);
    Value result;
    result.mask = k[0];
    return result;
  }
  Vec m[2];
  for (int part = 0; part < parts; ++part) {
    if (is_float) {
      m[part] = op3(is_long ? Inst::kIdVcmppd : Inst::kIdVcmpps, reg(a, part), operand(b, part),
                    float_predicate(prim));
      continue;
    }
    const Id equal = is_long ? Inst::kIdVpcmpeqq : Inst::kIdVpcmpeqd;
    const Id greater = is_long ? Inst::kIdVpcmpgtq : Inst::kIdVpcmpgtd;
    const bool is_equality = prim == Prim::kEq || prim == Prim::kNe;
    const bool is_swapped = prim == Prim::kLt || prim == Prim::kGe;  // in terms of b > a
    m[part] = op2(is_equality ? equal : greater, reg(is_swapped ? b : a, part),
                  operand(is_swapped ? a : b, part));
    if (prim == Prim::kNe || prim == Prim::kLe || prim == Prim::kGe) {
      m[part] = op2(Inst::kIdVxorps, m[part], function_.constant32(~0u));
    }
  }
  return is_long ? join_masks(m[0], m[1]) : from_vec(m[0]);
}

// b > a or b is NaN ? b : a — equal values (zeros of either sign) keep the earlier operand, and a
// NaN in a survives because no comparison with it holds.
Value Emitter::extremum(bool is_max, ScalarType dtype, const Value& a, const Value& b) {
  const Value plain = binary(is_max ? Prim::kMax : Prim::kMin, dtype, b, a);
  if (dtype != kFloat && dtype != kDouble) return plain;
  const Value is_nan = compare(Prim::kNe, dtype, b, b);
  return select(dtype, is_nan, b, plain);
}

}  // namespace groove::kernels::assembly
