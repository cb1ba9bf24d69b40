#include "groove/optim/adam.h"

#include "groove/serialize.h"
#include "kernels/ops/optimizer_ops.h"
#include "src/core/check.h"
#include "src/optim/fields.h"
#include "src/optim/plan.h"

namespace groove::optim {
namespace {

template <typename Options>
void check(const char* name, const Options& options) {
  const auto [beta1, beta2] = options.betas();
  detail::check_not_negative(name, "lr", options.lr());
  detail::check_not_negative(name, "eps", options.eps());
  GROOVE_CHECK(beta1 >= 0 && beta1 < 1 && beta2 >= 0 && beta2 < 1,
               "{}: betas are ({}, {}); both must lie in [0, 1)", name, beta1, beta2);
  detail::check_not_negative(name, "weight_decay", options.weight_decay());
}

template <typename Self, typename Field>
void each_moment(Self& state, Field field) {
  field("exp_avg", state.exp_avg());
  field("exp_avg_sq", state.exp_avg_sq());
  field("max_exp_avg_sq", state.max_exp_avg_sq());
}

template <typename Options, bool kDecoupled>
struct AdamStep : detail::CountedRule<Options, AdamParamState> {
  static constexpr std::size_t kNumbers = std::tuple_size_v<AdamNumbers>;
  using detail::StepRule<Options>::options_of;

  void numbers(const OptimizerParamGroup& group, std::size_t first, std::size_t last) {
    const Options& options = options_of(group);
    this->share_numbers_of_a_step(first, last, [&options](double step) {
      const auto [beta1, beta2] = options.betas();
      return adam_numbers(options.lr(), beta1, beta2, options.eps(), options.weight_decay(),
                          kDecoupled, step);
    });
  }

  std::uint64_t fingerprint(const OptimizerParamGroup& group) {
    const Options& options = options_of(group);
    return options.amsgrad() * 1u + (options.weight_decay() != 0) * 2u + 8u;
  }

  void walk(const detail::Slot& slot, const detail::Walk& visit) const {
    each_moment(static_cast<const AdamParamState&>(*slot.state), visit);
  }

  void prepare(const OptimizerParamGroup& group, const Tensor& param, detail::Slot& slot) {
    auto& known = detail::make_state<AdamParamState>(this->states, slot);
    this->ensure(known.exp_avg(), param);
    this->ensure(known.exp_avg_sq(), param);
    if (options_of(group).amsgrad()) this->ensure(known.max_exp_avg_sq(), param);
  }

