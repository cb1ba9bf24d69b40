// Stochastic gradient descent with momentum, as LibTorch defines it.
#pragma once

#include "groove/optim/optimizer.h"

namespace groove::optim {

struct SGDOptions : OptimizerCloneableOptions<SGDOptions> {
  SGDOptions(double lr);
  double get_lr() const override;
  void set_lr(double lr) override;
  std::optional<double> get_momentum() const override;
  void set_momentum(double momentum) override;
  void inherit(const OptimizerOptions& defaults) override;
  void serialize(serialize::OutputArchive& archive) const override;
  void serialize(serialize::InputArchive& archive) override;
  GROOVE_ARG(double, lr);
  GROOVE_ARG(double, momentum) = 0;
  GROOVE_ARG(double, dampening) = 0;
  GROOVE_ARG(double, weight_decay) = 0;
  GROOVE_ARG(bool, nesterov) = false;

 public:
  friend bool operator==(const SGDOptions& a, const SGDOptions& b);
};

struct SGDParamState : OptimizerCloneableParamState<SGDParamState> {
  void serialize(serialize::OutputArchive& archive) const override;
  void serialize(serialize::InputArchive& archive) override;
  GROOVE_ARG(Tensor, momentum_buffer);

 public:
  friend bool operator==(const SGDParamState& a, const SGDParamState& b);
};

class SGD : public Optimizer {
 public:
  explicit SGD(std::vector<OptimizerParamGroup> param_groups, SGDOptions defaults,
               Site site = Site::current());
  explicit SGD(std::vector<Tensor> params, SGDOptions defaults, Site site = Site::current());
  using Optimizer::step;
  Tensor step(LossClosure closure) override;

 protected:
  std::unique_ptr<OptimizerParamState> new_state() const override;
  void check_options(const OptimizerOptions& options) const override;
  void check_state(const Tensor& parameter, const OptimizerParamState& state) const override;
};

}  // namespace groove::optim
