// Memory: contiguous, broadcast, gathered and strided elements of every dtype, whole vectors and
// tails. A tail touches its own elements only; AVX2 has no masked access to bytes, so those pass
// through a stack slot.
#include "kernels/asmjit/emitter.h"
#include "src/core/faults.h"

namespace groove::kernels::assembly {
namespace {

using Id = asmjit::InstId;

int size_of(ScalarType dtype) { return static_cast<int>(element_size(dtype)); }

Mem sized(Mem memory, int bytes) {
  memory.setSize(static_cast<std::uint32_t>(bytes));
  return memory;
}

Mem indexed(Mem memory, const Gp& index, int shift, int bytes) {
  memory.setIndex(index, static_cast<std::uint32_t>(shift));
  return sized(memory, bytes);
}

// One narrow element into a 32-bit register, extended as its dtype asks.
void load_narrow(Compiler& cc, ScalarType dtype, const Gp& to, const Mem& from) {
  if (dtype == kChar) {
    cc.movsx(to.r32(), sized(from, 1));
  } else if (dtype == kShort) {
    cc.movsx(to.r32(), sized(from, 2));
  } else if (is_half_dtype(dtype)) {
    cc.movzx(to.r32(), sized(from, 2));
  } else {
    cc.movzx(to.r32(), sized(from, 1));
  }
}

void store_narrow(Compiler& cc, int bytes, const Mem& to, const Gp& from) {
  if (bytes == 1) {
    cc.mov(sized(to, 1), from.r8());
  } else {
    cc.mov(sized(to, 2), from.r16());
  }
}

}  // namespace

Tail Emitter::make_tail(const Gp& count) {
  Tail tail;
  tail.count = count;
  if (has_fault(Fault::kTailTooLong)) cc_.inc(count);
  if (function_.is_wide()) {
    const Gp ones = function_.new_gp();
    cc_.mov(ones.r32(), -1);
    cc_.bzhi(ones.r32(), ones.r32(), count.r32());
    tail.wmask = function_.new_mask();
    cc_.kmovw(tail.wmask, ones.r32());
  } else {
    static constexpr std::int32_t kLanes[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    const Vec x = function_.new_xmm();
    cc_.emit(Inst::kIdVmovd, x, count.r32());
    const Vec all = function_.new_vec();
    cc_.emit(Inst::kIdVpbroadcastd, all, x);
    tail.mask = op2(Inst::kIdVpcmpgtd, all, function_.constant(kLanes, sizeof kLanes));
  }
  return tail;
}

Value Emitter::iota() {
  Value value;
  value.in_memory = true;
  const int half = function_.lanes() / 2;
  for (int part = 0; part < 2; ++part) {
    std::int64_t lanes[8] = {};
    for (int i = 0; i < half; ++i) lanes[i] = part * half + i;
    value.memory[part] = function_.constant(lanes, static_cast<std::size_t>(half) * 8);
  }
  return value;
}

Value Emitter::broadcast_gp(const Gp& gp) {
  const Vec v = function_.new_vec();
  if (function_.is_wide()) {
    cc_.emit(Inst::kIdVpbroadcastq, v, gp);
  } else {
    const Vec x = function_.new_xmm();
    cc_.emit(Inst::kIdVmovq, x, gp);
    cc_.emit(Inst::kIdVpbroadcastq, v, x);
  }
  Value value = from_vecs(v, v);
  value.is_shared = true;
  return value;
}

// The copy stays in a register: asmjit replaces a spilled source of vmovd by its stack slot, an
// instruction that does not exist and means something else.
Gp Emitter::lane0_gp(const Vec& v) {
  const Vec copy = function_.new_xmm();
  cc_.emit(Inst::kIdVmovaps, copy, v.xmm());
  const Gp gp = function_.new_gp();
  cc_.emit(Inst::kIdVmovq, gp, copy);
  return gp;
}

void Emitter::spill(ScalarType dtype, const Mem& to, const Value& value) {
  if (dtype == kBool) return spill(kInt, to, mask_to_vector(value));
  for (int part = 0; part < parts_of(dtype); ++part) {
    cc_.emit(Inst::kIdVmovups, with_offset(to, part * function_.vector_bytes()), reg(value, part));
  }
}

Value Emitter::reload(ScalarType dtype, const Mem& from) {
  Value value;
  for (int part = 0; part < parts_of(dtype); ++part) {
    value.vec[part] = op1(Inst::kIdVmovups, with_offset(from, part * function_.vector_bytes()));
  }
  return dtype == kBool ? vector_to_mask(value) : value;
}

// Copies count * size bytes, one element after the other.
void Emitter::copy_bytes(const Mem& to, const Mem& from, const Gp& count, int size) {
  const Gp source = function_.new_gp(), target = function_.new_gp(), i = function_.new_gp();
  const Gp t = function_.new_gp();
  cc_.lea(source, from);
  cc_.lea(target, to);
  cc_.xor_(i.r32(), i.r32());
  const Label loop = function_.new_label();
  function_.bind(loop);
  if (size == 1) {
    cc_.movzx(t.r32(), asmjit::x86::byte_ptr(source, i));
    cc_.mov(asmjit::x86::byte_ptr(target, i), t.r8());
  } else {
    cc_.movzx(t.r32(), asmjit::x86::word_ptr(source, i, 1));
    cc_.mov(asmjit::x86::word_ptr(target, i, 1), t.r16());
  }
  cc_.inc(i);
  cc_.cmp(i, count);
  cc_.jb(loop);
}

Value Emitter::load_contiguous(ScalarType dtype, const Mem& address, const Tail* tail) {
  if (is_half_dtype(dtype)) return load_halves(dtype, address, tail);
  const bool is_wide = function_.is_wide();
  const int size = size_of(dtype);
  Value value;
  if (size >= 4) {
    for (int part = 0; part < parts_of(dtype); ++part) {
      const Mem from = with_offset(address, part * function_.vector_bytes());
      const Vec to = function_.new_vec();
      if (!tail) {
        cc_.emit(Inst::kIdVmovups, to, from);
      } else if (is_wide) {
        Value lanes;
        lanes.mask = tail->wmask;
        cc_.k(size == 8 ? wmask_part(lanes, part) : tail->wmask)
            .z()
            .emit(size == 8 ? Inst::kIdVmovupd : Inst::kIdVmovups, to, from);
      } else if (size == 8) {
        cc_.emit(Inst::kIdVmaskmovpd, to, mask_part(from_vec(tail->mask), part), from);
      } else {
        cc_.emit(Inst::kIdVmaskmovps, to, tail->mask, from);
      }
      value.vec[part] = to;
    }
    return value;
  }
  Id id = Inst::kIdVpmovzxbd;
  if (dtype == kChar) id = Inst::kIdVpmovsxbd;
  if (dtype == kShort) id = Inst::kIdVpmovsxwd;
  const Vec to = function_.new_vec();
  if (!tail) {
    cc_.emit(id, to, sized(address, function_.lanes() * size));
  } else if (is_wide) {
    cc_.k(tail->wmask).z().emit(id, to, sized(address, function_.lanes() * size));
  } else {
    cc_.emit(Inst::kIdVmovups, scratch(0), zeros());
    copy_bytes(scratch(0), address, tail->count, size);
    cc_.emit(id, to, sized(scratch(0), function_.lanes() * size));
  }
  value.vec[0] = to;
  return dtype == kBool ? compare(Prim::kNe, kInt, value, constant(kInt, 0, false)) : value;
}

// The low bytes of each lane, in scratch slot 1.
Mem Emitter::pack(ScalarType dtype, const Value& value) {
  static constexpr std::int8_t kBytes[16] = {0,  4,  8,  12, -1, -1, -1, -1,
                                             -1, -1, -1, -1, -1, -1, -1, -1};
  static constexpr std::int8_t kWords[16] = {0,  1,  4,  5,  8,  9,  12, 13,
                                             -1, -1, -1, -1, -1, -1, -1, -1};
  const int size = size_of(dtype);
  Vec lanes = reg(value, 0);
  if (dtype == kBool) lanes = shifted(Inst::kIdVpsrlvd, lanes, 31);
  std::int8_t order[32];
  for (int i = 0; i < 32; ++i) order[i] = size == 1 ? kBytes[i % 16] : kWords[i % 16];
  const Vec mixed = op2(Inst::kIdVpshufb, lanes, function_.constant(order, sizeof order));
  const Vec high = function_.new_xmm(), packed = function_.new_xmm();
  cc_.emit(Inst::kIdVextracti128, high, mixed, 1);
  cc_.emit(size == 1 ? Inst::kIdVpunpckldq : Inst::kIdVpunpcklqdq, packed, mixed.xmm(), high);
  cc_.emit(Inst::kIdVmovups, scratch(1), packed);
  return scratch(1);
}

void Emitter::store_contiguous(ScalarType dtype, const Mem& address, const Value& value,
                               const Tail* tail) {
  if (is_half_dtype(dtype)) return store_halves(dtype, address, value, tail);
  const bool is_wide = function_.is_wide();
  const int size = size_of(dtype);
  if (size >= 4) {
    for (int part = 0; part < parts_of(dtype); ++part) {
      const Mem to = with_offset(address, part * function_.vector_bytes());
      const Vec from = reg(value, part);
      if (!tail) {
        cc_.emit(Inst::kIdVmovups, to, from);
      } else if (is_wide) {
        Value lanes;
        lanes.mask = tail->wmask;
        cc_.k(size == 8 ? wmask_part(lanes, part) : tail->wmask)
            .emit(size == 8 ? Inst::kIdVmovupd : Inst::kIdVmovups, to, from);
      } else if (size == 8) {
        cc_.emit(Inst::kIdVmaskmovpd, to, mask_part(from_vec(tail->mask), part), from);
      } else {
        cc_.emit(Inst::kIdVmaskmovps, to, tail->mask, from);
      }
    }
    return;
  }
  if (is_wide) {
    const Vec lanes = dtype == kBool ? bool_to_number(kInt, value).vec[0] : reg(value, 0);
    const Id id = size == 1 ? Inst::kIdVpmovdb : Inst::kIdVpmovdw;
    const Mem to = sized(address, function_.lanes() * size);
    if (tail) {
      cc_.k(tail->wmask).emit(id, to, lanes);
    } else {
      cc_.emit(id, to, lanes);
    }
    return;
  }
  const Mem packed = pack(dtype, value);
  if (tail) {
    copy_bytes(address, packed, tail->count, size);
    return;
  }
  const Vec x = function_.new_xmm();
  cc_.emit(Inst::kIdVmovups, x, packed);
  cc_.emit(size == 1 ? Inst::kIdVmovq : Inst::kIdVmovups, address, x);
}

Value Emitter::load_broadcast(ScalarType dtype, const Mem& address) {
  const int size = size_of(dtype);
  Value value;
  if (size >= 4) {
    const Vec v = function_.new_vec();
    cc_.emit(size == 8 ? Inst::kIdVbroadcastsd : Inst::kIdVbroadcastss, v, address);
    value = from_vecs(v, v);
    value.is_shared = size == 8;
    return value;
  }
  const Gp t = function_.new_gp();
  load_narrow(cc_, dtype, t, address);
  if (dtype == kBool) {
    cc_.neg(t.r32());  // carries when not zero
    cc_.sbb(t.r32(), t.r32());
    if (function_.is_wide()) {
      value.mask = function_.new_mask();
      cc_.kmovw(value.mask, t.r32());
      return value;
    }
  }
  const Vec x = function_.new_xmm();
  cc_.emit(Inst::kIdVmovd, x, t.r32());
  const Value lanes = from_vec(op1(Inst::kIdVpbroadcastd, x));
  return is_half_dtype(dtype) ? from_half_lanes(dtype, lanes) : lanes;
}

void Emitter::store_lane0(ScalarType dtype, const Mem& address, const Value& value) {
  if (is_half_dtype(dtype)) return store_lane0(kShort, address, half_lanes(dtype, value));
  const int size = size_of(dtype);
  const Vec x = (dtype == kBool ? reg(mask_to_vector(value), 0) : reg(value, 0)).xmm();
  if (size >= 4) {
    cc_.emit(size == 8 ? Inst::kIdVmovsd : Inst::kIdVmovss, address, x);
    return;
  }
  const Gp t = lane0_gp(x);
  if (dtype == kBool) cc_.and_(t.r32(), 1);
  store_narrow(cc_, size, address, t);
}

Value Emitter::lane_offsets(const Gp& byte_stride) {
  const Gp at = function_.new_gp();
  cc_.xor_(at.r32(), at.r32());
  for (int lane = 0; lane < function_.lanes(); ++lane) {
    cc_.mov(with_offset(scratch(0), lane * 8), at);
    if (lane + 1 < function_.lanes()) cc_.add(at, byte_stride);
  }
  return reload(kLong, scratch(0));
}

Value Emitter::load_gather(ScalarType dtype, const Gp& base, const Value& byte_offsets,
                           const Tail* tail) {
  const int size = size_of(dtype);
  if (size < 4) {
    spill(kLong, scratch(0), byte_offsets);
    if (tail) spill(kInt, scratch(1), from_vec(zeros()));
    const Gp lane = function_.new_gp(), at = function_.new_gp();
    cc_.xor_(lane.r32(), lane.r32());
    const Label loop = function_.new_label();
    function_.bind(loop);
    cc_.mov(at, indexed(scratch(0), lane, 3, 8));
    load_narrow(cc_, dtype, at, asmjit::x86::ptr(base, at));
    cc_.mov(indexed(scratch(1), lane, 2, 4), at.r32());
    cc_.inc(lane);
    if (tail) {
      cc_.cmp(lane, tail->count);
    } else {
      cc_.cmp(lane, function_.lanes());
    }
    cc_.jb(loop);
    const Value lanes = reload(kInt, scratch(1));
    if (is_half_dtype(dtype)) return from_half_lanes(dtype, lanes);
    return dtype == kBool ? compare(Prim::kNe, kInt, lanes, constant(kInt, 0, false)) : lanes;
  }
  const bool is_wide = function_.is_wide();
  Vec loaded[2];
  for (int part = 0; part < 2; ++part) {
    const Mem address = asmjit::x86::ptr(base, reg(byte_offsets, part), 0);
    // Offsets are 64 bits wide, so 32-bit elements fill half a vector.
    Vec to = zeros();
    if (size == 4) to = low_half(to);
    if (is_wide) {
      MaskReg k;
      if (tail) {
        Value lanes;
        lanes.mask = tail->wmask;
        k = function_.new_mask();
        cc_.kmovw(k, wmask_part(lanes, part));  // the gather clears it
      } else {
        k = all_lanes();
      }
      cc_.k(k).emit(size == 8 ? Inst::kIdVgatherqpd : Inst::kIdVgatherqps, to, address);
    } else {
      Vec m;
      if (tail && size == 8) {
        m = mask_part(from_vec(tail->mask), part);
      } else if (tail) {
        m = function_.new_xmm();
        cc_.emit(Inst::kIdVextracti128, m, tail->mask, part);
      } else {
        m = op1(Inst::kIdVmovups, function_.constant32(~0u));
        if (size == 4) m = m.xmm();
      }
      cc_.emit(size == 8 ? Inst::kIdVgatherqpd : Inst::kIdVgatherqps, to, address, m);
    }
    loaded[part] = to;
  }
  return size == 8 ? from_vecs(loaded[0], loaded[1]) : join(loaded[0], loaded[1]);
}

// Elements that lie backwards are loaded side by side and turned around.
Value Emitter::load_strided(ScalarType dtype, const Gp& base, const Gp& byte_stride,
                            const Value& byte_offsets, const Tail* tail) {
  const int size = size_of(dtype);
  if (tail || size != 4 || is_half_dtype(dtype))
    return load_gather(dtype, base, byte_offsets, tail);
  const Value result = new_value(dtype);
  const Label apart = function_.new_label(), done = function_.new_label();
  cc_.cmp(byte_stride, -size);
  cc_.jne(apart);
  const Vec lanes = function_.new_vec(), turned = function_.new_vec();
  cc_.emit(Inst::kIdVmovups, lanes, asmjit::x86::ptr(base, -size * (function_.lanes() - 1)));
  constexpr int kBackwards = 0x1b;  // of four
  cc_.emit(Inst::kIdVpermilps, lanes, lanes, asmjit::Imm(kBackwards));
  if (function_.is_wide()) {
    cc_.emit(Inst::kIdVshuff64x2, turned, lanes, lanes, asmjit::Imm(kBackwards));
  } else {
    cc_.emit(Inst::kIdVperm2f128, turned, lanes, lanes, asmjit::Imm(1));
  }
  assign(dtype, result, from_vec(turned));
  cc_.jmp(done);
  function_.bind(apart);
  assign(dtype, result, load_gather(dtype, base, byte_offsets, nullptr));
  function_.bind(done);
  return result;
}

void Emitter::store_strided(ScalarType dtype, const Gp& base, const Gp& byte_stride,
                            const Value& value, const Tail* tail) {
  const int size = size_of(dtype);
  if (is_half_dtype(dtype)) {
    spill(kInt, scratch(1), half_lanes(dtype, value));
  } else {
    spill(dtype, scratch(1), value);
  }
  const Gp lane = function_.new_gp(), to = function_.new_gp(), t = function_.new_gp();
  cc_.mov(to, base);
  cc_.xor_(lane.r32(), lane.r32());
  const Label loop = function_.new_label();
  function_.bind(loop);
  const Mem from = indexed(scratch(1), lane, size == 8 ? 3 : 2, size == 8 ? 8 : 4);
  cc_.mov(size == 8 ? t : t.r32(), from);
  if (dtype == kBool) cc_.and_(t.r32(), 1);
  if (size >= 4) {
    cc_.mov(sized(asmjit::x86::ptr(to), size), size == 8 ? t : t.r32());
  } else {
    store_narrow(cc_, size, asmjit::x86::ptr(to), t);
  }
  cc_.add(to, byte_stride);
  cc_.inc(lane);
  if (tail) {
    cc_.cmp(lane, tail->count);
  } else {
    cc_.cmp(lane, function_.lanes());
  }
  cc_.jb(loop);
}

}  // namespace groove::kernels::assembly
