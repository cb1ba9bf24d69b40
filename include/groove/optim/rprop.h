// Rprop (Riedmiller and Braun, "A Direct Adaptive Method for Faster Backpropagation Learning: The
// RPROP Algorithm", 1993), as Python's torch defines it. For gradients of whole data sets. lr is
// the first size of all steps.
#pragma once

#include <tuple>

#include "groove/optim/listed.h"

namespace groove::optim {

struct RpropOptions : ListedOptions<RpropOptions> {
  RpropOptions(double lr = 1e-2);
  using etas_t = std::tuple<double, double>;
  using step_sizes_t = std::tuple<double, double>;
  GROOVE_ARG(double, lr);
  GROOVE_ARG(etas_t, etas) = {0.5, 1.2};
  GROOVE_ARG(step_sizes_t, step_sizes) = {1e-6, 50};
  GROOVE_ARG(bool, maximize) = false;
};

struct RpropParamState : ListedParamState<RpropParamState> {
  GROOVE_ARG(std::int64_t, step) = 0;
  GROOVE_ARG(Tensor, prev);
  GROOVE_ARG(Tensor, step_size);
};

class Rprop : public ListedOptimizer<RpropOptions, RpropParamState> {
 public:
  using ListedOptimizer::ListedOptimizer;
};

}  // namespace groove::optim
