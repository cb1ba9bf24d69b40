// Adagrad (Duchi, Hazan, Singer 2011), as LibTorch defines it.
#pragma once

#include "groove/optim/optimizer.h"

namespace groove::optim {

struct AdagradOptions : OptimizerCloneableOptions<AdagradOptions> {
  AdagradOptions(double lr = 1e-2);
  double get_lr() const override;
  void set_lr(double lr) override;
  void inherit(const OptimizerOptions& defaults) override;
  void serialize(serialize::OutputArchive& archive) const override;
  void serialize(serialize::InputArchive& archive) override;
  GROOVE_ARG(double, lr);
  GROOVE_ARG(double, lr_decay) = 0;
  GROOVE_ARG(double, weight_decay) = 0;
  GROOVE_ARG(double, initial_accumulator_value) = 0;
  GROOVE_ARG(double, eps) = 1e-10;

 public:
  friend bool operator==(const AdagradOptions& a, const AdagradOptions& b);
};

struct AdagradParamState : OptimizerCloneableParamState<AdagradParamState> {
  void serialize(serialize::OutputArchive& archive) const override;
  void serialize(serialize::InputArchive& archive) override;
  GROOVE_ARG(Tensor, sum);
  GROOVE_ARG(std::int64_t, step) = 0;

 public:
  friend bool operator==(const AdagradParamState& a, const AdagradParamState& b);
};

class Adagrad : public Optimizer {
 public:
  explicit Adagrad(std::vector<OptimizerParamGroup> param_groups, AdagradOptions defaults = {},
                   Site site = Site::current());
  explicit Adagrad(std::vector<Tensor> params, AdagradOptions defaults = {},
                   Site site = Site::current());
  using Optimizer::step;
  Tensor step(LossClosure closure) override;

 protected:
  std::unique_ptr<OptimizerParamState> new_state() const override;
  void check_options(const OptimizerOptions& options) const override;
  void check_state(const Tensor& parameter, const OptimizerParamState& state) const override;
};

}  // namespace groove::optim
