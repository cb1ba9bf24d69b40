// Adam and AdamW (decoupled weight decay), as LibTorch defines them.
#pragma once

#include <tuple>

#include "groove/optim/listed.h"

namespace groove::optim {

template <typename Self>
struct AdamOptionsOf : ListedOptions<Self> {
  AdamOptionsOf(double lr, double decay) : lr_(lr), weight_decay_(decay) {}
  const double& lr() const noexcept { return lr_; }
  double& lr() noexcept { return lr_; }
  Self& lr(double value) { return set(lr_, value); }
  using betas_t = std::tuple<double, double>;
  const std::tuple<double, double>& betas() const noexcept { return betas_; }
  std::tuple<double, double>& betas() noexcept { return betas_; }
  Self& betas(std::tuple<double, double> value) { return set(betas_, value); }
  const double& eps() const noexcept { return eps_; }
  double& eps() noexcept { return eps_; }
  Self& eps(double value) { return set(eps_, value); }
  const double& weight_decay() const noexcept { return weight_decay_; }
  double& weight_decay() noexcept { return weight_decay_; }
  Self& weight_decay(double value) { return set(weight_decay_, value); }
  const bool& amsgrad() const noexcept { return amsgrad_; }
  bool& amsgrad() noexcept { return amsgrad_; }
  Self& amsgrad(bool value) { return set(amsgrad_, value); }

 private:
  template <typename T>
  Self& set(T& field, T value) {
    field = value;
    return static_cast<Self&>(*this);
  }
  double lr_;
  std::tuple<double, double> betas_{0.9, 0.999};
  double eps_ = 1e-8;
  double weight_decay_;
  bool amsgrad_ = false;
};

struct AdamOptions : AdamOptionsOf<AdamOptions> {
  AdamOptions(double lr = 1e-3);
};
struct AdamWOptions : AdamOptionsOf<AdamWOptions> {
  AdamWOptions(double lr = 1e-3);
};

struct AdamParamState : ListedParamState<AdamParamState> {
  GROOVE_ARG(std::int64_t, step) = 0;
  GROOVE_ARG(Tensor, exp_avg);
  GROOVE_ARG(Tensor, exp_avg_sq);
  GROOVE_ARG(Tensor, max_exp_avg_sq) = {};
};
using AdamWParamState = AdamParamState;

class Adam : public ListedOptimizer<AdamOptions, AdamParamState> {
 public:
  using ListedOptimizer::ListedOptimizer;
};

class AdamW : public ListedOptimizer<AdamWOptions, AdamParamState> {
 public:
  using ListedOptimizer::ListedOptimizer;
};

}  // namespace groove::optim
