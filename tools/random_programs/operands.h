// How raw operands become what an op takes: integers are mapped into the valid range, tensors cut
// and reshaped to the rank that is wanted, so that most calls are valid.
#pragma once

#include "tools/random_programs/program.h"

namespace groove::random_programs {

using Sizes = std::vector<std::int64_t>;

/// value modulo count, never negative; throws when there is nothing to choose from.
std::int64_t wrap(std::int64_t value, std::int64_t count);
Sizes sizes_of(const Tensor& t);
std::int64_t axis(const Tensor& t, std::int64_t raw);
/// Some of the axes, by the bits of the mask.
Sizes axes(const Tensor& t, std::int64_t mask);
/// Positions below `count`.
Tensor positions(std::int64_t length, std::int64_t count, std::int64_t first, std::int64_t by);
/// Positions below `count`, all of them different.
Tensor different_positions(std::int64_t length, std::int64_t count, std::int64_t first);
/// `given` when it holds positions by its type, otherwise new ones.
Tensor as_integers(const Tensor& given, std::int64_t length, std::int64_t count,
                   const Operands& v);
Tensor as_mask(const Tensor& given, Site site);
ScalarType dtype_from(std::int64_t raw);
/// The first elements of `given` in this shape and dtype.
Tensor cut(const Tensor& given, const Sizes& sizes, ScalarType dtype, Site site);
/// [n, channels, side, side] out of what `given` holds.
Tensor images(const Tensor& given, const Operands& v);
Tensor narrowed(const Operands& v);
Tensor sliced(const Operands& v);

// The tables' entries; each op takes its numbers from Operands.
#define UNARY(name)                                                            \
  {                                                                            \
#name, 1, [](const Operands& v) { return groove::name(Arg(v.a, v.site)); } \
  }
#define BINARY(name)                                                                \
  {                                                                                 \
#name, 2, [](const Operands& v) { return groove::name(Arg(v.a, v.site), v.b); } \
  }
#define WITH_NUMBER(label, name)                                                    \
  {                                                                                 \
    label, 1, [](const Operands& v) { return groove::name(Arg(v.a, v.site), v.x); } \
  }
#define RUN(expression) [](const Operands& v) -> Tensor { return expression; }

}  // namespace groove::random_programs
