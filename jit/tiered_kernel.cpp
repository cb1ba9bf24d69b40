#include "jit/tiered_kernel.h"

#include <fmt/format.h>

#include <array>
#include <chrono>

namespace groove::jit {
namespace {

// Runs of a trial, half of them each. They alternate in blocks, because a table of several launches
// or several threads would otherwise give each code the same ones every time.
constexpr int kTurns = 48, kBlock = 3;

const kernels::NestCode* nest_of(const kernels::Callable& callable) {
  const auto* const kernel = dynamic_cast<const kernels::BindableKernel*>(&callable);
  return kernel ? &kernel->code() : nullptr;
}

}  // namespace

TierPolicy& tier_policy() {
  static TierPolicy policy;
  return policy;
}

// Stands in as the kernel's code until both codes have been measured.
class TieredKernel::Trial final : public kernels::Callable {
 public:
  Trial(std::atomic<const kernels::Callable*>& code, std::atomic<const kernels::NestCode*>& nest,
        std::shared_ptr<const kernels::Callable> tier_1,
        std::shared_ptr<const kernels::Callable> tier_2)
      : code_(code), nest_(nest), codes_{std::move(tier_1), std::move(tier_2)} {
    for (auto& best : best_) best.store(kNone);
  }

  void run(const kernels::Launch& launch) const noexcept override {
    using Clock = std::chrono::steady_clock;
    const int turn = turns_.fetch_add(1, std::memory_order_relaxed);
    const auto which = static_cast<std::size_t>(turn / kBlock % 2);
    const Clock::time_point start = Clock::now();
    codes_[which]->run(launch);
    const std::chrono::duration<double, std::nano> taken = Clock::now() - start;
    std::int64_t points = 1;
    for (int axis = 0; axis < launch.rank; ++axis) points *= launch.count[axis];
    if (points > 0) lower(best_[which], taken.count() / static_cast<double>(points));
    if (turn == kTurns - 1) {
      code_.store(&winner(), std::memory_order_release);
      nest_.store(nest_of(winner()), std::memory_order_release);
    }
  }

  const kernels::Callable& winner() const { return *codes_[gain() > 1 ? 1 : 0]; }
  const kernels::Callable& tier_2() const { return *codes_[1]; }
  /// Time of tier 1 over that of tier 2.
  double gain() const { return best_[0].load() / best_[1].load(); }

 private:
  static constexpr double kNone = 1e300;

  static void lower(std::atomic<double>& best, double value) noexcept {
    double known = best.load(std::memory_order_relaxed);
    while (value < known && !best.compare_exchange_weak(known, value)) {
    }
  }

  std::atomic<const kernels::Callable*>& code_;
  std::atomic<const kernels::NestCode*>& nest_;
  const std::array<std::shared_ptr<const kernels::Callable>, 2> codes_;
  mutable std::atomic<int> turns_{0};
  mutable std::array<std::atomic<double>, 2> best_;  // nanoseconds a point
};

TieredKernel::TieredKernel(std::shared_ptr<const kernels::Callable> tier_1)
    : tier_1_(std::move(tier_1)), code_(tier_1_.get()), nest_(nest_of(*tier_1_)) {}
TieredKernel::~TieredKernel() = default;

void TieredKernel::promote(kernels::Backend& backend, const kernels::Kernel& kernel) {
  if (has_trial_.load()) return;
  trial_ = std::make_unique<Trial>(code_, nest_, tier_1_, compile_cached(backend, kernel));
  const kernels::Callable* next = trial_.get();
  if (tier_policy().always_takes_it) next = &trial_->tier_2();
  has_trial_.store(true, std::memory_order_release);
  nest_.store(nest_of(*next), std::memory_order_release);  // first: a trial may end at once
  code_.store(next, std::memory_order_release);
}

std::string TieredKernel::tier() const {
  if (!has_trial_.load(std::memory_order_acquire)) return "tier 1";
  const kernels::Callable* const code = code_.load();
  if (code == trial_.get()) return "trying tier 2";
  if (tier_policy().always_takes_it) return "tier 2";
  return fmt::format("{} ({:.2f}x)", code == tier_1_.get() ? "tier 1" : "tier 2", trial_->gain());
}

std::string TieredKernel::listing() const {
  const kernels::Callable* const code = code_.load();
  if (has_trial_.load(std::memory_order_acquire) && code == trial_.get()) return tier_1_->listing();
  return code->listing();
}

}  // namespace groove::jit
