#include "groove/optim/adadelta.h"

#include "kernels/ops/optimizer_ops.h"
#include "src/optim/listed.h"

namespace groove::optim {
namespace {

struct AdadeltaStep : detail::CountedRule<AdadeltaOptions, AdadeltaParamState> {
  static constexpr std::size_t kNumbers = std::tuple_size_v<AdadeltaNumbers>;

  void numbers(const OptimizerParamGroup& group, std::size_t first, std::size_t last) {
    const AdadeltaOptions& options = options_of(group);
    share_numbers(
        adadelta_numbers(options.lr(), options.rho(), options.eps(), options.weight_decay()), first,
        last);
  }

  std::uint64_t fingerprint(const OptimizerParamGroup& group) {
    const AdadeltaOptions& options = options_of(group);
    return (options.weight_decay() != 0) * 1u + options.maximize() * 2u;
  }
  void walk(const detail::Slot& slot, const detail::Walk& visit) const {
    const AdadeltaParamState& known = state_of(slot);
    visit("square_avg", known.square_avg());
    visit("acc_delta", known.acc_delta());
  }
  void prepare(const OptimizerParamGroup&, const Tensor& param, detail::Slot& slot) {
    auto& known = detail::make_state<AdadeltaParamState>(states, slot);
    ensure(known.square_avg(), param);
    ensure(known.acc_delta(), param);
  }

  void update(const OptimizerParamGroup& group, const Tensor& param, const detail::Slot& slot,
              ArrayRef<Scalar> numbers) {
    const AdadeltaOptions& options = options_of(group);
    AdadeltaParamState& known = state_of(slot);
    adadelta_step_(param, slot.impl->autograd->grad, known.square_avg(), known.acc_delta(),
                   {options.weight_decay() != 0, options.maximize()}, numbers);
  }
};

}  // namespace

namespace detail {

template <>
struct List<AdadeltaOptions> {
  static constexpr const char* kName = "Adadelta";
  static constexpr const char* kStepName = "adadelta_optimizer_step";
  using Step = AdadeltaStep;

  template <typename Self, typename Field>
  static void each(Self& value, Field field) {
    field("lr", value.lr());
    field("rho", value.rho());
    field("eps", value.eps());
    field("weight_decay", value.weight_decay());
    field("maximize", value.maximize());
  }
  static void check(const AdadeltaOptions& options) {
    check_not_negative(kName, "lr", options.lr());
    check_not_negative(kName, "eps", options.eps());
    check_not_negative(kName, "weight_decay", options.weight_decay());
    GROOVE_CHECK(options.rho() >= 0 && options.rho() <= 1,
                 "Adadelta: rho is {}; it must lie in [0, 1]", options.rho());
  }
};

template <>
struct List<AdadeltaParamState> {
  template <typename Self, typename Field>
  static void each(Self& value, Field field) {
    field("step", value.step());
    field("square_avg", value.square_avg());
    field("acc_delta", value.acc_delta());
  }
};

}  // namespace detail

AdadeltaOptions::AdadeltaOptions(double lr) : lr_(lr) {}

template struct ListedOptions<AdadeltaOptions>;
template struct ListedParamState<AdadeltaParamState>;
template class ListedOptimizer<AdadeltaOptions, AdadeltaParamState>;

}  // namespace groove::optim
