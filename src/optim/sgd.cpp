#include "groove/optim/sgd.h"

#include "groove/serialize.h"
#include "kernels/ops/optimizer_ops.h"
#include "src/core/check.h"
#include "src/optim/fields.h"
#include "src/optim/plan.h"

namespace groove::optim {
namespace {

void check(const SGDOptions& options) {
  detail::check_not_negative("SGD", "lr", options.lr());
  detail::check_not_negative("SGD", "momentum", options.momentum());
  detail::check_not_negative("SGD", "weight_decay", options.weight_decay());
  GROOVE_CHECK(!options.nesterov() || (options.momentum() > 0 && options.dampening() == 0),
               "SGD: nesterov needs momentum > 0 and dampening 0, not {} and {}",
               options.momentum(), options.dampening());
}

template <typename Self, typename Field>
void each_field(Self& options, Field field) {
  field("lr", options.lr());
  field("momentum", options.momentum());
  field("dampening", options.dampening());
  field("weight_decay", options.weight_decay());
  field("nesterov", options.nesterov());
}

template <typename Self, typename Field>
void each_state_field(Self& state, Field field) {
  field("momentum_buffer", state.momentum_buffer());
}

// Options have no rate of their own: a group's is as given unless it is this one, LibTorch's.
constexpr double kUnsetRate = 1e-3;

struct SgdStep : detail::StepRule<SGDOptions> {
  static constexpr std::size_t kNumbers = std::tuple_size_v<SgdNumbers>;

  void advance(detail::Slot&) {}

  void numbers(const OptimizerParamGroup& group, std::size_t first, std::size_t last) {
    const SGDOptions& options = options_of(group);
    share_numbers(
        sgd_numbers(options.lr(), options.momentum(), options.dampening(), options.weight_decay()),
        first, last);
  }

  std::uint64_t fingerprint(const OptimizerParamGroup& group) {
    const SGDOptions& options = options_of(group);
    return (options.momentum() != 0) * 1u + options.nesterov() * 2u +
           (options.weight_decay() != 0) * 4u;
  }

  void walk(const detail::Slot& slot, const detail::Walk& visit) const {
    visit("momentum_buffer", static_cast<const SGDParamState&>(*slot.state).momentum_buffer());
  }

  // The first step fills the buffer.
  void prepare(const OptimizerParamGroup& group, const Tensor& param, detail::Slot& slot) {
    slot.is_first = false;
    if (options_of(group).momentum() == 0) return;
    auto& known = detail::make_state<SGDParamState>(states, slot);
    slot.is_first = !known.momentum_buffer().defined();
    if (slot.is_first) known.momentum_buffer(empty(param.sizes(), param.scalar_type()));
  }

  void update(const OptimizerParamGroup& group, const Tensor& param, const detail::Slot& slot,
              ArrayRef<Scalar> numbers) {
    const SGDOptions& options = options_of(group);
    SgdRule rule;
    rule.has_momentum = options.momentum() != 0;
    rule.nesterov = options.nesterov();
    rule.has_weight_decay = options.weight_decay() != 0;
    rule.is_first = slot.is_first;
    Tensor buffer;
    if (rule.has_momentum) buffer = static_cast<SGDParamState&>(*slot.state).momentum_buffer();
    sgd_step_(param, slot.impl->autograd->grad, buffer, rule, numbers);
  }
};

}  // namespace

SGDOptions::SGDOptions(double lr) : lr_(lr) {}
double SGDOptions::get_lr() const { return lr_; }
void SGDOptions::set_lr(double lr) { lr_ = lr; }
std::optional<double> SGDOptions::get_momentum() const { return momentum_; }
void SGDOptions::set_momentum(double momentum) { momentum_ = momentum; }

void SGDOptions::inherit(const OptimizerOptions& defaults) {
  detail::inherit_fields(*this, SGDOptions(kUnsetRate), static_cast<const SGDOptions&>(defaults),
                         [](auto& options, auto field) { each_field(options, field); });
}
bool operator==(const SGDOptions& a, const SGDOptions& b) {
  return detail::same_fields(a, b, [](auto& options, auto field) { each_field(options, field); });
}
bool operator==(const SGDParamState& a, const SGDParamState& b) {
  return detail::same_fields(a, b, [](auto& state, auto field) { each_state_field(state, field); });
}
void SGDOptions::serialize(serialize::OutputArchive& archive) const {
  each_field(*this, detail::Writer{archive});
}
void SGDOptions::serialize(serialize::InputArchive& archive) {
  each_field(*this, detail::Reader{archive});
}
void SGDParamState::serialize(serialize::OutputArchive& archive) const {
  each_state_field(*this, detail::Writer{archive});
}
void SGDParamState::serialize(serialize::InputArchive& archive) {
  each_state_field(*this, detail::Reader{archive});
}

SGD::SGD(std::vector<Tensor> params, SGDOptions defaults, Site site)
    : SGD(std::vector<OptimizerParamGroup>{OptimizerParamGroup(std::move(params))},
          std::move(defaults), site) {}

SGD::SGD(std::vector<OptimizerParamGroup> param_groups, SGDOptions defaults, Site site)
    : Optimizer(std::move(param_groups), std::make_unique<SGDOptions>(defaults), site) {
  const CallFrame frame(site);
  check(defaults);
  for (const OptimizerParamGroup& group : param_groups_) check(SgdStep::options_of(group));
}

std::unique_ptr<OptimizerParamState> SGD::new_state() const {
  return std::make_unique<SGDParamState>();
}
void SGD::check_options(const OptimizerOptions& options) const {
  check(static_cast<const SGDOptions&>(options));
}
void SGD::check_state(const Tensor& parameter, const OptimizerParamState& state) const {
  detail::check_like("SGD", "momentum_buffer", parameter,
                     static_cast<const SGDParamState&>(state).momentum_buffer());
}

Tensor SGD::step(LossClosure closure) {
  static const Op& op = detail::define_step("sgd_optimizer_step");
  const Tensor loss = run_closure(closure);
  detail::run_step(op, SgdStep{*plan_, state_}, param_groups_, step_site_);
  return loss;
}

}  // namespace groove::optim
