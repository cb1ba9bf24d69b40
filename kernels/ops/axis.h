// What a type rule asks of an axis that an attribute names. A program's calls have seen to it,
// graphs that come from a file have not.
#pragma once

#include "src/core/check.h"
#include "src/core/op.h"

namespace groove {

inline std::size_t axis_below(const Signature& s, std::int64_t dim, std::size_t rank) {
  GROOVE_CHECK(dim >= 0 && static_cast<std::size_t>(dim) < rank, "{}: axis {} of {} axes",
               s.op.name, dim, rank);
  return static_cast<std::size_t>(dim);
}
/// The axis of input `operand` that attribute `field` names.
inline std::size_t axis_of(const Signature& s, std::size_t field, std::size_t operand = 0) {
  return axis_below(s, s.attr().integer(field), s.inputs[operand].sizes.size());
}

}  // namespace groove
