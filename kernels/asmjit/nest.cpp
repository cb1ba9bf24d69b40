// What all loop nests share: levels, addresses and kMap kernels.
#include "kernels/asmjit/nest.h"

#include <algorithm>
#include <bit>
#include <cstddef>

#include "groove/error.h"
#include "kernels/machine.h"
#include "kernels/scalings.h"

namespace groove::kernels::assembly {
namespace {

// Addresses that stay in registers through all phases of a row. Where there are more, loops would
// find those that they use on the stack and others in their place.
constexpr std::size_t kMostResident = 4;

// Instructions of a body from which on it is worth having twice, and the registers there are.
constexpr int kLongBody = 16, kMasks = 6, kVectors = 32;

bool is_index1(const Instr& instr) { return instr.prim == Prim::kIndex && instr.imm == 1; }

}  // namespace

Nest::Nest(const Kernel& kernel, Isa isa)
    : kernel_(kernel),
      function_(isa),
      emitter_(function_, kernel, *this),
      cc_(function_.compiler()),
      levels_(nest_levels(kernel)),
      lookahead_(find_lookahead(kernel, levels_, this_machine().first_cache)) {
  if (kernel.accesses.size() > kMaxAccesses) throw Error("asmjit: a kernel with > 128 accesses");
  for (const Instr& instr : kernel.code) uses_index1_ |= is_index1(instr);
}

NestFunction generate_nest(const Kernel& kernel, Isa isa) {
  if (isa != Isa::kAvx512 || !has_scalings(kernel)) return Nest(kernel, isa).generate();
  const Kernel joined = join_scalings(kernel);
  return Nest(joined, isa).generate();
}

NestFunction Nest::generate() {
  set_up();
  switch (kernel_.order) {
    case Order::kMap:
      for_each_row(&Nest::map_row);
      break;
    case Order::kColumn:
      columns();
      break;
    default:
      for_each_row(&Nest::reduction_rows);
      break;
  }
  return reinterpret_cast<NestFunction>(function_.finish());
}

Mem Nest::argument(std::size_t offset) const {
  return asmjit::x86::qword_ptr(function_.argument(), static_cast<std::int32_t>(offset));
}

void Nest::set_up() {
  const std::size_t count = kernel_.accesses.size();
  pointers_.resize(count);
  if (kernel_.phases.size() > 1 && kernel_.order != Order::kColumn && count > kMostResident) {
    const Mem all = function_.new_stack(static_cast<std::uint32_t>(count * sizeof(void*)));
    for (std::size_t a = 0; a < count; ++a) {
      resting_.push_back(with_offset(all, static_cast<std::int64_t>(a * sizeof(void*))));
      resting_.back().setSize(sizeof(void*));
    }
  }
  moving_.resize(count);
  strides_.resize(count);
  offsets_.resize(count);
  for (std::size_t a = 0; a < count; ++a) {
    const std::size_t at = offsetof(NestArguments, accesses) + a * sizeof(NestAccess);
    pointers_[a] = function_.new_gp();
    cc_.mov(pointers_[a], argument(at + offsetof(NestAccess, pointer)));
    if (!resting_.empty()) cc_.mov(resting_[a], pointers_[a]);
    if (kernel_.accesses[a].inner != StrideClass::kStrided) continue;
    moving_[a] = function_.new_gp();
    strides_[a] = function_.new_gp();
    cc_.mov(strides_[a], argument(at + offsetof(NestAccess, stride)));
    if (kernel_.accesses[a].is_store) continue;
    offsets_[a] = emitter_.lane_offsets(strides_[a]);
    offsets_[a].is_shared = true;
  }
  i_ = function_.new_gp();
  length_ = function_.new_gp();
  cc_.mov(length_, argument(offsetof(NestArguments, count)));
  if (uses_index1_) {
    index1_ = function_.new_gp();
    cc_.mov(index1_, argument(offsetof(NestArguments, index) + 8));
  }
  for (const Phase& phase : kernel_.phases) emit_level(Level::kLaunch, phase);
}

void Nest::emit_level(Level level, const Phase& phase) {
  emitter_.set_may_destroy(false);
  for (std::int32_t id = phase.begin; id < phase.end; ++id) {
    const Prim prim = kernel_.code[id].prim;
    if (levels_[id] != level || prim == Prim::kIfAnyBegin || is_reduction(prim)) continue;
    emitter_.emit_one(id);
  }
  emitter_.keep();
  emitter_.set_may_destroy(true);
}

// One vector. Stores come last: one that aliases a load must not overtake it.
void Nest::emit_body(const Phase& phase, int unrolled, const Tail* tail) {
  const Function::Scope scope(function_);
  unrolled_ = unrolled;
  tail_ = tail;
  for (std::int32_t id = phase.begin; id < phase.end; ++id) {
    const Prim prim = kernel_.code[id].prim;
    if (prim == Prim::kStore || (levels_[id] != Level::kVector && !is_reduction(prim))) continue;
    emitter_.emit_one(id);
  }
  for (std::int32_t id = phase.begin; id < phase.end; ++id) {
    if (kernel_.code[id].prim == Prim::kStore) emitter_.emit_one(id);
  }
  emitter_.forget();
  tail_ = nullptr;
  unrolled_ = 0;
}

// Whole vectors whose instructions alternate: what waits in the processor for one of two long
// chains is half as far behind the other.
void Nest::emit_side_by_side(const Phase& phase, int copies) {
  const Function::Scope scope(function_);
  std::vector<Emitter::Copy> others(static_cast<std::size_t>(copies - 1), emitter_.fork());
  const auto emit = [&](std::int32_t id) {
    emitter_.emit_one(id);
    for (Emitter::Copy& other : others) {
      ++unrolled_;
      emitter_.swap(other);
      emitter_.emit_one(id);
      emitter_.swap(other);
    }
    unrolled_ = 0;
  };
  for (std::int32_t id = phase.begin; id < phase.end; ++id) {
    const Prim prim = kernel_.code[id].prim;
    if (prim != Prim::kStore && (levels_[id] == Level::kVector || is_reduction(prim))) emit(id);
  }
  for (std::int32_t id = phase.begin; id < phase.end; ++id) {
    if (kernel_.code[id].prim == Prim::kStore) emit(id);
  }
  emitter_.forget();
}

// Is a body long, without branches, and do two of it find room in the registers?
bool Nest::fits_twice(const Phase& phase) const {
  if (!function_.is_wide() || weight(phase) < kLongBody) return false;
  std::vector<std::int32_t> last(kernel_.code.size(), -1);
  for (std::int32_t id = phase.begin; id < phase.end; ++id) {
    const Instr& instr = kernel_.code[id];
    if (instr.prim == Prim::kIfAnyBegin && levels_[id] == Level::kVector) return false;
    const bool is_access =
        instr.prim == Prim::kLoad || instr.prim == Prim::kLoadAt || instr.prim == Prim::kStore;
    if (is_access && kernel_.accesses[instr.imm].inner == StrideClass::kStrided) return false;
    for (const std::int32_t argument : instr.args) {
      if (argument >= 0) last[argument] = instr.prim == Prim::kStore ? phase.end : id;
    }
  }
  int vectors = 0, masks = 0, shared = 0, most_vectors = 0, most_masks = 0;
  const auto is_mask = [&](std::int32_t id) { return kernel_.code[id].dtype == kBool; };
  for (std::int32_t id = 0; id < phase.end; ++id) {
    const Instr& instr = kernel_.code[id];
    const bool is_vector = id >= phase.begin && levels_[id] == Level::kVector;
    if (!is_vector) {
      const bool is_memory = instr.prim == Prim::kConstant;
      if (last[id] >= phase.begin && !is_memory && !is_mask(id)) shared += parts_of(instr.dtype);
      continue;
    }
    for (std::int32_t argument : instr.args) {
      if (argument < phase.begin || levels_[argument] != Level::kVector) continue;
      if (last[argument] != id) continue;
      last[argument] = -1;
      (is_mask(argument) ? masks : vectors) -= parts_of(kernel_.code[argument].dtype);
    }
    if (last[id] < 0) continue;
    (is_mask(id) ? masks : vectors) += parts_of(instr.dtype);
    most_vectors = std::max(most_vectors, vectors);
    most_masks = std::max(most_masks, masks);
  }
  return 2 * most_masks <= kMasks && shared + 2 * (most_vectors + 1) <= kVectors;
}

bool Nest::has_vector_work(const Phase& phase) const {
  const bool walks_rows = kernel_.order == Order::kRow || kernel_.order == Order::kTree;
  for (std::int32_t id = phase.begin; id < phase.end; ++id) {
    const Instr& instr = kernel_.code[id];
    if (is_reduction(instr.prim)) return true;
    if (instr.prim != Prim::kStore) continue;
    if (!walks_rows || kernel_.accesses[instr.imm].inner != StrideClass::kBroadcast) return true;
  }
  return false;
}

int Nest::weight(const Phase& phase) const {
  int count = 0;
  for (std::int32_t id = phase.begin; id < phase.end; ++id) {
    count += levels_[id] == Level::kVector ? parts_of(kernel_.code[id].dtype) : 0;
  }
  return count;
}

void Nest::start_row(const Phase& phase) {
  cc_.xor_(i_.r32(), i_.r32());
  for (std::size_t a = 0; a < moving_.size(); ++a) {
    if (!moving_[a].isValid()) continue;
    if (resting_.empty()) {
      cc_.mov(moving_[a], pointers_[a]);
    } else {
      cc_.mov(moving_[a], resting_[a]);
    }
  }
  start_streams(phase);
}

// The stores of a phase that may be streamed.
std::uint32_t Nest::streamed_stores(const Phase& phase) const {
  std::uint32_t stored = 0;
  for (std::int32_t id = phase.begin; id < phase.end; ++id) {
    const Instr& instr = kernel_.code[id];
    if (instr.prim == Prim::kStore && streams(kernel_, instr.imm))
      stored |= std::uint32_t{1} << instr.imm;
  }
  return stored;
}

void Nest::start_streams(const Phase& phase) {
  const std::uint32_t stored = streamed_stores(phase);
  if (stored == 0) return;
  if (!streamed_.isValid()) streamed_ = function_.new_gp();
  cc_.mov(streamed_, argument(offsetof(NestArguments, streamed)));
  const Label done = function_.new_label();
  cc_.test(streamed_, streamed_);
  cc_.jz(done);
  const Gp bits = function_.new_gp();
  cc_.xor_(bits.r32(), bits.r32());
  for (std::size_t a = 0; a < pointers_.size(); ++a) {
    if (a < 32 && (stored >> a & 1) != 0) cc_.or_(bits, pointers_[a]);
  }
  cc_.test(bits.r32(), function_.vector_bytes() - 1);
  cc_.jz(done);
  cc_.xor_(streamed_.r32(), streamed_.r32());
  function_.bind(done);
}

// Strided pointers move vector by vector; contiguous ones are addressed through i.
void Nest::advance_vector() {
  for (std::size_t a = 0; a < moving_.size(); ++a) {
    if (!moving_[a].isValid()) continue;
    const Function::Scope scope(function_);
    const Gp step = function_.new_gp();
    cc_.mov(step, strides_[a]);
    cc_.shl(step, std::countr_zero(static_cast<unsigned>(function_.lanes())));
    cc_.add(moving_[a], step);
  }
}

void Nest::for_each_row(void (Nest::*row)()) {
  const Gp left = function_.new_gp();
  cc_.mov(left, argument(offsetof(NestArguments, count) + 8));
  const Label loop = function_.new_label(), done = function_.new_label();
  cc_.test(left, left);
  cc_.jz(done);
  function_.bind(loop);
  (this->*row)();
  for (std::size_t a = 0; a < pointers_.size(); ++a) {
    const std::size_t at = offsetof(NestArguments, accesses) + a * sizeof(NestAccess);
    const Mem stride = argument(at + offsetof(NestAccess, stride) + 8);
    if (resting_.empty()) {
      cc_.add(pointers_[a], stride);
    } else {
      const Function::Scope scope(function_);
      const Gp step = function_.new_gp();
      cc_.mov(step, stride);
      cc_.add(resting_[a], step);
    }
  }
  if (uses_index1_) cc_.inc(index1_);
  cc_.dec(left);
  cc_.jnz(loop);
  function_.bind(done);
}

void Nest::map_row() {
  const Phase& phase = kernel_.phases[0];
  emit_level(Level::kRow, phase);
  start_row(phase);
  // A short body waits for its loop's bookkeeping.
  const bool is_twice = fits_twice(phase);
  vectors_until(phase, length_, is_twice ? 2 : weight(phase) <= 6 ? 4 : 1, is_twice);
}

// ---- leaves and effects ------------------------------------------------------------------------

Mem Nest::element(int access, ScalarType dtype) const {
  const int size = static_cast<int>(element_size(dtype));
  return asmjit::x86::ptr(pointers_[access], i_,
                          static_cast<std::uint32_t>(std::countr_zero(static_cast<unsigned>(size))),
                          unrolled_ * function_.lanes() * size);
}

Value Nest::load(Emitter& emitter, const Instr& instr) {
  const auto access = static_cast<int>(instr.imm);
  switch (kernel_.accesses[instr.imm].inner) {
    case StrideClass::kContiguous:
      return emitter.load_contiguous(instr.dtype, element(access, instr.dtype), tail_);
    case StrideClass::kBroadcast:
      return emitter.load_broadcast(instr.dtype, asmjit::x86::ptr(pointers_[access]));
    default:
      return emitter.load_strided(instr.dtype, moving_[access], strides_[access], offsets_[access],
                                  tail_);
  }
}

Value Nest::load_at(Emitter& emitter, const Instr& instr, const Value& offset) {
  const auto access = static_cast<int>(instr.imm);
  const StrideClass inner = kernel_.accesses[instr.imm].inner;
  const auto size = static_cast<unsigned>(element_size(instr.dtype));
  const int shift = std::countr_zero(size);
  const Instr& offset_instr = kernel_.code[instr.args[0]];
  // The uniform part of an offset goes into the address: all of it, or what is added to the index
  // along a broadcast axis 0, which makes the elements contiguous.
  const auto scalar = [&](std::int32_t id) {
    return emitter.lane0_gp(emitter.reg(emitter.value(id), 0));
  };
  if (is_uniform(instr.args[0])) {
    const Gp base = function_.new_gp();
    const Gp by = scalar(instr.args[0]);
    const Gp from = inner == StrideClass::kStrided ? moving_[access] : pointers_[access];
    cc_.lea(base, asmjit::x86::ptr(from, by, static_cast<std::uint32_t>(shift)));
    if (inner == StrideClass::kBroadcast) {
      return emitter.load_broadcast(instr.dtype, asmjit::x86::ptr(base));
    }
    if (inner == StrideClass::kStrided) {
      return emitter.load_gather(instr.dtype, base, offsets_[access], tail_);
    }
    Mem address = element(access, instr.dtype);
    address.setBase(base);
    return emitter.load_contiguous(instr.dtype, address, tail_);
  }
  const auto is_index0 = [&](std::int32_t id) {
    return kernel_.code[id].prim == Prim::kIndex && kernel_.code[id].imm == 0;
  };
  std::int32_t uniform = -1;
  bool is_run = is_index0(instr.args[0]);
  if (offset_instr.prim == Prim::kAdd) {
    for (int i = 0; i < 2; ++i) {
      if (is_index0(offset_instr.args[i]) && is_uniform(offset_instr.args[1 - i])) {
        uniform = offset_instr.args[1 - i];
        is_run = true;
      }
    }
  }
  if (is_run && inner == StrideClass::kBroadcast) {
    const Gp by = function_.new_gp(), base = function_.new_gp();
    cc_.mov(by, argument(offsetof(NestArguments, index)));
    if (uniform >= 0) cc_.add(by, scalar(uniform));
    cc_.lea(base, asmjit::x86::ptr(pointers_[access], by, static_cast<std::uint32_t>(shift)));
    Mem address = element(access, instr.dtype);
    address.setBase(base);
    return emitter.load_contiguous(instr.dtype, address, tail_);
  }
  Value bytes = emitter.shift_long(offset, shift);
  if (inner == StrideClass::kBroadcast) {
    return emitter.load_gather(instr.dtype, pointers_[access], bytes, tail_);
  }
  if (inner == StrideClass::kStrided) {
    bytes = emitter.binary(Prim::kAdd, kLong, bytes, offsets_[access]);
    return emitter.load_gather(instr.dtype, moving_[access], bytes, tail_);
  }
  const Gp base = function_.new_gp();
  cc_.lea(base, element(access, instr.dtype));
  bytes = emitter.binary(Prim::kAdd, kLong, bytes, emitter.shift_long(emitter.iota(), shift));
  return emitter.load_gather(instr.dtype, base, bytes, tail_);
}

void Nest::store(Emitter& emitter, const Instr& instr, const Value& value) {
  const auto access = static_cast<int>(instr.imm);
  const bool walks_rows = kernel_.order == Order::kRow || kernel_.order == Order::kTree;
  switch (kernel_.accesses[instr.imm].inner) {
    case StrideClass::kContiguous:
      if (!tail_ && streams(kernel_, instr.imm)) return store_or_stream(emitter, access, value);
      emitter.store_contiguous(instr.dtype, element(access, instr.dtype), value, tail_);
      return;
    case StrideClass::kStrided:
      emitter.store_strided(instr.dtype, moving_[access], strides_[access], value, tail_);
      return;
    case StrideClass::kBroadcast:
      // Rows store once, after their last vector; elsewhere the last element wins.
      if (walks_rows) return;
      const Gp still = function_.new_gp();
      cc_.xor_(still.r32(), still.r32());
      emitter.store_strided(instr.dtype, pointers_[access], still, value, tail_);
      return;
  }
}

void Nest::store_or_stream(Emitter& emitter, int access, const Value& value) {
  const Mem to = element(access, kFloat);
  const Vec from = emitter.reg(value, 0);
  if (streams_ != Streams::kAsk) {
    cc_.emit(streams_ == Streams::kAlways ? Inst::kIdVmovntps : Inst::kIdVmovups, to, from);
    return;
  }
  const Label plain = function_.new_label(), done = function_.new_label();
  cc_.test(streamed_.r32(), static_cast<std::uint32_t>(1) << access);
  cc_.jz(plain);
  cc_.emit(Inst::kIdVmovntps, to, from);
  cc_.jmp(done);
  function_.bind(plain);
  cc_.emit(Inst::kIdVmovups, to, from);
  function_.bind(done);
}

Value Nest::param(Emitter& emitter, const Instr& instr) {
  const Gp scalars = function_.new_gp();
  cc_.mov(scalars, argument(offsetof(NestArguments, scalars)));
  const auto offset = static_cast<std::int32_t>(instr.imm * 8);
  return emitter.load_broadcast(instr.dtype, asmjit::x86::ptr(scalars, offset));
}

Value Nest::index(Emitter& emitter, const Instr& instr) {
  if (instr.imm == 1) return emitter.broadcast_gp(index1_);
  const std::size_t at = offsetof(NestArguments, index) + instr.imm * 8;
  if (instr.imm > 1) return emitter.load_broadcast(kLong, argument(at));
  const Gp position = function_.new_gp();
  cc_.lea(position, asmjit::x86::ptr(i_, unrolled_ * function_.lanes()));
  cc_.add(position, argument(at));
  return emitter.binary(Prim::kAdd, kLong, emitter.broadcast_gp(position), emitter.iota());
}

}  // namespace groove::kernels::assembly
