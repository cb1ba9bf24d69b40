// Anomaly mode: whether it is on, and the look at the gradients of one node.
#include "autodiff/anomaly.h"

#include <atomic>

#include "groove/anomaly.h"
#include "groove/detail/untraced.h"
#include "src/core/check.h"
#include "src/core/untraced.h"

namespace groove {
namespace {

std::atomic<bool> is_on{false}, checks_nan{true};
// This thread turned it on: its loops stay out of traces.
constinit thread_local bool is_untraced_here = false;

}  // namespace

namespace autograd {

bool AnomalyMode::is_enabled() { return is_on.load(std::memory_order_relaxed); }
bool AnomalyMode::should_check_nan() { return checks_nan.load(std::memory_order_relaxed); }
void AnomalyMode::set_enabled(bool enabled, bool check_nan) {
  is_on.store(enabled, std::memory_order_relaxed);
  checks_nan.store(check_nan, std::memory_order_relaxed);
  if (enabled == is_untraced_here) return;
  groove::detail::untraced_depth += enabled ? 1 : -1;
  is_untraced_here = enabled;
}

DetectAnomalyGuard::DetectAnomalyGuard(bool check_nan)
    : was_enabled_(AnomalyMode::is_enabled()), did_check_nan_(AnomalyMode::should_check_nan()) {
  AnomalyMode::set_enabled(true, check_nan);
}
DetectAnomalyGuard::~DetectAnomalyGuard() {
  AnomalyMode::set_enabled(was_enabled_, did_check_nan_);
}

}  // namespace autograd

bool autodiff::looks_for_nan() {
  return is_on.load(std::memory_order_relaxed) && autograd::AnomalyMode::should_check_nan();
}

void autodiff::check_for_nan(const Node& node, ArrayRef<Tensor> gradients) {
  const NoGradGuard no_grad;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    const Tensor& gradient = gradients[i];
    if (!gradient.defined() || !is_floating(gradient.scalar_type())) continue;
    GROOVE_CHECK(!gradient.isnan().any().item<bool>(),
                 "backward: Function '{}' returned nan values in its {}th output (anomaly mode)",
                 shown(TapeNodePtr(const_cast<Node*>(&node)))->name(), i);
  }
}

}  // namespace groove
