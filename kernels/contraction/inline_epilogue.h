// Epilogues that are applied while a tile is in registers: straight-line float arithmetic over the
// sum, constants, parameters, contiguous or broadcast operands, and masks that are loaded or
// stored. Everything else runs as a kernel over finished sums (epilogue.h).
#pragma once

#include <vector>

#include "kernels/contraction/contraction.h"
#include "kernels/contraction/tile_emitter.h"

namespace groove::kernels {

// Vector registers that a tile leaves to its epilogue.
inline constexpr int kEpilogueRegisters = 3;

class InlineEpilogue {
 public:
  InlineEpilogue(const Contraction& contraction, Isa isa);
  /// False when the epilogue needs something that only a general kernel has.
  bool is_possible() const { return is_possible_; }
  /// Can rows end so? AVX2 has no masked access to bytes.
  bool takes(TileTail tail) const;
  std::size_t accesses() const { return kernel_.accesses.size(); }
  std::int64_t access_bytes(std::size_t access) const {
    return static_cast<std::int64_t>(element_size(kernel_.accesses[access].dtype));
  }

  /// Applies it to all accumulators; registers from `first_free` on are free.
  void emit(TileEmitter& emitter, int first_free) const;
  /// Data that the code refers to, placed behind it.
  void emit_constants(TileEmitter& emitter) const;

 private:
  Kernel kernel_;
  Isa isa_;
  bool is_possible_ = false;
};

}  // namespace groove::kernels
