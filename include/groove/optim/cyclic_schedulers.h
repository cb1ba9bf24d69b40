// Learning rates that rise and fall again, and momentum (or the first of betas) against them.
#pragma once

#include <optional>

#include "groove/optim/epoch_schedulers.h"

namespace groove::optim {

struct CyclicLROptions {
  CyclicLROptions(PerGroup base_lr, PerGroup max_lr);
  GROOVE_ARG(PerGroup, base_lr);
  GROOVE_ARG(PerGroup, max_lr);
  GROOVE_ARG(std::int64_t, step_size_up) = 2000;
  /// As many as up unless given.
  GROOVE_ARG(std::optional<std::int64_t>, step_size_down) = std::nullopt;
  /// The height of a cycle is scaled by 1 with "triangular", 1 / 2^(cycle - 1) with "triangular2",
  /// gamma^epoch with "exp_range".
  GROOVE_ARG(std::string, mode) = "triangular";
  GROOVE_ARG(double, gamma) = 1;
  /// In place of a mode: of the number of the cycle, from 1 on, or with scale_mode "iterations" of
  /// the epoch.
  GROOVE_ARG(std::function<double(double)>, scale_fn) = {};
  GROOVE_ARG(std::string, scale_mode) = "cycle";
  GROOVE_ARG(bool, cycle_momentum) = true;
  GROOVE_ARG(PerGroup, base_momentum) = 0.8;
  GROOVE_ARG(PerGroup, max_momentum) = 0.9;
};

/// Between base_lr and max_lr along straight lines (Smith, "Cyclical Learning Rates for Training
/// Neural Networks", 2017).
class CyclicLR : public EpochScheduler {
 public:
  CyclicLR(Optimizer& optimizer, CyclicLROptions options);

 private:
  std::vector<double> lrs_at(std::int64_t epoch) override;
  std::vector<double> first_lrs() override { return lrs_at(0); }
  CyclicLROptions options_;
  double total_size_, step_ratio_;
  std::vector<double> max_lrs_, base_momenta_, max_momenta_;
};

struct OneCycleLROptions {
  OneCycleLROptions(PerGroup max_lr);
  GROOVE_ARG(PerGroup, max_lr);
  /// Or else epochs and steps_per_epoch, whose product it is.
  GROOVE_ARG(std::optional<std::int64_t>, total_steps) = std::nullopt;
  GROOVE_ARG(std::optional<std::int64_t>, epochs) = std::nullopt;
  GROOVE_ARG(std::optional<std::int64_t>, steps_per_epoch) = std::nullopt;
  GROOVE_ARG(double, pct_start) = 0.3;
  /// "cos" or "linear".
  GROOVE_ARG(std::string, anneal_strategy) = "cos";
  GROOVE_ARG(bool, cycle_momentum) = true;
  GROOVE_ARG(PerGroup, base_momentum) = 0.85;
  GROOVE_ARG(PerGroup, max_momentum) = 0.95;
  GROOVE_ARG(double, div_factor) = 25;
  GROOVE_ARG(double, final_div_factor) = 1e4;
  GROOVE_ARG(bool, three_phase) = false;
};

/// From max_lr / div_factor to max_lr in the share pct_start of the steps, then down to the first
/// rate / final_div_factor; with three_phase down to the first rate as fast as up, then to the last
/// (Smith and Topin, "Super-Convergence", 2018). A step beyond the last throws groove::Error.
class OneCycleLR : public EpochScheduler {
 public:
  OneCycleLR(Optimizer& optimizer, OneCycleLROptions options);

 private:
  struct Phase {
    double end;
    int from_rate, to_rate;  // of its ends, kInitial, kMost or kLeast
    bool falls;              // the momentum
    bool stays = false;
  };
  std::vector<double> lrs_at(std::int64_t epoch) override;
  std::vector<double> first_lrs() override { return lrs_at(0); }
  double between(double from, double to, double share) const;
  OneCycleLROptions options_;
  std::int64_t total_steps_;
  std::vector<Phase> phases_;
  std::vector<double> max_lrs_, base_momenta_, max_momenta_;
};

}  // namespace groove::optim
