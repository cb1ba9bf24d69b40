// Pieces of reference implementations: dense double arrays walked index by index. Slow and plain;
// only tests run them.
#pragma once

#include <functional>

#include "src/core/op.h"

namespace groove {

/// The row-major positions of a shape, with the index along each axis.
void for_each_index(IntArrayRef sizes, const std::function<void(const Shape& index)>& visit);
std::int64_t flat_position(IntArrayRef sizes, const Shape& index);
/// The element of `operand` that broadcasting puts at `index` of a larger shape.
double broadcast_at(const Reference& operand, const Shape& index);
/// An array of the type with `value(index)` in each place.
Reference make_reference(Type type, const std::function<double(const Shape& index)>& value);

/// What an element of the dtype holds of an exact result: integers wrap, bool is "not zero". Floats
/// are left as they are.
double wrapped(ScalarType dtype, double value);

/// out[index] = function(operands at index, numbers) over the op's own output types.
ReferenceRule elementwise_reference(
    std::function<double(const std::vector<double>& inputs, const Signature&)> function);
/// Combines the elements of each output's reduced axes (attribute fields 0 and 1: dims, keepdim),
/// in row-major order.
ReferenceRule reduction_reference(std::function<double(const std::vector<double>& row)> function);

// ---- samples: the edge shapes that every op of a form is tried on ----

std::vector<Sample> unary_samples(ScalarType dtype);
std::vector<Sample> binary_samples(ScalarType dtype);
std::vector<Sample> scalar_samples(ScalarType dtype, const std::vector<double>& numbers);
std::vector<Sample> reduction_samples(ScalarType dtype, bool allows_empty = true);

}  // namespace groove
