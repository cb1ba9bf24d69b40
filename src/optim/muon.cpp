#include "groove/optim/muon.h"

#include <algorithm>
#include <cmath>

#include "groove/ops/contractions.h"
#include "groove/ops/math.h"
#include "groove/ops/reductions.h"
#include "groove/ops/views.h"
#include "src/optim/listed.h"

namespace groove::optim {
namespace {

double rate_factor(const MuonOptions& options, const Tensor& param) {
  const auto rows = static_cast<double>(param.size(0)),
             columns = static_cast<double>(param.size(1));
  const std::string kind = options.adjust_lr_fn().value_or("original");
  if (kind == "match_rms_adamw") return 0.2 * std::sqrt(std::max(rows, columns));
  const double ratio = rows / columns;
  return std::sqrt(kind == "original" ? std::max(1.0, ratio) : ratio);
}

struct MuonStep : detail::StepRule<MuonOptions> {
  enum { kRate, kShrink, kMomentum, kRest, kA, kB, kC, kEps };
  static constexpr std::size_t kNumbers = 8;

  void advance(detail::Slot&) {}

  // The rate depends on the shape.
  void numbers(const OptimizerParamGroup& group, std::size_t first, std::size_t last) {
    const MuonOptions& options = options_of(group);
    const auto [a, b, c] = options.ns_coefficients();
    for (std::size_t i = first; i < last; ++i) {
      const Tensor& param = group.params()[i - first];
      if (!plan.slots[i].is_active) continue;
      plan.slots[i].numbers_at = add_numbers(std::array<Scalar, kNumbers>{
          options.lr() * rate_factor(options, param), 1 - options.lr() * options.weight_decay(),
          options.momentum(), 1 - options.momentum(), a, b, c, options.eps()});
    }
  }

  std::uint64_t fingerprint(const OptimizerParamGroup& group) {
    const MuonOptions& options = options_of(group);
    return options.nesterov() * 1u + static_cast<std::uint64_t>(options.ns_steps()) * 2u;
  }

  void walk(const detail::Slot& slot, const detail::Walk& visit) const {
    visit("momentum_buffer", static_cast<const MuonParamState&>(*slot.state).momentum_buffer());
  }

  void prepare(const OptimizerParamGroup&, const Tensor& param, detail::Slot& slot) {
    ensure(detail::make_state<MuonParamState>(states, slot).momentum_buffer(), param);
  }

  void update(const OptimizerParamGroup& group, const Tensor& param, const detail::Slot& slot,
              ArrayRef<Scalar> numbers) {
    const MuonOptions& options = options_of(group);
    const Tensor& grad = slot.impl->autograd->grad;
    const Tensor& buffer = static_cast<MuonParamState&>(*slot.state).momentum_buffer();
    buffer.mul_(numbers[kMomentum]).add_(grad * numbers[kRest]);
    Tensor x =
        options.nesterov() ? grad * numbers[kRest] + buffer * numbers[kMomentum] : Tensor(buffer);
    const bool is_tall = param.size(0) > param.size(1);
    if (is_tall) x = x.t();
    x = x / clamp_min(norm(x), numbers[kEps]);
    for (std::int64_t i = 0; i < options.ns_steps(); ++i) {
      const Tensor gram = matmul(x, x.t());
      const Tensor polynomial = gram * numbers[kB] + matmul(gram, gram) * numbers[kC];
      x = x * numbers[kA] + matmul(polynomial, x);
    }
    if (is_tall) x = x.t();
    param.mul_(numbers[kShrink]).sub_(x * numbers[kRate]);
  }
};

}  // namespace

namespace detail {

template <>
struct List<MuonOptions> {
  static constexpr const char* kName = "Muon";
  static constexpr const char* kStepName = "muon_optimizer_step";
  using Step = MuonStep;

  template <typename Self, typename Field>
  static void each(Self& value, Field field) {
    field("lr", value.lr());
    field("weight_decay", value.weight_decay());
    field("momentum", value.momentum());
    field("nesterov", value.nesterov());
    field("ns_coefficients", value.ns_coefficients());
    field("eps", value.eps());
    field("ns_steps", value.ns_steps());
    field("adjust_lr_fn", value.adjust_lr_fn());
  }
  static void check(const MuonOptions& options) {
    check_not_negative(kName, "lr", options.lr());
    check_not_negative(kName, "weight_decay", options.weight_decay());
    check_not_negative(kName, "momentum", options.momentum());
    check_not_negative(kName, "eps", options.eps());
    GROOVE_CHECK(options.ns_steps() >= 0 && options.ns_steps() < 100,
                 "Muon: ns_steps is {}; it must lie in [0, 100)", options.ns_steps());
    const std::string kind = options.adjust_lr_fn().value_or("original");
    GROOVE_CHECK(kind == "original" || kind == "match_rms_adamw" || kind == "spectral_unclamped",
                 "Muon: adjust_lr_fn is '{}'; it must be 'original', 'match_rms_adamw' or "
                 "'spectral_unclamped'",
                 kind);
  }
  static void check_parameters(const std::vector<OptimizerParamGroup>& groups) {
    for (const OptimizerParamGroup& group : groups)
      for (const Tensor& param : group.params())
        GROOVE_CHECK(param.dim() == 2,
                     "Muon: a parameter has shape {}; only matrices (2-d) can be orthogonalised",
                     to_string(param.sizes()));
  }
};

template <>
struct List<MuonParamState> {
  template <typename Self, typename Field>
  static void each(Self& value, Field field) {
    field("momentum_buffer", value.momentum_buffer());
  }
};

}  // namespace detail

MuonOptions::MuonOptions(double lr) : lr_(lr) {}

template struct ListedOptions<MuonOptions>;
template struct ListedParamState<MuonParamState>;
template class ListedOptimizer<MuonOptions, MuonParamState>;

}  // namespace groove::optim
