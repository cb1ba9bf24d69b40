// What is only moved, moved as words of its size.
#pragma once

#include <cstdint>

#include "groove/dtype.h"

namespace groove {

/// `visit` with a word as large as an element: what is only moved is moved so, and integers are
/// added so, which wrap.
template <typename Visit>
void with_word_of(ScalarType dtype, const Visit& visit) {
  switch (element_size(dtype)) {
    case 1:
      return visit(std::uint8_t());
    case 2:
      return visit(std::uint16_t());
    case 4:
      return visit(std::uint32_t());
    default:
      return visit(std::uint64_t());
  }
}

}  // namespace groove
