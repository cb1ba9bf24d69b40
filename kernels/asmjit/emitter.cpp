// The emitter's frame: values, constants, masks, if_any and the dispatch over primitives.
#include "kernels/asmjit/emitter.h"

#include <limits>

#include "groove/error.h"
#include "kernels/scalings.h"

namespace groove::kernels::assembly {

using Id = asmjit::InstId;
constexpr std::int32_t kNever = std::numeric_limits<std::int32_t>::max();

Value EmitterHost::load_at(Emitter&, const Instr&, const Value&) {
  throw Error("kernel: load_at is not supported in this place");
}
void EmitterHost::reduce(Emitter&, std::int32_t, const Value&) {
  throw Error("kernel: reductions are not supported in this place");
}

Emitter::Emitter(Function& function, const Kernel& kernel, EmitterHost& host)
    : function_(function),
      cc_(function.compiler()),
      kernel_(kernel),
      host_(host),
      values_(kernel.code.size()),
      defined_(kernel.code.size()),
      last_use_(kernel.code.size(), -1) {
  int constants = 0;
  for (std::size_t id = 0; id < kernel.code.size(); ++id) {
    for (std::int32_t argument : kernel.code[id].args) {
      // Hosts may put stores off to the end of a loop body, behind all loads.
      const bool is_store = kernel.code[id].prim == Prim::kStore;
      if (argument < 0 || last_use_[argument] == kNever) continue;
      last_use_[argument] = is_store ? kNever : static_cast<std::int32_t>(id);
    }
    constants += kernel.code[id].prim == Prim::kConstant;
  }
  find_folded_negations();
  // Registers are worth more to a long expression than its constants, which any instruction can
  // read from memory as its last operand.
  keeps_constants_ = constants <= (function.is_wide() ? 16 : 5);
}

// A negation that only ever enters an fma as a factor is part of that fma: the sign of a product is
// exact wherever it is applied.
void Emitter::find_folded_negations() {
  folded_.assign(kernel_.code.size(), false);
  for (std::size_t id = 0; id < folded_.size(); ++id) {
    const Instr& instr = kernel_.code[id];
    folded_[id] = instr.prim == Prim::kNeg && is_floating(instr.dtype);
  }
  for (const Instr& instr : kernel_.code) {
    for (int i = 0; i < 3; ++i) {
      const bool is_factor = instr.prim == Prim::kFma && i < 2;
      if (instr.args[i] >= 0 && !is_factor) folded_[instr.args[i]] = false;
    }
  }
}

void Emitter::emit(std::int32_t begin, std::int32_t end) {
  for (std::int32_t id = begin; id < end; ++id) {
    if (!defined_[id]) emit_one(id);
  }
}

void Emitter::define(std::int32_t id, const Value& value) {
  values_[id] = value;
  values_[id].is_shared = true;
  defined_[id] = 2;
}

void Emitter::keep() {
  for (std::size_t id = 0; id < defined_.size(); ++id) {
    if (defined_[id] == 1) define(static_cast<std::int32_t>(id), Value(values_[id]));
  }
}

void Emitter::forget() {
  for (char& state : defined_) {
    if (state == 1) state = 0;
  }
}

bool Emitter::may_destroy(std::int32_t user, std::int32_t argument) const {
  const Value& value = values_[argument];
  return may_destroy_ && last_use_[argument] == user && defined_[argument] == 1 &&
         !value.is_shared && !value.in_memory;
}

void Emitter::emit_one(std::int32_t id) {
  const Instr& instr = kernel_.code[id];
  const auto arg = [&](int i) -> const Value& { return values_[instr.args[i]]; };
  const auto arg_dtype = [&](int i) { return kernel_.code[instr.args[i]].dtype; };
  Value result;
  switch (instr.prim) {
    case Prim::kConstant:
      result = constant(instr.dtype, instr.imm, keeps_constants_);
      break;
    case Prim::kParam:
      result = host_.param(*this, instr);
      break;
    case Prim::kIndex:
      result = host_.index(*this, instr);
      break;
    case Prim::kLoad:
      result = host_.load(*this, instr);
      break;
    case Prim::kLoadAt:
      result = host_.load_at(*this, instr, arg(0));
      break;
    case Prim::kStore:
      host_.store(*this, instr, arg(0));
      return;
    case Prim::kMul:
      result = instr.imm == kScaling ? scale(instr.dtype, arg(0), arg(1))
                                     : binary(instr.prim, instr.dtype, arg(0), arg(1));
      break;
    case Prim::kAdd:
    case Prim::kSub:
    case Prim::kDiv:
    case Prim::kMax:
    case Prim::kMin:
      result = binary(instr.prim, instr.dtype, arg(0), arg(1));
      break;
    case Prim::kMulHigh:
      result = multiply_high(arg(0), arg(1));
      break;
    case Prim::kFma:
      result = fma(id, instr);
      break;
    case Prim::kNeg:
      if (folded_[id]) {
        values_[instr.args[0]].is_shared = true;
        result = arg(0);
      } else {
        result = unary(instr.prim, instr.dtype, arg(0));
      }
      break;
    case Prim::kSqrt:
    case Prim::kAbs:
    case Prim::kFloor:
    case Prim::kCeil:
    case Prim::kTrunc:
    case Prim::kRoundEven:
    case Prim::kNot:
      result = unary(instr.prim, instr.dtype, arg(0));
      break;
    case Prim::kEq:
    case Prim::kNe:
    case Prim::kLt:
    case Prim::kLe:
    case Prim::kGt:
    case Prim::kGe:
      result = compare(instr.prim, arg_dtype(0), arg(0), arg(1));
      break;
    case Prim::kSelect:
      result = select(instr.dtype, arg(0), arg(1), arg(2));
      break;
    case Prim::kConvert:
      if (is_half_dtype(instr.dtype)) values_[instr.args[0]].is_shared = true;
      result = convert(instr.dtype, arg_dtype(0), arg(0));
      break;
    case Prim::kBitcast:
      values_[instr.args[0]].is_shared = true;
      result = arg(0);
      break;
    case Prim::kAnd:
    case Prim::kOr:
    case Prim::kXor:
      result = bitwise(instr.prim, instr.dtype, arg(0), arg(1));
      break;
    case Prim::kShiftLeft:
    case Prim::kShiftRightLogical:
    case Prim::kShiftRightArithmetic:
      result = shift(instr.prim, instr.dtype, arg(0), arg(1));
      break;
    case Prim::kLookup:
      result = lookup(instr, arg(0));
      break;
    case Prim::kIfAnyBegin:
      if_any_begin(id);
      return;
    case Prim::kIfAnyEnd:
      result = if_any_end(id, instr);
      break;
    default:
      host_.reduce(*this, id, arg(0));
      return;
  }
  values_[id] = result;
  defined_[id] = 1;
}

Value Emitter::new_value(ScalarType dtype) {
  Value value;
  if (dtype == kBool && function_.is_wide()) {
    value.mask = function_.new_mask();
    return value;
  }
  for (int part = 0; part < parts_of(dtype); ++part) value.vec[part] = function_.new_vec();
  return value;
}

Value Emitter::from_vec(const Vec& low) {
  Value value;
  value.vec[0] = low;
  return value;
}

Value Emitter::from_vecs(const Vec& low, const Vec& high) {
  Value value;
  value.vec[0] = low;
  value.vec[1] = high;
  return value;
}

void Emitter::assign(ScalarType dtype, const Value& to, const Value& from) {
  if (from.is_unrounded) return assign(dtype, to, rounded(dtype, from));
  if (dtype == kBool && function_.is_wide()) {
    cc_.kmovw(to.mask, from.mask);
    return;
  }
  for (int part = 0; part < parts_of(dtype); ++part) {
    cc_.emit(from.in_memory ? Inst::kIdVmovups : Inst::kIdVmovaps, to.vec[part],
             operand(from, part));
  }
}

Value Emitter::copy(ScalarType dtype, const Value& value) {
  const Value result = new_value(dtype);
  assign(dtype, result, value);
  return result;
}

Vec Emitter::reg(const Value& value, int part) {
  return value.in_memory ? op1(Inst::kIdVmovups, value.memory[part]) : value.vec[part];
}

Value Emitter::constant(ScalarType dtype, std::uint64_t bits, bool in_register) {
  if (dtype == kBool) bits = (bits & 1) ? ~0ull : 0;
  if (dtype == kChar) bits = static_cast<std::uint64_t>(static_cast<std::int8_t>(bits));
  if (dtype == kShort) bits = static_cast<std::uint64_t>(static_cast<std::int16_t>(bits));
  if (is_half_dtype(dtype)) bits = half_as_float_bits(dtype, bits);
  Value value;
  if (dtype == kBool && function_.is_wide()) {
    value.mask = function_.new_mask();
    const Gp t = function_.new_gp();
    cc_.mov(t.r32(), static_cast<std::uint32_t>(bits));
    cc_.kmovw(value.mask, t.r32());
    return value;
  }
  value.in_memory = true;
  value.memory[0] = is_wide_dtype(dtype) ? function_.constant64(bits)
                                         : function_.constant32(static_cast<std::uint32_t>(bits));
  value.memory[1] = value.memory[0];
  if (!in_register) return value;
  const Vec v = reg(value, 0);
  Value loaded = from_vecs(v, v);
  loaded.is_shared = true;
  return loaded;
}

// ---- masks -------------------------------------------------------------------------------------

Value Emitter::mask_to_vector(const Value& mask) {
  if (!function_.is_wide()) return mask;
  const Vec v = function_.new_vec();
  cc_.vpmovm2d(v, mask.mask);
  return from_vec(v);
}

Value Emitter::vector_to_mask(const Value& lanes) {
  if (!function_.is_wide()) return lanes;
  Value value;
  value.mask = function_.new_mask();
  cc_.vpmovd2m(value.mask, reg(lanes, 0));
  return value;
}

Vec Emitter::mask_part(const Value& mask, int part) {
  const Vec v = function_.new_vec();
  Vec low = reg(mask, 0).xmm();
  if (part == 1) {
    const Vec high = function_.new_xmm();
    cc_.emit(Inst::kIdVextracti128, high, reg(mask, 0), 1);
    low = high;
  }
  cc_.emit(Inst::kIdVpmovsxdq, v, low);
  return v;
}

MaskReg Emitter::wmask_part(const Value& mask, int part) {
  if (part == 0) return mask.mask;
  const MaskReg high = function_.new_mask();
  cc_.kshiftrw(high, mask.mask, 8);
  return high;
}

Value Emitter::join_masks(const Vec& low, const Vec& high) {
  const Vec mixed = op3(Inst::kIdVshufps, low, high, 0x88);
  return from_vec(op2(Inst::kIdVpermq, mixed, 0xd8));
}

Value Emitter::join_masks(const MaskReg& low, const MaskReg& high) {
  Value value;
  value.mask = function_.new_mask();
  cc_.kunpckbw(value.mask, high, low);
  return value;
}

void Emitter::blend(ScalarType dtype, const Value& to, const Value& mask, const Value& yes,
                    const Value& no) {
  if (yes.is_unrounded || no.is_unrounded) {
    return blend(dtype, to, mask, rounded(dtype, yes), rounded(dtype, no));
  }
  const bool is_wide = function_.is_wide();
  if (dtype == kBool && is_wide) {
    const MaskReg taken = mask2(Inst::kIdKandw, mask.mask, yes.mask);
    const MaskReg other = mask2(Inst::kIdKandnw, mask.mask, no.mask);
    cc_.korw(to.mask, taken, other);
    return;
  }
  const bool is_long = is_wide_dtype(dtype);
  for (int part = 0; part < parts_of(dtype); ++part) {
    if (is_wide) {
      // Not vblendmps: asmjit takes its result for an operand and would keep it alive all around.
      const bool is_in_place = !no.in_memory && no.vec[part].id() == to.vec[part].id();
      if (!is_in_place) {
        cc_.emit(no.in_memory ? Inst::kIdVmovups : Inst::kIdVmovaps, to.vec[part],
                 operand(no, part));
      }
      cc_.k(is_long ? wmask_part(mask, part) : mask.mask)
          .emit(is_long ? Inst::kIdVmovupd : Inst::kIdVmovups, to.vec[part], operand(yes, part));
    } else {
      const Vec otherwise = reg(no, part);
      const Vec m = is_long ? mask_part(mask, part) : reg(mask, 0);
      cc_.emit(is_long ? Inst::kIdVblendvpd : Inst::kIdVblendvps, to.vec[part], otherwise,
               operand(yes, part), m);
    }
  }
}

Value Emitter::select(ScalarType dtype, const Value& mask, const Value& yes, const Value& no) {
  const Value result = new_value(dtype);
  blend(dtype, result, mask, yes, no);
  return result;
}

// ---- if_any ------------------------------------------------------------------------------------

void Emitter::if_any_begin(std::int32_t id) {
  int depth = 0;
  std::int32_t end = id;
  for (;; ++end) {
    const Prim prim = kernel_.code[end].prim;
    if (prim == Prim::kIfAnyBegin) ++depth;
    if (prim == Prim::kIfAnyEnd && --depth == 0) break;
  }
  // An end that was hoisted is an ordinary select, and its region with it.
  if (defined_[end] || !may_destroy_) return;
  const Instr& instr = kernel_.code[end];
  const Value mask = values_[instr.args[0]];
  Region region{end, function_.new_label(), copy(instr.dtype, values_[instr.args[1]])};
  if (function_.is_wide()) {
    cc_.kortestw(mask.mask, mask.mask);
  } else {
    const Vec m = reg(mask, 0);
    cc_.vtestps(m.as<asmjit::x86::Ymm>(), m.as<asmjit::x86::Ymm>());
  }
  cc_.jz(region.skip);
  regions_.push_back(region);
}

Value Emitter::if_any_end(std::int32_t id, const Instr& instr) {
  const Value& mask = values_[instr.args[0]];
  const Value& slow = values_[instr.args[2]];
  if (regions_.empty() || regions_.back().end != id) {
    return select(instr.dtype, mask, slow, values_[instr.args[1]]);
  }
  const Region region = regions_.back();
  regions_.pop_back();
  blend(instr.dtype, region.result, mask, slow, region.result);
  function_.bind(region.skip);
  return region.result;
}

// ---- small things ------------------------------------------------------------------------------

Vec Emitter::op1(Id id, const Operand& a) {
  const Vec to = function_.new_vec();
  cc_.emit(id, to, a);
  return to;
}
Vec Emitter::op2(Id id, const Operand& a, const Operand& b) {
  const Vec to = function_.new_vec();
  cc_.emit(id, to, a, b);
  return to;
}
Vec Emitter::op2(Id id, const Operand& a, int immediate) {
  const Vec to = function_.new_vec();
  cc_.emit(id, to, a, asmjit::Imm(immediate));
  return to;
}
Vec Emitter::op3(Id id, const Operand& a, const Operand& b, const Operand& c) {
  const Vec to = function_.new_vec();
  cc_.emit(id, to, a, b, c);
  return to;
}
Vec Emitter::op3(Id id, const Operand& a, const Operand& b, int immediate) {
  const Vec to = function_.new_vec();
  cc_.emit(id, to, a, b, asmjit::Imm(immediate));
  return to;
}
MaskReg Emitter::mask2(Id id, const MaskReg& a, const MaskReg& b) {
  const MaskReg to = function_.new_mask();
  cc_.emit(id, to, a, b);
  return to;
}

MaskReg Emitter::all_lanes() { return constant(kBool, 1, true).mask; }

Vec Emitter::zeros() {
  const Vec v = function_.new_vec();
  cc_.emit(Inst::kIdVxorps, v, v, v);
  return v;
}

Mem Emitter::scratch(int slot) {
  if (!has_scratch_[slot]) {
    scratch_[slot] = function_.new_stack(static_cast<std::uint32_t>(function_.lanes() * 8));
    has_scratch_[slot] = true;
  }
  return scratch_[slot];
}

}  // namespace groove::kernels::assembly
