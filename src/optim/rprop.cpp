#include "groove/optim/rprop.h"

#include "kernels/ops/optimizer_ops.h"
#include "src/optim/listed.h"

namespace groove::optim {
namespace {

struct RpropStep : detail::CountedRule<RpropOptions, RpropParamState> {
  static constexpr std::size_t kNumbers = std::tuple_size_v<RpropNumbers>;

  void numbers(const OptimizerParamGroup& group, std::size_t first, std::size_t last) {
    const RpropOptions& options = options_of(group);
    const auto [minus, plus] = options.etas();
    const auto [least, most] = options.step_sizes();
    share_numbers(RpropNumbers{minus, plus, least, most}, first, last);
  }

  std::uint64_t fingerprint(const OptimizerParamGroup& group) {
    const RpropOptions& options = options_of(group);
    return options.maximize() * 1u;
  }
  void walk(const detail::Slot& slot, const detail::Walk& visit) const {
    const RpropParamState& known = state_of(slot);
    visit("prev", known.prev());
    visit("step_size", known.step_size());
  }
  void prepare(const OptimizerParamGroup& group, const Tensor& param, detail::Slot& slot) {
    auto& known = detail::make_state<RpropParamState>(states, slot);
    ensure(known.prev(), param);
    if (!known.step_size().defined())
      known.step_size(full(param.sizes(), options_of(group).lr(), param.scalar_type()));
  }

  void update(const OptimizerParamGroup& group, const Tensor& param, const detail::Slot& slot,
              ArrayRef<Scalar> numbers) {
    const RpropOptions& options = options_of(group);
    RpropParamState& known = state_of(slot);
    rprop_step_(param, slot.impl->autograd->grad, known.prev(), known.step_size(),
                {false, options.maximize()}, numbers);
  }
};

}  // namespace

namespace detail {

template <>
struct List<RpropOptions> {
  static constexpr const char* kName = "Rprop";
  static constexpr const char* kStepName = "rprop_optimizer_step";
  using Step = RpropStep;

  template <typename Self, typename Field>
  static void each(Self& value, Field field) {
    field("lr", value.lr());
    field("etas", value.etas());
    field("step_sizes", value.step_sizes());
    field("maximize", value.maximize());
  }
  static void check(const RpropOptions& options) {
    check_not_negative(kName, "lr", options.lr());
    const auto [minus, plus] = options.etas();
    GROOVE_CHECK(minus > 0 && minus < 1 && plus > 1,
                 "Rprop: etas are ({}, {}); the first must lie in (0, 1), the second above 1",
                 minus, plus);
    const auto [least, most] = options.step_sizes();
    GROOVE_CHECK(least >= 0 && least <= most,
                 "Rprop: step_sizes are ({}, {}); they must be a range from 0 on", least, most);
  }
};

template <>
struct List<RpropParamState> {
  template <typename Self, typename Field>
  static void each(Self& value, Field field) {
    field("step", value.step());
    field("prev", value.prev());
    field("step_size", value.step_size());
  }
};

}  // namespace detail

RpropOptions::RpropOptions(double lr) : lr_(lr) {}

template struct ListedOptions<RpropOptions>;
template struct ListedParamState<RpropParamState>;
template class ListedOptimizer<RpropOptions, RpropParamState>;

}  // namespace groove::optim
