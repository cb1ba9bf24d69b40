#include "groove/optim/adagrad.h"

#include "kernels/ops/optimizer_ops.h"
#include "src/optim/fields.h"
#include "src/optim/plan.h"

namespace groove::optim {
namespace {

template <typename Self, typename Field>
void each_option(Self& options, Field field) {
  field("lr", options.lr());
  field("lr_decay", options.lr_decay());
  field("weight_decay", options.weight_decay());
  field("initial_accumulator_value", options.initial_accumulator_value());
  field("eps", options.eps());
}

template <typename Self, typename Field>
void each_state_field(Self& state, Field field) {
  field("step", state.step());
  field("sum", state.sum());
}

void check(const AdagradOptions& options) {
  each_option(options, [](const char* name, double value) {
    detail::check_not_negative("Adagrad", name, value);
  });
}

struct AdagradStep : detail::CountedRule<AdagradOptions, AdagradParamState> {
  static constexpr std::size_t kNumbers = std::tuple_size_v<AdagradNumbers>;

  void numbers(const OptimizerParamGroup& group, std::size_t first, std::size_t last) {
    const AdagradOptions& options = options_of(group);
    share_numbers_of_a_step(first, last, [&](double step) {
      return adagrad_numbers(options.lr(), options.lr_decay(), options.eps(),
                             options.weight_decay(), step);
    });
  }

  std::uint64_t fingerprint(const OptimizerParamGroup& group) {
    return (options_of(group).weight_decay() != 0) * 1u + 8u;
  }

  void walk(const detail::Slot& slot, const detail::Walk& visit) const {
    visit("sum", static_cast<const AdagradParamState&>(*slot.state).sum());
  }

  void prepare(const OptimizerParamGroup& group, const Tensor& param, detail::Slot& slot) {
    auto& known = detail::make_state<AdagradParamState>(states, slot);
    if (!known.sum().defined())
      known.sum(
          full(param.sizes(), options_of(group).initial_accumulator_value(), param.scalar_type()));
  }

  void update(const OptimizerParamGroup& group, const Tensor& param, const detail::Slot& slot,
              ArrayRef<Scalar> numbers) {
    AdagradRule rule;
    rule.has_weight_decay = options_of(group).weight_decay() != 0;
    adagrad_step_(param, slot.impl->autograd->grad, state_of(slot).sum(), rule, numbers);
  }
};

}  // namespace

AdagradOptions::AdagradOptions(double lr) : lr_(lr) {}
double AdagradOptions::get_lr() const { return lr_; }
void AdagradOptions::set_lr(double lr) { lr_ = lr; }
void AdagradOptions::inherit(const OptimizerOptions& defaults) {
  detail::inherit_fields(*this, AdagradOptions(), static_cast<const AdagradOptions&>(defaults),
                         [](auto& options, auto field) { each_option(options, field); });
}
bool operator==(const AdagradOptions& a, const AdagradOptions& b) {
  return detail::same_fields(a, b, [](auto& options, auto field) { each_option(options, field); });
}
bool operator==(const AdagradParamState& a, const AdagradParamState& b) {
  return detail::same_fields(a, b, [](auto& state, auto field) { each_state_field(state, field); });
}
void AdagradOptions::serialize(serialize::OutputArchive& archive) const {
  each_option(*this, detail::Writer{archive});
}
void AdagradOptions::serialize(serialize::InputArchive& archive) {
  each_option(*this, detail::Reader{archive});
}
void AdagradParamState::serialize(serialize::OutputArchive& archive) const {
  each_state_field(*this, detail::Writer{archive});
}
void AdagradParamState::serialize(serialize::InputArchive& archive) {
  each_state_field(*this, detail::Reader{archive});
}

Adagrad::Adagrad(std::vector<Tensor> params, AdagradOptions defaults, Site site)
    : Adagrad(std::vector<OptimizerParamGroup>{OptimizerParamGroup(std::move(params))},
              std::move(defaults), site) {}

Adagrad::Adagrad(std::vector<OptimizerParamGroup> param_groups, AdagradOptions defaults, Site site)
    : Optimizer(std::move(param_groups), std::make_unique<AdagradOptions>(defaults), site) {
  const CallFrame frame(site);
  check(defaults);
  for (const OptimizerParamGroup& group : param_groups_) check(AdagradStep::options_of(group));
}

std::unique_ptr<OptimizerParamState> Adagrad::new_state() const {
  return std::make_unique<AdagradParamState>();
}
void Adagrad::check_options(const OptimizerOptions& options) const {
  check(static_cast<const AdagradOptions&>(options));
}
void Adagrad::check_state(const Tensor& parameter, const OptimizerParamState& state) const {
  detail::check_like("Adagrad", "sum", parameter,
                     static_cast<const AdagradParamState&>(state).sum());
}

Tensor Adagrad::step(LossClosure closure) {
  static const Op& op = detail::define_step("adagrad_optimizer_step");
  const Tensor loss = run_closure(closure);
  detail::run_step(op, AdagradStep{*plan_, state_}, param_groups_, step_site_);
  return loss;
}

}  // namespace groove::optim
