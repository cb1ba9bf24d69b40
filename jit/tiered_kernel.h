// A kernel of a program whose code may be replaced by tier 2's while the program runs. Both give
// the same bits, so the moment of the change is free; the faster of the two stays.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "kernels/backend.h"
#include "kernels/nest_driver.h"

namespace groove::jit {

struct TierPolicy {
  double least_share = 0.02;  // of the program's estimated time, below which tier 1 is enough
  // Of LLVM for one kernel, by the estimate below. What would hold the compile thread for longer
  // (rows of many phases, expansions of sin or randn) gains nothing that is worth it and stays on
  // tier 1.
  double most_milliseconds = 4;
  bool always_takes_it = false;  // tests: tier 2 without a trial
};
TierPolicy& tier_policy();
/// About how long LLVM takes for a kernel, fitted on build/tools/compile-time's list.
double tier_2_milliseconds(const kernels::Kernel& kernel, kernels::Isa isa);

class TieredKernel final : public kernels::Callable {
 public:
  explicit TieredKernel(std::shared_ptr<const kernels::Callable> tier_1);
  ~TieredKernel() override;
  void run(const kernels::Launch& launch) const noexcept override {
    code_.load(std::memory_order_acquire)->run(launch);
  }
  std::string listing() const override;
  /// The code that runs, for those that call it themselves; null during a trial.
  const kernels::NestCode* nest() const noexcept { return nest_.load(std::memory_order_acquire); }

  /// Compiles the kernel with `backend` and lets the next runs try both codes, turn by turn. Once;
  /// any thread, also while others run it. Throws groove::Error.
  void promote(kernels::Backend& backend, const kernels::Kernel& kernel);
  bool has_tier_2() const { return has_trial_.load(std::memory_order_acquire); }
  /// For listings: the tier that runs and, after the trial, how the other one compares.
  std::string tier() const;

 private:
  class Trial;
  const std::shared_ptr<const kernels::Callable> tier_1_;
  std::unique_ptr<Trial> trial_;
  std::atomic<bool> has_trial_{false};
  mutable std::atomic<const kernels::Callable*> code_;
  std::atomic<const kernels::NestCode*> nest_;  // of code_
};

}  // namespace groove::jit
