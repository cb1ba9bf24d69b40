#include "groove/optim/asgd.h"

#include <algorithm>
#include <cmath>

#include "kernels/ops/optimizer_ops.h"
#include "src/optim/listed.h"

namespace groove::optim {
namespace {

struct ASGDStep : detail::CountedRule<ASGDOptions, ASGDParamState> {
  static constexpr std::size_t kNumbers = std::tuple_size_v<AsgdNumbers>;

  // A step takes the eta and mu that the one before it left.
  void numbers(const OptimizerParamGroup& group, std::size_t first, std::size_t last) {
    const ASGDOptions& options = options_of(group);
    share_numbers_by(
        first, last,
        [](const ASGDParamState& known) {
          return std::tuple(known.step(), known.eta(), known.mu());
        },
        [&options](const ASGDParamState& known) {
          return asgd_numbers(known.eta(), known.mu(), options.lambd(), options.weight_decay());
        });
    for (std::size_t i = first; i < last; ++i)
      if (plan.slots[i].is_active) leave_for_next(options, state_of(plan.slots[i]));
  }
  static void leave_for_next(const ASGDOptions& options, ASGDParamState& known) {
    const auto step = static_cast<double>(known.step());
    known.eta() =
        options.lr() / std::pow(1 + options.lambd() * options.lr() * step, options.alpha());
    known.mu() = 1 / std::max(1.0, step - options.t0());
  }

  std::uint64_t fingerprint(const OptimizerParamGroup& group) {
    const ASGDOptions& options = options_of(group);
    return (options.weight_decay() != 0) * 1u + options.maximize() * 2u;
  }
  void walk(const detail::Slot& slot, const detail::Walk& visit) const {
    const ASGDParamState& known = state_of(slot);
    visit("ax", known.ax());
  }
  void prepare(const OptimizerParamGroup& group, const Tensor& param, detail::Slot& slot) {
    auto& known = detail::make_state<ASGDParamState>(states, slot);
    if (!known.ax().defined()) known.eta() = options_of(group).lr();
    ensure(known.ax(), param);
  }

  void update(const OptimizerParamGroup& group, const Tensor& param, const detail::Slot& slot,
              ArrayRef<Scalar> numbers) {
    const ASGDOptions& options = options_of(group);
    ASGDParamState& known = state_of(slot);
    asgd_step_(param, slot.impl->autograd->grad, known.ax(),
               {options.weight_decay() != 0, options.maximize()}, numbers);
  }
};

}  // namespace

namespace detail {

template <>
struct List<ASGDOptions> {
  static constexpr const char* kName = "ASGD";
  static constexpr const char* kStepName = "asgd_optimizer_step";
  using Step = ASGDStep;

  template <typename Self, typename Field>
  static void each(Self& value, Field field) {
    field("lr", value.lr());
    field("lambd", value.lambd());
    field("alpha", value.alpha());
    field("t0", value.t0());
    field("weight_decay", value.weight_decay());
    field("maximize", value.maximize());
  }
  static void check(const ASGDOptions& options) {
    check_not_negative(kName, "lr", options.lr());
    check_not_negative(kName, "lambd", options.lambd());
    check_not_negative(kName, "alpha", options.alpha());
    check_not_negative(kName, "weight_decay", options.weight_decay());
  }
};

template <>
struct List<ASGDParamState> {
  template <typename Self, typename Field>
  static void each(Self& value, Field field) {
    field("step", value.step());
    field("ax", value.ax());
    field("eta", value.eta());
    field("mu", value.mu());
  }
};

}  // namespace detail

ASGDOptions::ASGDOptions(double lr) : lr_(lr) {}

template struct ListedOptions<ASGDOptions>;
template struct ListedParamState<ASGDParamState>;
template class ListedOptimizer<ASGDOptions, ASGDParamState>;

}  // namespace groove::optim
