// Adamax (Kingma and Ba, "Adam: A Method for Stochastic Optimization", 2015, section 7.1), as
// Python's torch defines it: Adam with the greatest gradient in place of the mean square.
#pragma once

#include <tuple>

#include "groove/optim/listed.h"

namespace groove::optim {

struct AdamaxOptions : ListedOptions<AdamaxOptions> {
  AdamaxOptions(double lr = 2e-3);
  using betas_t = std::tuple<double, double>;
  GROOVE_ARG(double, lr);
  GROOVE_ARG(betas_t, betas) = {0.9, 0.999};
  GROOVE_ARG(double, eps) = 1e-8;
  GROOVE_ARG(double, weight_decay) = 0;
  GROOVE_ARG(bool, maximize) = false;
};

struct AdamaxParamState : ListedParamState<AdamaxParamState> {
  GROOVE_ARG(std::int64_t, step) = 0;
  GROOVE_ARG(Tensor, exp_avg);
  GROOVE_ARG(Tensor, exp_inf);
};

class Adamax : public ListedOptimizer<AdamaxOptions, AdamaxParamState> {
 public:
  using ListedOptimizer::ListedOptimizer;
};

}  // namespace groove::optim
