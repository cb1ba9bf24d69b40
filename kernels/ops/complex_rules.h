// What operators are for complex tensors: the same or other operators of the real tensors behind
// them. The rules here serve many; an operator's own stand in its file.
#pragma once

#include "kernels/ops/rules.h"
#include "src/core/complex.h"

namespace groove::complex_rules {

// ---- from complex to real and back ----

struct Parts {
  Tensor re, im;
};
/// Views of both parts. The imaginary part of a real tensor is undefined.
Parts parts_of(const Tensor& x);
/// A complex tensor of two real ones of one dtype, which broadcast.
Tensor joined(const Tensor& re, const Tensor& im);
/// A complex tensor over a real [..., 2], which is copied where its strides do not allow that.
Tensor over(const Tensor& pair);
/// The pair of any tensor, in a real floating dtype; that of a real one has zeros beside it.
Tensor pair_as(const Tensor& x, ScalarType part);
/// The dtype of the parts that the operands of a call compute in.
ScalarType part_dtype(const Call& call);

/// An operand in that dtype, complex where it is complex.
Tensor operand(const Call& call, std::size_t i);

// ---- rules for many ----

/// The op itself, of the pairs of the complex inputs: what counts axes from the front, or does the
/// same to both parts. A list of sizes gets the 2 behind it.
Tensor on_pairs(const Call& call);
Tensor on_pairs(const Call& call, const Attrs& attrs);
/// The op itself, of the pairs of all inputs, in their common dtype.
Tensor on_all_pairs(const Call& call);
/// The op itself of the real parts, and of the imaginary parts, where its numbers are zeros.
Tensor on_parts(const Call& call);
/// The op itself of what is not 0.
Tensor on_truths(const Call& call);
/// The op itself of the real parts; the imaginary parts stay.
Tensor on_real_part(const Call& call);
/// On pairs, whose op puts its last new axis behind theirs.
Tensor with_new_axis(const Call& call);
/// Sums and means over axes (attribute 0, none for all), keeping them or not (attribute 1).
Tensor reduction(const Call& call);
/// On pairs, with an index tensor (input 1) of the source's rank.
Tensor with_full_index(const Call& call);
/// [m, k] times [k, n], with or without an axis of batches.
Tensor contraction(const Call& call);

// ---- arithmetic ----

Tensor product(const Tensor& x, const Tensor& y);
Tensor quotient(const Tensor& x, const Tensor& y);
/// The same function of every complex number.
template <Tensor (*kFunction)(const Tensor&)>
Tensor of_each(const Call& call) {
  return kFunction(call.inputs[0]);
}
Tensor exponential(const Tensor& z);
Tensor logarithm(const Tensor& z);
Tensor exponential_less_one(const Tensor& z);
Tensor logarithm_of_one_more(const Tensor& z);
Tensor power(const Tensor& z, const Tensor& exponent);
/// |z|, whose gradient at 0 is 0.
Tensor magnitude(const Tensor& z);
/// z / |z|, and 0 at 0.
Tensor direction(const Tensor& z);
Tensor square_root(const Tensor& z);
Tensor sine(const Tensor& z);
Tensor cosine(const Tensor& z);
Tensor tangent(const Tensor& z);
Tensor hyperbolic_sine(const Tensor& z);
Tensor hyperbolic_cosine(const Tensor& z);
Tensor hyperbolic_tangent(const Tensor& z);
Tensor logistic(const Tensor& z);

}  // namespace groove::complex_rules