  void update(const OptimizerParamGroup& group, const Tensor& param, const detail::Slot& slot,
              ArrayRef<Scalar> numbers) {
    const Options& options = options_of(group);
    AdamParamState& known = this->state_of(slot);
    AdamRule rule;
    rule.decoupled = kDecoupled;
    rule.has_weight_decay = options.weight_decay() != 0;
    adam_step_(param, slot.impl->autograd->grad, known.exp_avg(), known.exp_avg_sq(),
               options.amsgrad() ? known.max_exp_avg_sq() : Tensor(), rule, numbers);
  }
};

template <typename Self, typename Field>
void each_option(Self& options, Field field) {
  field("lr", options.lr());
  field("betas", options.betas());
  field("eps", options.eps());
  field("weight_decay", options.weight_decay());
  field("amsgrad", options.amsgrad());
}

void check_loaded(const char* name, const Tensor& parameter, const OptimizerParamState& loaded) {
  const auto& state = static_cast<const AdamParamState&>(loaded);
  GROOVE_CHECK(state.step() >= 0, "{}: the step of a parameter is {}", name, state.step());
  each_moment(state, [&](const char* key, const Tensor& moment) {
    detail::check_like(name, key, parameter, moment);
  });
}

}  // namespace

template <typename Self>
void AdamOptionsOf<Self>::serialize(serialize::OutputArchive& archive) const {
  each_option(*this, detail::Writer{archive});
}
template <typename Self>
void AdamOptionsOf<Self>::serialize(serialize::InputArchive& archive) {
  each_option(*this, detail::Reader{archive});
}
template <typename Self>
void AdamOptionsOf<Self>::inherit(const OptimizerOptions& defaults) {
  detail::inherit_fields(static_cast<Self&>(*this), Self(), static_cast<const Self&>(defaults),
                         [](auto& options, auto field) { each_option(options, field); });
}
bool operator==(const AdamOptions& a, const AdamOptions& b) {
  return detail::same_fields(a, b, [](auto& options, auto field) { each_option(options, field); });
}
bool operator==(const AdamWOptions& a, const AdamWOptions& b) {
  return detail::same_fields(a, b, [](auto& options, auto field) { each_option(options, field); });
}
bool operator==(const AdamParamState& a, const AdamParamState& b) {
  return a.step() == b.step() &&
         detail::same_fields(a, b, [](auto& state, auto field) { each_moment(state, field); });
}
template struct AdamOptionsOf<AdamOptions>;
template struct AdamOptionsOf<AdamWOptions>;

void AdamParamState::serialize(serialize::OutputArchive& archive) const {
  detail::Writer{archive}("step", step());
  each_moment(*this, detail::Writer{archive});
}
void AdamParamState::serialize(serialize::InputArchive& archive) {
  detail::Reader{archive}("step", step());
  each_moment(*this, detail::Reader{archive});
}

AdamOptions::AdamOptions(double lr) : AdamOptionsOf(lr, 0) {}
AdamWOptions::AdamWOptions(double lr) : AdamOptionsOf(lr, 1e-2) {}

Adam::Adam(std::vector<Tensor> params, AdamOptions defaults, Site site)
    : Adam(std::vector<OptimizerParamGroup>{OptimizerParamGroup(std::move(params))},
           std::move(defaults), site) {}

Adam::Adam(std::vector<OptimizerParamGroup> param_groups, AdamOptions defaults, Site site)
    : Optimizer(std::move(param_groups), std::make_unique<AdamOptions>(defaults), site) {
  const CallFrame frame(site);
  check("Adam", defaults);
  for (const OptimizerParamGroup& group : param_groups_)
    check("Adam", static_cast<const AdamOptions&>(group.options()));
}

std::unique_ptr<OptimizerParamState> Adam::new_state() const {
  return std::make_unique<AdamParamState>();
}
void Adam::check_options(const OptimizerOptions& options) const {
  check("Adam", static_cast<const AdamOptions&>(options));
}
void Adam::check_state(const Tensor& parameter, const OptimizerParamState& state) const {
  check_loaded("Adam", parameter, state);
}

Tensor Adam::step(LossClosure closure) {
  static const Op& op = detail::define_step("adam_optimizer_step");
  const Tensor loss = run_closure(closure);
  detail::run_step(op, AdamStep<AdamOptions, false>{*plan_, state_}, param_groups_, step_site_);
  return loss;
}

AdamW::AdamW(std::vector<Tensor> params, AdamWOptions defaults, Site site)
    : AdamW(std::vector<OptimizerParamGroup>{OptimizerParamGroup(std::move(params))},
            std::move(defaults), site) {}

AdamW::AdamW(std::vector<OptimizerParamGroup> param_groups, AdamWOptions defaults, Site site)
    : Optimizer(std::move(param_groups), std::make_unique<AdamWOptions>(defaults), site) {
  const CallFrame frame(site);
  check("AdamW", defaults);
  for (const OptimizerParamGroup& group : param_groups_)
    check("AdamW", static_cast<const AdamWOptions&>(group.options()));
}

std::unique_ptr<OptimizerParamState> AdamW::new_state() const {
  return std::make_unique<AdamParamState>();
}
void AdamW::check_options(const OptimizerOptions& options) const {
  check("AdamW", static_cast<const AdamWOptions&>(options));
}
void AdamW::check_state(const Tensor& parameter, const OptimizerParamState& state) const {
  check_loaded("AdamW", parameter, state);
}

Tensor AdamW::step(LossClosure closure) {
  static const Op& op = detail::define_step("adamw_optimizer_step");
  const Tensor loss = run_closure(closure);
  detail::run_step(op, AdamStep<AdamWOptions, true>{*plan_, state_}, param_groups_, step_site_);
  return loss;
}

}  // namespace groove::optim
