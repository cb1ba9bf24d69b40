#include "groove/optim/rmsprop.h"

#include "groove/autograd.h"
#include "groove/ops/creation.h"
#include "kernels/ops/optimizer_ops.h"
#include "src/core/check.h"
#include "src/optim/fields.h"
#include "src/optim/plan.h"

namespace groove::optim {
namespace {

const Op& step_op() {
  static const Op& op = define({.name = "rmsprop_optimizer_step",
                                .kind = OpKind::kBig,
                                .inputs = 0,
                                .outputs = 0,
                                .mutates = {},
                                .has_inplace = false});
  return op;
}

void check(const RMSpropOptions& options) {
  const auto expect = [](const char* name, double value) {
    GROOVE_CHECK(value >= 0, "RMSprop: {} is {}; it must not be negative", name, value);
  };
  expect("lr", options.lr());
  expect("eps", options.eps());
  expect("momentum", options.momentum());
  expect("weight_decay", options.weight_decay());
  expect("alpha", options.alpha());
}

const RMSpropOptions& options_of(const OptimizerParamGroup& group) {
  return static_cast<const RMSpropOptions&>(group.options());
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

struct RmspropStep {
  static constexpr std::size_t kNumbers = std::tuple_size_v<RmspropNumbers>;
  Optimizer::StateMap& state;
  detail::StepPlan& plan;

  // A parameter without state counts its first step when the state is made.
  void advance(detail::Slot& slot) {
    if (slot.state) ++static_cast<RMSpropParamState*>(slot.state)->step();
  }

  void numbers(OptimizerParamGroup& group, detail::StepPlan& plan_, std::size_t first,
               std::size_t last) {
    const RMSpropOptions& options = options_of(group);
    const auto at = static_cast<std::uint32_t>(plan_.numbers.size());
    const RmspropNumbers made = rmsprop_numbers(options.lr(), options.alpha(), options.eps(),
                                                options.weight_decay(), options.momentum());
    plan_.numbers.insert(plan_.numbers.end(), made.begin(), made.end());
    for (std::size_t i = first; i < last; ++i) plan_.slots[i].numbers_at = at;
  }

  std::uint64_t fingerprint(const OptimizerParamGroup& group) {
    const RMSpropOptions& options = options_of(group);
    return (options.momentum() > 0) * 1u + options.centered() * 2u +
           (options.weight_decay() != 0) * 4u;
  }

  void update(const OptimizerParamGroup& group, const Tensor& param, detail::Slot& slot,
              ArrayRef<Scalar> numbers) {
    const RMSpropOptions& options = options_of(group);
    if (!slot.state) {
      auto made = std::make_unique<RMSpropParamState>();
      made->step(1);
      slot.state = made.get();
      state[slot.impl] = std::move(made);
      ++plan.state_epoch;
    }
    auto& known = static_cast<RMSpropParamState&>(*slot.state);
    const auto ensure = [&](Tensor& average) {
      if (average.defined()) return;
      average = zeros(param.sizes(), param.scalar_type());
      ++plan.state_epoch;
    };
    ensure(known.square_avg());
    if (options.momentum() > 0) ensure(known.momentum_buffer());
    if (options.centered()) ensure(known.grad_avg());
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
void RMSpropOptions::serialize(serialize::OutputArchive& archive) const {
  each_option(*this, detail::Writer{archive});
}
void RMSpropOptions::serialize(serialize::InputArchive& archive) {
  each_option(*this, detail::Reader{archive});
}
void RMSpropParamState::serialize(serialize::OutputArchive& archive) const {
  detail::Writer{archive}("step", step());
  each_average(*this, detail::Writer{archive});
}
void RMSpropParamState::serialize(serialize::InputArchive& archive) {
  detail::Reader{archive}("step", step());
  each_average(*this, detail::Reader{archive});
}

RMSprop::RMSprop(std::vector<Tensor> params, RMSpropOptions defaults)
    : RMSprop(std::vector<OptimizerParamGroup>{OptimizerParamGroup(std::move(params))},
              std::move(defaults)) {}

RMSprop::RMSprop(std::vector<OptimizerParamGroup> param_groups, RMSpropOptions defaults)
    : Optimizer(std::move(param_groups), std::make_unique<RMSpropOptions>(defaults)) {
  check(defaults);
  for (const OptimizerParamGroup& group : param_groups_) check(options_of(group));
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
  const Tensor loss = run_closure(closure);
  const NoGradGuard no_grad;
  RmspropStep rule{state_, *plan_};
  detail::run_step(step_op(), rule, *plan_, param_groups_, state_, this, step_site_);
  return loss;
}

}  // namespace groove::optim
