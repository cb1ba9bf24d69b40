// Arithmetic of shapes.
#include <ostream>
#include <stdexcept>
#include <string>

#include "src/core/small_vector.h"

namespace groove {

std::string to_string(IntArrayRef values) {
  std::string text = "[";
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(values[i]);
  }
  return text + "]";
}

void detail::throw_out_of_range(std::size_t index, std::size_t size) {
  throw std::out_of_range("ArrayRef: index " + std::to_string(index) + " is not below the size " +
                          std::to_string(size));
}
std::ostream& operator<<(std::ostream& out, IntArrayRef values) { return out << to_string(values); }

std::int64_t element_count(IntArrayRef sizes) {
  std::int64_t count = 1;
  for (std::int64_t size : sizes) count *= size;
  return count;
}

// A size of 0 counts as 1, so that strides of empty tensors are those LibTorch gives.
Shape contiguous_strides(IntArrayRef sizes) {
  Shape strides;
  strides.resize(sizes.size());
  std::int64_t stride = 1;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= sizes[i] > 1 ? sizes[i] : 1;
  }
  return strides;
}

}  // namespace groove
