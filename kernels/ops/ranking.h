// Order of elements for sort and topk: 64-bit keys whose unsigned order is that of the values, NaN
// greatest, -0.0 equal to 0.0 (numerics.md §3). A position beside each key makes the order total,
// so every way of sorting gives the same result.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "kernels/ops/rules.h"

namespace groove {

struct Ranked {
  std::uint64_t key;
  std::int64_t position;
  bool operator<(const Ranked& other) const {
    return key != other.key ? key < other.key : position < other.position;
  }
};

/// A tensor as lines along one axis.
struct Lines {
  std::int64_t count, length, stride;
  Lines(const Shape& sizes, std::int64_t dim);
  /// Of the first element of a line.
  std::int64_t offset(std::int64_t line) const {
    return line / stride * length * stride + line % stride;
  }
};

/// The elements of one line; `descending` turns the order of values, not that of equal ones.
void rank_line(ScalarType dtype, const void* data, std::int64_t offset, const Lines& lines,
               bool descending, std::vector<Ranked>& ranked);
/// Ascending; `room` is scratch.
void sort_ranked(std::vector<Ranked>& ranked, std::vector<Ranked>& room);

/// Element `from` of source becomes element `to` of target, whatever the dtype.
void move_element(std::size_t size, void* target, std::int64_t to, const void* source,
                  std::int64_t from);

/// The share of `count` lines of one of `parts` threads: [begin, end).
inline std::pair<std::int64_t, std::int64_t> line_share(std::int64_t count, int part, int parts) {
  return {count * part / parts, count * (part + 1) / parts};
}

/// The axis of an op that takes 0-d tensors as one element.
std::int64_t ranked_axis(const char* op, const Tensor& self, std::int64_t dim);
/// The gradient of picked elements, at their positions among zeros.
Tensors picked_gradient(const Grad& g);

}  // namespace groove
