// ReduceLROnPlateau, as Python's torch has it. LibTorch's is ReduceLROnPlateauScheduler, in floats.
#pragma once

#include <limits>
#include <string>

#include "groove/optim/epoch_schedulers.h"

namespace groove::optim {

/// When the metric has not become better for more than `patience` steps, the rates are multiplied
/// by `factor`, but not below min_lr; changes of at most eps are left out. Better is below, with
/// mode "max" above, the best so far by more than threshold: times the best with "rel", or "abs".
/// For `cooldown` steps after a change, bad ones do not count. Refers to the optimizer.
class ReduceLROnPlateau {
 public:
  explicit ReduceLROnPlateau(Optimizer& optimizer, const std::string& mode = "min",
                             double factor = 0.1, std::int64_t patience = 10,
                             double threshold = 1e-4, const std::string& threshold_mode = "rel",
                             std::int64_t cooldown = 0, PerGroup min_lr = 0, double eps = 1e-8);
  void step(double metrics);
  std::vector<double> get_last_lr() const { return last_lrs_; }
  /// The best metric and the counters.
  void save(serialize::OutputArchive& archive) const;
  void load(serialize::InputArchive& archive);

 private:
  bool is_better(double metric) const;
  void reduce();
  void note_lrs();
  Optimizer& optimizer_;
  bool is_max_, is_absolute_;
  double factor_, threshold_, eps_;
  std::int64_t patience_, cooldown_;
  PerGroup min_lr_;
  double best_;
  std::int64_t last_epoch_ = 0, cooldown_counter_ = 0, num_bad_epochs_ = 0;
  std::vector<double> last_lrs_;
};

serialize::OutputArchive& operator<<(serialize::OutputArchive& archive,
                                     const ReduceLROnPlateau& scheduler);
serialize::InputArchive& operator>>(serialize::InputArchive& archive, ReduceLROnPlateau& scheduler);

}  // namespace groove::optim
