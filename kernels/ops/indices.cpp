// Range checks of index tensors, on real data of any strides: a fast look whether something is
// wrong, then the search for what.
#include "kernels/ops/indices.h"

#include <algorithm>
#include <atomic>

#include "kernels/pool.h"

namespace groove {

void check_index_dtype(const char* op, const Type& index) {
  GROOVE_CHECK(index.dtype == kLong || index.dtype == kInt,
               "{}: the index is {}; it must be Long or Int", op, name(index.dtype));
}

namespace {

constexpr std::int64_t kWorthSharing = 1 << 16;  // elements

// Its leading bit: is the value no number from 0 to `last`? Whole words and no branch, so that many
// are looked at side by side, at the speed of memory.
std::uint64_t outside(std::int64_t value, std::uint64_t last) {
  const auto word = static_cast<std::uint64_t>(value);
  return word | (last - word);
}
template <typename T>
bool is_any_outside(const T* values, std::int64_t count, std::uint64_t last) {
  std::uint64_t found = 0;
  for (std::int64_t i = 0; i < count; ++i) found |= outside(values[i], last);
  return found >> 63 != 0;
}
template <typename T>
bool is_any_outside(const T* values, std::int64_t count, std::uint64_t last, std::int64_t other) {
  std::uint64_t found = 0;
  for (std::int64_t i = 0; i < count; ++i)
    found |= values[i] == other ? 0 : outside(values[i], last);
  return found >> 63 != 0;
}

template <typename T>
bool are_all_inside(const T* values, std::int64_t count, std::int64_t bound,
                    const std::int64_t* allowed) {
  const auto last = static_cast<std::uint64_t>(bound - 1);
  std::atomic<bool> is_outside = false;
  kernels::parallel(kernels::threads_for(count < kWorthSharing), [&](int part, int parts) {
    const std::int64_t begin = count * part / parts, own = count * (part + 1) / parts - begin;
    if (allowed ? is_any_outside(values + begin, own, last, *allowed)
                : is_any_outside(values + begin, own, last))
      is_outside = true;
  });
  return !is_outside;
}

}  // namespace

void check_index_range(const char* op, const char* what, const Tensor& index, std::int64_t bound,
                       const std::int64_t* allowed) {
  const TensorImpl& impl = *index.impl();
  const bool is_long = impl.dtype == kLong;
  // What an axis repeats is looked at once: the first of equal elements is the one to name.
  Geometry once = impl.geometry;
  Shape& sizes = once.sizes;
  const Shape& strides = once.strides;
  for (std::size_t axis = 0; axis < sizes.size(); ++axis)
    if (strides[axis] == 0) sizes[axis] = std::min<std::int64_t>(sizes[axis], 1);
  const std::int64_t count = element_count(sizes);
  if (once.is_contiguous() &&
      (is_long
           ? are_all_inside(static_cast<const std::int64_t*>(impl.data()), count, bound, allowed)
           : are_all_inside(static_cast<const std::int32_t*>(impl.data()), count, bound, allowed)))
    return;
  Shape at(sizes.size(), 0);
  std::int64_t offset = 0;
  for (std::int64_t n = 0; n < count; ++n) {
    const std::int64_t value = is_long ? static_cast<const std::int64_t*>(impl.data())[offset]
                                       : static_cast<const std::int32_t*>(impl.data())[offset];
    if (static_cast<std::uint64_t>(value) >= static_cast<std::uint64_t>(bound) &&
        !(allowed && value == *allowed)) {
      throw_error_as<IndexError>(
          fmt::format("{}: {} {} at position {} is out of range; it must be in [0, {})", op, what,
                      value, to_string(at), bound));
    }
    for (std::size_t axis = sizes.size(); axis-- > 0;) {
      offset += strides[axis];
      if (++at[axis] < sizes[axis]) break;
      offset -= at[axis] * strides[axis];
      at[axis] = 0;
    }
  }
}

}  // namespace groove
