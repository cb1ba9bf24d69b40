// Anomaly mode: a backward that makes NaN stops at the node that made it.
#pragma once

#include "groove/autograd.h"

namespace groove::autograd {

/// While it is on, every node of a backward is looked at as it runs, and one whose gradients hold
/// NaN throws groove::Error with its name. Loops of the thread that turned it on are not compiled
/// meanwhile.
struct AnomalyMode {
  static bool is_enabled();
  /// May the gradients be looked at? Without, the mode changes nothing.
  static bool should_check_nan();
  static void set_enabled(bool enabled, bool check_nan = true);
};

/// Turns anomaly mode on until the end of the scope.
class DetectAnomalyGuard {
 public:
  explicit DetectAnomalyGuard(bool check_nan = true);
  ~DetectAnomalyGuard();
  DetectAnomalyGuard(const DetectAnomalyGuard&) = delete;
  DetectAnomalyGuard& operator=(const DetectAnomalyGuard&) = delete;

 private:
  bool was_enabled_, did_check_nan_;
};

}  // namespace groove::autograd
