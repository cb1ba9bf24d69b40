// What random ops share: the numbers (seed, draw) and uniform values from Philox words.
#pragma once

#include "groove/ops/creation.h"
#include "kernels/fours.h"
#include "kernels/ops/rules.h"
#include "kernels/philox.h"
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
/// Both of them draw four elements at once (kernels/fours.h). Gives true.
bool draws_fours(const Op& op, kernels::FourAtOnce fours);
/// Which of the two makes this draw.
const Op& drawn_by(const Op& op, const DrawNumbers& draw);

/// Uniform on [0, 1) in the compute dtype: one word an element for f32, two for f64.
inline kernels::Expr uniform(kernels::Expr seed, kernels::Expr draw, kernels::Expr index,
                             ScalarType dtype) {
  using kernels::philox_block, kernels::philox_word;
  if (dtype == kFloat) return kernels::uniform_f32(philox_word(seed, draw, index));
  kernels::Builder& b = index.builder();
  const auto& words =
      philox_block(seed, draw, shift_right_logical(index, b.constant_int(kLong, 1))).words;
  const kernels::Expr is_upper = ne(index & b.constant_int(kLong, 1), 0.0);
  return kernels::uniform_f64(select(is_upper, words[2], words[0]),
                              select(is_upper, words[3], words[1]));
}

/// Uniform values of the elements 2 pair and 2 pair + 1.
struct UniformPair {
  kernels::Expr even, odd;
};
UniformPair uniform_pair(kernels::Expr seed, kernels::Expr draw, kernels::Expr pair,
                         ScalarType dtype);
/// Uniform values of the elements 4 four … 4 four + 3.
kernels::Exprs four_uniform(kernels::Expr seed, kernels::Expr draw, kernels::Expr four,
                            ScalarType dtype);

/// Words 4 block … of the draw of numbers 0 and 1, as i64.
kernels::Exprs random_words(kernels::Body& b, kernels::Expr block);
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
