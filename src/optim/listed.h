// The members of ListedOptions, ListedParamState and ListedOptimizer. A file that instantiates them
// specialises List for its options,
//   kName, kStepName          of the optimizer, and of the operator that its step is
//   Step                      the rule of a step (plan.h)
//   each(options, field)      calls field(name, value) for every option
//   check(options)            throws groove::Error where one cannot be right
//   fresh()                   options as they are unless set, where they have no default
//   constructor check_parameters(groups)  only where not every parameter will do
// and for its state: each(state, field).
#pragma once

#include "groove/optim/listed.h"
#include "src/core/check.h"
#include "src/optim/fields.h"
#include "src/optim/plan.h"

namespace groove::optim {
namespace detail {

template <typename T>
struct List;

template <typename T>
bool same_listed(const T& a, const T& b) {
  return same_fields(a, b, [](auto& value, auto field) { List<T>::each(value, field); });
}

template <typename Options>
void check_betas(const char* optimizer, const Options& options) {
  const auto [beta1, beta2] = options.betas();
  GROOVE_CHECK(beta1 >= 0 && beta1 < 1 && beta2 >= 0 && beta2 < 1,
               "{}: betas are ({}, {}); both must lie in [0, 1)", optimizer, beta1, beta2);
}

template <typename Options>
Options fresh_options() {
  if constexpr (requires { List<Options>::fresh(); })
    return List<Options>::fresh();
  else
    return Options();
}

template <typename Options>
void check_listed_parameters(const std::vector<OptimizerParamGroup>& groups) {
  if constexpr (requires { List<Options>::check_parameters(groups); })
    List<Options>::check_parameters(groups);
}

}  // namespace detail

// ---- options ----

template <typename Self>
double ListedOptions<Self>::get_lr() const {
  return static_cast<const Self&>(*this).lr();
}
template <typename Self>
void ListedOptions<Self>::set_lr(double lr) {
  static_cast<Self&>(*this).lr(lr);
}
template <typename Self>
std::optional<double> ListedOptions<Self>::get_momentum() const {
  return detail::momentum_of(static_cast<const Self&>(*this));
}
template <typename Self>
void ListedOptions<Self>::set_momentum(double momentum) {
  detail::set_momentum_of(static_cast<Self&>(*this), momentum);
}
template <typename Self>
void ListedOptions<Self>::inherit(const OptimizerOptions& defaults) {
  detail::inherit_fields(
      static_cast<Self&>(*this), detail::fresh_options<Self>(), static_cast<const Self&>(defaults),
      [](auto& options, auto field) { detail::List<Self>::each(options, field); });
}
template <typename Self>
void ListedOptions<Self>::serialize(serialize::OutputArchive& archive) const {
  detail::List<Self>::each(static_cast<const Self&>(*this), detail::Writer{archive});
}
template <typename Self>
void ListedOptions<Self>::serialize(serialize::InputArchive& archive) {
  detail::List<Self>::each(static_cast<Self&>(*this), detail::Reader{archive});
}
template <typename Self>
bool ListedOptions<Self>::is_same(const Self& other) const {
  return detail::same_listed(static_cast<const Self&>(*this), other);
}

// ---- state ----

template <typename Self>
void ListedParamState<Self>::serialize(serialize::OutputArchive& archive) const {
  detail::List<Self>::each(static_cast<const Self&>(*this), detail::Writer{archive});
}
template <typename Self>
void ListedParamState<Self>::serialize(serialize::InputArchive& archive) {
  detail::List<Self>::each(static_cast<Self&>(*this), detail::Reader{archive});
}
template <typename Self>
bool ListedParamState<Self>::is_same(const Self& other) const {
  return detail::same_listed(static_cast<const Self&>(*this), other);
}

// ---- the optimizer ----

template <typename Options, typename State>
ListedOptimizer<Options, State>::ListedOptimizer(std::vector<Tensor> params, Options defaults,
                                                 Site site)
    : ListedOptimizer(std::vector<OptimizerParamGroup>{OptimizerParamGroup(std::move(params))},
                      std::move(defaults), site) {}

template <typename Options, typename State>
ListedOptimizer<Options, State>::ListedOptimizer(std::vector<OptimizerParamGroup> param_groups,
                                                 Options defaults, Site site)
    : Optimizer(std::move(param_groups), std::make_unique<Options>(defaults), site) {
  const CallFrame frame(site, detail::List<Options>::kName);
  detail::List<Options>::check(defaults);
  for (const OptimizerParamGroup& group : param_groups_)
    detail::List<Options>::check(static_cast<const Options&>(group.options()));
  detail::check_listed_parameters<Options>(param_groups_);
}

template <typename Options, typename State>
std::unique_ptr<OptimizerParamState> ListedOptimizer<Options, State>::new_state() const {
  return std::make_unique<State>();
}
template <typename Options, typename State>
void ListedOptimizer<Options, State>::check_options(const OptimizerOptions& options) const {
  detail::List<Options>::check(static_cast<const Options&>(options));
}
template <typename Options, typename State>
void ListedOptimizer<Options, State>::check_state(const Tensor& parameter,
                                                  const OptimizerParamState& state) const {
  const char* const name = detail::List<Options>::kName;
  detail::List<State>::each(
      static_cast<const State&>(state), [&](const char* key, const auto& value) {
        using Value = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<Value, Tensor>)
          detail::check_like(name, key, parameter, value);
        else
          GROOVE_CHECK(value >= 0, "{}: the {} of a parameter is {}", name, key, value);
      });
}

template <typename Options, typename State>
Tensor ListedOptimizer<Options, State>::step(LossClosure closure) {
  static const Op& op = detail::define_step(detail::List<Options>::kStepName);
  detail::check_listed_parameters<Options>(param_groups_);
  const Tensor loss = run_closure(closure);
  detail::run_step(op, typename detail::List<Options>::Step{*plan_, state_}, param_groups_,
                   step_site_);
  return loss;
}

}  // namespace groove::optim
