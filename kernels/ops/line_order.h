// The elements of a line in order, or the one at a place of that order: by words that hold the
// leading bits of a key above the element's position, so that comparing words compares both.
#pragma once

#include "kernels/ops/ranking.h"

namespace groove {

/// Scratch of one thread, kept from line to line.
class Words {
 public:
  Words() = default;
  ~Words();
  Words(const Words&) = delete;
  Words& operator=(const Words&) = delete;
  /// Room for `count`; what it held is lost.
  std::uint64_t* reserve(std::size_t count);

 private:
  std::uint64_t* words_ = nullptr;
  std::size_t count_ = 0;
};
struct OrderRoom {
  Words words, spare;
};

/// The positions of a line's elements in order; they lie in `room`.
const std::uint64_t* order_line(ScalarType dtype, const void* data, std::int64_t offset,
                                const Lines& lines, bool descending, OrderRoom& room);
/// The position of the element that `place` others come before, ascending.
std::int64_t place_in_line(ScalarType dtype, const void* data, std::int64_t offset,
                           const Lines& lines, std::int64_t place, OrderRoom& room);

}  // namespace groove
