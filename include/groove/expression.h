// Scalar expressions: how operators write what they compute for each element, Groove's own and
// those of programs (groove/custom_operator.h). They become instructions of kernels, with the same
// bits in eager mode and in every tier of compiled code.
//
//   [](Expr x, Expr limit) { return limit * tanh(x / limit); }
//
// An Expr is a handle on an instruction of the kernel that is being made. A literal takes the dtype
// of the other operand. Operands of one arithmetic operation have one dtype, which is f32, f64, an
// integer or bool; conversions are written. Integers wrap. Misuse throws groove::Error.
#pragma once

#include <cstdint>

#include "groove/dtype.h"

namespace groove {
namespace kernels {

class Builder;

/// The value of an element, or of a number, while a kernel is made.
class Expr {
 public:
  Expr() = default;
  Expr(Builder* builder, std::int32_t id) : builder_(builder), id_(id) {}
  /// Throws groove::Error for one that is not defined().
  ScalarType dtype() const;
  std::int32_t id() const { return id_; }
  Builder& builder() const { return *builder_; }
  bool defined() const { return id_ >= 0; }

 private:
  Builder* builder_ = nullptr;
  std::int32_t id_ = -1;
};

// Arithmetic of all dtypes but bool; whole numbers are divided towards zero.
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
// Comparisons give kBool (named functions, so that == stays free for handles).
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
/// yes where the mask holds, else no. Both are computed.
Expr select(Expr mask, Expr yes, Expr no);
Expr select(Expr mask, double yes, Expr no);
Expr select(Expr mask, Expr yes, double no);
/// Rounds once, whatever the two dtypes; `a` itself when it has it.
Expr convert(Expr a, ScalarType dtype);
Expr fma(Expr a, Expr b, Expr c);  // a b + c with one rounding
Expr sqrt(Expr a);
Expr abs(Expr a);
Expr max(Expr a, Expr b);  // a > b ? a : b, so a NaN in `a` is lost; max_nan keeps it
Expr min(Expr a, Expr b);
Expr floor(Expr a);
Expr ceil(Expr a);
Expr trunc(Expr a);
Expr round_even(Expr a);  // of two that are as near the even one
// Bits of integers and of masks.
Expr operator&(Expr a, Expr b);
Expr operator|(Expr a, Expr b);
Expr operator^(Expr a, Expr b);
Expr operator~(Expr a);
Expr shift_left(Expr a, Expr b);  // by the width or more: 0, arithmetic ones the sign
Expr shift_right_logical(Expr a, Expr b);
Expr shift_right_arithmetic(Expr a, Expr b);

// Functions of f32 and f64, as exact as the operators of their names.
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

}  // namespace kernels

using kernels::Expr;

}  // namespace groove
