// Learning rates as functions of the epoch, as Python's torch has them: the constructor sets those
// of epoch 0, and each step() those of the next one, whatever an epoch is to the program. Where the
// rates follow from those before, changes made by others in between are kept.
#pragma once

#include <functional>
#include <initializer_list>

#include "groove/optim/lr_scheduler.h"

namespace groove::optim {

/// The base of these schedulers; a class calls start() at the end of its constructor.
class EpochScheduler : public LRScheduler {
 public:
  using LRScheduler::LRScheduler;
  std::int64_t last_epoch() const { return step_count_; }

 protected:
  /// The rates of an epoch, from what the groups have in the one before it.
  virtual std::vector<double> lrs_at(std::int64_t epoch) = 0;
  /// Those of epoch 0: the groups' own unless a class says otherwise.
  virtual std::vector<double> first_lrs();
  /// Those of epoch 0, from the base rates.
  virtual std::vector<double> first_lrs_again();
  void start() override;
  void restart() override;

  template <typename Factor>
  static std::vector<double> scaled(std::vector<double> rates, Factor factor) {
    for (double& rate : rates) rate *= factor;
    return rates;
  }

 private:
  std::vector<double> get_lrs() final;
};

/// One number for all groups, or one for each.
class PerGroup {
 public:
  PerGroup(double all) : numbers_{all}, is_for_all_(true) {}
  PerGroup(std::vector<double> each) : numbers_(std::move(each)) {}
  PerGroup(std::initializer_list<double> each) : numbers_(each) {}
  /// One for each; throws groove::Error naming `what` where their number is another.
  std::vector<double> expanded(const char* what, const Optimizer& optimizer) const;

 private:
  std::vector<double> numbers_;
  bool is_for_all_ = false;
};

/// The factor of an epoch, for all groups; or one such function for each.
using LRLambda = std::function<double(std::int64_t epoch)>;

/// The base rates times lr_lambda(epoch).
class LambdaLR : public EpochScheduler {
 public:
  LambdaLR(Optimizer& optimizer, LRLambda lr_lambda);
  LambdaLR(Optimizer& optimizer, std::vector<LRLambda> lr_lambda);

 private:
  std::vector<double> lrs_at(std::int64_t epoch) override;
  std::vector<double> first_lrs() override { return lrs_at(0); }
  std::vector<LRLambda> lambdas_;
};

/// The rates are multiplied by lr_lambda(epoch) in every epoch but the first.
class MultiplicativeLR : public EpochScheduler {
 public:
  MultiplicativeLR(Optimizer& optimizer, LRLambda lr_lambda);
  MultiplicativeLR(Optimizer& optimizer, std::vector<LRLambda> lr_lambda);

 private:
  std::vector<double> lrs_at(std::int64_t epoch) override;
  std::vector<LRLambda> lambdas_;
};

/// The rates are multiplied by gamma at each milestone, as often as it is given.
class MultiStepLR : public EpochScheduler {
 public:
  MultiStepLR(Optimizer& optimizer, std::vector<std::int64_t> milestones, double gamma = 0.1);

 private:
  std::vector<double> lrs_at(std::int64_t epoch) override;
  std::vector<double> first_lrs() override { return lrs_at(0); }
  std::vector<double> first_lrs_again() override;
  std::vector<std::int64_t> milestones_;  // in order
  double gamma_;
};

/// The rates times factor until epoch total_iters.
class ConstantLR : public EpochScheduler {
 public:
  explicit ConstantLR(Optimizer& optimizer, double factor = 1.0 / 3, std::int64_t total_iters = 5);

 private:
  std::vector<double> lrs_at(std::int64_t epoch) override;
  std::vector<double> first_lrs() override;
  std::vector<double> first_lrs_again() override;
  double factor_;
  std::int64_t total_iters_;
};

/// The rates times a factor that goes from start_factor to end_factor in total_iters epochs.
class LinearLR : public EpochScheduler {
 public:
  explicit LinearLR(Optimizer& optimizer, double start_factor = 1.0 / 3, double end_factor = 1,
                    std::int64_t total_iters = 5);

 private:
  std::vector<double> lrs_at(std::int64_t epoch) override;
  std::vector<double> first_lrs() override;
  std::vector<double> first_lrs_again() override;
  double start_factor_, end_factor_;
  std::int64_t total_iters_;
};

/// The rates are multiplied by gamma in every epoch.
class ExponentialLR : public EpochScheduler {
 public:
  ExponentialLR(Optimizer& optimizer, double gamma);

 private:
  std::vector<double> lrs_at(std::int64_t epoch) override;
  std::vector<double> first_lrs_again() override;
  double gamma_;
};

/// The rates times ((1 - epoch / total_iters) / (1 - (epoch - 1) / total_iters))^power.
class PolynomialLR : public EpochScheduler {
 public:
  explicit PolynomialLR(Optimizer& optimizer, std::int64_t total_iters = 5, double power = 1);

 private:
  std::vector<double> lrs_at(std::int64_t epoch) override;
  std::vector<double> first_lrs_again() override;
  std::int64_t total_iters_;
  double power_;
};

/// eta_min + (base - eta_min) (1 + cos(pi epoch / T_max)) / 2, from each epoch's to the next
/// (Loshchilov and Hutter, "SGDR: Stochastic Gradient Descent with Warm Restarts", 2017).
class CosineAnnealingLR : public EpochScheduler {
 public:
  CosineAnnealingLR(Optimizer& optimizer, std::int64_t T_max, double eta_min = 0);

 private:
  std::vector<double> lrs_at(std::int64_t epoch) override;
  std::vector<double> first_lrs_again() override;
  std::int64_t t_max_;
  double eta_min_;
};

/// The same over T_0 epochs, then again over T_mult times as many as before, and so on.
class CosineAnnealingWarmRestarts : public EpochScheduler {
 public:
  CosineAnnealingWarmRestarts(Optimizer& optimizer, std::int64_t T_0, std::int64_t T_mult = 1,
                              double eta_min = 0);

 private:
  std::vector<double> lrs_at(std::int64_t epoch) override;
  std::vector<double> first_lrs() override { return lrs_at(0); }
  std::int64_t t_0_, t_mult_;
  double eta_min_;
};

/// Goes from the groups' rates to swa_lr in anneal_epochs epochs, by "cos" or "linear"
/// (swa_utils.SWALR).
class SWALR : public EpochScheduler {
 public:
  SWALR(Optimizer& optimizer, PerGroup swa_lr, std::int64_t anneal_epochs = 10,
        const std::string& anneal_strategy = "cos");

 private:
  std::vector<double> lrs_at(std::int64_t epoch) override;
  std::vector<double> first_lrs() override { return lrs_at(0); }
  double share_at(std::int64_t epoch) const;
  std::vector<double> swa_lrs_;
  std::int64_t anneal_epochs_;
  bool is_linear_;
};

}  // namespace groove::optim
