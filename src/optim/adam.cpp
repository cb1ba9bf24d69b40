#include "groove/optim/adam.h"

#include "groove/autograd.h"
#include "groove/ops/creation.h"
#include "groove/serialize.h"
#include "kernels/ops/optimizer_ops.h"
#include "src/core/check.h"
#include "src/optim/fields.h"
#include "src/optim/plan.h"

namespace groove::optim {
namespace {

const Op& define_step(const char* name) {
  return define({.name = name,
                 .kind = OpKind::kBig,
                 .inputs = 0,
                 .outputs = 0,
                 .mutates = {},
                 .has_inplace = false});
}

template <typename Options>
void check(const char* name, const Options& options) {
  const auto [beta1, beta2] = options.betas();
  GROOVE_CHECK(options.lr() >= 0, "{}: lr is {}; it must not be negative", name, options.lr());
  GROOVE_CHECK(options.eps() >= 0, "{}: eps is {}; it must not be negative", name, options.eps());
  GROOVE_CHECK(beta1 >= 0 && beta1 < 1 && beta2 >= 0 && beta2 < 1,
               "{}: betas are ({}, {}); both must lie in [0, 1)", name, beta1, beta2);
  GROOVE_CHECK(options.weight_decay() >= 0, "{}: weight_decay is {}; it must not be negative", name,
               options.weight_decay());
}

template <typename Options, bool kDecoupled>
struct AdamStep {
  static constexpr std::size_t kNumbers = std::tuple_size_v<AdamNumbers>;
  Optimizer::StateMap& state;
  detail::StepPlan& plan;

  static const Options& options_of(const OptimizerParamGroup& group) {
    return static_cast<const Options&>(group.options());
  }
  static std::int64_t step_of(const detail::Slot& slot) {
    return slot.state ? static_cast<AdamParamState*>(slot.state)->step() : 1;
  }

  // A parameter without state counts its first step when the state is made.
  void advance(detail::Slot& slot) {
    if (slot.state) ++static_cast<AdamParamState*>(slot.state)->step();
  }

  void numbers(OptimizerParamGroup& group, detail::StepPlan& plan_, std::size_t first,
               std::size_t last) {
    const Options& options = options_of(group);
    const auto [beta1, beta2] = options.betas();
    for (std::size_t i = first; i < last; ++i) {
      if (!plan_.slots[i].is_active) continue;
      const std::int64_t step = step_of(plan_.slots[i]);
      // Parameters of a group nearly always are at the same step: share its numbers.
      bool is_shared = false;
      for (std::size_t j = first; j < i && !is_shared; ++j) {
        if (!plan_.slots[j].is_active || step_of(plan_.slots[j]) != step) continue;
        plan_.slots[i].numbers_at = plan_.slots[j].numbers_at;
        is_shared = true;
      }
      if (is_shared) continue;
      plan_.slots[i].numbers_at = static_cast<std::uint32_t>(plan_.numbers.size());
      const AdamNumbers made =
          adam_numbers(options.lr(), beta1, beta2, options.eps(), options.weight_decay(),
                       kDecoupled, static_cast<double>(step));
      plan_.numbers.insert(plan_.numbers.end(), made.begin(), made.end());
    }
  }

  std::uint64_t fingerprint(const OptimizerParamGroup& group) {
    const Options& options = options_of(group);
    return options.amsgrad() * 1u + (options.weight_decay() != 0) * 2u + 8u;
  }

  void update(const OptimizerParamGroup& group, const Tensor& param, detail::Slot& slot,
              ArrayRef<Scalar> numbers) {
    const Options& options = options_of(group);
    if (!slot.state) {
      auto made = std::make_unique<AdamParamState>();
      made->step(1);
      slot.state = made.get();
      state[slot.impl] = std::move(made);
      ++plan.state_epoch;
    }
    auto& known = static_cast<AdamParamState&>(*slot.state);
    const auto ensure = [&](Tensor& moment) {
      if (moment.defined()) return;
      moment = zeros(param.sizes(), param.scalar_type());
      ++plan.state_epoch;
    };
    ensure(known.exp_avg());
    ensure(known.exp_avg_sq());
    if (options.amsgrad()) ensure(known.max_exp_avg_sq());
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

template <typename Self, typename Field>
void each_moment(Self& state, Field field) {
  field("exp_avg", state.exp_avg());
  field("exp_avg_sq", state.exp_avg_sq());
  field("max_exp_avg_sq", state.max_exp_avg_sq());
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

Adam::Adam(std::vector<Tensor> params, AdamOptions defaults)
    : Adam(std::vector<OptimizerParamGroup>{OptimizerParamGroup(std::move(params))},
           std::move(defaults)) {}

Adam::Adam(std::vector<OptimizerParamGroup> param_groups, AdamOptions defaults)
    : Optimizer(std::move(param_groups), std::make_unique<AdamOptions>(defaults)) {
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
  static const Op& op = define_step("adam_optimizer_step");
  const Tensor loss = run_closure(closure);
  const NoGradGuard no_grad;
  AdamStep<AdamOptions, false> rule{state_, *plan_};
  detail::run_step(op, rule, *plan_, param_groups_, state_, this, step_site_);
  return loss;
}

AdamW::AdamW(std::vector<Tensor> params, AdamWOptions defaults)
    : AdamW(std::vector<OptimizerParamGroup>{OptimizerParamGroup(std::move(params))},
            std::move(defaults)) {}

AdamW::AdamW(std::vector<OptimizerParamGroup> param_groups, AdamWOptions defaults)
    : Optimizer(std::move(param_groups), std::make_unique<AdamWOptions>(defaults)) {
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
  static const Op& op = define_step("adamw_optimizer_step");
  const Tensor loss = run_closure(closure);
  const NoGradGuard no_grad;
  AdamStep<AdamWOptions, true> rule{state_, *plan_};
  detail::run_step(op, rule, *plan_, param_groups_, state_, this, step_site_);
  return loss;
}

}  // namespace groove::optim
