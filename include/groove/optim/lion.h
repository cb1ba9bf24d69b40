// Lion (Chen et al., "Symbolic Discovery of Optimization Algorithms", 2023, algorithm 2):
//   c = beta1 m + (1 - beta1) g;  p -= lr (sign(c) + weight_decay p);  m = beta2 m + (1 - beta2) g
// Python's torch does not have it; sign(0) is 0.
#pragma once

#include <tuple>

#include "groove/optim/listed.h"

namespace groove::optim {

struct LionOptions : ListedOptions<LionOptions> {
  LionOptions(double lr = 1e-4);
  using betas_t = std::tuple<double, double>;
  GROOVE_ARG(double, lr);
  GROOVE_ARG(betas_t, betas) = {0.9, 0.99};
  GROOVE_ARG(double, weight_decay) = 0;
  GROOVE_ARG(bool, maximize) = false;
};

struct LionParamState : ListedParamState<LionParamState> {
  GROOVE_ARG(std::int64_t, step) = 0;
  GROOVE_ARG(Tensor, exp_avg);
};

class Lion : public ListedOptimizer<LionOptions, LionParamState> {
 public:
  using ListedOptimizer::ListedOptimizer;
};

}  // namespace groove::optim
