#include "groove/optim/lion.h"

#include "kernels/ops/optimizer_ops.h"
#include "src/optim/listed.h"

namespace groove::optim {
namespace {

struct LionStep : detail::CountedRule<LionOptions, LionParamState> {
  static constexpr std::size_t kNumbers = std::tuple_size_v<LionNumbers>;

  void numbers(const OptimizerParamGroup& group, std::size_t first, std::size_t last) {
    const LionOptions& options = options_of(group);
    const auto [beta1, beta2] = options.betas();
    share_numbers(lion_numbers(options.lr(), beta1, beta2, options.weight_decay()), first, last);
  }

  std::uint64_t fingerprint(const OptimizerParamGroup& group) {
    const LionOptions& options = options_of(group);
    return (options.weight_decay() != 0) * 1u + options.maximize() * 2u;
  }
  void walk(const detail::Slot& slot, const detail::Walk& visit) const {
    const LionParamState& known = state_of(slot);
    visit("exp_avg", known.exp_avg());
  }
  void prepare(const OptimizerParamGroup&, const Tensor& param, detail::Slot& slot) {
    auto& known = detail::make_state<LionParamState>(states, slot);
    ensure(known.exp_avg(), param);
  }

  void update(const OptimizerParamGroup& group, const Tensor& param, const detail::Slot& slot,
              ArrayRef<Scalar> numbers) {
    const LionOptions& options = options_of(group);
    LionParamState& known = state_of(slot);
    lion_step_(param, slot.impl->autograd->grad, known.exp_avg(),
               {options.weight_decay() != 0, options.maximize()}, numbers);
  }
};

}  // namespace

namespace detail {

template <>
struct List<LionOptions> {
  static constexpr const char* kName = "Lion";
  static constexpr const char* kStepName = "lion_optimizer_step";
  using Step = LionStep;

  template <typename Self, typename Field>
  static void each(Self& value, Field field) {
    field("lr", value.lr());
    field("betas", value.betas());
    field("weight_decay", value.weight_decay());
    field("maximize", value.maximize());
  }
  static void check(const LionOptions& options) {
    check_not_negative(kName, "lr", options.lr());
    check_not_negative(kName, "weight_decay", options.weight_decay());
    check_betas(kName, options);
  }
};

template <>
struct List<LionParamState> {
  template <typename Self, typename Field>
  static void each(Self& value, Field field) {
    field("step", value.step());
    field("exp_avg", value.exp_avg());
  }
};

}  // namespace detail

LionOptions::LionOptions(double lr) : lr_(lr) {}

template struct ListedOptions<LionOptions>;
template struct ListedParamState<LionParamState>;
template class ListedOptimizer<LionOptions, LionParamState>;

}  // namespace groove::optim
