#include "groove/optim/cyclic_schedulers.h"

#include <cmath>
#include <numbers>

#include "src/core/check.h"

namespace groove::optim {
namespace {

void check_momentum(const char* scheduler, const Optimizer& optimizer) {
  for (const OptimizerParamGroup& group : optimizer.param_groups())
    GROOVE_CHECK(group.options().get_momentum(),
                 "{}: cycle_momentum is true, but the optimizer has neither momentum nor betas",
                 scheduler);
}

void set_momenta(Optimizer& optimizer, const std::vector<double>& momenta) {
  for (std::size_t i = 0; i < momenta.size(); ++i)
    optimizer.param_groups()[i].options().set_momentum(momenta[i]);
}

std::int64_t steps_of(const OneCycleLROptions& options) {
  const auto positive = [](const char* name, std::int64_t value) {
    GROOVE_CHECK(value > 0, "OneCycleLR: {} is {}; it must be positive", name, value);
    return value;
  };
  if (options.total_steps()) return positive("total_steps", *options.total_steps());
  GROOVE_CHECK(options.epochs() && options.steps_per_epoch(),
               "OneCycleLR: set total_steps, or epochs and steps_per_epoch");
  return positive("epochs", *options.epochs()) *
         positive("steps_per_epoch", *options.steps_per_epoch());
}

enum { kInitial, kMost, kLeast };

}  // namespace

// ---- CyclicLR ----

CyclicLROptions::CyclicLROptions(PerGroup base_lr, PerGroup max_lr)
    : base_lr_(std::move(base_lr)), max_lr_(std::move(max_lr)) {}

CyclicLR::CyclicLR(Optimizer& optimizer, CyclicLROptions options)
    : EpochScheduler(optimizer), options_(std::move(options)) {
  const std::string& mode = options_.mode();
  GROOVE_CHECK(
      options_.scale_fn() || mode == "triangular" || mode == "triangular2" || mode == "exp_range",
      "CyclicLR: mode is '{}'; it must be 'triangular', 'triangular2' or 'exp_range'", mode);
  GROOVE_CHECK(options_.scale_mode() == "cycle" || options_.scale_mode() == "iterations",
               "CyclicLR: scale_mode is '{}'; it must be 'cycle' or 'iterations'",
               options_.scale_mode());
  const auto up = static_cast<double>(options_.step_size_up());
  const auto down =
      static_cast<double>(options_.step_size_down().value_or(options_.step_size_up()));
  GROOVE_CHECK(up > 0 && down > 0,
               "CyclicLR: step_size_up {} and step_size_down {} must be positive", up, down);
  total_size_ = up + down;
  step_ratio_ = up / total_size_;
  if (!options_.scale_fn()) options_.scale_mode(mode == "exp_range" ? "iterations" : "cycle");
  const std::vector<double> base = options_.base_lr().expanded("CyclicLR: base_lr", optimizer);
  max_lrs_ = options_.max_lr().expanded("CyclicLR: max_lr", optimizer);
  if (options_.cycle_momentum()) {
    check_momentum("CyclicLR", optimizer);
    base_momenta_ = options_.base_momentum().expanded("CyclicLR: base_momentum", optimizer);
    max_momenta_ = options_.max_momentum().expanded("CyclicLR: max_momentum", optimizer);
  }
  for (std::size_t i = 0; i < base.size(); ++i)
    optimizer.param_groups()[i].options().set_lr(base[i]);
  base_lrs() = base;
  start();
}

std::vector<double> CyclicLR::lrs_at(std::int64_t epoch) {
  const double at = static_cast<double>(epoch) / total_size_;
  const double cycle = std::floor(1 + at), x = 1 + at - cycle;
  double height = x <= step_ratio_ ? x / step_ratio_ : (x - 1) / (step_ratio_ - 1);
  const double scaled_by = options_.scale_mode() == "cycle" ? cycle : static_cast<double>(epoch);
  if (options_.scale_fn())
    height *= options_.scale_fn()(scaled_by);
  else if (options_.mode() == "triangular2")
    height *= 1 / std::pow(2.0, scaled_by - 1);
  else if (options_.mode() == "exp_range")
    height *= std::pow(options_.gamma(), scaled_by);

  std::vector<double> rates = base_lrs(), momenta = max_momenta_;
  for (std::size_t i = 0; i < rates.size(); ++i) rates[i] += (max_lrs_[i] - rates[i]) * height;
  for (std::size_t i = 0; i < momenta.size(); ++i)
    momenta[i] -= (max_momenta_[i] - base_momenta_[i]) * height;
  set_momenta(optimizer(), momenta);
  return rates;
}

// ---- OneCycleLR ----

OneCycleLROptions::OneCycleLROptions(PerGroup max_lr) : max_lr_(std::move(max_lr)) {}

OneCycleLR::OneCycleLR(Optimizer& optimizer, OneCycleLROptions options)
    : EpochScheduler(optimizer), options_(std::move(options)), total_steps_(steps_of(options_)) {
  const double pct = options_.pct_start(), steps = static_cast<double>(total_steps_);
  GROOVE_CHECK(pct >= 0 && pct <= 1, "OneCycleLR: pct_start is {}; it must lie in [0, 1]", pct);
  GROOVE_CHECK(options_.anneal_strategy() == "cos" || options_.anneal_strategy() == "linear",
               "OneCycleLR: anneal_strategy is '{}'; it must be 'cos' or 'linear'",
               options_.anneal_strategy());
  if (options_.three_phase())
    phases_ = {{pct * steps - 1, kInitial, kMost, true},
               {2 * pct * steps - 2, kMost, kInitial, false},
               {steps - 1, kInitial, kLeast, false, true}};
  else
    phases_ = {{pct * steps - 1, kInitial, kMost, true}, {steps - 1, kMost, kLeast, false}};
  max_lrs_ = options_.max_lr().expanded("OneCycleLR: max_lr", optimizer);
  if (options_.cycle_momentum()) {
    check_momentum("OneCycleLR", optimizer);
    base_momenta_ = options_.base_momentum().expanded("OneCycleLR: base_momentum", optimizer);
    max_momenta_ = options_.max_momentum().expanded("OneCycleLR: max_momentum", optimizer);
  }
  for (std::size_t i = 0; i < max_lrs_.size(); ++i) {
    base_lrs()[i] = max_lrs_[i] / options_.div_factor();
    optimizer.param_groups()[i].initial_lr() = base_lrs()[i];
  }
  start();
}

double OneCycleLR::between(double from, double to, double share) const {
  if (options_.anneal_strategy() == "linear") return (to - from) * share + from;
  return to + (from - to) / 2 * (std::cos(std::numbers::pi * share) + 1);
}

std::vector<double> OneCycleLR::lrs_at(std::int64_t epoch) {
  GROOVE_CHECK(epoch <= total_steps_, "OneCycleLR: this is step {} of {}; total_steps is too small",
               epoch, total_steps_);
  const auto at = static_cast<double>(epoch);
  std::size_t k = 0;
  double begin = 0;
  for (; k + 1 < phases_.size() && at > phases_[k].end; ++k) begin = phases_[k].end;
  const Phase& phase = phases_[k];
  const double share = phase.end == begin ? 1 : (at - begin) / (phase.end - begin);

  std::vector<double> rates, momenta;
  for (std::size_t i = 0; i < max_lrs_.size(); ++i) {
    const double known[] = {base_lrs()[i], max_lrs_[i],
                            base_lrs()[i] / options_.final_div_factor()};
    rates.push_back(between(known[phase.from_rate], known[phase.to_rate], share));
  }
  for (std::size_t i = 0; i < max_momenta_.size(); ++i) {
    const double low = base_momenta_[i], high = max_momenta_[i];
    const double from = phase.falls || phase.stays ? high : low;
    momenta.push_back(between(from, phase.falls ? low : high, share));
  }
  set_momenta(optimizer(), momenta);
  return rates;
}

}  // namespace groove::optim
