// Loads, stores and indices of a strip: the steps that see the launch.
#pragma once

#include "kernels/interpreter/strip.h"

namespace groove::kernels::interpreter {

struct Memory {
  const Access& access;
  void* pointer;
  const std::int64_t* strides;  // [axis]
  int rank;

  std::byte* line(const Point& point) const;
  std::int64_t inner_stride() const;
};

void load(const Memory& memory, const Strip& strip, void* out);
void load_at(const Memory& memory, const Strip& strip, const std::int64_t* offsets, void* out);
void store(const Memory& memory, const Strip& strip, const void* values);
void write_index(const Strip& strip, int axis, std::int64_t* out);
void lookup(const void* table, std::size_t size, const void* indices, bool wide_indices,
            std::int64_t count, void* out);
void fill(void* out, const void* element, std::size_t size, std::int64_t count);

}  // namespace groove::kernels::interpreter
