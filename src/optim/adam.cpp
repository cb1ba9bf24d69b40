#include "groove/optim/adam.h"

#include "kernels/ops/optimizer_ops.h"
#include "src/optim/listed.h"

namespace groove::optim {
namespace {

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
    each_moment(this->state_of(slot), visit);
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

}  // namespace

namespace detail {

// Of both kinds of options.
template <typename Options>
struct AdamList {
  template <typename Self, typename Field>
  static void each(Self& value, Field field) {
    field("lr", value.lr());
    field("betas", value.betas());
    field("eps", value.eps());
    field("weight_decay", value.weight_decay());
    field("amsgrad", value.amsgrad());
  }
  static void check(const Options& options) {
    constexpr const char* name = List<Options>::kName;
    check_not_negative(name, "lr", options.lr());
    check_not_negative(name, "eps", options.eps());
    check_betas(name, options);
    check_not_negative(name, "weight_decay", options.weight_decay());
  }
};
template <>
struct List<AdamOptions> : AdamList<AdamOptions> {
  static constexpr const char* kName = "Adam";
  static constexpr const char* kStepName = "adam_optimizer_step";
  using Step = AdamStep<AdamOptions, false>;
};
template <>
struct List<AdamWOptions> : AdamList<AdamWOptions> {
  static constexpr const char* kName = "AdamW";
  static constexpr const char* kStepName = "adamw_optimizer_step";
  using Step = AdamStep<AdamWOptions, true>;
};

template <>
struct List<AdamParamState> {
  template <typename Self, typename Field>
  static void each(Self& value, Field field) {
    field("step", value.step());
    each_moment(value, field);
  }
};

}  // namespace detail

AdamOptions::AdamOptions(double lr) : AdamOptionsOf(lr, 0) {}
AdamWOptions::AdamWOptions(double lr) : AdamOptionsOf(lr, 1e-2) {}

template struct ListedOptions<AdamOptions>;
template struct ListedOptions<AdamWOptions>;
template struct ListedParamState<AdamParamState>;
template class ListedOptimizer<AdamOptions, AdamParamState>;
template class ListedOptimizer<AdamWOptions, AdamParamState>;

}  // namespace groove::optim
