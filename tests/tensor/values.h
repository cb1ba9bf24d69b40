// Tensors of integers for tests that write their elements out.
#pragma once

#include <cstdint>
#include <vector>

#include "groove/groove.h"

namespace groove {

using Ints = std::vector<std::int64_t>;

inline Ints values(const Tensor& x) {
  const Tensor flat = x.to(kLong).contiguous();
  const std::int64_t* data = flat.const_data_ptr<std::int64_t>();
  return {data, data + flat.numel()};
}
inline Ints shape(const Tensor& x) { return x.sizes().vec(); }

/// 0, 1, 2, … in the order of memory.
inline Tensor counting(IntArrayRef sizes) {
  std::int64_t count = 1;
  for (std::int64_t size : sizes) count *= size;
  return arange(count).view(sizes);
}

}  // namespace groove
