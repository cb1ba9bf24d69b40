// Operators that no user calls: what the tracer and the compiler need to say in a graph.
#pragma once

#include "src/core/op.h"

namespace groove {

/// constant() {sizes, dtype, bits}: every element is the number with these bits.
const Op& constant_op();
/// materialize(x) {order}: x in memory of its own, axes outermost first in `order`.
const Op& materialize_op();
/// place_slice(x) {sizes, dim, step} <start>: zeros in which x fills a slice.
const Op& place_slice_op();
/// write_strided(base, value) {sizes, strides, offset}: base with that region replaced.
const Op& write_strided_op();
/// write_moving(base, value; starts) {sizes, strides, offset, steps, extents}: the same where the
/// region moves with run-time numbers.
const Op& write_moving_op();

}  // namespace groove
