// Scalar expressions: how operators write what they compute. An Expr is a handle on an
// instruction of the kernel that is being built by the innermost Builder of this thread.
//
//   Builder b;
//   Expr x = b.load(kFloat, StrideClass::kContiguous);
//   b.store(kFloat, StrideClass::kContiguous, exp(x) * 2.0);
//   Kernel kernel = b.finish();
//
// Equal pure instructions of a phase are made once. A literal takes the dtype of the other
// operand. Operands of one arithmetic operation must have one dtype; conversions are written.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/ir.h"

namespace groove::kernels {

class Builder;

class Expr {
 public:
  Expr() = default;
  Expr(Builder* builder, std::int32_t id) : builder_(builder), id_(id) {}
  ScalarType dtype() const;
  std::int32_t id() const { return id_; }
  Builder& builder() const { return *builder_; }
  bool defined() const { return id_ >= 0; }

 private:
  Builder* builder_ = nullptr;
  std::int32_t id_ = -1;
};

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

Expr operator+(Expr a, Expr b);
Expr operator-(Expr a, Expr b);
Expr operator*(Expr a, Expr b);
Expr operator/(Expr a, Expr b);
Expr operator-(Expr a);
Expr operator+(Expr a, double b);
Expr operator-(Expr a, double b);
Expr operator*(Expr a, double b);
Expr operator/(Expr a, double b);
Expr operator+(double a, Expr b);
Expr operator-(double a, Expr b);
Expr operator*(double a, Expr b);
Expr operator/(double a, Expr b);
// Comparisons; (named functions, so that == stays free for handles)
Expr eq(Expr a, Expr b);
Expr ne(Expr a, Expr b);
Expr lt(Expr a, Expr b);
Expr le(Expr a, Expr b);
Expr gt(Expr a, Expr b);
Expr ge(Expr a, Expr b);
Expr eq(Expr a, double b);
Expr ne(Expr a, double b);
Expr lt(Expr a, double b);
Expr le(Expr a, double b);
Expr gt(Expr a, double b);
Expr ge(Expr a, double b);
Expr select(Expr mask, Expr yes, Expr no);
/// Rounds once, whatever the two dtypes (kernels/functions/convert.cpp); `a` itself when it has it.
Expr convert(Expr a, ScalarType dtype);
Expr bitcast(Expr a, ScalarType dtype);
Expr fma(Expr a, Expr b, Expr c);
Expr sqrt(Expr a);
Expr abs(Expr a);
Expr max(Expr a, Expr b);  // the primitive: a > b ? a : b
Expr min(Expr a, Expr b);
Expr floor(Expr a);
Expr ceil(Expr a);
Expr trunc(Expr a);
Expr round_even(Expr a);
Expr mul_high(Expr a, Expr b);
Expr operator&(Expr a, Expr b);
Expr operator|(Expr a, Expr b);
Expr operator^(Expr a, Expr b);
Expr operator~(Expr a);
Expr shift_left(Expr a, Expr b);
Expr shift_right_logical(Expr a, Expr b);
Expr shift_right_arithmetic(Expr a, Expr b);
Expr if_any(Expr mask, Expr fast, Expr (*slow)(Expr), Expr slow_argument);

// Expansions (kernels/functions/*.cpp): one per function, for f32 and f64, to the bounds of
// numerics.md §2.
Expr exp(Expr x);
Expr exp2(Expr x);
Expr log(Expr x);
Expr log2(Expr x);
Expr log10(Expr x);
Expr expm1(Expr x);  // exp(x) - 1 without cancellation
Expr log1p(Expr x);  // log(1 + x), likewise
Expr rsqrt(Expr x);
Expr tanh(Expr x);
Expr sigmoid(Expr x);
Expr silu(Expr x);  // x sigmoid(x)
Expr erf(Expr x);
Expr erfc(Expr x);
// x Phi(x), Phi the normal distribution, and its tanh form; with their derivatives.
Expr gelu(Expr x);
Expr gelu_tanh(Expr x);
Expr gelu_slope(Expr x);
Expr gelu_tanh_slope(Expr x);
Expr sin(Expr x);
Expr cos(Expr x);
Expr tan(Expr x);
Expr asin(Expr x);
Expr acos(Expr x);
Expr atan(Expr x);
Expr atan2(Expr y, Expr x);  // the angle of the point (x, y), with the special cases of C99
Expr sinh(Expr x);
Expr cosh(Expr x);
Expr erfinv(Expr x);
Expr lgamma(Expr x);  // log |gamma(x)|
Expr digamma(Expr x);
Expr polygamma(int order, Expr x);  // the derivative of that order of digamma; at most 12
Expr pow(Expr x, Expr y);
Expr is_nan(Expr x);
Expr max_nan(Expr a, Expr b);  // NaN-propagating: what maximum(), max() and relu-like ops mean
Expr min_nan(Expr a, Expr b);

// Philox 4x32-10 (kernels/functions/philox.cpp): the i32 word of element `index` (i64) of draw
// `draw` (i64) under key `seed` (i64): lane index mod 4 of counter (draw, index div 4).
Expr philox_word(Expr seed, Expr draw, Expr index);
Expr uniform_f32(Expr word);                      // [0, 1) with 24 bits
Expr uniform_f64(Expr low_word, Expr high_word);  // [0, 1) with 53 bits

}  // namespace groove::kernels
