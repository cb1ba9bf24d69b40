#include "groove/optim/rmsprop.h"

#include "kernels/ops/optimizer_ops.h"
#include "src/optim/fields.h"
#include "src/optim/plan.h"

namespace groove::optim {
namespace {

void check(const RMSpropOptions& options) {
  const auto expect = [](const char* name, double value) {
    detail::check_not_negative("RMSprop", name, value);
  };
  expect("lr", options.lr());
  expect("eps", options.eps());
  expect("momentum", options.momentum());
  expect("weight_decay", options.weight_decay());
  expect("alpha", options.alpha());
}

template <typename Self, typename Field>
void each_option(Self& options, Field field) {
  field("lr", options.lr());
  field("alpha", options.alpha());
  field("eps", options.eps());
  field("weight_decay", options.weight_decay());
  field("momentum", options.momentum());
  field("centered", options.centered());
}

template <typename Self, typename Field>
void each_average(Self& state, Field field) {
  field("square_avg", state.square_avg());
  field("momentum_buffer", state.momentum_buffer());
  field("grad_avg", state.grad_avg());
}

template <typename Self, typename Field>
void each_state_field(Self& state, Field field) {
  field("step", state.step());
  each_average(state, field);
}

struct RmspropStep : detail::CountedRule<RMSpropOptions, RMSpropParamState> {
  static constexpr std::size_t kNumbers = std::tuple_size_v<RmspropNumbers>;

  void numbers(const OptimizerParamGroup& group, std::size_t first, std::size_t last) {
    const RMSpropOptions& options = options_of(group);
    share_numbers(rmsprop_numbers(options.lr(), options.alpha(), options.eps(),
                                  options.weight_decay(), options.momentum()),
                  first, last);
  }

  std::uint64_t fingerprint(const OptimizerParamGroup& group) {
    const RMSpropOptions& options = options_of(group);
    return (options.momentum() > 0) * 1u + options.centered() * 2u +
           (options.weight_decay() != 0) * 4u;
  }

  void walk(const detail::Slot& slot, const detail::Walk& visit) const {
    each_average(static_cast<const RMSpropParamState&>(*slot.state), visit);
  }

  void prepare(const OptimizerParamGroup& group, const Tensor& param, detail::Slot& slot) {
    const RMSpropOptions& options = options_of(group);
    auto& known = detail::make_state<RMSpropParamState>(states, slot);
    ensure(known.square_avg(), param);
    if (options.momentum() > 0) ensure(known.momentum_buffer(), param);
    if (options.centered()) ensure(known.grad_avg(), param);
  }

  void update(const OptimizerParamGroup& group, const Tensor& param, const detail::Slot& slot,
              ArrayRef<Scalar> numbers) {
    const RMSpropOptions& options = options_of(group);
    RMSpropParamState& known = state_of(slot);
    RmspropRule rule;
    rule.has_weight_decay = options.weight_decay() != 0;
    rmsprop_step_(param, slot.impl->autograd->grad, known.square_avg(),
                  options.momentum() > 0 ? known.momentum_buffer() : Tensor(),
                  options.centered() ? known.grad_avg() : Tensor(), rule, numbers);
  }
};

}  // namespace

RMSpropOptions::RMSpropOptions(double lr) : lr_(lr) {}
double RMSpropOptions::get_lr() const { return lr_; }
void RMSpropOptions::set_lr(double lr) { lr_ = lr; }
std::optional<double> RMSpropOptions::get_momentum() const { return momentum_; }
void RMSpropOptions::set_momentum(double momentum) { momentum_ = momentum; }
void RMSpropOptions::inherit(const OptimizerOptions& defaults) {
  detail::inherit_fields(*this, RMSpropOptions(), static_cast<const RMSpropOptions&>(defaults),
                         [](auto& options, auto field) { each_option(options, field); });
}
bool operator==(const RMSpropOptions& a, const RMSpropOptions& b) {
  return detail::same_fields(a, b, [](auto& options, auto field) { each_option(options, field); });
}
bool operator==(const RMSpropParamState& a, const RMSpropParamState& b) {
  return detail::same_fields(a, b, [](auto& state, auto field) { each_state_field(state, field); });
}
void RMSpropOptions::serialize(serialize::OutputArchive& archive) const {
  each_option(*this, detail::Writer{archive});
}
void RMSpropOptions::serialize(serialize::InputArchive& archive) {
  each_option(*this, detail::Reader{archive});
}
void RMSpropParamState::serialize(serialize::OutputArchive& archive) const {
  each_state_field(*this, detail::Writer{archive});
}
void RMSpropParamState::serialize(serialize::InputArchive& archive) {
  each_state_field(*this, detail::Reader{archive});
}

RMSprop::RMSprop(std::vector<Tensor> params, RMSpropOptions defaults, Site site)
    : RMSprop(std::vector<OptimizerParamGroup>{OptimizerParamGroup(std::move(params))},
              std::move(defaults), site) {}

RMSprop::RMSprop(std::vector<OptimizerParamGroup> param_groups, RMSpropOptions defaults, Site site)
    : Optimizer(std::move(param_groups), std::make_unique<RMSpropOptions>(defaults), site) {
  const CallFrame frame(site);
  check(defaults);
  for (const OptimizerParamGroup& group : param_groups_) check(RmspropStep::options_of(group));
}

std::unique_ptr<OptimizerParamState> RMSprop::new_state() const {
  return std::make_unique<RMSpropParamState>();
}
void RMSprop::check_options(const OptimizerOptions& options) const {
  check(static_cast<const RMSpropOptions&>(options));
}
void RMSprop::check_state(const Tensor& parameter, const OptimizerParamState& state) const {
  each_average(static_cast<const RMSpropParamState&>(state),
               [&](const char* key, const Tensor& average) {
                 detail::check_like("RMSprop", key, parameter, average);
               });
}

Tensor RMSprop::step(LossClosure closure) {
  static const Op& op = detail::define_step("rmsprop_optimizer_step");
  const Tensor loss = run_closure(closure);
  detail::run_step(op, RmspropStep{*plan_, state_}, param_groups_, step_site_);
  return loss;
}

}  // namespace groove::optim
