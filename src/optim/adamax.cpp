#include "groove/optim/adamax.h"

#include "kernels/ops/optimizer_ops.h"
#include "src/optim/listed.h"

namespace groove::optim {
namespace {

struct AdamaxStep : detail::CountedRule<AdamaxOptions, AdamaxParamState> {
  static constexpr std::size_t kNumbers = std::tuple_size_v<AdamaxNumbers>;

  void numbers(const OptimizerParamGroup& group, std::size_t first, std::size_t last) {
    const AdamaxOptions& options = options_of(group);
    share_numbers_of_a_step(first, last, [&options](double step) {
      const auto [beta1, beta2] = options.betas();
      return adamax_numbers(options.lr(), beta1, beta2, options.eps(), options.weight_decay(),
                            step);
    });
  }

  std::uint64_t fingerprint(const OptimizerParamGroup& group) {
    const AdamaxOptions& options = options_of(group);
    return (options.weight_decay() != 0) * 1u + options.maximize() * 2u;
  }
  void walk(const detail::Slot& slot, const detail::Walk& visit) const {
    const AdamaxParamState& known = state_of(slot);
    visit("exp_avg", known.exp_avg());
    visit("exp_inf", known.exp_inf());
  }
  void prepare(const OptimizerParamGroup&, const Tensor& param, detail::Slot& slot) {
    auto& known = detail::make_state<AdamaxParamState>(states, slot);
    ensure(known.exp_avg(), param);
    ensure(known.exp_inf(), param);
  }

  void update(const OptimizerParamGroup& group, const Tensor& param, const detail::Slot& slot,
              ArrayRef<Scalar> numbers) {
    const AdamaxOptions& options = options_of(group);
    AdamaxParamState& known = state_of(slot);
    adamax_step_(param, slot.impl->autograd->grad, known.exp_avg(), known.exp_inf(),
                 {options.weight_decay() != 0, options.maximize()}, numbers);
  }
};

}  // namespace

namespace detail {

template <>
struct List<AdamaxOptions> {
  static constexpr const char* kName = "Adamax";
  static constexpr const char* kStepName = "adamax_optimizer_step";
  using Step = AdamaxStep;

  template <typename Self, typename Field>
  static void each(Self& value, Field field) {
    field("lr", value.lr());
    field("betas", value.betas());
    field("eps", value.eps());
    field("weight_decay", value.weight_decay());
    field("maximize", value.maximize());
  }
  static void check(const AdamaxOptions& options) {
    check_not_negative(kName, "lr", options.lr());
    check_not_negative(kName, "eps", options.eps());
    check_not_negative(kName, "weight_decay", options.weight_decay());
    check_betas(kName, options);
  }
};

template <>
struct List<AdamaxParamState> {
  template <typename Self, typename Field>
  static void each(Self& value, Field field) {
    field("step", value.step());
    field("exp_avg", value.exp_avg());
    field("exp_inf", value.exp_inf());
  }
};

}  // namespace detail

AdamaxOptions::AdamaxOptions(double lr) : lr_(lr) {}

template struct ListedOptions<AdamaxOptions>;
template struct ListedParamState<AdamaxParamState>;
template class ListedOptimizer<AdamaxOptions, AdamaxParamState>;

}  // namespace groove::optim
