// RMSprop (Tieleman and Hinton 2012), with momentum and centering, as LibTorch defines it.
#pragma once

#include "groove/optim/optimizer.h"

namespace groove::optim {

struct RMSpropOptions : OptimizerCloneableOptions<RMSpropOptions> {
  RMSpropOptions(double lr = 1e-2);
  double get_lr() const override;
  void set_lr(double lr) override;
  std::optional<double> get_momentum() const override;
  void set_momentum(double momentum) override;
  void inherit(const OptimizerOptions& defaults) override;
  void serialize(serialize::OutputArchive& archive) const override;
  void serialize(serialize::InputArchive& archive) override;
  GROOVE_ARG(double, lr);
  GROOVE_ARG(double, alpha) = 0.99;
  GROOVE_ARG(double, eps) = 1e-8;
  GROOVE_ARG(double, weight_decay) = 0;
  GROOVE_ARG(double, momentum) = 0;
  GROOVE_ARG(bool, centered) = false;

 public:
  friend bool operator==(const RMSpropOptions& a, const RMSpropOptions& b);
};

struct RMSpropParamState : OptimizerCloneableParamState<RMSpropParamState> {
  void serialize(serialize::OutputArchive& archive) const override;
  void serialize(serialize::InputArchive& archive) override;
  GROOVE_ARG(std::int64_t, step) = 0;
  GROOVE_ARG(Tensor, square_avg);
  GROOVE_ARG(Tensor, momentum_buffer) = {};
  GROOVE_ARG(Tensor, grad_avg) = {};

 public:
  friend bool operator==(const RMSpropParamState& a, const RMSpropParamState& b);
};

class RMSprop : public Optimizer {
 public:
  explicit RMSprop(std::vector<OptimizerParamGroup> param_groups, RMSpropOptions defaults = {},
                   Site site = Site::current());
  explicit RMSprop(std::vector<Tensor> params, RMSpropOptions defaults = {},
                   Site site = Site::current());
  using Optimizer::step;
  Tensor step(LossClosure closure) override;

 protected:
  std::unique_ptr<OptimizerParamState> new_state() const override;
  void check_options(const OptimizerOptions& options) const override;
  void check_state(const Tensor& parameter, const OptimizerParamState& state) const override;
};

}  // namespace groove::optim
