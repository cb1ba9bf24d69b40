// Integers and bits: small types in 32-bit lanes, 64-bit arithmetic that AVX2 lacks, tables.
#include <deque>
#include <mutex>

#include "kernels/asmjit/emitter.h"

namespace groove::kernels::assembly {
namespace {

using Id = asmjit::InstId;

// Tables that generated code reads; code lives as long as the process and so do they.
const void* publish_table(const Table& table) {
  static std::mutex mutex;
  static auto* const tables = new std::deque<std::vector<std::uint64_t>>;
  const std::lock_guard lock(mutex);
  std::vector<std::uint64_t>& copy = tables->emplace_back();
  if (is_wide_dtype(table.dtype)) {
    copy = table.bits;
    return copy.data();
  }
  copy.resize((table.bits.size() + 1) / 2);
  auto* const words = reinterpret_cast<std::uint32_t*>(copy.data());
  for (std::size_t i = 0; i < table.bits.size(); ++i) {
    std::uint32_t word = static_cast<std::uint32_t>(table.bits[i]);
    if (table.dtype == kBool) word = (word & 1) ? ~0u : 0;
    if (table.dtype == kChar) word = static_cast<std::uint32_t>(static_cast<std::int8_t>(word));
    if (table.dtype == kShort) word = static_cast<std::uint32_t>(static_cast<std::int16_t>(word));
    words[i] = word;
  }
  return copy.data();
}

}  // namespace

void Emitter::normalise(ScalarType dtype, const Value& value) {
  const Vec v = value.vec[0];
  if (dtype == kByte) cc_.emit(Inst::kIdVandps, v, v, function_.constant32(0xff));
  if (dtype != kChar && dtype != kShort) return;
  const int bits = dtype == kChar ? 24 : 16;
  const Mem count = function_.constant32(static_cast<std::uint32_t>(bits));
  cc_.emit(Inst::kIdVpsllvd, v, v, count);
  cc_.emit(Inst::kIdVpsravd, v, v, count);
}

Value Emitter::bitwise(Prim prim, ScalarType dtype, const Value& a, const Value& b) {
  Value result;
  if (dtype == kBool && function_.is_wide()) {
    Id id = Inst::kIdKandw;
    if (prim == Prim::kOr) id = Inst::kIdKorw;
    if (prim == Prim::kXor) id = Inst::kIdKxorw;
    result.mask = mask2(id, a.mask, b.mask);
    return result;
  }
  Id id = Inst::kIdVandps;
  if (prim == Prim::kOr) id = Inst::kIdVorps;
  if (prim == Prim::kXor) id = Inst::kIdVxorps;
  for (int part = 0; part < parts_of(dtype); ++part) {
    result.vec[part] = op2(id, reg(a, part), operand(b, part));
  }
  return result;
}

// The variable shifts of AVX2 take counts as unsigned and give 0 (or the sign) from the lane width
// on. A small type shifts in its 32-bit lane: what leaves its own width is cut off afterwards.
Value Emitter::shift(Prim prim, ScalarType dtype, const Value& a, const Value& b) {
  Value result;
  if (dtype == kLong) {
    for (int part = 0; part < 2; ++part) {
      const Vec x = reg(a, part);
      if (prim == Prim::kShiftLeft) {
        result.vec[part] = op2(Inst::kIdVpsllvq, x, operand(b, part));
      } else if (prim == Prim::kShiftRightLogical) {
        result.vec[part] = op2(Inst::kIdVpsrlvq, x, operand(b, part));
      } else if (function_.is_wide()) {
        result.vec[part] = op2(Inst::kIdVpsravq, x, operand(b, part));
      } else {
        // Flip negative values to non-negative ones and back around a logical shift.
        const Vec sign = op2(Inst::kIdVpcmpgtq, zeros(), x);
        const Vec flipped = op2(Inst::kIdVxorps, x, sign);
        const Vec bits = op2(Inst::kIdVpsrlvq, flipped, operand(b, part));
        result.vec[part] = op2(Inst::kIdVxorps, bits, sign);
      }
    }
    return result;
  }
  Vec x = reg(a, 0);
  Id id = Inst::kIdVpsllvd;
  if (prim == Prim::kShiftRightArithmetic) id = Inst::kIdVpsravd;
  if (prim == Prim::kShiftRightLogical) {
    id = Inst::kIdVpsrlvd;
    if (dtype == kChar) x = op2(Inst::kIdVandps, x, function_.constant32(0xff));
    if (dtype == kShort) x = op2(Inst::kIdVandps, x, function_.constant32(0xffff));
  }
  result.vec[0] = op2(id, x, operand(b, 0));
  normalise(dtype, result);
  return result;
}

// Not by an immediate: of these shifts, those that read memory are AVX-512's alone, and asmjit
// takes them for a value that has been spilled whatever the processor knows.
Vec Emitter::shifted(Id variable, const Vec& x, int bits) {
  const bool is_long = variable == Inst::kIdVpsllvq || variable == Inst::kIdVpsrlvq;
  const auto count = static_cast<std::uint32_t>(bits);
  return op2(variable, x, is_long ? function_.constant64(count) : function_.constant32(count));
}

Value Emitter::shift_long(const Value& value, int left) {
  if (left == 0) return value;
  return from_vecs(shifted(Inst::kIdVpsllvq, reg(value, 0), left),
                   shifted(Inst::kIdVpsllvq, reg(value, 1), left));
}

Value Emitter::multiply_long(const Value& a, const Value& b) {
  Value result;
  for (int part = 0; part < 2; ++part) {
    const Vec x = reg(a, part), y = reg(b, part);
    if (function_.is_wide()) {
      result.vec[part] = op2(Inst::kIdVpmullq, x, y);
      continue;
    }
    // low * low + ((low * high + high * low) << 32)
    const Vec swapped = op2(Inst::kIdVpshufd, y, 0xb1);
    const Vec cross = op2(Inst::kIdVpmulld, x, swapped);
    const Vec sum = op2(Inst::kIdVpaddd, cross, shifted(Inst::kIdVpsrlvq, cross, 32));
    const Vec low = op2(Inst::kIdVpmuludq, x, y);
    result.vec[part] = op2(Inst::kIdVpaddq, low, shifted(Inst::kIdVpsllvq, sum, 32));
  }
  return result;
}

Value Emitter::multiply_high(const Value& a, const Value& b) {
  const Vec x = reg(a, 0), y = reg(b, 0);
  const Vec even = op2(Inst::kIdVpmuludq, x, y);
  const Vec odd =
      op2(Inst::kIdVpmuludq, shifted(Inst::kIdVpsrlvq, x, 32), shifted(Inst::kIdVpsrlvq, y, 32));
  const Vec high = op2(Inst::kIdVandps, odd, function_.constant64(0xffffffffull << 32));
  return from_vec(op2(Inst::kIdVorps, shifted(Inst::kIdVpsrlvq, even, 32), high));
}

// By zero gives 0; INT_MIN / -1 wraps to INT_MIN.
Value Emitter::divide_integers(ScalarType dtype, const Value& a, const Value& b) {
  if (dtype != kLong) {
    // A quotient of two 32-bit integers truncates to the same integer when rounded to f64 first.
    const Value x = convert(kDouble, kInt, a), y = convert(kDouble, kInt, b);
    const Value quotient = convert(kInt, kDouble, binary(Prim::kDiv, kDouble, x, y));
    const Value zero = constant(kInt, 0, true);
    const Value result = select(dtype, compare(Prim::kEq, kInt, b, zero), zero, quotient);
    normalise(dtype, result);
    return result;
  }
  spill(kLong, scratch(0), a);
  spill(kLong, scratch(1), b);
  Compiler& cc = cc_;
  const Gp lane = function_.new_gp(), high = function_.new_gp(), low = function_.new_gp();
  const Gp divisor = function_.new_gp();
  const Label loop = function_.new_label(), divide = function_.new_label();
  const Label next = function_.new_label();
  const auto at = [&](int slot) {
    Mem m = scratch(slot);
    m.setIndex(lane, 3);
    m.setSize(8);
    return m;
  };
  cc.xor_(lane.r32(), lane.r32());
  function_.bind(loop);
  cc.mov(divisor, at(1));
  cc.mov(low, at(0));
  cc.lea(high, asmjit::x86::ptr(divisor, 1));
  cc.cmp(high, 1);
  cc.ja(divide);          // neither -1 nor 0
  cc.imul(low, divisor);  // x * -1 and x * 0 are the two quotients
  cc.jmp(next);
  function_.bind(divide);
  cc.cqo(high, low);
  cc.idiv(high, low, divisor);
  function_.bind(next);
  cc.mov(at(0), low);
  cc.inc(lane);
  cc.cmp(lane, function_.lanes());
  cc.jb(loop);
  return reload(kLong, scratch(0));
}

Value Emitter::lookup(const Instr& instr, const Value& index) {
  const Table& table = kernel_.tables[instr.imm];
  // Lanes past the end of a row hold anything, so the index is clamped to the table.
  const ScalarType index_dtype = kernel_.code[instr.args[0]].dtype;
  const Value narrow = index_dtype == kLong ? long_to_int(index) : index;
  const auto last = static_cast<std::uint32_t>(table.bits.size() - 1);
  const Vec where = op2(Inst::kIdVpminud, reg(narrow, 0), function_.constant32(last));
  const Gp base = function_.new_gp();
  cc_.mov(base, reinterpret_cast<std::uint64_t>(publish_table(table)));
  const bool is_long = is_wide_dtype(table.dtype);
  Value result;
  for (int part = 0; part < parts_of(table.dtype); ++part) {
    const Vec lanes = is_long ? half(from_vec(where), part) : where;
    const Mem address = asmjit::x86::ptr(base, lanes, is_long ? 3 : 2);
    const Vec to = zeros();
    const Id id = is_long ? Inst::kIdVgatherdpd : Inst::kIdVgatherdps;
    if (function_.is_wide()) {
      cc_.k(all_lanes()).emit(id, to, address);
    } else {
      cc_.emit(id, to, address, op2(Inst::kIdVpcmpeqd, where, where));
    }
    result.vec[part] = to;
  }
  return table.dtype == kBool ? vector_to_mask(result) : result;
}

}  // namespace groove::kernels::assembly
