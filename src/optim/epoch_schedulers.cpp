#include "groove/optim/epoch_schedulers.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "src/core/check.h"

namespace groove::optim {
namespace {

using std::numbers::pi;

std::vector<LRLambda> for_each_group(const char* scheduler, const Optimizer& optimizer,
                                     std::vector<LRLambda> lambdas) {
  GROOVE_CHECK(lambdas.size() == optimizer.param_groups().size(),
               "{}: lr_lambda has {} functions for {} parameter groups", scheduler, lambdas.size(),
               optimizer.param_groups().size());
  for (const LRLambda& lambda : lambdas)
    GROOVE_CHECK(lambda, "{}: lr_lambda is an empty function", scheduler);
  return lambdas;
}
std::vector<LRLambda> repeated(const Optimizer& optimizer, const LRLambda& lambda) {
  return std::vector<LRLambda>(optimizer.param_groups().size(), lambda);
}

std::vector<double> scaled_by(const std::vector<LRLambda>& lambdas, std::int64_t epoch,
                              std::vector<double> rates) {
  GROOVE_CHECK(lambdas.size() == rates.size(), "lr_lambda has {} functions for {} parameter groups",
               lambdas.size(), rates.size());
  for (std::size_t i = 0; i < rates.size(); ++i) rates[i] *= lambdas[i](epoch);
  return rates;
}

void check_positive(const char* scheduler, const char* option, std::int64_t value) {
  GROOVE_CHECK(value > 0, "{}: {} is {}; it must be positive", scheduler, option, value);
}

}  // namespace

// ---- the base ----

void EpochScheduler::start() {
  step_count_ = 0;
  set_lrs(first_lrs());
}
void EpochScheduler::restart() {
  step_count_ = 0;
  set_lrs(first_lrs_again());
}
std::vector<double> EpochScheduler::first_lrs() { return get_current_lrs(); }
std::vector<double> EpochScheduler::first_lrs_again() { return lrs_at(0); }
std::vector<double> EpochScheduler::get_lrs() { return lrs_at(last_epoch() + 1); }

std::vector<double> PerGroup::expanded(const char* what, const Optimizer& optimizer) const {
  const std::size_t groups = optimizer.param_groups().size();
  if (is_for_all_) return std::vector<double>(groups, numbers_.front());
  GROOVE_CHECK(numbers_.size() == groups, "{} has {} numbers for {} parameter groups", what,
               numbers_.size(), groups);
  return numbers_;
}

// ---- factors that the program computes ----

LambdaLR::LambdaLR(Optimizer& optimizer, LRLambda lr_lambda)
    : LambdaLR(optimizer, repeated(optimizer, lr_lambda)) {}
LambdaLR::LambdaLR(Optimizer& optimizer, std::vector<LRLambda> lr_lambda)
    : EpochScheduler(optimizer),
      lambdas_(for_each_group("LambdaLR", optimizer, std::move(lr_lambda))) {
  start();
}
std::vector<double> LambdaLR::lrs_at(std::int64_t epoch) {
  return scaled_by(lambdas_, epoch, base_lrs());
}

MultiplicativeLR::MultiplicativeLR(Optimizer& optimizer, LRLambda lr_lambda)
    : MultiplicativeLR(optimizer, repeated(optimizer, lr_lambda)) {}
MultiplicativeLR::MultiplicativeLR(Optimizer& optimizer, std::vector<LRLambda> lr_lambda)
    : EpochScheduler(optimizer),
      lambdas_(for_each_group("MultiplicativeLR", optimizer, std::move(lr_lambda))) {
  start();
}
std::vector<double> MultiplicativeLR::lrs_at(std::int64_t epoch) {
  return scaled_by(lambdas_, epoch, get_current_lrs());
}

// ---- steps ----

MultiStepLR::MultiStepLR(Optimizer& optimizer, std::vector<std::int64_t> milestones, double gamma)
    : EpochScheduler(optimizer), milestones_(std::move(milestones)), gamma_(gamma) {
  std::sort(milestones_.begin(), milestones_.end());
  start();
}
std::vector<double> MultiStepLR::lrs_at(std::int64_t epoch) {
  const auto times = std::count(milestones_.begin(), milestones_.end(), epoch);
  if (times == 0) return get_current_lrs();
  return scaled(get_current_lrs(), std::pow(gamma_, static_cast<double>(times)));
}
std::vector<double> MultiStepLR::first_lrs_again() {
  const auto passed =
      std::upper_bound(milestones_.begin(), milestones_.end(), 0) - milestones_.begin();
  return scaled(base_lrs(), std::pow(gamma_, static_cast<double>(passed)));
}

ConstantLR::ConstantLR(Optimizer& optimizer, double factor, std::int64_t total_iters)
    : EpochScheduler(optimizer), factor_(factor), total_iters_(total_iters) {
  GROOVE_CHECK(factor >= 0 && factor <= 1, "ConstantLR: factor is {}; it must lie in [0, 1]",
               factor);
  start();
}
std::vector<double> ConstantLR::first_lrs() { return scaled(get_current_lrs(), factor_); }
std::vector<double> ConstantLR::first_lrs_again() {
  return scaled(base_lrs(), factor_ + (total_iters_ <= 0 ? 1 - factor_ : 0));
}
std::vector<double> ConstantLR::lrs_at(std::int64_t epoch) {
  return epoch == total_iters_ ? scaled(get_current_lrs(), 1 / factor_) : get_current_lrs();
}

// ---- falling and rising ----

LinearLR::LinearLR(Optimizer& optimizer, double start_factor, double end_factor,
                   std::int64_t total_iters)
    : EpochScheduler(optimizer),
      start_factor_(start_factor),
      end_factor_(end_factor),
      total_iters_(total_iters) {
  GROOVE_CHECK(start_factor > 0 && start_factor <= 1,
               "LinearLR: start_factor is {}; it must lie in (0, 1]", start_factor);
  GROOVE_CHECK(end_factor >= 0 && end_factor <= 1,
               "LinearLR: end_factor is {}; it must lie in [0, 1]", end_factor);
  check_positive("LinearLR", "total_iters", total_iters);
  start();
}
std::vector<double> LinearLR::first_lrs() { return scaled(get_current_lrs(), start_factor_); }
std::vector<double> LinearLR::first_lrs_again() { return scaled(base_lrs(), start_factor_); }
std::vector<double> LinearLR::lrs_at(std::int64_t epoch) {
  if (epoch > total_iters_) return get_current_lrs();
  const double rise = end_factor_ - start_factor_, total = static_cast<double>(total_iters_);
  return scaled(get_current_lrs(),
                1 + rise / (total * start_factor_ + static_cast<double>(epoch - 1) * rise));
}

ExponentialLR::ExponentialLR(Optimizer& optimizer, double gamma)
    : EpochScheduler(optimizer), gamma_(gamma) {
  start();
}
std::vector<double> ExponentialLR::lrs_at(std::int64_t) {
  return scaled(get_current_lrs(), gamma_);
}
std::vector<double> ExponentialLR::first_lrs_again() { return base_lrs(); }

PolynomialLR::PolynomialLR(Optimizer& optimizer, std::int64_t total_iters, double power)
    : EpochScheduler(optimizer), total_iters_(total_iters), power_(power) {
  check_positive("PolynomialLR", "total_iters", total_iters);
  start();
}
std::vector<double> PolynomialLR::lrs_at(std::int64_t epoch) {
  if (epoch > total_iters_) return get_current_lrs();
  const double total = static_cast<double>(total_iters_), at = static_cast<double>(epoch);
  return scaled(get_current_lrs(), std::pow((1 - at / total) / (1 - (at - 1) / total), power_));
}
std::vector<double> PolynomialLR::first_lrs_again() { return base_lrs(); }

// ---- along a cosine ----

CosineAnnealingLR::CosineAnnealingLR(Optimizer& optimizer, std::int64_t T_max, double eta_min)
    : EpochScheduler(optimizer), t_max_(T_max), eta_min_(eta_min) {
  check_positive("CosineAnnealingLR", "T_max", T_max);
  start();
}
std::vector<double> CosineAnnealingLR::lrs_at(std::int64_t epoch) {
  std::vector<double> rates = get_current_lrs();
  const double total = static_cast<double>(t_max_), at = static_cast<double>(epoch);
  // One after the bottom there is nothing that could be scaled.
  if ((epoch - 1 - t_max_) % (2 * t_max_) == 0) {
    for (std::size_t i = 0; i < rates.size(); ++i)
      rates[i] += (base_lrs()[i] - eta_min_) * (1 - std::cos(pi / total)) / 2;
    return rates;
  }
  const double factor = (1 + std::cos(pi * at / total)) / (1 + std::cos(pi * (at - 1) / total));
  for (double& rate : rates) rate = factor * (rate - eta_min_) + eta_min_;
  return rates;
}
std::vector<double> CosineAnnealingLR::first_lrs_again() {
  std::vector<double> rates = base_lrs();
  for (double& rate : rates) rate = eta_min_ + (rate - eta_min_);
  return rates;
}

CosineAnnealingWarmRestarts::CosineAnnealingWarmRestarts(Optimizer& optimizer, std::int64_t T_0,
                                                         std::int64_t T_mult, double eta_min)
    : EpochScheduler(optimizer), t_0_(T_0), t_mult_(T_mult), eta_min_(eta_min) {
  check_positive("CosineAnnealingWarmRestarts", "T_0", T_0);
  check_positive("CosineAnnealingWarmRestarts", "T_mult", T_mult);
  start();
}
std::vector<double> CosineAnnealingWarmRestarts::lrs_at(std::int64_t epoch) {
  std::int64_t at = epoch, period = t_0_;
  if (t_mult_ == 1) at %= period;
  for (; at >= period; period *= t_mult_) at -= period;
  const double angle = pi * static_cast<double>(at) / static_cast<double>(period);
  std::vector<double> rates = base_lrs();
  for (double& rate : rates) rate = eta_min_ + (rate - eta_min_) * (1 + std::cos(angle)) / 2;
  return rates;
}

// ---- to the rate of an average of weights ----

SWALR::SWALR(Optimizer& optimizer, PerGroup swa_lr, std::int64_t anneal_epochs,
             const std::string& anneal_strategy)
    : EpochScheduler(optimizer),
      swa_lrs_(swa_lr.expanded("SWALR: swa_lr", optimizer)),
      anneal_epochs_(anneal_epochs),
      is_linear_(anneal_strategy == "linear") {
  GROOVE_CHECK(is_linear_ || anneal_strategy == "cos",
               "SWALR: anneal_strategy is '{}'; it must be 'cos' or 'linear'", anneal_strategy);
  GROOVE_CHECK(anneal_epochs >= 0, "SWALR: anneal_epochs is {}; it must not be negative",
               anneal_epochs);
  start();
}
double SWALR::share_at(std::int64_t epoch) const {
  const double at = std::clamp(
      static_cast<double>(epoch) / static_cast<double>(std::max<std::int64_t>(1, anneal_epochs_)),
      0.0, 1.0);
  return is_linear_ ? at : (1 - std::cos(pi * at)) / 2;
}
std::vector<double> SWALR::lrs_at(std::int64_t epoch) {
  if (anneal_epochs_ == 0) epoch = std::max<std::int64_t>(1, epoch);
  const double before = share_at(epoch - 1), now = share_at(epoch);
  std::vector<double> rates = get_current_lrs();
  for (std::size_t i = 0; i < rates.size(); ++i) {
    const double swa = swa_lrs_[i];
    const double first = before == 1 ? swa : (rates[i] - before * swa) / (1 - before);
    rates[i] = swa * now + first * (1 - now);
  }
  return rates;
}

}  // namespace groove::optim
