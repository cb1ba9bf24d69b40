// For how many threads a program has room, and the room that a product's code needs in each.
#include <algorithm>
#include <thread>

#include "jit/launch_plan.h"
#include "kernels/pool.h"

namespace groove::jit {

int most_threads() {
  static const int count =
      std::max({4, kernels::num_threads(), static_cast<int>(std::thread::hardware_concurrency())});
  return count;
}

int threads_with_scratch(std::int64_t bytes) {
  constexpr std::int64_t kLargeScratch = 128 << 10;
  if (bytes <= kLargeScratch) return most_threads();
  return std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, most_threads());
}

void reserve_scratch(Lowered& lowered, LaunchPlan& plan) {
  kernels::ContractionLaunch launch;
  launch.shape = plan.shape;
  int most = most_threads();
  std::size_t bytes = 0;
  for (int parts = 1; parts <= most; ++parts) {
    bytes = std::max(bytes, plan.contraction->scratch_bytes(launch, parts));
  }
  constexpr std::int64_t kLine = 64;
  plan.scratch_bytes = (static_cast<std::int64_t>(bytes) + kLine - 1) / kLine * kLine;
  const int with_scratch = threads_with_scratch(plan.scratch_bytes);
  if (with_scratch < most) most = plan.most_parts = with_scratch;
  if (bytes == 0) return;
  Buffer buffer;
  buffer.bytes = plan.scratch_bytes * most;
  plan.scratch = static_cast<BufferId>(lowered.buffers.size());
  lowered.buffers.push_back(buffer);
}

}  // namespace groove::jit
