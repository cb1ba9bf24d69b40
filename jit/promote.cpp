// Which launches of a program get tier 2: kernels with a share of the time worth its compilation.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <unordered_map>

#include "jit/program.h"
#include "kernels/asmjit/isa.h"
#include "src/core/environment.h"

namespace groove::jit {

// Measured with build/tools/compile-time --kernels. Where masks are free (AVX-512) long bodies and
// those of reductions are emitted once, else twice; phases of rows have loops of their own, columns
// are walked in two widths.
double tier_2_milliseconds(const kernels::Kernel& kernel, kernels::Isa isa) {
  using kernels::Order;
  using kernels::Prim;
  struct Price {
    double kernel, instruction;
  };
  struct Prices {
    Price map, row, column;
    double mul_high;
  };
  constexpr Prices kWide = {{1.6, 0.0155}, {2.2, 0.09}, {2.1, 0.17}, 0.24};
  constexpr Prices kNarrow = {{1.8, 0.04}, {2.4, 0.12}, {2.3, 0.21}, 0.5};
  constexpr double kOfEightBytes = 5;  // in rows and columns: several registers each
  const Prices& prices = isa == kernels::Isa::kAvx512 ? kWide : kNarrow;
  const bool is_map = kernel.order == Order::kMap;
  const Price& price = is_map                           ? prices.map
                       : kernel.order == Order::kColumn ? prices.column
                                                        : prices.row;
  double time = price.kernel;
  for (const kernels::Instr& instr : kernel.code) {
    if (instr.prim == Prim::kConstant || instr.prim == Prim::kParam) continue;
    const bool is_long = !is_map && element_size(instr.dtype) == 8;
    time += price.instruction * (is_long ? kOfEightBytes : 1);
    if (instr.prim == Prim::kStore || is_reduction(instr.prim)) time += 0.1;
    if (instr.prim == Prim::kMulHigh) time += prices.mul_high;
  }
  return time;
}

// At construction, so that the pointers a run reads never change; a kernel below the threshold
// keeps its plain code. One that runs many times (for each layer or time step) counts as a whole.
void Program::find_hot_kernels() {
  struct Shared {
    double nanoseconds = 0;
    std::shared_ptr<TieredKernel> tiered;
  };
  std::unordered_map<const kernels::Callable*, Shared> kernels;
  double total = 0;
  for (const Step& step : steps_) {
    total += step.nanoseconds;
    if (step.callable) kernels[step.callable].nanoseconds += step.nanoseconds;
  }
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    Step& step = steps_[i];
    if (!step.callable) continue;
    if (ready_[i].first != ready_[i].last && ready_[i].code == nullptr) continue;
    Shared& shared = kernels[step.callable];
    if (shared.nanoseconds <= tier_policy().least_share * total) continue;
    const LaunchPlan& plan = plans_[static_cast<std::size_t>(step.plan)];
    if (tier_2_milliseconds(*plan.kernel, options_.machine.isa) > tier_policy().most_milliseconds)
      continue;
    if (!shared.tiered) shared.tiered = std::make_shared<TieredKernel>(plan.callable);
    step.tiered = shared.tiered;
    step.callable = step.tiered.get();
    ready_[i].tiered = step.tiered.get();
  }
}

double Program::promotion_milliseconds() const {
  constexpr double kOfAnOperator = 0.08;
  if (is_quick()) return kOfAnOperator * static_cast<double>(operators_to_unroll_);
  double time = 0;
  std::unordered_map<const TieredKernel*, bool> seen;
  for (const Step& step : steps_)
    if (step.tiered && !step.tiered->has_tier_2() && seen.emplace(step.tiered.get(), true).second)
      time += tier_2_milliseconds(*plans_[static_cast<std::size_t>(step.plan)].kernel,
                                  options_.machine.isa);
  return time;
}

double Program::expected_milliseconds() const {
  double nanoseconds = 0;
  for (const Step& step : steps_) nanoseconds += step.nanoseconds;
  return nanoseconds / 1e6;
}

void Program::promote() noexcept {
  using Clock = std::chrono::steady_clock;
  kernels::Backend* const tier_2 = kernels::find_backend("llvm");
  kernels::Backend* const tier_1 = kernels::find_backend("asmjit");
  if (environment().tier != "llvm" || tier_2 == nullptr) return;
  if (&kernels::current_backend() != tier_1) return;
  const bool is_logged = environment().logs("kernels");
  try {
    if (const std::string problem = tier_2->unavailable(); !problem.empty()) {
      if (is_logged) std::fprintf(stderr, "groove: no tier 2: %s\n", problem.c_str());
      return;
    }
    for (Step& step : steps_) {
      if (!step.tiered || step.tiered->has_tier_2()) continue;
      const Clock::time_point start = Clock::now();
      step.tiered->promote(*tier_2, *plans_[static_cast<std::size_t>(step.plan)].kernel);
      const std::chrono::duration<double, std::milli> taken = Clock::now() - start;
      if (is_logged) {
        std::fprintf(stderr, "groove: tier 2 for %s in %.2f ms\n", launch_text(step).c_str(),
                     taken.count());
      }
    }
  } catch (const std::exception& error) {
    if (is_logged) std::fprintf(stderr, "groove: tier 1 stays: %s\n", error.what());
  }
}

}  // namespace groove::jit
