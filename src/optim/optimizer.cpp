#include "groove/optim/optimizer.h"

#include <typeinfo>
#include <unordered_set>

#include "autodiff/clear_gradients.h"
#include "groove/autograd.h"
#include "src/core/check.h"
#include "src/core/complex.h"
#include "src/core/pooled.h"
#include "src/optim/plan.h"

namespace groove::optim {
namespace {

const Op& zero_grad_op() {
  static const Op& op = autodiff::define_clearing("optimizer_zero_grad");
  return op;
}

}  // namespace

OptimizerParamState::~OptimizerParamState() = default;
OptimizerOptions::~OptimizerOptions() = default;

std::unique_ptr<OptimizerParamState> OptimizerParamState::clone() const {
  throw_error(
      "OptimizerParamState: clone() is not defined; derive from "
      "OptimizerCloneableParamState");
}
std::unique_ptr<OptimizerOptions> OptimizerOptions::clone() const {
  throw_error("OptimizerOptions: clone() is not defined; derive from OptimizerCloneableOptions");
}
void OptimizerOptions::inherit(const OptimizerOptions&) {}
void OptimizerParamState::serialize(serialize::OutputArchive&) const {
  throw_error("OptimizerParamState: serialize() is not defined by this state; override it");
}
void OptimizerParamState::serialize(serialize::InputArchive&) {
  throw_error("OptimizerParamState: serialize() is not defined by this state; override it");
}
void OptimizerOptions::serialize(serialize::OutputArchive&) const {
  throw_error("OptimizerOptions: serialize() is not defined by these options; override it");
}
void OptimizerOptions::serialize(serialize::InputArchive&) {
  throw_error("OptimizerOptions: serialize() is not defined by these options; override it");
}
double OptimizerOptions::get_lr() const {
  throw_error("OptimizerOptions: get_lr() is not defined by these options");
}
void OptimizerOptions::set_lr(double) {
  throw_error("OptimizerOptions: set_lr() is not defined by these options");
}
std::optional<double> OptimizerOptions::get_momentum() const { return std::nullopt; }
void OptimizerOptions::set_momentum(double) {
  throw_error("OptimizerOptions: set_momentum() is not defined by these options");
}

OptimizerParamGroup::OptimizerParamGroup(std::vector<Tensor> params) : params_(std::move(params)) {}
OptimizerParamGroup::OptimizerParamGroup(std::vector<Tensor> params,
                                         std::unique_ptr<OptimizerOptions> options)
    : params_(std::move(params)), options_(std::move(options)) {}
OptimizerParamGroup::OptimizerParamGroup(const OptimizerParamGroup& other)
    : params_(other.params_),
      options_(other.options_ ? other.options_->clone() : nullptr),
      initial_lr_(other.initial_lr_) {}
OptimizerParamGroup::OptimizerParamGroup(OptimizerParamGroup&&) noexcept = default;
OptimizerParamGroup& OptimizerParamGroup::operator=(const OptimizerParamGroup& other) {
  return *this = OptimizerParamGroup(other);
}
OptimizerParamGroup& OptimizerParamGroup::operator=(OptimizerParamGroup&&) noexcept = default;
OptimizerParamGroup::~OptimizerParamGroup() = default;

bool OptimizerParamGroup::has_options() const { return options_ != nullptr; }
const OptimizerOptions& OptimizerParamGroup::options() const {
  GROOVE_CHECK(options_,
               "OptimizerParamGroup: the group has no options; set_options() or hand it to an "
               "optimizer first");
  return *options_;
}
OptimizerOptions& OptimizerParamGroup::options() {
  return const_cast<OptimizerOptions&>(std::as_const(*this).options());
}
void OptimizerParamGroup::set_options(std::unique_ptr<OptimizerOptions> options) {
  options_ = std::move(options);
}

Optimizer::Optimizer(std::vector<OptimizerParamGroup> param_groups,
                     std::unique_ptr<OptimizerOptions> defaults, Site site)
    : defaults_(std::move(defaults)), plan_(std::make_unique<detail::StepPlan>()) {
  const CallFrame frame(site, nullptr);
  GROOVE_CHECK(defaults_, "Optimizer: default options are missing");
  for (const OptimizerParamGroup& group : param_groups) add_param_group(group, site);
}

Optimizer::Optimizer(std::vector<Tensor> parameters, std::unique_ptr<OptimizerOptions> defaults,
                     Site site)
    : Optimizer(std::vector<OptimizerParamGroup>{OptimizerParamGroup(std::move(parameters))},
                std::move(defaults), site) {}

Optimizer::Optimizer(Optimizer&& other) : plan_(std::make_unique<detail::StepPlan>()) {
  *this = std::move(other);
}

Optimizer& Optimizer::operator=(Optimizer&& other) {
  if (this == &other) return *this;
  param_groups_ = std::move(other.param_groups_);
  defaults_ = other.defaults_->clone();
  state_ = std::move(other.state_);
  step_site_ = other.step_site_;
  other.param_groups_.clear();
  other.state_.clear();
  plan_->is_stale = other.plan_->is_stale = true;
  return *this;
}

Optimizer::~Optimizer() = default;

OptimizerOptions& Optimizer::defaults() noexcept { return *defaults_; }
const OptimizerOptions& Optimizer::defaults() const noexcept { return *defaults_; }

void Optimizer::check_parameters(const std::vector<Tensor>& parameters) const {
  std::unordered_set<const TensorImpl*> known;
  for (const OptimizerParamGroup& old : param_groups_)
    for (const Tensor& param : old.params()) known.insert(param.impl());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Tensor& param = parameters[i];
    GROOVE_CHECK(param.defined(), "add_param_group: parameter {} is undefined", i);
    GROOVE_CHECK(param.is_leaf(),
                 "add_param_group: can't optimize a non-leaf Tensor (parameter "
                 "{}); pass the leaves it is computed from",
                 i);
    GROOVE_CHECK(known.insert(param.impl()).second,
                 "add_param_group: some parameters appear in more than one parameter group: number "
                 "{} is in another group, or twice in this one",
                 i);
  }
}

