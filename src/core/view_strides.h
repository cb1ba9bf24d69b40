// Seeing the elements of a geometry in another shape without moving them.
#pragma once

#include <optional>

#include "src/core/tensor_impl.h"

namespace groove {

/// Strides that give `sizes` over the same elements in the same order; nothing where no strides do.
std::optional<Shape> view_strides(const Geometry& input, IntArrayRef sizes);

}  // namespace groove
