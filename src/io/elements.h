// The elements of a tensor as the bytes of a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "groove/tensor.h"

namespace groove::serialize {

using Sink = std::function<void(const void* bytes, std::size_t size)>;  // throws on failure
using Source = std::function<void(void* bytes, std::size_t size)>;      // exactly so many

/// The bytes of a tensor of this shape. Throws groove::Error beginning with `what` when they are
/// more than 2^63, also for shapes with a 0, whose bytes are none.
std::size_t bytes_of_shape(ArrayRef<std::uint64_t> shape, ScalarType dtype,
                           const std::string& what);

/// Calls back with where each element lies, in row-major order of `sizes`, in units of `strides`.
template <typename Body>
void for_each_offset(IntArrayRef sizes, IntArrayRef strides, const Body& body) {
  std::vector<std::int64_t> index(sizes.size(), 0);
  std::int64_t offset = 0, left = 1;
  for (const std::int64_t size : sizes) left *= size;
  for (; left > 0; --left) {
    body(offset);
    for (std::size_t axis = sizes.size(); axis-- > 0;) {
      offset += strides[axis];
      if (++index[axis] < sizes[axis]) break;
      offset -= index[axis] * strides[axis];
      index[axis] = 0;
    }
  }
}

/// Hands over the elements in row-major order, little-endian, NaN as the canonical quiet NaN.
void each_piece(const Tensor& tensor, const Sink& sink);

/// Throws groove::Error naming the element unless all are 0 or 1.
void check_bools(const Tensor& tensor, const std::string& file, const std::string& entry);

}  // namespace groove::serialize
