// Elementwise operators whose elements host code computes one by one, in f64: functions that take a
// number of steps of their own at each argument, and that few programs call.
#pragma once

#include "kernels/ops/spelled.h"

namespace groove {

struct HostFunction {
  const char* name;
  int inputs;
  double (*function)(const double* x);
  GradientRule gradient = {};
  std::uint32_t saves_inputs = 0, lacks_gradient = 0;
  double (*reference)(double, double) = nullptr;  // of one input it ignores the second
  Domain domain = {};
  double tolerance_ulp = 16;
  double nanoseconds = 100;  // an element
};
const Op& define(HostFunction of);

// Operands brought to one floating dtype and, where there are two, one shape.
Tensor call_host(const Op& op, Arg x);
Tensor call_host(const Op& op, Arg x, const Tensor& y);
/// … a number in place of either.
Tensor call_host(const Op& op, Arg x, Scalar y);
Tensor call_host(const Op& op, Scalar x, Arg y);

}  // namespace groove
