#include "groove/optim/lr_scheduler.h"

#include <algorithm>
#include <cstdio>
#include <limits>

#include "src/core/check.h"
#include "src/optim/fields.h"

namespace groove::optim {

LRScheduler::LRScheduler(Optimizer& optimizer)
    : optimizer_(optimizer), last_lrs_(get_current_lrs()) {
  for (OptimizerParamGroup& group : optimizer.param_groups())
    base_lrs_.push_back(group.initial_lr().value_or(group.options().get_lr()));
}
LRScheduler::~LRScheduler() = default;

std::vector<double> LRScheduler::get_current_lrs() const {
  std::vector<double> rates;
  for (const OptimizerParamGroup& group : optimizer_.param_groups())
    rates.push_back(group.options().get_lr());
  return rates;
}

void LRScheduler::set_lrs(const std::vector<double>& rates) {
  std::vector<OptimizerParamGroup>& groups = optimizer_.param_groups();
  GROOVE_CHECK(rates.size() == groups.size(),
               "LRScheduler: get_lrs() gives {} rates for {} parameter groups", rates.size(),
               groups.size());
  for (std::size_t i = 0; i < groups.size(); ++i) {
    OptimizerOptions& options = groups[i].options();
    if (!groups[i].initial_lr()) groups[i].initial_lr() = options.get_lr();
    options.set_lr(rates[i]);
  }
  note_lrs();
}

void LRScheduler::note_lrs() { last_lrs_ = get_current_lrs(); }

void LRScheduler::step() {
  set_lrs(get_lrs());
  ++step_count_;
}

// LibTorch's first step() is epoch 0.
void LRScheduler::start() {
  step_count_ = 0;
  step();
}
void LRScheduler::restart() {
  set_lrs(base_lrs_);
  start();
}

void LRScheduler::save(serialize::OutputArchive& archive) const {
  const detail::Writer write{archive};
  write("step_count", IValue(static_cast<std::int64_t>(step_count_)));
  write("base_lrs", base_lrs_);
  write("last_lr", last_lrs_);
}
void LRScheduler::load(serialize::InputArchive& archive) {
  read(archive, false);
  read(archive, true);
}
void LRScheduler::read(serialize::InputArchive& archive, bool keeps) {
  std::int64_t step_count = 0;
  std::vector<double> base_lrs, last_lrs;
  const detail::Reader read{archive};
  read("step_count", step_count);
  read("base_lrs", base_lrs);
  read("last_lr", last_lrs);
  const std::size_t groups = optimizer_.param_groups().size();
  GROOVE_CHECK(step_count >= 0 && step_count <= std::numeric_limits<int>::max(),
               "load: the step_count of a scheduler is {}", step_count);
  GROOVE_CHECK(base_lrs.size() == groups && last_lrs.size() == groups,
               "load: the scheduler's archive has {} base rates and {} last ones for {} groups",
               base_lrs.size(), last_lrs.size(), groups);
  if (!keeps) return;
  step_count_ = static_cast<unsigned>(step_count);
  base_lrs_ = std::move(base_lrs);
  last_lrs_ = std::move(last_lrs);
}

serialize::OutputArchive& operator<<(serialize::OutputArchive& archive,
                                     const LRScheduler& scheduler) {
  scheduler.save(archive);
  return archive;
}
serialize::InputArchive& operator>>(serialize::InputArchive& archive, LRScheduler& scheduler) {
  scheduler.load(archive);
  return archive;
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
