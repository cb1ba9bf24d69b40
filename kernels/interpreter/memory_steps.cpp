// Loads, stores and indices move elements by their size alone; dtypes do not matter here.
#include "kernels/interpreter/memory_steps.h"

#include <cstring>

namespace groove::kernels::interpreter {
namespace {

template <typename Visit>
void visit_size(std::size_t size, Visit&& visit) {
  switch (size) {
    case 1:
      return visit.template operator()<std::uint8_t>();
    case 2:
      return visit.template operator()<std::uint16_t>();
    case 4:
      return visit.template operator()<std::uint32_t>();
    default:
      return visit.template operator()<std::uint64_t>();
  }
}

}  // namespace

std::byte* Memory::line(const Point& point) const {
  std::int64_t offset = 0;
  for (int axis = 0; axis < rank; ++axis) offset += point.index[axis] * strides[axis];
  return static_cast<std::byte*>(pointer) +
         offset * static_cast<std::int64_t>(element_size(access.dtype));
}

std::int64_t Memory::inner_stride() const {
  switch (access.inner) {
    case StrideClass::kContiguous:
      return 1;
    case StrideClass::kBroadcast:
      return 0;
    default:
      return strides[0];
  }
}

void load(const Memory& memory, const Strip& strip, void* out) {
  visit_size(element_size(memory.access.dtype), [&]<typename T>() {
    T* result = static_cast<T*>(out);
    const std::int64_t stride = memory.inner_stride();
    for (std::int64_t l = 0; l < strip.lines; ++l, result += strip.line_length) {
      const T* const line = reinterpret_cast<const T*>(memory.line(strip.first[l]));
      if (stride == 1) {
        std::copy_n(line, strip.line_length, result);
      } else if (stride == 0) {
        std::fill_n(result, strip.line_length, *line);
      } else {
        for (std::int64_t i = 0; i < strip.line_length; ++i) result[i] = line[i * stride];
      }
    }
  });
}

void load_at(const Memory& memory, const Strip& strip, const std::int64_t* offsets, void* out) {
  visit_size(element_size(memory.access.dtype), [&]<typename T>() {
    T* const result = static_cast<T*>(out);
    const std::int64_t stride = memory.inner_stride();
    std::int64_t at = 0;
    for (std::int64_t l = 0; l < strip.lines; ++l) {
      const T* const line = reinterpret_cast<const T*>(memory.line(strip.first[l]));
      for (std::int64_t i = 0; i < strip.line_length; ++i, ++at) {
        result[at] = line[i * stride + offsets[at]];
      }
    }
  });
}

void store(const Memory& memory, const Strip& strip, const void* values) {
  visit_size(element_size(memory.access.dtype), [&]<typename T>() {
    const T* source = static_cast<const T*>(values);
    const std::int64_t stride = memory.inner_stride();
    for (std::int64_t l = 0; l < strip.lines; ++l, source += strip.line_length) {
      T* const line = reinterpret_cast<T*>(memory.line(strip.first[l]));
      if (stride == 1) {
        std::copy_n(source, strip.line_length, line);
      } else {
        for (std::int64_t i = 0; i < strip.line_length; ++i) line[i * stride] = source[i];
      }
    }
  });
}

void write_index(const Strip& strip, int axis, std::int64_t* out) {
  for (std::int64_t l = 0; l < strip.lines; ++l, out += strip.line_length) {
    const std::int64_t first = strip.first[l].index[axis];
    const std::int64_t step = axis == 0 ? 1 : 0;
    for (std::int64_t i = 0; i < strip.line_length; ++i) out[i] = first + i * step;
  }
}

void lookup(const void* table, std::size_t size, const void* indices, bool wide_indices,
            std::int64_t count, void* out) {
  visit_size(size, [&]<typename T>() {
    const auto gather = [&](const auto* index) {
      for (std::int64_t i = 0; i < count; ++i) {
        static_cast<T*>(out)[i] = static_cast<const T*>(table)[index[i]];
      }
    };
    if (wide_indices) {
      gather(static_cast<const std::int64_t*>(indices));
    } else {
      gather(static_cast<const std::int32_t*>(indices));
    }
  });
}

void fill(void* out, const void* element, std::size_t size, std::int64_t count) {
  visit_size(size, [&]<typename T>() {
    T value;
    std::memcpy(&value, element, sizeof(T));
    std::fill_n(static_cast<T*>(out), count, value);
  });
}

}  // namespace groove::kernels::interpreter
