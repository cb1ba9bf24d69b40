// A kernel that takes one float to another, run on one element.
#pragma once

#include "kernels/backend.h"

namespace groove::kernels::testing {

inline float run_once(const Callable& callable, float x) {
  float from = x, to = 0;
  void* const pointers[] = {&from, &to};
  const std::int64_t strides[2][kMaxAxes] = {{1}, {1}};
  Launch launch;
  launch.pointers = pointers;
  launch.strides = strides;
  callable.run(launch);
  return to;
}

}  // namespace groove::kernels::testing