namespace {

// Of complex parameters both parts are parameters.
std::vector<Tensor> real_forms(std::vector<Tensor> parameters) {
  for (Tensor& parameter : parameters) parameter = taped(parameter);
  return parameters;
}

}  // namespace

void Optimizer::add_param_group(const OptimizerParamGroup& group, Site site) {
  const CallFrame frame(site);
  check_parameters(group.params());
  OptimizerParamGroup copy(real_forms(group.params()));
  if (group.has_options()) {
    const OptimizerOptions &own = group.options(), &defaults = *defaults_;
    GROOVE_CHECK(typeid(own) == typeid(defaults),
                 "add_param_group: the group's options are of another class than the optimizer's");
    copy.set_options(own.clone());
    copy.options().inherit(defaults);
    check_options(copy.options());
  } else {
    copy.set_options(defaults_->clone());
  }
  param_groups_.push_back(std::move(copy));
  plan_->is_stale = true;
}

void Optimizer::add_parameters(const std::vector<Tensor>& parameters) {
  check_parameters(parameters);
  std::vector<Tensor>& first = this->parameters();
  const std::vector<Tensor> added = real_forms(parameters);
  first.insert(first.end(), added.begin(), added.end());
  plan_->is_stale = true;
}
const std::vector<Tensor>& Optimizer::parameters() const {
  GROOVE_CHECK(!param_groups_.empty(), "Optimizer: there are no parameter groups");
  return param_groups_.front().params();
}
std::vector<Tensor>& Optimizer::parameters() {
  return const_cast<std::vector<Tensor>&>(std::as_const(*this).parameters());
}

std::size_t Optimizer::size() const noexcept {
  std::size_t count = 0;
  for (const OptimizerParamGroup& group : param_groups_) count += group.params().size();
  return count;
}

Optimizer::StateMap& Optimizer::state() {
  plan_->is_stale = true;
  return state_;
}

Tensor Optimizer::step(Site site) {
  step_site_ = site;
  return step(LossClosure());
}

Tensor Optimizer::run_closure(const LossClosure& closure) {
  if (!closure) return {};
  const AutoGradMode grad(true);
  return closure();
}

void Optimizer::zero_grad(bool set_to_none, Site site) {
  PooledVector<TensorImpl*> leaves;
  for (const OptimizerParamGroup& group : param_groups_)
    for (const Tensor& param : group.params()) leaves.push_back(param.impl());
  autodiff::clear_gradients(zero_grad_op(), leaves, set_to_none, site);
}

namespace detail {

const Op& define_step(const char* name) {
  return define({.name = name,
                 .kind = OpKind::kBig,
                 .inputs = 0,
                 .outputs = 0,
                 .mutates = {},
                 .has_inplace = false});
}

void refresh(StepPlan& plan, const Optimizer::StateMap& states,
             std::vector<OptimizerParamGroup>& groups) {
  std::size_t count = 0;
  for (const OptimizerParamGroup& group : groups) count += group.params().size();
  if (plan.slots.size() != count) {
    plan.slots.resize(count);
    plan.is_stale = true;
  }
  std::size_t at = 0;
  for (OptimizerParamGroup& group : groups)
    for (const Tensor& param : group.params()) {
      Slot& slot = plan.slots[at++];
      TensorImpl* impl = param.impl();
      const bool is_new = slot.impl != impl;
      if (is_new || plan.is_stale) {
        const auto found = states.find(impl);
        OptimizerParamState* known = found == states.end() ? nullptr : found->second.get();
        slot.impl = impl;
        slot.state = known;
      }
      slot.is_active = impl && autodiff::has_gradient(*impl);
    }
  plan.is_stale = false;
}

std::uint64_t fingerprint(const StepPlan& plan, const std::vector<OptimizerParamGroup>& groups) {
  std::uint64_t hash = 0;
  for (const OptimizerParamGroup& group : groups) hash = mix(hash, group.params().size());
  for (const Slot& slot : plan.slots)
    hash = mix(hash, slot.is_active * 4u + slot.is_first * 2u + (slot.state != nullptr));
  return hash;
}

}  // namespace detail
}  // namespace groove::optim
