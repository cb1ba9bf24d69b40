// Builder makes kernels of scalar expressions (groove/expression.h), and those that only Groove's
// own operators use.
//
//   Builder b;
//   Expr x = b.load(kFloat, StrideClass::kContiguous);
//   b.store(kFloat, StrideClass::kContiguous, exp(x) * 2.0);
//   Kernel kernel = b.finish();
//
// Equal pure instructions of a phase are made once.
#pragma once

#include <cstdint>
#include <vector>

#include "groove/expression.h"
#include "kernels/ir.h"

namespace groove::kernels {

class Builder {
 public:
  explicit Builder(Order order = Order::kMap);
  Expr constant(ScalarType dtype, double value);
  Expr constant_bits(ScalarType dtype, std::uint64_t bits);
  Expr constant_int(ScalarType dtype, std::int64_t value);
  Expr param(ScalarType dtype);  // a new scalar parameter
  Expr index(int axis);
  int access(ScalarType dtype, bool is_store, StrideClass inner);  // a new access
  Expr load(int access);
  Expr load_at(int access, Expr offset);
  Expr load(ScalarType dtype, StrideClass inner) { return load(access(dtype, false, inner)); }
  void store(int access, Expr value);
  void store(ScalarType dtype, StrideClass inner, Expr value) {
    store(access(dtype, true, inner), value);
  }
  Expr reduce(Prim reduction, Expr value);
  int table(Table table);  // index for lookup; equal tables are made once
  Expr lookup(int table, Expr index);
  void next_phase();  // code emitted from here on belongs to the next phase
  Expr emit(Prim prim, ScalarType dtype, Expr a = {}, Expr b = {}, Expr c = {},
            std::uint64_t imm = 0);
  const Instr& at(std::int32_t id) const;
  Kernel finish();  // dead pure code removed, verified
  Kernel take();    // the same, for a backend, which verifies what it has not compiled before

 private:
  friend class Expr;
  // Of pure instructions of this phase the first that is equal; by its number in the code.
  class Shared {
   public:
    /// The place of the equal one, or of the free one for it, which is below 0.
    std::int32_t& at(const std::vector<Instr>& code, const Instr& instr);
    /// Call after another one has found its place.
    void note_added(const std::vector<Instr>& code);
    /// Those from this number on are no longer found.
    void forget_from(const std::vector<Instr>& code, std::size_t first);
    void clear();

   private:
    static constexpr std::int32_t kFree = -1, kForgotten = -2;
    std::vector<std::int32_t> places_ = std::vector<std::int32_t>(64, kFree);  // a power of two
    std::size_t used_ = 0;
  };

  void remove_dead_code();

  Kernel kernel_;
  std::vector<std::int32_t> phase_starts_;
  Shared shared_;
  std::vector<std::size_t> open_;  // each if_any_begin without its end
};

Expr bitcast(Expr a, ScalarType dtype);
Expr mul_high(Expr a, Expr b);
Expr if_any(Expr mask, Expr fast, Expr (*slow)(Expr), Expr slow_argument);

// Philox 4x32-10 (kernels/functions/philox.cpp): the i32 word of element `index` (i64) of draw
// `draw` (i64) under key `seed` (i64): lane index mod 4 of counter (draw, index div 4).
Expr philox_word(Expr seed, Expr draw, Expr index);
Expr uniform_f32(Expr word);                      // [0, 1) with 24 bits
Expr uniform_f64(Expr low_word, Expr high_word);  // [0, 1) with 53 bits

}  // namespace groove::kernels
