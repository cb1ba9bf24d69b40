// RAdam (Liu et al., "On the Variance of the Adaptive Learning Rate and Beyond", 2020), as Python's
// torch defines it: Adam whose variance counts only once enough steps make it tractable.
#pragma once

#include <tuple>

#include "groove/optim/listed.h"

namespace groove::optim {

struct RAdamOptions : ListedOptions<RAdamOptions> {
  RAdamOptions(double lr = 1e-3);
  using betas_t = std::tuple<double, double>;
  GROOVE_ARG(double, lr);
  GROOVE_ARG(betas_t, betas) = {0.9, 0.999};
  GROOVE_ARG(double, eps) = 1e-8;
  GROOVE_ARG(double, weight_decay) = 0;
  GROOVE_ARG(bool, decoupled_weight_decay) = false;
  GROOVE_ARG(bool, maximize) = false;
};

struct RAdamParamState : ListedParamState<RAdamParamState> {
  GROOVE_ARG(std::int64_t, step) = 0;
  GROOVE_ARG(Tensor, exp_avg);
  GROOVE_ARG(Tensor, exp_avg_sq);
};

class RAdam : public ListedOptimizer<RAdamOptions, RAdamParamState> {
 public:
  using ListedOptimizer::ListedOptimizer;
};

}  // namespace groove::optim
