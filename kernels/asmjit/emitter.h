// Emits scalar kernel instructions for one vector of W lanes (W = 8 under AVX2, 16 under AVX-512):
// the part that loop nests and contraction epilogues share. Loops, addresses and memory belong to
// the host, which the emitter asks for every leaf and hands every effect.
//
//   struct MyHost : EmitterHost { … load, store … };
//   Function function(isa());
//   Emitter emitter(function, kernel, host);
//   emitter.define(id, value);                   // optional: values made elsewhere (accumulators)
//   emitter.emit(0, kernel.code.size());         // or emit_one(id)
//
// How values lie in registers:
//   f32, i32            one vector of W lanes
//   f64, i64            two vectors of W/2 lanes: vec[0] the lower lanes, vec[1] the upper ones
//   u8, i8, i16         one vector of W i32 lanes, always zero- or sign-extended
//   f16, bf16           one vector of W f32 lanes
//   bool                AVX2: one vector of W i32 lanes, all ones or zero; AVX-512: a mask register
// Lanes past the end of a row hold anything; no instruction emitted here can fault on them.
#pragma once

#include <vector>

#include "kernels/asmjit/facade.h"
#include "kernels/ir.h"

namespace groove::kernels::assembly {

constexpr bool is_wide_dtype(ScalarType dtype) { return dtype == kDouble || dtype == kLong; }
constexpr bool is_half_dtype(ScalarType dtype) { return dtype == kHalf || dtype == kBFloat16; }
/// The f32 bits of a 16-bit float.
std::uint32_t half_as_float_bits(ScalarType dtype, std::uint64_t bits);
constexpr int parts_of(ScalarType dtype) { return is_wide_dtype(dtype) ? 2 : 1; }

struct Value {
  Vec vec[2];
  MaskReg mask;   // bool under AVX-512
  Mem memory[2];  // instead of vec when in_memory: a constant, all lanes, in the pool
  bool in_memory = false;
  bool is_shared = false;  // the registers have another name or outlive the loop: never destroy
  bool is_unrounded = false;  // a 16-bit float that is still the f32 it is converted from
};

class Emitter;

class EmitterHost {
 public:
  virtual ~EmitterHost() = default;
  virtual Value load(Emitter& emitter, const Instr& instr) = 0;
  virtual Value load_at(Emitter& emitter, const Instr& instr, const Value& offset);
  virtual void store(Emitter& emitter, const Instr& instr, const Value& value) = 0;
  virtual Value param(Emitter& emitter, const Instr& instr) = 0;
  virtual Value index(Emitter& emitter, const Instr& instr) = 0;
  /// Called for each reduction with its operand; nothing is defined by it.
  virtual void reduce(Emitter& emitter, std::int32_t id, const Value& operand);
};

// The lanes in [0, count) of a vector that is cut short by the end of a row.
struct Tail {
  Gp count;       // 1 … W - 1 (W is allowed)
  Vec mask;       // AVX2: W 32-bit lanes
  MaskReg wmask;  // AVX-512: W bits
};

class Emitter {
 public:
  Emitter(Function& function, const Kernel& kernel, EmitterHost& host);

  Function& function() { return function_; }
  Compiler& compiler() { return cc_; }
  const Kernel& kernel() const { return kernel_; }

  void emit(std::int32_t begin, std::int32_t end);
  void emit_one(std::int32_t id);
  /// Gives instruction `id` a value made elsewhere; emit() skips it from then on.
  void define(std::int32_t id, const Value& value);
  bool is_defined(std::int32_t id) const { return defined_[id]; }
  const Value& value(std::int32_t id) const { return values_[id]; }
  /// Turns all that emit() made so far into values that outlive the code that follows.
  void keep();
  /// Drops what emit() made since (a new copy of a loop body follows); keeps the rest.
  void forget();
  /// The values of another copy of a body, emitted side by side with this one: it starts with what
  /// was kept, and has its turn between two swaps.
  struct Copy {
    std::vector<Value> values;
    std::vector<char> defined;
  };
  Copy fork() const { return {values_, defined_}; }
  void swap(Copy& copy) {
    values_.swap(copy.values);
    defined_.swap(copy.defined);
  }
  /// While false no instruction overwrites its operand's registers: for code that is hoisted, whose
  /// operands may have later uses in an earlier place of the list.
  void set_may_destroy(bool may) { may_destroy_ = may; }

  // Values.
  Value new_value(ScalarType dtype);
  Value copy(ScalarType dtype, const Value& value);  // into fresh registers
  void assign(ScalarType dtype, const Value& to, const Value& from);
  Value constant(ScalarType dtype, std::uint64_t bits, bool in_register);
  /// to = mask ? yes : no, where `mask` is a bool value.
  void blend(ScalarType dtype, const Value& to, const Value& mask, const Value& yes,
             const Value& no);
  Value binary(Prim prim, ScalarType dtype, const Value& a, const Value& b);
  Value compare(Prim prim, ScalarType operand_dtype, const Value& a, const Value& b);
  /// NaN-propagating max (or min): the combination of kReduceMax and kReduceMin.
  Value extremum(bool is_max, ScalarType dtype, const Value& a, const Value& b);
  Value convert(ScalarType to, ScalarType from, const Value& a);
  Value bitwise(Prim prim, ScalarType dtype, const Value& a, const Value& b);

