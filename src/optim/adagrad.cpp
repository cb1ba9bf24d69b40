#include "groove/optim/adagrad.h"

#include "groove/autograd.h"
#include "groove/ops/creation.h"
#include "kernels/ops/optimizer_ops.h"
#include "src/core/check.h"
#include "src/optim/fields.h"
#include "src/optim/plan.h"

namespace groove::optim {
namespace {

const Op& step_op() {
  static const Op& op = define({.name = "adagrad_optimizer_step",
                                .kind = OpKind::kBig,
                                .inputs = 0,
                                .outputs = 0,
                                .mutates = {},
                                .has_inplace = false});
  return op;
}

void check(const AdagradOptions& options) {
  const auto expect = [](const char* name, double value) {
    GROOVE_CHECK(value >= 0, "Adagrad: {} is {}; it must not be negative", name, value);
  };
  expect("lr", options.lr());
  expect("lr_decay", options.lr_decay());
  expect("weight_decay", options.weight_decay());
  expect("initial_accumulator_value", options.initial_accumulator_value());
  expect("eps", options.eps());
}

const AdagradOptions& options_of(const OptimizerParamGroup& group) {
  return static_cast<const AdagradOptions&>(group.options());
}

template <typename Self, typename Field>
void each_option(Self& options, Field field) {
  field("lr", options.lr());
  field("lr_decay", options.lr_decay());
  field("weight_decay", options.weight_decay());
  field("initial_accumulator_value", options.initial_accumulator_value());
  field("eps", options.eps());
}

struct AdagradStep {
  static constexpr std::size_t kNumbers = std::tuple_size_v<AdagradNumbers>;
  Optimizer::StateMap& state;
  detail::StepPlan& plan;

  static std::int64_t step_of(const detail::Slot& slot) {
    return slot.state ? static_cast<AdagradParamState*>(slot.state)->step() : 1;
  }
  // A parameter without state counts its first step when the state is made.
  void advance(detail::Slot& slot) {
    if (slot.state) ++static_cast<AdagradParamState*>(slot.state)->step();
  }

  // Parameters at the step of the one before them share its numbers.
  void numbers(OptimizerParamGroup& group, detail::StepPlan& plan_, std::size_t first,
               std::size_t last) {
    const AdagradOptions& options = options_of(group);
    std::int64_t shared_step = -1;
    std::uint32_t at = 0;
    for (std::size_t i = first; i < last; ++i) {
      if (!plan_.slots[i].is_active) continue;
      const std::int64_t step = step_of(plan_.slots[i]);
      if (step != shared_step) {
        shared_step = step;
        at = static_cast<std::uint32_t>(plan_.numbers.size());
        const AdagradNumbers made =
            adagrad_numbers(options.lr(), options.lr_decay(), options.eps(), options.weight_decay(),
                            static_cast<double>(step));
        plan_.numbers.insert(plan_.numbers.end(), made.begin(), made.end());
      }
      plan_.slots[i].numbers_at = at;
    }
  }

  std::uint64_t fingerprint(const OptimizerParamGroup& group) {
    return (options_of(group).weight_decay() != 0) * 1u + 8u;
  }

  void update(const OptimizerParamGroup& group, const Tensor& param, detail::Slot& slot,
              ArrayRef<Scalar> numbers) {
    const AdagradOptions& options = options_of(group);
    if (!slot.state) {
      auto made = std::make_unique<AdagradParamState>();
      made->step(1);
      slot.state = made.get();
      state[slot.impl] = std::move(made);
      ++plan.state_epoch;
    }
    auto& known = static_cast<AdagradParamState&>(*slot.state);
    if (!known.sum().defined()) {
      known.sum(full(param.sizes(), options.initial_accumulator_value(), param.scalar_type()));
      ++plan.state_epoch;
    }
    AdagradRule rule;
    rule.has_weight_decay = options.weight_decay() != 0;
    adagrad_step_(param, slot.impl->autograd->grad, known.sum(), rule, numbers);
  }
};

}  // namespace

AdagradOptions::AdagradOptions(double lr) : lr_(lr) {}
double AdagradOptions::get_lr() const { return lr_; }
void AdagradOptions::set_lr(double lr) { lr_ = lr; }
void AdagradOptions::serialize(serialize::OutputArchive& archive) const {
  each_option(*this, detail::Writer{archive});
}
void AdagradOptions::serialize(serialize::InputArchive& archive) {
  each_option(*this, detail::Reader{archive});
}
void AdagradParamState::serialize(serialize::OutputArchive& archive) const {
  detail::Writer{archive}("step", step());
  detail::Writer{archive}("sum", sum());
}
void AdagradParamState::serialize(serialize::InputArchive& archive) {
  detail::Reader{archive}("step", step());
  detail::Reader{archive}("sum", sum());
}

Adagrad::Adagrad(std::vector<Tensor> params, AdagradOptions defaults)
    : Adagrad(std::vector<OptimizerParamGroup>{OptimizerParamGroup(std::move(params))},
              std::move(defaults)) {}

Adagrad::Adagrad(std::vector<OptimizerParamGroup> param_groups, AdagradOptions defaults)
    : Optimizer(std::move(param_groups), std::make_unique<AdagradOptions>(defaults)) {
  check(defaults);
  for (const OptimizerParamGroup& group : param_groups_) check(options_of(group));
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
  const Tensor loss = run_closure(closure);
  const NoGradGuard no_grad;
  AdagradStep rule{state_, *plan_};
  detail::run_step(step_op(), rule, *plan_, param_groups_, state_, this, step_site_);
  return loss;
}

}  // namespace groove::optim
