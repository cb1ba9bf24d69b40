#include "groove/optim/nadam.h"

#include "kernels/ops/optimizer_ops.h"
#include "src/optim/listed.h"

namespace groove::optim {
namespace {

struct NAdamStep : detail::CountedRule<NAdamOptions, NAdamParamState> {
  static constexpr std::size_t kNumbers = std::tuple_size_v<NadamNumbers>;

  void numbers(const OptimizerParamGroup& group, std::size_t first, std::size_t last) {
    const NAdamOptions& options = options_of(group);
    const auto [beta1, beta2] = options.betas();
    for (std::size_t i = first; i < last; ++i)
      if (plan.slots[i].is_active) {
        NAdamParamState& known = state_of(plan.slots[i]);
        known.mu_product() *=
            nadam_mu(beta1, options.momentum_decay(), static_cast<double>(known.step()));
      }
    share_numbers_by(
        first, last,
        [](const NAdamParamState& known) { return std::pair(known.step(), known.mu_product()); },
        [&options](const NAdamParamState& known) {
          const auto [beta1, beta2] = options.betas();
          return nadam_numbers(options.lr(), beta1, beta2, options.eps(), options.weight_decay(),
                               options.momentum_decay(), options.decoupled_weight_decay(),
                               static_cast<double>(known.step()), known.mu_product());
        });
  }

  std::uint64_t fingerprint(const OptimizerParamGroup& group) {
    const NAdamOptions& options = options_of(group);
    return (options.weight_decay() != 0) * 1u + options.maximize() * 2u +
           options.decoupled_weight_decay() * 4u;
  }
  void walk(const detail::Slot& slot, const detail::Walk& visit) const {
    const NAdamParamState& known = state_of(slot);
    visit("exp_avg", known.exp_avg());
    visit("exp_avg_sq", known.exp_avg_sq());
  }
  void prepare(const OptimizerParamGroup&, const Tensor& param, detail::Slot& slot) {
    auto& known = detail::make_state<NAdamParamState>(states, slot);
    ensure(known.exp_avg(), param);
    ensure(known.exp_avg_sq(), param);
  }

  void update(const OptimizerParamGroup& group, const Tensor& param, const detail::Slot& slot,
              ArrayRef<Scalar> numbers) {
    const NAdamOptions& options = options_of(group);
    NAdamParamState& known = state_of(slot);
    nadam_step_(param, slot.impl->autograd->grad, known.exp_avg(), known.exp_avg_sq(),
                {options.weight_decay() != 0, options.maximize(), options.decoupled_weight_decay()},
                numbers);
  }
};

}  // namespace

namespace detail {

template <>
struct List<NAdamOptions> {
  static constexpr const char* kName = "NAdam";
  static constexpr const char* kStepName = "nadam_optimizer_step";
  using Step = NAdamStep;

  template <typename Self, typename Field>
  static void each(Self& value, Field field) {
    field("lr", value.lr());
    field("betas", value.betas());
    field("eps", value.eps());
    field("weight_decay", value.weight_decay());
    field("momentum_decay", value.momentum_decay());
    field("decoupled_weight_decay", value.decoupled_weight_decay());
    field("maximize", value.maximize());
  }
  static void check(const NAdamOptions& options) {
    check_not_negative(kName, "lr", options.lr());
    check_not_negative(kName, "eps", options.eps());
    check_not_negative(kName, "weight_decay", options.weight_decay());
    check_not_negative(kName, "momentum_decay", options.momentum_decay());
    check_betas(kName, options);
  }
};

template <>
struct List<NAdamParamState> {
  template <typename Self, typename Field>
  static void each(Self& value, Field field) {
    field("step", value.step());
    field("exp_avg", value.exp_avg());
    field("exp_avg_sq", value.exp_avg_sq());
    field("mu_product", value.mu_product());
  }
};

}  // namespace detail

NAdamOptions::NAdamOptions(double lr) : lr_(lr) {}

template struct ListedOptions<NAdamOptions>;
template struct ListedParamState<NAdamParamState>;
template class ListedOptimizer<NAdamOptions, NAdamParamState>;

}  // namespace groove::optim
