// Stochastic gradient descent with momentum, as LibTorch defines it.
#pragma once

#include "groove/optim/optimizer.h"

namespace groove::optim {

struct SGDOptions : OptimizerCloneableOptions<SGDOptions> {
  SGDOptions(double lr);
  double get_lr() const override;
  void set_lr(double lr) override;
  GROOVE_ARG(double, lr);
  GROOVE_ARG(double, momentum) = 0;
  GROOVE_ARG(double, dampening) = 0;
  GROOVE_ARG(double, weight_decay) = 0;
  GROOVE_ARG(bool, nesterov) = false;
};

struct SGDParamState : OptimizerCloneableParamState<SGDParamState> {
  GROOVE_ARG(Tensor, momentum_buffer);
};

class SGD : public Optimizer {
 public:
  explicit SGD(std::vector<OptimizerParamGroup> param_groups, SGDOptions defaults);
  explicit SGD(std::vector<Tensor> params, SGDOptions defaults);
  using Optimizer::step;
  Tensor step(LossClosure closure) override;
};

}  // namespace groove::optim
