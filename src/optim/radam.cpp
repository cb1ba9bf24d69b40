#include "groove/optim/radam.h"

#include "kernels/ops/optimizer_ops.h"
#include "src/optim/listed.h"

namespace groove::optim {
namespace {

struct RAdamStep : detail::CountedRule<RAdamOptions, RAdamParamState> {
  static constexpr std::size_t kNumbers = std::tuple_size_v<RadamNumbers>;

  void numbers(const OptimizerParamGroup& group, std::size_t first, std::size_t last) {
    const RAdamOptions& options = options_of(group);
    share_numbers_of_a_step(first, last, [&options](double step) {
      const auto [beta1, beta2] = options.betas();
      return radam_numbers(options.lr(), beta1, beta2, options.eps(), options.weight_decay(),
                           options.decoupled_weight_decay(), step);
    });
  }

  std::uint64_t fingerprint(const OptimizerParamGroup& group) {
    const RAdamOptions& options = options_of(group);
    return (options.weight_decay() != 0) * 1u + options.maximize() * 2u +
           options.decoupled_weight_decay() * 4u;
  }
  void walk(const detail::Slot& slot, const detail::Walk& visit) const {
    const RAdamParamState& known = state_of(slot);
    visit("exp_avg", known.exp_avg());
    visit("exp_avg_sq", known.exp_avg_sq());
  }
  void prepare(const OptimizerParamGroup&, const Tensor& param, detail::Slot& slot) {
    auto& known = detail::make_state<RAdamParamState>(states, slot);
    ensure(known.exp_avg(), param);
    ensure(known.exp_avg_sq(), param);
  }

  void update(const OptimizerParamGroup& group, const Tensor& param, const detail::Slot& slot,
              ArrayRef<Scalar> numbers) {
    const RAdamOptions& options = options_of(group);
    RAdamParamState& known = state_of(slot);
    radam_step_(param, slot.impl->autograd->grad, known.exp_avg(), known.exp_avg_sq(),
                {options.weight_decay() != 0, options.maximize(), options.decoupled_weight_decay()},
                numbers);
  }
};

}  // namespace

namespace detail {

template <>
struct List<RAdamOptions> {
  static constexpr const char* kName = "RAdam";
  static constexpr const char* kStepName = "radam_optimizer_step";
  using Step = RAdamStep;

  template <typename Self, typename Field>
  static void each(Self& value, Field field) {
    field("lr", value.lr());
    field("betas", value.betas());
    field("eps", value.eps());
    field("weight_decay", value.weight_decay());
    field("decoupled_weight_decay", value.decoupled_weight_decay());
    field("maximize", value.maximize());
  }
  static void check(const RAdamOptions& options) {
    check_not_negative(kName, "lr", options.lr());
    check_not_negative(kName, "eps", options.eps());
    check_not_negative(kName, "weight_decay", options.weight_decay());
    check_betas(kName, options);
  }
};

template <>
struct List<RAdamParamState> {
  template <typename Self, typename Field>
  static void each(Self& value, Field field) {
    field("step", value.step());
    field("exp_avg", value.exp_avg());
    field("exp_avg_sq", value.exp_avg_sq());
  }
};

}  // namespace detail

RAdamOptions::RAdamOptions(double lr) : lr_(lr) {}

template struct ListedOptions<RAdamOptions>;
template struct ListedParamState<RAdamParamState>;
template class ListedOptimizer<RAdamOptions, RAdamParamState>;

}  // namespace groove::optim