  // Memory: W consecutive elements, a broadcast element. `tail` may be null (all W lanes).
  Value load_contiguous(ScalarType dtype, const Mem& address, const Tail* tail);
  void store_contiguous(ScalarType dtype, const Mem& address, const Value& value, const Tail* tail);
  Value load_broadcast(ScalarType dtype, const Mem& address);
  void store_lane0(ScalarType dtype, const Mem& address, const Value& value);
  /// Byte offsets l * byte_stride of the lanes, as an i64 value; make them outside of the loop.
  Value lane_offsets(const Gp& byte_stride);
  /// Lane l at base + byte_offsets[l].
  Value load_gather(ScalarType dtype, const Gp& base, const Value& byte_offsets, const Tail* tail);
  Value load_strided(ScalarType dtype, const Gp& base, const Gp& byte_stride,
                     const Value& byte_offsets, const Tail* tail);
  /// Lane l to base + l * byte_stride, in ascending order.
  void store_strided(ScalarType dtype, const Gp& base, const Gp& byte_stride, const Value& value,
                     const Tail* tail);
  Tail make_tail(const Gp& count);
  /// 64-bit lane numbers 0 … W - 1.
  Value iota();
  Value shift_long(const Value& value, int left);
  Gp lane0_gp(const Vec& v);            // the low 64 bits of a vector
  Value broadcast_gp(const Gp& value);  // i64

  // Parts of a value, as operands of instructions.
  Vec reg(const Value& value, int part);
  const Operand& operand(const Value& value, int part) {
    return value.in_memory ? static_cast<const Operand&>(value.memory[part]) : value.vec[part];
  }
  /// A stack slot that holds W lanes of 8 bytes; slots 0 … 3.
  Mem scratch(int slot);
  void spill(ScalarType dtype, const Mem& to, const Value& value);  // packed lanes, bool as i32
  Value reload(ScalarType dtype, const Mem& from);

 private:
  Vec op1(asmjit::InstId id, const Operand& a);
  Vec op2(asmjit::InstId id, const Operand& a, const Operand& b);
  Vec op2(asmjit::InstId id, const Operand& a, int immediate);
  Vec shifted(asmjit::InstId variable, const Vec& x, int bits);
  Vec op3(asmjit::InstId id, const Operand& a, const Operand& b, const Operand& c);
  Vec op3(asmjit::InstId id, const Operand& a, const Operand& b, int immediate);
  MaskReg mask2(asmjit::InstId id, const MaskReg& a, const MaskReg& b);
  MaskReg all_lanes();
  Vec zeros();
  Value unary(Prim prim, ScalarType dtype, const Value& a);
  Value fma(std::int32_t id, const Instr& instr);
  Value scale(ScalarType dtype, const Value& a, const Value& b);
  Value shift(Prim prim, ScalarType dtype, const Value& a, const Value& b);
  Value multiply_long(const Value& a, const Value& b);
  Value multiply_high(const Value& a, const Value& b);
  Value divide_integers(ScalarType dtype, const Value& a, const Value& b);

  Value lookup(const Instr& instr, const Value& index);
  Value select(ScalarType dtype, const Value& mask, const Value& yes, const Value& no);
  void if_any_begin(std::int32_t id);
  Value if_any_end(std::int32_t id, const Instr& instr);
  Value float_to_long(ScalarType from, const Value& a);
  Value long_to_float(ScalarType to, const Value& a);
  Value float_to_int(ScalarType from, const Value& a);
  Value long_to_int(const Value& a);
  Value bool_to_number(ScalarType to, const Value& a);
  Value from_vec(const Vec& low);
  Value from_vecs(const Vec& low, const Vec& high);
  Value join(const Vec& low, const Vec& high);  // two halves of 32-bit lanes
  Vec half(const Value& value, int part);       // the other way: xmm or ymm
  Value rounded(ScalarType dtype, const Value& value);
  Vec rounded_upper_halves(const Value& value);
  Vec packed_halves(ScalarType dtype, const Value& value);
  Vec pack_words(const Vec& lanes);
  Value half_lanes(ScalarType dtype, const Value& value);
  Value from_half_lanes(ScalarType dtype, const Value& lanes);
  Value load_halves(ScalarType dtype, const Mem& address, const Tail* tail);
  void store_halves(ScalarType dtype, const Mem& address, const Value& value, const Tail* tail);
  void copy_bytes(const Mem& to, const Mem& from, const Gp& count, int size);
  Mem pack(ScalarType dtype, const Value& value);        // narrow lanes, packed in a scratch slot
  void normalise(ScalarType dtype, const Value& value);  // small integers, after wrapping
  Value mask_to_vector(const Value& mask);               // i32 lanes, all ones or zero
  Value vector_to_mask(const Value& lanes);              // the sign bit of each i32 lane
  Vec mask_part(const Value& mask, int part);            // AVX2: W/2 64-bit lanes
  MaskReg wmask_part(const Value& mask, int part);       // AVX-512: W/2 bits
  Value join_masks(const Vec& low, const Vec& high);
  Value join_masks(const MaskReg& low, const MaskReg& high);
  void find_folded_negations();
  bool may_destroy(std::int32_t user, std::int32_t argument) const;

  Function& function_;
  Compiler& cc_;
  const Kernel& kernel_;
  EmitterHost& host_;
  std::vector<Value> values_;
  std::vector<char> defined_;  // 0 no, 1 by emit, 2 by define
  std::vector<std::int32_t> last_use_;
  std::vector<bool> folded_;  // negations that are part of the fma that uses them
  bool may_destroy_ = true;
  bool keeps_constants_ = true;
  struct Region {
    std::int32_t end;
    Label skip;
    Value result;
  };
  std::vector<Region> regions_;
  Mem scratch_[4];
  bool has_scratch_[4] = {};
};

}  // namespace groove::kernels::assembly
