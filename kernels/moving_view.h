// Views whose place is a run-time number: where they lie, as a linear function of that number.
#pragma once

#include <vector>

#include "src/core/op.h"

namespace groove::kernels {

// The address moves by stride * start, a negative start counting from `size`.
struct MovingStart {
  std::size_t number = 0;  // which of the view's
  std::int64_t stride = 0, size = 0;
};

/// The view of `geometry` with its numbers `moving` at 0; what each of them does is added to
/// `starts`.
Geometry view_at_zero(const Op& op, const Geometry& geometry, ArrayRef<Type> types,
                      const Attrs& attrs, std::vector<Scalar> numbers,
                      const std::vector<bool>& moving, std::vector<MovingStart>& starts);

}  // namespace groove::kernels
