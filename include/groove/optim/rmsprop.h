// RMSprop (Tieleman and Hinton 2012), with momentum and centering, as LibTorch defines it.
#pragma once

#include "groove/optim/listed.h"

namespace groove::optim {

struct RMSpropOptions : ListedOptions<RMSpropOptions> {
  RMSpropOptions(double lr = 1e-2);
  GROOVE_ARG(double, lr);
  GROOVE_ARG(double, alpha) = 0.99;
  GROOVE_ARG(double, eps) = 1e-8;
  GROOVE_ARG(double, weight_decay) = 0;
  GROOVE_ARG(double, momentum) = 0;
  GROOVE_ARG(bool, centered) = false;
};

struct RMSpropParamState : ListedParamState<RMSpropParamState> {
  GROOVE_ARG(std::int64_t, step) = 0;
  GROOVE_ARG(Tensor, square_avg);
  GROOVE_ARG(Tensor, momentum_buffer) = {};
  GROOVE_ARG(Tensor, grad_avg) = {};
};

class RMSprop : public ListedOptimizer<RMSpropOptions, RMSpropParamState> {
 public:
  using ListedOptimizer::ListedOptimizer;
};

}  // namespace groove::optim
