#include "jit/launch_plan.h"

#include "src/core/faults.h"

namespace groove::jit {

std::int64_t LaunchPlan::points() const {
  switch (part) {
    case Part::kFours:
      return box.count[0] / 4;
    case Part::kRest:
      return box.count[0] % 4;
    default:
      return box.points();
  }
}

kernels::Launch LaunchPlan::launch() const {
  kernels::Launch launch;
  kernels::describe(launch, box);
  if (part == Part::kWhole) return launch;
  launch.count[0] = points();
  if (part == Part::kRest && !has_fault(Fault::kRestOfFoursShifted))
    launch.begin[0] = box.count[0] - launch.count[0];
  return launch;
}

}  // namespace groove::jit
