// The room that the code of products needs in each thread, and for how many there is some.
#include <algorithm>
#include <limits>

#include "jit/launch_plan.h"

namespace groove::jit {

int threads_with_scratch(const kernels::Machine& machine, std::int64_t bytes) {
  constexpr std::int64_t kLargeScratch = 128 << 10;
  return bytes <= kLargeScratch ? machine.threads : std::min(machine.cores, machine.threads);
}

// At other sizes it may be large where it is small or nothing now.
void reserve_scratch(Lowered& lowered, LaunchPlan& plan) {
  kernels::ContractionLaunch launch;
  launch.shape = plan.shape;
  int most = lowered.machine.threads;
  std::size_t bytes = 0;
  for (int parts = 1; parts <= most; ++parts) {
    bytes = std::max(bytes, plan.contraction->scratch_bytes(launch, parts));
  }
  constexpr std::int64_t kLine = 64;
  plan.scratch_bytes = (static_cast<std::int64_t>(bytes) + kLine - 1) / kLine * kLine;
  const int with_scratch = threads_with_scratch(
      lowered.machine,
      lowered.has_many_sizes ? std::numeric_limits<std::int64_t>::max() : plan.scratch_bytes);
  if (with_scratch < most) most = plan.most_parts = with_scratch;
  if (bytes == 0 && !lowered.has_many_sizes) return;
  Buffer buffer;
  buffer.bytes = plan.scratch_bytes * most;
  plan.scratch = static_cast<BufferId>(lowered.buffers.size());
  lowered.buffers.push_back(buffer);
}

}  // namespace groove::jit
