// The base of optimizers: parameter groups with options, and state for each parameter.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "groove/arg.h"
#include "groove/detail/owned.h"
#include "groove/tensor.h"

namespace groove::serialize {
class InputArchive;  // groove/serialize.h
class OutputArchive;
}  // namespace groove::serialize

namespace groove::optim {

namespace detail {
struct StepPlan;  // src/optim/plan.h
}

class OptimizerParamState {
 public:
  virtual std::unique_ptr<OptimizerParamState> clone() const;
  virtual void serialize(serialize::OutputArchive& archive) const;
  virtual void serialize(serialize::InputArchive& archive);
  virtual ~OptimizerParamState();
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
  /// Options that are still as their class's constructor leaves them become those of `defaults`,
  /// which are of the same class. Options of classes that do not define it stay.
  virtual void inherit(const OptimizerOptions& defaults);
  virtual double get_lr() const;
  virtual void set_lr(double lr);
  /// The momentum or, of options with betas, the first of them; none where there is neither.
  virtual std::optional<double> get_momentum() const;
  virtual void set_momentum(double momentum);
  virtual void serialize(serialize::OutputArchive& archive) const;
  virtual void serialize(serialize::InputArchive& archive);
  virtual ~OptimizerOptions();
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
  OptimizerParamGroup(std::vector<Tensor> params);
  OptimizerParamGroup(std::vector<Tensor> params, std::unique_ptr<OptimizerOptions> options);
  OptimizerParamGroup(const OptimizerParamGroup& other);
  OptimizerParamGroup(OptimizerParamGroup&&) noexcept;
  OptimizerParamGroup& operator=(const OptimizerParamGroup& other);
  OptimizerParamGroup& operator=(OptimizerParamGroup&&) noexcept;
  ~OptimizerParamGroup();

  bool has_options() const;
  /// Throws groove::Error when the group has none.
  OptimizerOptions& options();
  const OptimizerOptions& options() const;
  void set_options(std::unique_ptr<OptimizerOptions> options);
  std::vector<Tensor>& params() { return params_; }
  const std::vector<Tensor>& params() const { return params_; }
  /// The rate that the first scheduler found, which further ones begin with.
  std::optional<double>& initial_lr() { return initial_lr_; }

 private:
  std::vector<Tensor> params_;
  std::unique_ptr<OptimizerOptions> options_;
  std::optional<double> initial_lr_;
};

/// Subclasses implement step(LossClosure) and may keep their state in state().
class Optimizer {
 public:
  using LossClosure = std::function<Tensor()>;
  using StateMap = std::unordered_map<void*, std::unique_ptr<OptimizerParamState>>;

  Optimizer(std::vector<OptimizerParamGroup> param_groups,
            std::unique_ptr<OptimizerOptions> defaults, Site site = Site::current());
  Optimizer(std::vector<Tensor> parameters, std::unique_ptr<OptimizerOptions> defaults,
            Site site = Site::current());
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;
  /// The other one is left without parameters.
  Optimizer(Optimizer&& other);
  Optimizer& operator=(Optimizer&& other);
  virtual ~Optimizer();

  /// Updates the parameters from their gradients. With a closure: calls it first, with gradients
  /// recorded, and returns its loss.
  virtual Tensor step(LossClosure closure) = 0;
  Tensor step(Site site = Site::current());

  void zero_grad(bool set_to_none = true, Site site = Site::current());
  /// Takes the defaults where the group has no options, or has left one as it is. Throws
  /// groove::Error for non-leaf parameters and for one that is in a group already.
  void add_param_group(const OptimizerParamGroup& group, Site site = Site::current());
  /// To the first group.
  void add_parameters(const std::vector<Tensor>& parameters);
  /// Those of the first group.
  std::vector<Tensor>& parameters();
  const std::vector<Tensor>& parameters() const;
  std::size_t size() const noexcept;
  OptimizerOptions& defaults() noexcept;
  const OptimizerOptions& defaults() const noexcept;
  std::vector<OptimizerParamGroup>& param_groups() noexcept { return param_groups_; }
  const std::vector<OptimizerParamGroup>& param_groups() const noexcept { return param_groups_; }
  /// Keyed by Tensor::unsafeGetTensorImpl().
  StateMap& state();
  const StateMap& state() const noexcept { return state_; }

  /// Options of the groups, and state in the order of the parameters.
  virtual void save(serialize::OutputArchive& archive) const;
  /// Takes options and state once all of the archive is found and fits groups and parameters;
  /// otherwise throws groove::Error and nothing has changed.
  virtual void load(serialize::InputArchive& archive);

 protected:
  /// Throws groove::Error where a group's parameters are not leaves or known already.
  void check_parameters(const std::vector<Tensor>& parameters) const;
  /// State of a parameter for load() to fill; throws unless the class defines it.
  virtual std::unique_ptr<OptimizerParamState> new_state() const;
  /// Throw groove::Error when what was loaded cannot be right.
  virtual void check_options(const OptimizerOptions& options) const;
  virtual void check_state(const Tensor& parameter, const OptimizerParamState& state) const;
  Tensor run_closure(const LossClosure& closure);
  std::vector<OptimizerParamGroup> param_groups_;
  std::unique_ptr<OptimizerOptions> defaults_;
  StateMap state_;
  groove::detail::Owned<detail::StepPlan> plan_;  // what step() remembers between calls
  Site step_site_ = Site::current();
};

}  // namespace groove::optim
