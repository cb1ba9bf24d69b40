// The elements of a tensor as the bytes of a file.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "groove/tensor.h"

namespace groove::serialize {

using Sink = std::function<void(const void* bytes, std::size_t size)>;  // throws on failure
using Source = std::function<void(void* bytes, std::size_t size)>;      // exactly so many

/// The bytes of a tensor of this shape. Throws groove::Error beginning with `what` when they are
/// more than 2^63, also for shapes with a 0, whose bytes are none.
std::size_t bytes_of_shape(ArrayRef<std::uint64_t> shape, ScalarType dtype,
                           const std::string& what);

/// Hands over the elements in row-major order, little-endian, NaN as the canonical quiet NaN.
void each_piece(const Tensor& tensor, const Sink& sink);

/// Throws groove::Error naming the element unless all are 0 or 1.
void check_bools(const Tensor& tensor, const std::string& file, const std::string& entry);

}  // namespace groove::serialize
