#include "groove/optim/rmsprop.h"

#include "kernels/ops/optimizer_ops.h"
#include "src/optim/listed.h"

namespace groove::optim {
namespace {

template <typename Self, typename Field>
void each_average(Self& state, Field field) {
  field("square_avg", state.square_avg());
  field("momentum_buffer", state.momentum_buffer());
  field("grad_avg", state.grad_avg());
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
    each_average(state_of(slot), visit);
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

namespace detail {

template <>
struct List<RMSpropOptions> {
  static constexpr const char* kName = "RMSprop";
  static constexpr const char* kStepName = "rmsprop_optimizer_step";
  using Step = RmspropStep;

  template <typename Self, typename Field>
  static void each(Self& value, Field field) {
    field("lr", value.lr());
    field("alpha", value.alpha());
    field("eps", value.eps());
    field("weight_decay", value.weight_decay());
    field("momentum", value.momentum());
    field("centered", value.centered());
  }
  static void check(const RMSpropOptions& options) {
    check_not_negative(kName, "lr", options.lr());
    check_not_negative(kName, "eps", options.eps());
    check_not_negative(kName, "momentum", options.momentum());
    check_not_negative(kName, "weight_decay", options.weight_decay());
    check_not_negative(kName, "alpha", options.alpha());
  }
};

template <>
struct List<RMSpropParamState> {
  template <typename Self, typename Field>
  static void each(Self& value, Field field) {
    field("step", value.step());
    each_average(value, field);
  }
};

}  // namespace detail

RMSpropOptions::RMSpropOptions(double lr) : lr_(lr) {}

template struct ListedOptions<RMSpropOptions>;
template struct ListedParamState<RMSpropParamState>;
template class ListedOptimizer<RMSpropOptions, RMSpropParamState>;

}  // namespace groove::optim
