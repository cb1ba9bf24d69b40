#include "groove/optim/sgd.h"

#include "kernels/ops/optimizer_ops.h"
#include "src/optim/listed.h"

namespace groove::optim {
namespace {

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

namespace detail {

template <>
struct List<SGDOptions> {
  static constexpr const char* kName = "SGD";
  static constexpr const char* kStepName = "sgd_optimizer_step";
  using Step = SgdStep;
  // Options have no rate of their own: a group's is as given unless it is this one, LibTorch's.
  static SGDOptions fresh() { return SGDOptions(1e-3); }

  template <typename Self, typename Field>
  static void each(Self& value, Field field) {
    field("lr", value.lr());
    field("momentum", value.momentum());
    field("dampening", value.dampening());
    field("weight_decay", value.weight_decay());
    field("nesterov", value.nesterov());
  }
  static void check(const SGDOptions& options) {
    check_not_negative(kName, "lr", options.lr());
    check_not_negative(kName, "momentum", options.momentum());
    check_not_negative(kName, "weight_decay", options.weight_decay());
    GROOVE_CHECK(!options.nesterov() || (options.momentum() > 0 && options.dampening() == 0),
                 "SGD: nesterov needs momentum > 0 and dampening 0, not {} and {}",
                 options.momentum(), options.dampening());
  }
};

template <>
struct List<SGDParamState> {
  template <typename Self, typename Field>
  static void each(Self& value, Field field) {
    field("momentum_buffer", value.momentum_buffer());
  }
};

}  // namespace detail

SGDOptions::SGDOptions(double lr) : lr_(lr) {}

template struct ListedOptions<SGDOptions>;
template struct ListedParamState<SGDParamState>;
template class ListedOptimizer<SGDOptions, SGDParamState>;

}  // namespace groove::optim
