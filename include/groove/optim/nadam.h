// NAdam (Dozat, "Incorporating Nesterov Momentum into Adam", 2016), as Python's torch defines it:
// Adam that looks ahead by Nesterov's momentum, in step t beta1 (1 - 0.96^(t momentum_decay) / 2).
#pragma once

#include <tuple>

#include "groove/optim/listed.h"

namespace groove::optim {

struct NAdamOptions : ListedOptions<NAdamOptions> {
  NAdamOptions(double lr = 2e-3);
  using betas_t = std::tuple<double, double>;
  GROOVE_ARG(double, lr);
  GROOVE_ARG(betas_t, betas) = {0.9, 0.999};
  GROOVE_ARG(double, eps) = 1e-8;
  GROOVE_ARG(double, weight_decay) = 0;
  GROOVE_ARG(double, momentum_decay) = 4e-3;
  GROOVE_ARG(bool, decoupled_weight_decay) = false;
  GROOVE_ARG(bool, maximize) = false;
};

struct NAdamParamState : ListedParamState<NAdamParamState> {
  GROOVE_ARG(std::int64_t, step) = 0;
  GROOVE_ARG(Tensor, exp_avg);
  GROOVE_ARG(Tensor, exp_avg_sq);
  GROOVE_ARG(double, mu_product) = 1;
};

class NAdam : public ListedOptimizer<NAdamOptions, NAdamParamState> {
 public:
  using ListedOptimizer::ListedOptimizer;
};

}  // namespace groove::optim
