// ASGD (Polyak and Juditsky, "Acceleration of Stochastic Approximation by Averaging", 1992), as
// Python's torch defines it: the rate of a step falls as lr / (1 + lambd lr t)^alpha, and the
// state's ax becomes the average of the parameter from step t0 on.
#pragma once

#include "groove/optim/listed.h"

namespace groove::optim {

struct ASGDOptions : ListedOptions<ASGDOptions> {
  ASGDOptions(double lr = 1e-2);
  GROOVE_ARG(double, lr);
  GROOVE_ARG(double, lambd) = 1e-4;
  GROOVE_ARG(double, alpha) = 0.75;
  GROOVE_ARG(double, t0) = 1e6;
  GROOVE_ARG(double, weight_decay) = 0;
  GROOVE_ARG(bool, maximize) = false;
};

struct ASGDParamState : ListedParamState<ASGDParamState> {
  GROOVE_ARG(std::int64_t, step) = 0;
  GROOVE_ARG(Tensor, ax);
  GROOVE_ARG(double, eta) = 0;
  GROOVE_ARG(double, mu) = 1;
};

class ASGD : public ListedOptimizer<ASGDOptions, ASGDParamState> {
 public:
  using ListedOptimizer::ListedOptimizer;
};

}  // namespace groove::optim
