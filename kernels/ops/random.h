// What random ops share: the numbers (seed, draw) and uniform values from Philox words.
#pragma once

#include "groove/ops/creation.h"
#include "kernels/ops/rules.h"
#include "src/core/generator.h"

namespace groove {

// Both travel as i64 with the bits of the unsigned values.
struct DrawNumbers {
  Scalar seed, draw;
  bool is_of_generator = false;
};
/// From the generator that this thread draws from (groove/generator.h), otherwise the process's.
DrawNumbers next_draw();

/// An op that draws, twice: compiled code gives the one new numbers of the process's state in each
/// run; the numbers of the other, "…_of_generator", are those that the call brings.
const Op& define_random(Op op);
/// Which of the two makes this draw.
const Op& drawn_by(const Op& op, const DrawNumbers& draw);

/// Uniform on [0, 1) in the compute dtype: one word an element for f32, two for f64.
inline kernels::Expr uniform(kernels::Expr seed, kernels::Expr draw, kernels::Expr index,
                             ScalarType dtype) {
  using kernels::philox_word;
  if (dtype == kFloat) return kernels::uniform_f32(philox_word(seed, draw, index));
  const kernels::Expr first = index + index;
  return kernels::uniform_f64(philox_word(seed, draw, first), philox_word(seed, draw, first + 1.0));
}

/// A word of the draw of numbers 0 and 1, as i64.
kernels::Expr random_word(kernels::Body& b, kernels::Expr index);

/// Result type of a factory with attributes sizes and dtype, which must be floating.
TypeResult random_type(const Signature& signature);
std::vector<Sample> random_samples(ScalarType dtype);
std::vector<AttrField> factory_attributes();
Tensor random_tensor(const Op& op, IntArrayRef size, const TensorOptions& options, Site site);

/// 64 random bits an element (i64).
Tensor random_bits(IntArrayRef sizes, Site site);

/// Philox 4x32-10 in plain code: the word that philox_word() gives for seed and draw, which are
/// numbers from `first_number` on; for references.
std::uint64_t reference_philox_word(const Signature& signature, std::size_t first_number,
                                    std::uint64_t index);
double reference_uniform(const Signature& signature, std::size_t first_number, std::int64_t index,
                         ScalarType dtype);

}  // namespace groove
