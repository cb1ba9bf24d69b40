// Contiguity and overlap of geometries.
#include "src/core/geometry.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "src/core/check.h"
#include "src/core/faults.h"

namespace groove {
namespace {

struct Axis {
  std::int64_t stride, size;
};

}  // namespace

bool Geometry::is_contiguous() const {
  std::int64_t expected = 1;
  bool matches = true;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] == 0) return true;
    if (sizes[i] == 1) continue;
    if (strides[i] != expected) matches = false;
    expected *= sizes[i];
  }
  return matches;
}

Extent extent(const Geometry& geometry) {
  Extent result{geometry.offset, geometry.offset};
  for (std::size_t i = 0; i < geometry.sizes.size(); ++i) {
    if (geometry.sizes[i] == 0) return {0, -1};
    const std::int64_t reach = (geometry.sizes[i] - 1) * geometry.strides[i];
    (reach < 0 ? result.low : result.high) += reach;
  }
  return result;
}

bool has_internal_overlap(const Geometry& geometry) {
  SmallVector<Axis, 6> axes;
  std::int64_t count = 1;
  for (std::size_t i = 0; i < geometry.sizes.size(); ++i) {
    if (geometry.sizes[i] == 0) return false;
    count *= geometry.sizes[i];
    if (geometry.sizes[i] > 1) axes.push_back({std::abs(geometry.strides[i]), geometry.sizes[i]});
  }
  std::sort(axes.begin(), axes.end(), [](Axis a, Axis b) { return a.stride < b.stride; });
  std::int64_t reach = 0;  // of all axes with smaller strides
  bool nests = true;
  for (const Axis& axis : axes) {
    if (axis.stride == 0) return !has_fault(Fault::kOverlapNotSeen);
    if (axis.stride <= reach) nests = false;
    reach += (axis.size - 1) * axis.stride;
  }
  if (nests) return false;
  constexpr std::int64_t kEnumerated = 4096;
  if (count > kEnumerated) return true;
  std::vector<std::int64_t> addresses{0};
  for (const Axis& axis : axes) {
    const std::size_t before = addresses.size();
    for (std::int64_t i = 1; i < axis.size; ++i)
      for (std::size_t k = 0; k < before; ++k) addresses.push_back(addresses[k] + i * axis.stride);
  }
  std::sort(addresses.begin(), addresses.end());
  return std::adjacent_find(addresses.begin(), addresses.end()) != addresses.end();
}

Overlap overlap(const Geometry& a, const Geometry& b) {
  const Extent first = extent(a), second = extent(b);
  if (first.low > first.high || second.low > second.high) return Overlap::kNone;
  if (a == b) return Overlap::kSame;
  if (first.high < second.low || second.high < first.low) return Overlap::kNone;
  // All addresses of both lie on grids of step g: shifted against each other they never meet.
  std::int64_t step = 0;
  for (const Geometry* geometry : {&a, &b})
    for (std::size_t i = 0; i < geometry->sizes.size(); ++i)
      if (geometry->sizes[i] > 1) step = std::gcd(step, geometry->strides[i]);
  if (step > 1 && (a.offset - b.offset) % step != 0) return Overlap::kNone;
  return Overlap::kSome;
}

Overlap overlap(const TensorImpl& a, const TensorImpl& b) {
  if (!a.storage || !(a.storage == b.storage)) return &a == &b ? Overlap::kSame : Overlap::kNone;
  if (a.dtype != b.dtype) return Overlap::kSome;
  return overlap(a.geometry, b.geometry);
}

// Does it address a whole stretch of memory, each element once?
static bool is_dense(const Geometry& geometry) {
  if (geometry.is_contiguous()) return true;
  SmallVector<Axis, 6> axes;
  for (std::size_t i = 0; i < geometry.sizes.size(); ++i)
    if (geometry.sizes[i] != 1) axes.push_back({geometry.strides[i], geometry.sizes[i]});
  std::sort(axes.begin(), axes.end(), [](Axis a, Axis b) { return a.stride < b.stride; });
  std::int64_t expected = 1;
  for (const Axis& axis : axes) {
    if (axis.stride != expected) return false;
    expected *= axis.size;
  }
  return true;
}

bool overlap_partly(const Geometry& written, const Geometry& read) {
  const Extent first = extent(written), second = extent(read);
  if (first.low > first.high || second.low > second.high) return false;
  if (first.high < second.low || second.high < first.low) return false;
  if (first.low == second.low && first.high == second.high && written.strides == read.strides)
    return false;
  return is_dense(written) && is_dense(read);
}

bool overlap_partly(const TensorImpl& written, const TensorImpl& read) {
  return &written != &read && written.storage && written.storage == read.storage &&
         written.dtype == read.dtype && overlap_partly(written.geometry, read.geometry);
}

std::int64_t wrap_dim(const char* op, std::int64_t dim, IntArrayRef sizes) {
  const std::int64_t rank = std::max<std::int64_t>(static_cast<std::int64_t>(sizes.size()), 1);
  GROOVE_CHECK_AS(IndexError, dim >= -rank && dim < rank,
                  "{}: dimension {} is out of range for shape {} (use {} to {})", op, dim,
                  to_string(sizes), -rank, rank - 1);
  return dim < 0 ? dim + rank : dim;
}

}  // namespace groove
