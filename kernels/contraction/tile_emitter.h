// The assembler behind tile kernels, with the mnemonics that differ by dtype and instruction set
// hidden: what the tile generator and the inlined epilogue share.
#pragma once

#include <asmjit/x86.h>

#include "kernels/contraction/tile.h"

namespace groove::kernels {

namespace Inst = asmjit::x86::Inst;

class TileEmitter {
 public:
  using Gp = asmjit::x86::Gp;
  using Vec = asmjit::x86::Vec;
  using Mem = asmjit::x86::Mem;
  using InstId = asmjit::InstId;

  TileEmitter(asmjit::x86::Assembler& assembler, const TileSpec& spec)
      : as(assembler),
        spec(spec),
        is_wide(spec.isa == Isa::kAvx512),
        is_double(spec.dtype == kDouble),
        element(is_double ? 8 : 4),
        vector_bytes(is_wide ? 64 : 32),
        registers(is_wide ? 32 : 16) {}

  asmjit::x86::Assembler& as;
  const TileSpec& spec;
  const bool is_wide, is_double;
  const int element, vector_bytes, registers;
  asmjit::Label constants;  // of the inlined epilogue, behind the code

  bool is_masked(int v) const {
    return v == spec.vectors - 1 &&
           (spec.tail == TileTail::kMasked || spec.tail == TileTail::kHalfMasked);
  }
  bool is_half(int v) const {
    return v == spec.vectors - 1 &&
           (spec.tail == TileTail::kHalf || spec.tail == TileTail::kHalfMasked);
  }
  /// Register `id` as wide as vector `v` of a tile's row is.
  Vec reg(int id, int v) const {
    if (!is_wide || is_half(v)) return Vec(asmjit::x86::ymm(id));
    return Vec(asmjit::x86::zmm(id));
  }
  Vec whole(int id) const {
    return is_wide ? Vec(asmjit::x86::zmm(id)) : Vec(asmjit::x86::ymm(id));
  }
  /// The AVX2 lane mask lies in the last register, the AVX-512 one in k1.
  Vec lane_mask() const { return Vec(asmjit::x86::ymm(15)); }

  InstId pick(InstId single, InstId dual) const { return is_double ? dual : single; }
  void load(const Vec& to, const Mem& from, int v) {
    if (!is_masked(v)) {
      as.emit(pick(Inst::kIdVmovups, Inst::kIdVmovupd), to, from);
    } else if (is_wide) {
      as.k(asmjit::x86::k1).z().emit(pick(Inst::kIdVmovups, Inst::kIdVmovupd), to, from);
    } else {
      as.emit(pick(Inst::kIdVmaskmovps, Inst::kIdVmaskmovpd), to, lane_mask(), from);
    }
  }
  void store(const Mem& to, const Vec& from, int v) {
    if (!is_masked(v)) {
      as.emit(pick(Inst::kIdVmovups, Inst::kIdVmovupd), to, from);
    } else if (is_wide) {
      as.k(asmjit::x86::k1).emit(pick(Inst::kIdVmovups, Inst::kIdVmovupd), to, from);
    } else {
      as.emit(pick(Inst::kIdVmaskmovps, Inst::kIdVmaskmovpd), to, lane_mask(), from);
    }
  }
  void broadcast(const Vec& to, const Mem& from) {
    as.emit(pick(Inst::kIdVbroadcastss, Inst::kIdVbroadcastsd), to, from);
  }
  void zero(int id) {
    // EVEX has no shorter form, and a ymm write clears the upper half as well.
    if (id < 16) {
      const auto x = asmjit::x86::xmm(id);
      as.vxorps(x, x, x);
    } else {
      const auto z = asmjit::x86::zmm(id);
      as.vpxord(z, z, z);
    }
  }
};

}  // namespace groove::kernels
