// Boxes: collapsing the logical axes of a launch to the few that memory really has, and splitting
// a launch over threads. Shared by eager mode and the compiler.
#pragma once

#include <array>
#include <vector>

#include "kernels/ir.h"
#include "src/core/small_vector.h"

namespace groove::kernels {

// The axes of a launch and the stride of every access along them, innermost first.
struct Box {
  int rank = 1;
  std::int64_t count[kMaxAxes] = {1, 1, 1, 1, 1, 1, 1, 1};
  std::vector<std::array<std::int64_t, kMaxAxes>> strides;  // [access][axis]

  std::int64_t points() const {
    std::int64_t n = 1;
    for (int i = 0; i < rank; ++i) n *= count[i];
    return n;
  }
};

/// Merges neighbouring axes that every access walks as one, drops axes of size 1. `sizes` and the
/// strides are logical (outermost first); the first `keep_inner` innermost axes stay as they are.
/// Throws groove::Error when more than kMaxAxes axes remain.
Box collapse(IntArrayRef sizes, const std::vector<Shape>& strides, int keep_inner = 0);

/// Strides of a tensor seen in a broadcast shape: 0 along axes it lacks or has with size 1.
Shape broadcast_strides(IntArrayRef from_sizes, IntArrayRef from_strides, IntArrayRef to_sizes);

StrideClass stride_class(std::int64_t stride, std::int64_t count);

/// Fills rank, counts and strides of a launch (pointers and scalars are the caller's).
void describe(Launch& launch, const Box& box);

/// Runs the launch over the pool when it is worth it, split along its largest splittable axis:
/// for rows the innermost axis stays whole, for columns axis 1 does.
void run_parallel(const Callable& callable, Order order, const Launch& launch) noexcept;
/// The part of a launch that one of `parts` threads runs; false when it is empty.
bool split(Order order, const Launch& whole, int part, int parts, Launch& mine) noexcept;

}  // namespace groove::kernels
