// Learning rates that change with the steps, as LibTorch's schedulers.
#pragma once

#include <string>
#include <vector>

#include "groove/optim/optimizer.h"

namespace groove::optim {

/// Refers to the optimizer, which must outlive it.
class LRScheduler {
 public:
  explicit LRScheduler(Optimizer& optimizer);
  virtual ~LRScheduler();
  /// Sets the rates of the next step of the optimizer.
  virtual void step();
  /// The rates that it has set last, one a group.
  const std::vector<double>& get_last_lr() const { return last_lrs_; }

  /// How far it has come, with the rates it began with; what its constructor was given, functions
  /// among it, is to be given again. The optimizer's present rates are the optimizer's.
  virtual void save(serialize::OutputArchive& archive) const;
  /// Throws groove::Error, and changes nothing, when the archive does not hold all of it.
  void load(serialize::InputArchive& archive);

 protected:
  friend class SchedulerList;
  /// One rate a group.
  virtual std::vector<double> get_lrs() = 0;
  std::vector<double> get_current_lrs() const;
  Optimizer& optimizer() const { return optimizer_; }
  /// Those that the first scheduler of the optimizer found, one a group.
  const std::vector<double>& base_lrs() const { return base_lrs_; }
  std::vector<double>& base_lrs() { return base_lrs_; }
  void set_lrs(const std::vector<double>& rates);
  /// The groups' rates are now the last ones.
  void note_lrs();
  /// As if it were new.
  virtual void start();
  /// As start(), but with the rates that it would have come to from its base rates.
  virtual void restart();
  /// Of an archive that load() was given; called without `keeps` first, to see that all is there.
  virtual void read(serialize::InputArchive& archive, bool keeps);
  unsigned step_count_ = 0;

 private:
  Optimizer& optimizer_;
  std::vector<double> base_lrs_, last_lrs_;
};

serialize::OutputArchive& operator<<(serialize::OutputArchive& archive,
                                     const LRScheduler& scheduler);
serialize::InputArchive& operator>>(serialize::InputArchive& archive, LRScheduler& scheduler);

/// Every step_size steps the rates are multiplied by gamma.
class StepLR : public LRScheduler {
 public:
  StepLR(Optimizer& optimizer, unsigned step_size, double gamma = 0.1);

 private:
  std::vector<double> get_lrs() override;
  unsigned step_size_;
  double gamma_;
};

/// When the metric has not become better for more than `patience` steps, the rates are multiplied
/// by `factor`, but not below min_lr (one number a group, or none).
class ReduceLROnPlateauScheduler {
 public:
  enum SchedulerMode { min, max };
  enum ThresholdMode { rel, abs };
  ReduceLROnPlateauScheduler(Optimizer& optimizer, SchedulerMode mode = min, float factor = 0.1f,
                             int patience = 10, double threshold = 1e-4,
                             ThresholdMode threshold_mode = rel, int cooldown = 0,
                             const std::vector<float>& min_lr = {}, double eps = 1e-8,
                             bool verbose = false);
  virtual ~ReduceLROnPlateauScheduler();
  void step(float metric);

 private:
  bool is_better(float value) const;
  void reduce();
  Optimizer& optimizer_;
  SchedulerMode mode_;
  float factor_;
  int patience_;
  double threshold_;
  ThresholdMode threshold_mode_;
  int cooldown_, cooldown_left_ = 0;
  std::vector<float> min_lrs_;
  double eps_;
  float best_;
  bool verbose_;
  int epoch_ = 0, bad_epochs_ = 0;
};

}  // namespace groove::optim
