// Range checks of index tensors, on real data of any strides.
#include "kernels/ops/indices.h"

#include "kernels/ops/reference.h"

namespace groove {

void check_index_dtype(const char* op, const Type& index) {
  GROOVE_CHECK(index.dtype == kLong || index.dtype == kInt,
               "{}: the index is {}; it must be Long or Int", op, name(index.dtype));
}

void check_index_range(const char* op, const char* what, const Tensor& index, std::int64_t bound,
                       const std::int64_t* allowed) {
  const TensorImpl& impl = *index.impl();
  const bool is_long = impl.dtype == kLong;
  const Shape &sizes = impl.geometry.sizes, &strides = impl.geometry.strides;
  Shape at(sizes.size(), 0);
  std::int64_t offset = 0;
  for (std::int64_t n = 0; n < impl.numel; ++n) {
    const std::int64_t value = is_long ? static_cast<const std::int64_t*>(impl.data())[offset]
                                       : static_cast<const std::int32_t*>(impl.data())[offset];
    if (static_cast<std::uint64_t>(value) >= static_cast<std::uint64_t>(bound) &&
        !(allowed && value == *allowed)) {
      throw_error(fmt::format("{}: {} {} at position {} is out of range; it must be in [0, {})", op,
                              what, value, to_string(at), bound));
    }
    for (std::size_t axis = sizes.size(); axis-- > 0;) {
      offset += strides[axis];
      if (++at[axis] < sizes[axis]) break;
      offset -= at[axis] * strides[axis];
      at[axis] = 0;
    }
  }
}

namespace {

template <typename T>
void add_to(void* target, const void* source) {
  T a, b;
  std::memcpy(&a, target, sizeof(T));
  std::memcpy(&b, source, sizeof(T));
  a = static_cast<T>(a + b);
  std::memcpy(target, &a, sizeof(T));
}

}  // namespace

void combine_element(ScalarType dtype, void* target, const void* source) {
  switch (dtype) {
    case kFloat:
      return add_to<float>(target, source);
    case kDouble:
      return add_to<double>(target, source);
    case kLong:
      return add_to<std::uint64_t>(target, source);
    case kInt:
      return add_to<std::uint32_t>(target, source);
    case kByte:
      return add_to<std::uint8_t>(target, source);
    default:
      throw_error(fmt::format("index_add: not defined for {}", name(dtype)));
  }
}

}  // namespace groove
