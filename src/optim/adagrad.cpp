#include "groove/optim/adagrad.h"

#include "kernels/ops/optimizer_ops.h"
#include "src/optim/listed.h"

namespace groove::optim {
namespace {

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
    visit("sum", state_of(slot).sum());
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

namespace detail {

template <>
struct List<AdagradOptions> {
  static constexpr const char* kName = "Adagrad";
  static constexpr const char* kStepName = "adagrad_optimizer_step";
  using Step = AdagradStep;

  template <typename Self, typename Field>
  static void each(Self& value, Field field) {
    field("lr", value.lr());
    field("lr_decay", value.lr_decay());
    field("weight_decay", value.weight_decay());
    field("initial_accumulator_value", value.initial_accumulator_value());
    field("eps", value.eps());
  }
  static void check(const AdagradOptions& options) {
    each(options, [](const char* name, double value) { check_not_negative(kName, name, value); });
  }
};

template <>
struct List<AdagradParamState> {
  template <typename Self, typename Field>
  static void each(Self& value, Field field) {
    field("step", value.step());
    field("sum", value.sum());
  }
};

}  // namespace detail

AdagradOptions::AdagradOptions(double lr) : lr_(lr) {}

template struct ListedOptions<AdagradOptions>;
template struct ListedParamState<AdagradParamState>;
template class ListedOptimizer<AdagradOptions, AdagradParamState>;

}  // namespace groove::optim
