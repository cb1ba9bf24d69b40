#include "kernels/launch.h"

#include "kernels/pool.h"
#include "src/core/check.h"
#include "src/core/faults.h"

namespace groove::kernels {
namespace {

// Below this many points a launch costs less than waking a thread.
constexpr std::int64_t kSerialPoints = 16384;
// Splits of the innermost axis fall on multiples of this, so that no two threads share a line.
constexpr std::int64_t kInnerGrain = 64;

}  // namespace

Shape broadcast_strides(IntArrayRef from_sizes, IntArrayRef from_strides, IntArrayRef to_sizes) {
  Shape strides(to_sizes.size(), 0);
  const std::size_t lead = to_sizes.size() - from_sizes.size();
  for (std::size_t i = 0; i < from_sizes.size(); ++i)
    strides[lead + i] = from_sizes[i] == 1 ? 0 : from_strides[i];
  return strides;
}

StrideClass stride_class(std::int64_t stride, std::int64_t count) {
  if (stride == 0) return StrideClass::kBroadcast;
  if (stride == 1 || count <= 1) return StrideClass::kContiguous;
  return StrideClass::kStrided;
}

Box collapse(IntArrayRef sizes, const std::vector<Shape>& strides, int keep_inner) {
  Box box;
  box.strides.resize(strides.size());
  for (auto& access : box.strides) access.fill(0);
  if (keep_inner == 0 && element_count(sizes) == 0) {  // no points, whatever the axes
    box.count[0] = 0;
    return box;
  }
  int rank = 0;
  const int axes = static_cast<int>(sizes.size());
  for (int from_inner = 0; from_inner < axes; ++from_inner) {
    const auto axis = static_cast<std::size_t>(axes - 1 - from_inner);
    const bool is_kept = from_inner < keep_inner;
    if (sizes[axis] == 1 && !is_kept) continue;
    bool merges = !is_kept && rank > keep_inner;
    for (std::size_t a = 0; merges && a < strides.size(); ++a)
      merges = strides[a][axis] == box.strides[a][rank - 1] * box.count[rank - 1];
    if (merges) {
      box.count[rank - 1] *= sizes[axis];
      continue;
    }
    GROOVE_CHECK(rank < kMaxAxes,
                 "a tensor with shape {} and such strides needs more than {} loops;"
                 " make it contiguous() first",
                 to_string(sizes), kMaxAxes);
    box.count[rank] = sizes[axis];
    for (std::size_t a = 0; a < strides.size(); ++a) box.strides[a][rank] = strides[a][axis];
    ++rank;
  }
  box.rank = rank > 0 ? rank : 1;
  return box;
}

void describe(Launch& launch, const Box& box) {
  launch.rank = box.rank;
  for (int i = 0; i < kMaxAxes; ++i) {
    launch.begin[i] = 0;
    launch.count[i] = box.count[i];
  }
  launch.strides = reinterpret_cast<const std::int64_t(*)[kMaxAxes]>(box.strides.data());
}

bool split(Order order, const Launch& whole, int part, int parts, Launch& mine) noexcept {
  mine = whole;
  if (parts <= 1) return true;
  // The outermost axis with enough room; the innermost of a map or the columns as a last resort.
  const int first = order == Order::kMap || order == Order::kColumn ? 0 : 1;
  int axis = -1;
  for (int i = whole.rank - 1; i >= first; --i) {
    if (order == Order::kColumn && i == 1) continue;
    if (i == 0 ? whole.count[0] >= kInnerGrain * parts || axis < 0 : whole.count[i] >= parts) {
      axis = i;
      break;
    }
  }
  if (axis < 0) {
    for (int i = first; i < whole.rank; ++i)
      if (!(order == Order::kColumn && i == 1) && (axis < 0 || whole.count[i] > whole.count[axis]))
        axis = i;
    if (axis < 0) return part == 0;
  }
  const std::int64_t grain = axis == 0 ? kInnerGrain : 1;
  const std::int64_t grains = (whole.count[axis] + grain - 1) / grain;
  const std::int64_t begin = grains * part / parts * grain;
  std::int64_t end = grains * (part + 1) / parts * grain;
  if (end > whole.count[axis]) end = whole.count[axis];
  if (has_fault(Fault::kDroppedPart) && part > 0 && part == parts - 1) --end;
  if (begin >= end) return false;
  mine.begin[axis] = whole.begin[axis] + begin;
  mine.count[axis] = end - begin;
  return true;
}

void run_parallel(const Callable& callable, Order order, const Launch& launch) noexcept {
  std::int64_t points = 1;
  for (int i = 0; i < launch.rank; ++i) points *= launch.count[i];
  if (points == 0 && order == Order::kMap) return;
  const int threads = threads_for(points < kSerialPoints);
  if (threads <= 1) {
    callable.run(launch);
    return;
  }
  parallel(threads, [&](int part, int parts) {
    Launch mine;
    if (split(order, launch, part, parts, mine)) callable.run(mine);
  });
}

}  // namespace groove::kernels
