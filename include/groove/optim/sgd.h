// Stochastic gradient descent with momentum, as LibTorch defines it.
#pragma once

#include "groove/optim/listed.h"

namespace groove::optim {

struct SGDOptions : ListedOptions<SGDOptions> {
  SGDOptions(double lr);
  GROOVE_ARG(double, lr);
  GROOVE_ARG(double, momentum) = 0;
  GROOVE_ARG(double, dampening) = 0;
  GROOVE_ARG(double, weight_decay) = 0;
  GROOVE_ARG(bool, nesterov) = false;
};

struct SGDParamState : ListedParamState<SGDParamState> {
  GROOVE_ARG(Tensor, momentum_buffer);
};

class SGD : public ListedOptimizer<SGDOptions, SGDParamState> {
 public:
  using ListedOptimizer::ListedOptimizer;
};

}  // namespace groove::optim
