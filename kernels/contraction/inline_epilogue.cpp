// Emits an epilogue for each vector of accumulators. Registers are given out as the instructions
// are walked; constants and parameters are fetched where they are used, so they occupy none.
#include "kernels/contraction/inline_epilogue.h"

#include <algorithm>
#include <cstddef>

namespace groove::kernels {
namespace {

namespace x86 = asmjit::x86;

// General registers that are free after the last step of k; rcx holds the table of accesses.
const x86::Gp kPointers[] = {x86::rsi, x86::rbx, x86::rbp, x86::r12, x86::rax, x86::rdx, x86::r8,
                             x86::r9,  x86::r10, x86::r11, x86::r13, x86::r14, x86::r15};
constexpr std::size_t kMaxPointers = std::size(kPointers) - 1;  // the last one: scalars
const x86::Gp kScalars = x86::r15;
constexpr int kFirstMask = 2, kLastMask = 7;  // k1 is the tail

constexpr int arity(Prim prim) {
  switch (prim) {
    case Prim::kConstant:
    case Prim::kParam:
    case Prim::kLoad:
      return 0;
    case Prim::kSqrt:
    case Prim::kNeg:
    case Prim::kAbs:
    case Prim::kStore:
      return 1;
    case Prim::kAdd:
    case Prim::kSub:
    case Prim::kMul:
    case Prim::kDiv:
    case Prim::kMax:
    case Prim::kMin:
    case Prim::kEq:
    case Prim::kNe:
    case Prim::kLt:
    case Prim::kLe:
    case Prim::kGt:
    case Prim::kGe:
      return 2;
    case Prim::kFma:
    case Prim::kSelect:
      return 3;
    default:
      return -1;
  }
}
constexpr bool is_comparison(Prim prim) { return prim >= Prim::kEq && prim <= Prim::kGe; }

int predicate(Prim prim) {
  switch (prim) {
    case Prim::kEq:
      return 0x00;
    case Prim::kNe:
      return 0x04;  // unordered: true on NaN
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

// One vector's worth of the epilogue. With no emitter it only counts registers.
class Walk {
 public:
  Walk(const Kernel& kernel, TileEmitter* emitter, bool has_masks, int accumulator, int v,
       int first_free, int end_free)
      : kernel_(kernel), e_(emitter), has_masks_(has_masks), accumulator_(accumulator), v_(v) {
    last_use_.assign(kernel.code.size(), -1);
    registers_.assign(kernel.code.size(), -1);
    for (std::size_t id = 0; id < kernel.code.size(); ++id) {
      for (int i = 0; i < arity(kernel.code[id].prim); ++i) {
        last_use_[kernel.code[id].args[i]] = static_cast<int>(id);
      }
    }
    for (int id = end_free - 1; id >= first_free; --id) free_.push_back(id);
    for (int id = kLastMask; id >= kFirstMask; --id) free_masks_.push_back(id);
  }

  /// False when there are too few registers.
  bool run() {
    for (std::size_t id = 0; id < kernel_.code.size() && is_enough_; ++id) {
      one(static_cast<int>(id));
    }
    return is_enough_;
  }

 private:
  const Instr& at(int id) const { return kernel_.code[id]; }
  bool is_immediate(int id) const {
    return at(id).prim == Prim::kConstant || at(id).prim == Prim::kParam;
  }
  bool is_loaded_mask(int id) const { return at(id).prim == Prim::kLoad && at(id).dtype == kBool; }
  bool is_bool(int id) const { return is_comparison(at(id).prim) || is_loaded_mask(id); }
  // In a mask register; without these, bools are lanes that are all ones or zero.
  bool is_mask(int id) const { return has_masks_ && is_bool(id); }
  int take() {
    if (free_.empty()) {
      is_enough_ = false;
      return 0;
    }
    const int reg = free_.back();
    free_.pop_back();
    return reg;
  }
  int take_mask() {
    if (free_masks_.empty()) {
      is_enough_ = false;
      return kFirstMask;
    }
    const int reg = free_masks_.back();
    free_masks_.pop_back();
    return reg;
  }
  x86::Vec vec(int reg) const { return e_->reg(reg, v_); }
  x86::Mem constant(int id) const { return x86::ptr(e_->constants, id * 64); }

  // The register of an argument; immediates get one that is given back after the instruction.
  int argument(int id) {
    if (!is_immediate(id)) return registers_[id];
    const int reg = take();
    borrowed_.push_back(reg);
    if (!e_) return reg;
    if (at(id).prim == Prim::kConstant) {
      e_->as.emit(Inst::kIdVmovups, vec(reg), constant(id));
    } else {
      e_->broadcast(vec(reg), x86::ptr(kScalars, static_cast<std::int32_t>(at(id).imm * 8)));
    }
    return reg;
  }

  void release_arguments(int id) {
    const Instr& instr = at(id);
    for (int i = 0; i < arity(instr.prim); ++i) {
      const int arg = instr.args[i];
      if (is_immediate(arg) || last_use_[arg] != id) continue;
      bool is_repeated = false;
      for (int j = 0; j < i; ++j) is_repeated |= instr.args[j] == arg;
      if (is_repeated) continue;
      (is_mask(arg) ? free_masks_ : free_).push_back(registers_[arg]);
    }
    free_.insert(free_.end(), borrowed_.begin(), borrowed_.end());
    borrowed_.clear();
  }

  void one(int id) {
    const Instr& instr = at(id);
    if (is_immediate(id)) return;
    if (is_loaded_mask(id) && !has_masks_) {
      registers_[id] = take();
      if (e_ && is_enough_) load_lanes(instr, registers_[id]);
      if (last_use_[id] < 0) free_.push_back(registers_[id]);
      return;
    }
    if (is_loaded_mask(id)) {
      const int bytes = take();
      registers_[id] = take_mask();
      if (e_ && is_enough_) load_mask(instr, registers_[id], bytes);
      free_.push_back(bytes);
      if (last_use_[id] < 0) free_masks_.push_back(registers_[id]);
      return;
    }
    if (instr.prim == Prim::kLoad) {
      registers_[id] = instr.imm == 0 ? accumulator_ : take();
      if (e_ && instr.imm != 0) load(instr, registers_[id]);
      if (last_use_[id] < 0 && instr.imm != 0) free_.push_back(registers_[id]);
      return;
    }
    int args[3] = {-1, -1, -1};
    for (int i = 0; i < arity(instr.prim); ++i) args[i] = argument(instr.args[i]);
    if (instr.prim == Prim::kStore && is_bool(instr.args[0])) {
      const int bytes = take();
      if (e_ && is_enough_)
        has_masks_ ? store_mask(instr, args[0], bytes) : store_lanes(instr, args[0], bytes);
      free_.push_back(bytes);
      release_arguments(id);
      return;
    }
    if (instr.prim == Prim::kStore) {
      if (e_)
        e_->store(x86::ptr(kPointers[instr.imm - 1], v_ * e_->vector_bytes), vec(args[0]), v_);
      release_arguments(id);
      return;
    }
    // An fma is made in the register of its first factor, which must be a copy when that lives on.
    if (instr.prim == Prim::kFma) {
      const int to = take();
      if (e_) {
        e_->as.emit(Inst::kIdVmovaps, vec(to), vec(args[0]));
        e_->as.emit(e_->pick(Inst::kIdVfmadd213ps, Inst::kIdVfmadd213pd), vec(to), vec(args[1]),
                    vec(args[2]));
      }
      release_arguments(id);
      registers_[id] = to;
      return;
    }
    // Everything else reads its operands before it writes, so it may reuse one of theirs.
    release_arguments(id);
    registers_[id] = is_mask(id) ? take_mask() : take();
    if (e_ && is_enough_) compute(id, instr, args, registers_[id]);
    if (last_use_[id] < 0) (is_mask(id) ? free_masks_ : free_).push_back(registers_[id]);
  }

  void load(const Instr& instr, int to) {
    const x86::Gp& pointer = kPointers[instr.imm - 1];
    if (kernel_.accesses[instr.imm].inner == StrideClass::kBroadcast) {
      e_->broadcast(vec(to), x86::ptr(pointer));
    } else {
      e_->load(vec(to), x86::ptr(pointer, v_ * e_->vector_bytes), v_);
    }
  }

  // Masks lie in memory as bytes, one for each lane of the vector.
  x86::Mem mask_bytes(const Instr& instr) const {
    return x86::ptr(kPointers[instr.imm - 1], v_ * e_->vector_bytes / e_->element);
  }
  Inst::Id mask_move() const {
    const int lanes = (e_->is_half(v_) ? 32 : e_->vector_bytes) / e_->element;
    if (lanes == 16) return Inst::kIdVmovdqu8;
    return lanes == 8 ? Inst::kIdVmovq : Inst::kIdVmovd;
  }
  void load_mask(const Instr& instr, int mask, int bytes) {
    const x86::Vec to = x86::xmm(bytes);
    if (e_->is_masked(v_)) {
      e_->as.k(x86::k1).z().emit(Inst::kIdVmovdqu8, to, mask_bytes(instr));
    } else {
      e_->as.emit(mask_move(), to, mask_bytes(instr));
    }
    e_->as.emit(Inst::kIdVptestmb, x86::k(mask), to, to);
  }
  void store_mask(const Instr& instr, int mask, int bytes) {
    const x86::Vec from = x86::xmm(bytes);
    e_->as.emit(Inst::kIdVpmovm2b, from, x86::k(mask));
    e_->as.emit(Inst::kIdVpabsb, from, from);
    if (e_->is_masked(v_)) {
      e_->as.k(x86::k1).emit(Inst::kIdVmovdqu8, mask_bytes(instr), from);
    } else {
      e_->as.emit(mask_move(), mask_bytes(instr), from);
    }
  }

  // The same by AVX2, of whole vectors.
  void load_lanes(const Instr& instr, int to) {
    e_->as.emit(e_->pick(Inst::kIdVpmovzxbd, Inst::kIdVpmovzxbq), vec(to), mask_bytes(instr));
    e_->as.emit(e_->pick(Inst::kIdVpslld, Inst::kIdVpsllq), vec(to), vec(to),
                asmjit::Imm(8 * e_->element - 1));
    e_->as.emit(Inst::kIdVpsrad, vec(to), vec(to), asmjit::Imm(31));
    if (e_->is_double) e_->as.emit(Inst::kIdVpshufd, vec(to), vec(to), asmjit::Imm(0xf5));
  }
  void store_lanes(const Instr& instr, int from, int bytes) {
    const x86::Vec to = x86::xmm(bytes);
    e_->as.emit(Inst::kIdVextracti128, to, vec(from), asmjit::Imm(1));
    if (e_->is_double) {
      e_->as.emit(Inst::kIdVshufps, to, x86::xmm(from), to, asmjit::Imm(0x88));
      e_->as.emit(Inst::kIdVpackssdw, to, to, to);
    } else {
      e_->as.emit(Inst::kIdVpackssdw, to, x86::xmm(from), to);
    }
    e_->as.emit(Inst::kIdVpacksswb, to, to, to);
    e_->as.emit(Inst::kIdVpabsb, to, to);
    e_->as.emit(mask_move(), mask_bytes(instr), to);
  }

  void compute(int id, const Instr& instr, const int* args, int to) {
    auto binary = [&](Inst::Id single, Inst::Id dual) {
      e_->as.emit(e_->pick(single, dual), vec(to), vec(args[0]), vec(args[1]));
    };
    switch (instr.prim) {
      case Prim::kAdd:
        return binary(Inst::kIdVaddps, Inst::kIdVaddpd);
      case Prim::kSub:
        return binary(Inst::kIdVsubps, Inst::kIdVsubpd);
      case Prim::kMul:
        return binary(Inst::kIdVmulps, Inst::kIdVmulpd);
      case Prim::kDiv:
        return binary(Inst::kIdVdivps, Inst::kIdVdivpd);
      case Prim::kMax:
        return binary(Inst::kIdVmaxps, Inst::kIdVmaxpd);
      case Prim::kMin:
        return binary(Inst::kIdVminps, Inst::kIdVminpd);
      case Prim::kSqrt:
        e_->as.emit(e_->pick(Inst::kIdVsqrtps, Inst::kIdVsqrtpd), vec(to), vec(args[0]));
        return;
      // The constant slots of kNeg and kAbs hold the sign bit and all others. The integer forms
      // need no AVX512DQ.
      case Prim::kNeg:
      case Prim::kAbs: {
        const bool is_negation = instr.prim == Prim::kNeg;
        const auto id_of = e_->is_wide ? (is_negation ? Inst::kIdVpxord : Inst::kIdVpandd)
                                       : (is_negation ? Inst::kIdVpxor : Inst::kIdVpand);
        e_->as.emit(id_of, vec(to), vec(args[0]), constant(id));
        return;
      }
      case Prim::kSelect:
        if (has_masks_) {
          e_->as.k(x86::k(args[0]))
              .emit(e_->pick(Inst::kIdVblendmps, Inst::kIdVblendmpd), vec(to), vec(args[2]),
                    vec(args[1]));
        } else {
          e_->as.emit(e_->pick(Inst::kIdVblendvps, Inst::kIdVblendvpd), vec(to), vec(args[2]),
                      vec(args[1]), vec(args[0]));
        }
        return;
      default: {
        const asmjit::Imm how(predicate(instr.prim));
        const auto compare = e_->pick(Inst::kIdVcmpps, Inst::kIdVcmppd);
        if (has_masks_) {
          e_->as.emit(compare, x86::k(to), vec(args[0]), vec(args[1]), how);
        } else {
          e_->as.emit(compare, vec(to), vec(args[0]), vec(args[1]), how);
        }
      }
    }
  }

  const Kernel& kernel_;
  TileEmitter* e_;
  bool has_masks_;
  int accumulator_, v_;
  bool is_enough_ = true;
  std::vector<int> last_use_, registers_, free_, free_masks_, borrowed_;
};

bool is_simple(const Contraction& contraction) {
  const Kernel& kernel = contraction.epilogue;
  if (kernel.order != Order::kMap || kernel.accesses.size() > kMaxPointers) return false;
  const auto is_mask = [&](int id) {
    const Instr& instr = kernel.code[id];
    return is_comparison(instr.prim) || (instr.prim == Prim::kLoad && instr.dtype == kBool);
  };
  int sums = 0;
  for (std::size_t id = 0; id < kernel.code.size(); ++id) {
    const Instr& instr = kernel.code[id];
    if (arity(instr.prim) < 0) return false;
    const bool moves_mask =
        instr.dtype == kBool &&
        (instr.prim == Prim::kLoad || (instr.prim == Prim::kStore && is_mask(instr.args[0])));
    const bool is_bool = is_comparison(instr.prim) || moves_mask;
    if (instr.dtype != (is_bool ? kBool : contraction.dtype)) return false;
    if (is_comparison(instr.prim) && kernel.code[instr.args[0]].dtype != contraction.dtype) {
      return false;
    }
    if (instr.prim == Prim::kSelect && !is_mask(instr.args[0])) return false;
    if (instr.prim != Prim::kLoad && instr.prim != Prim::kStore) continue;
    const Access& access = kernel.accesses[instr.imm];
    if (access.dtype != instr.dtype || access.inner == StrideClass::kStrided) return false;
    const bool is_contiguous = access.inner == StrideClass::kContiguous;
    if (moves_mask && (!is_contiguous || instr.imm == 0)) return false;
    if (access.is_store && (instr.imm == 0 || !is_contiguous)) return false;
    sums += instr.imm == 0;
  }
  return sums == 1;
}

}  // namespace

InlineEpilogue::InlineEpilogue(const Contraction& contraction, Isa isa)
    : kernel_(contraction.epilogue), isa_(isa) {
  const bool has_masks = isa == Isa::kAvx512;
  is_possible_ =
      is_simple(contraction) &&
      Walk(kernel_, nullptr, has_masks, kEpilogueRegisters, 0, 0, kEpilogueRegisters).run();
}

bool InlineEpilogue::takes(TileTail tail) const {
  return tail != TileTail::kMasked || isa_ == Isa::kAvx512 ||
         std::none_of(kernel_.accesses.begin(), kernel_.accesses.end(),
                      [](const Access& access) { return access.dtype == kBool; });
}

void InlineEpilogue::emit(TileEmitter& e, int first_free) const {
  e.constants = e.as.newLabel();
  const x86::Gp table = x86::rcx;
  const int used = static_cast<int>(kernel_.accesses.size()) - 1;
  e.as.mov(table, x86::ptr(x86::rdi, offsetof(TileArguments, accesses)));
  for (int i = 0; i < used; ++i) {
    e.as.mov(kPointers[i], x86::ptr(table, i * static_cast<int>(sizeof(TileAccess))));
  }
  e.as.mov(kScalars, x86::ptr(x86::rdi, offsetof(TileArguments, scalars)));
  const TileSpec& spec = e.spec;
  const int end = e.registers - (!e.is_wide && e.is_masked(spec.vectors - 1) ? 1 : 0);
  for (int r = 0; r < spec.rows; ++r) {
    for (int v = 0; v < spec.vectors; ++v) {
      Walk(kernel_, &e, e.is_wide, r * spec.vectors + v, v, first_free, end).run();
    }
    if (r + 1 == spec.rows) break;
    for (int i = 0; i < used; ++i) {
      const int at = i * static_cast<int>(sizeof(TileAccess)) +
                     static_cast<int>(offsetof(TileAccess, row_bytes));
      e.as.add(kPointers[i], x86::ptr(table, at));
    }
  }
}

void InlineEpilogue::emit_constants(TileEmitter& e) const {
  e.as.align(asmjit::AlignMode::kZero, 64);
  e.as.bind(e.constants);
  for (const Instr& instr : kernel_.code) {
    std::uint64_t bits = instr.prim == Prim::kConstant ? instr.imm : 0;
    const std::uint64_t sign = e.is_double ? 1ull << 63 : 1ull << 31;
    if (instr.prim == Prim::kNeg) bits = sign;
    if (instr.prim == Prim::kAbs) bits = sign - 1;
    if (!e.is_double) bits = (bits & 0xffffffffu) | bits << 32;
    for (int i = 0; i < 8; ++i) e.as.embedUInt64(bits);
  }
}

}  // namespace groove::kernels
