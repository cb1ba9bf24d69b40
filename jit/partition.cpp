#include "jit/partition.h"

#include <algorithm>

namespace groove::jit {
namespace {

bool is_computed(const LaunchPlan& plan, std::size_t access) {
  return std::any_of(plan.kernel->code.begin(), plan.kernel->code.end(),
                     [&](const kernels::Instr& instr) {
                       return instr.prim == kernels::Prim::kLoadAt && instr.imm == access;
                     });
}

// Where element i lies is known from the loop alone.
bool is_plain(const LaunchPlan& plan, std::size_t access) {
  return plan.operands[access].starts.empty() && !is_computed(plan, access);
}

bool is_same_loop(const LaunchPlan& a, const LaunchPlan& b) {
  return a.part == b.part && a.order == b.order && a.most_parts == b.most_parts &&
         a.box.rank == b.box.rank && std::equal(a.box.count, a.box.count + a.box.rank, b.box.count);
}

bool overlap(const Buffer& a, const Buffer& b) {
  if (a.place != b.place) return false;
  if (a.place != Buffer::Place::kArena) return a.index == b.index;
  return a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

}  // namespace

bool keeps_partition(const std::vector<Buffer>& buffers, const LaunchPlan& earlier,
                     const LaunchPlan& later) {
  const auto is_kernel = [](const LaunchPlan& plan) {
    return plan.kind == LaunchPlan::Kind::kKernel && plan.kernel && plan.scratch < 0 &&
           (plan.order == kernels::Order::kMap || plan.order == kernels::Order::kRow);
  };
  if (!is_kernel(earlier) || !is_kernel(later)) return false;
  const bool is_same = is_same_loop(earlier, later);
  for (std::size_t i = 0; i < earlier.operands.size(); ++i) {
    for (std::size_t j = 0; j < later.operands.size(); ++j) {
      const Operand &before = earlier.operands[i], &after = later.operands[j];
      if (before.buffer < 0 || after.buffer < 0) return false;
      if (!before.is_store && !after.is_store) continue;
      const Buffer& first = buffers[static_cast<std::size_t>(before.buffer)];
      const Buffer& second = buffers[static_cast<std::size_t>(after.buffer)];
      if (!overlap(first, second)) continue;
      const auto& walk = earlier.box.strides[i];
      const auto& other = later.box.strides[j];
      const bool is_alike =
          is_same && first.offset == second.offset && before.dtype == after.dtype &&
          before.offset == after.offset && is_plain(earlier, i) && is_plain(later, j) &&
          std::equal(walk.begin(), walk.begin() + earlier.box.rank, other.begin());
      if (!is_alike) return false;
    }
  }
  return true;
}

}  // namespace groove::jit
