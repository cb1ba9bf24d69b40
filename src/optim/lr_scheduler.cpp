#include "groove/optim/lr_scheduler.h"

#include <algorithm>
#include <cstdio>
#include <limits>

#include "src/core/check.h"

namespace groove::optim {

LRScheduler::LRScheduler(Optimizer& optimizer) : optimizer_(optimizer) {}
LRScheduler::~LRScheduler() = default;

std::vector<double> LRScheduler::get_current_lrs() const {
  std::vector<double> rates;
  for (const OptimizerParamGroup& group : optimizer_.param_groups())
    rates.push_back(group.options().get_lr());
  return rates;
}

void LRScheduler::step() {
  const std::vector<double> rates = get_lrs();
  std::vector<OptimizerParamGroup>& groups = optimizer_.param_groups();
  GROOVE_CHECK(rates.size() == groups.size(),
               "LRScheduler: get_lrs() gives {} rates for {} parameter groups", rates.size(),
               groups.size());
  for (std::size_t i = 0; i < groups.size(); ++i) groups[i].options().set_lr(rates[i]);
  ++step_count_;
}

StepLR::StepLR(Optimizer& optimizer, unsigned step_size, double gamma)
    : LRScheduler(optimizer), step_size_(step_size), gamma_(gamma) {
  GROOVE_CHECK(step_size > 0, "StepLR: step_size is 0; it must be positive");
}

std::vector<double> StepLR::get_lrs() {
  std::vector<double> rates = get_current_lrs();
  // LibTorch counts from 0 and leaves the first call out.
  if (step_count_ != 0 && step_count_ % step_size_ == 0)
    for (double& rate : rates) rate *= gamma_;
  return rates;
}

ReduceLROnPlateauScheduler::ReduceLROnPlateauScheduler(Optimizer& optimizer, SchedulerMode mode,
                                                       float factor, int patience, double threshold,
                                                       ThresholdMode threshold_mode, int cooldown,
                                                       const std::vector<float>& min_lr, double eps,
                                                       bool verbose)
    : optimizer_(optimizer),
      mode_(mode),
      factor_(factor),
      patience_(patience),
      threshold_(threshold),
      threshold_mode_(threshold_mode),
      cooldown_(cooldown),
      min_lrs_(min_lr),
      eps_(eps),
      best_(mode == min ? std::numeric_limits<float>::max() : std::numeric_limits<float>::lowest()),
      verbose_(verbose) {
  const std::size_t groups = optimizer.param_groups().size();
  GROOVE_CHECK(factor < 1, "ReduceLROnPlateau: factor is {}; it must be below 1", factor);
  GROOVE_CHECK(min_lr.empty() || min_lr.size() == groups,
               "ReduceLROnPlateau: min_lr has {} numbers for {} parameter groups", min_lr.size(),
               groups);
  if (min_lr.empty()) min_lrs_.assign(groups, 0);
}
ReduceLROnPlateauScheduler::~ReduceLROnPlateauScheduler() = default;

bool ReduceLROnPlateauScheduler::is_better(float value) const {
  const double best = best_;
  if (threshold_mode_ == abs)
    return mode_ == min ? value < best - threshold_ : value > best + threshold_;
  return mode_ == min ? value < best * (1 - threshold_) : value > best * (1 + threshold_);
}

void ReduceLROnPlateauScheduler::step(float metric) {
  ++epoch_;
  if (is_better(metric)) {
    best_ = metric;
    bad_epochs_ = 0;
  } else {
    ++bad_epochs_;
  }
  if (cooldown_left_ > 0) {
    --cooldown_left_;
    bad_epochs_ = 0;
  }
  if (bad_epochs_ <= patience_) return;
  reduce();
  cooldown_left_ = cooldown_;
  bad_epochs_ = 0;
}

void ReduceLROnPlateauScheduler::reduce() {
  for (std::size_t i = 0; i < optimizer_.param_groups().size(); ++i) {
    OptimizerOptions& options = optimizer_.param_groups()[i].options();
    const double old_rate = options.get_lr();
    const double rate = std::max(old_rate * factor_, static_cast<double>(min_lrs_[i]));
    if (old_rate - rate <= eps_) continue;
    options.set_lr(rate);
    if (verbose_)
      std::printf("Epoch %d: reducing learning rate of group %zu to %.4e\n", epoch_, i, rate);
  }
}

}  // namespace groove::optim
