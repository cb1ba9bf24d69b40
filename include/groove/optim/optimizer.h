// The base of optimizers: parameter groups with options, and state for each parameter.
#pragma once

#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "groove/arg.h"
#include "groove/tensor.h"

namespace groove::optim {

namespace detail {
struct StepPlan;  // src/optim/plan.h
}

class OptimizerParamState {
 public:
  virtual std::unique_ptr<OptimizerParamState> clone() const;
  virtual ~OptimizerParamState() = default;
};
template <typename Derived>
class OptimizerCloneableParamState : public OptimizerParamState {
 public:
  std::unique_ptr<OptimizerParamState> clone() const override {
    return std::make_unique<Derived>(static_cast<const Derived&>(*this));
  }
};

class OptimizerOptions {
 public:
  virtual std::unique_ptr<OptimizerOptions> clone() const;
  virtual double get_lr() const;
  virtual void set_lr(double lr);
  virtual ~OptimizerOptions() = default;
};
template <typename Derived>
class OptimizerCloneableOptions : public OptimizerOptions {
 public:
  std::unique_ptr<OptimizerOptions> clone() const override {
    return std::make_unique<Derived>(static_cast<const Derived&>(*this));
  }
};

class OptimizerParamGroup {
 public:
  OptimizerParamGroup(std::vector<Tensor> params) : params_(std::move(params)) {}
  OptimizerParamGroup(std::vector<Tensor> params, std::unique_ptr<OptimizerOptions> options)
      : params_(std::move(params)), options_(std::move(options)) {}
  OptimizerParamGroup(const OptimizerParamGroup& other)
      : params_(other.params_), options_(other.has_options() ? other.options_->clone() : nullptr) {}
  OptimizerParamGroup(OptimizerParamGroup&&) noexcept = default;
  OptimizerParamGroup& operator=(const OptimizerParamGroup& other) {
    return *this = OptimizerParamGroup(other);
  }
  OptimizerParamGroup& operator=(OptimizerParamGroup&&) noexcept = default;

  bool has_options() const { return options_ != nullptr; }
  OptimizerOptions& options() { return *checked(); }
  const OptimizerOptions& options() const { return *checked(); }
  void set_options(std::unique_ptr<OptimizerOptions> options) { options_ = std::move(options); }
  std::vector<Tensor>& params() { return params_; }
  const std::vector<Tensor>& params() const { return params_; }

 private:
  OptimizerOptions* checked() const {
    if (!options_) throw Error("OptimizerParamGroup: the group has no options");
    return options_.get();
  }
  std::vector<Tensor> params_;
  std::unique_ptr<OptimizerOptions> options_;
};

/// Subclasses implement step(LossClosure) and may keep their state in state().
class Optimizer {
 public:
  using LossClosure = std::function<Tensor()>;
  using StateMap = std::unordered_map<void*, std::unique_ptr<OptimizerParamState>>;

  Optimizer(std::vector<OptimizerParamGroup> param_groups,
            std::unique_ptr<OptimizerOptions> defaults);
  Optimizer(std::vector<Tensor> parameters, std::unique_ptr<OptimizerOptions> defaults);
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;
  virtual ~Optimizer();

  /// Updates the parameters from their gradients. With a closure: calls it first, with gradients
  /// recorded, and returns its loss.
  virtual Tensor step(LossClosure closure) = 0;
  Tensor step(Site site = Site::current());

  void zero_grad(bool set_to_none = true, Site site = Site::current());
  /// Takes the defaults where the group has no options. Throws groove::Error for non-leaf
  /// parameters and for one that is in a group already.
  void add_param_group(const OptimizerParamGroup& group);
  std::size_t size() const noexcept;
  OptimizerOptions& defaults() noexcept { return *defaults_; }
  const OptimizerOptions& defaults() const noexcept { return *defaults_; }
  std::vector<OptimizerParamGroup>& param_groups() noexcept { return param_groups_; }
  const std::vector<OptimizerParamGroup>& param_groups() const noexcept { return param_groups_; }
  /// Keyed by Tensor::unsafeGetTensorImpl().
  StateMap& state();
  const StateMap& state() const noexcept { return state_; }

 protected:
  Tensor run_closure(const LossClosure& closure);
  std::vector<OptimizerParamGroup> param_groups_;
  StateMap state_;
  std::unique_ptr<OptimizerOptions> defaults_;
  std::unique_ptr<detail::StepPlan> plan_;  // what step() remembers between calls
  Site step_site_ = Site::current();
};

}  // namespace groove::optim
