// What optimizers share: all that follows from the list of their options and of their state, which
// src/optim holds.
#pragma once

#include "groove/optim/optimizer.h"

namespace groove::optim {

template <typename Self>
struct ListedOptions : OptimizerCloneableOptions<Self> {
  double get_lr() const override;
  void set_lr(double lr) override;
  std::optional<double> get_momentum() const override;
  void set_momentum(double momentum) override;
  void inherit(const OptimizerOptions& defaults) override;
  void serialize(serialize::OutputArchive& archive) const override;
  void serialize(serialize::InputArchive& archive) override;
  friend bool operator==(const Self& a, const Self& b) { return a.is_same(b); }

 private:
  bool is_same(const Self& other) const;
};

template <typename Self>
struct ListedParamState : OptimizerCloneableParamState<Self> {
  void serialize(serialize::OutputArchive& archive) const override;
  void serialize(serialize::InputArchive& archive) override;
  friend bool operator==(const Self& a, const Self& b) { return a.is_same(b); }

 private:
  bool is_same(const Self& other) const;
};

/// Throws groove::Error naming the option and its value where one cannot be right.
template <typename Options, typename State>
class ListedOptimizer : public Optimizer {
 public:
  explicit ListedOptimizer(std::vector<OptimizerParamGroup> param_groups, Options defaults = {},
                           Site site = Site::current());
  explicit ListedOptimizer(std::vector<Tensor> params, Options defaults = {},
                           Site site = Site::current());
  using Optimizer::step;
  Tensor step(LossClosure closure) override;

 protected:
  std::unique_ptr<OptimizerParamState> new_state() const override;
  void check_options(const OptimizerOptions& options) const override;
  void check_state(const Tensor& parameter, const OptimizerParamState& state) const override;
};

}  // namespace groove::optim
