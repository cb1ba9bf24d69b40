// The launches keep an order that respects dependencies.
#include "jit/gather_launches.h"

#include <algorithm>

namespace groove::jit {
namespace {

bool has(const std::vector<std::int32_t>& members, std::int32_t index) {
  return std::find(members.begin(), members.end(), index) != members.end();
}

}  // namespace

std::vector<std::int32_t> launch_levels(const Lowered& lowered) {
  std::vector<std::int32_t> levels(lowered.launches.size(), 0);
  std::vector<std::int32_t> made_at(lowered.buffers.size(), -1);
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const LaunchPlan& launch = lowered.launches[i];
    for (const Operand& operand : launch.operands) {
      // Writers of one value write their regions of it side by side.
      if (operand.buffer < 0 || (operand.is_store && !launch.overwrites)) continue;
      levels[i] = std::max(levels[i], made_at[static_cast<std::size_t>(operand.buffer)] + 1);
    }
    for (const Operand& operand : launch.operands) {
      if (operand.buffer < 0 || !operand.is_store) continue;
      std::int32_t& made = made_at[static_cast<std::size_t>(operand.buffer)];
      made = std::max(made, levels[i]);
    }
  }
  return levels;
}

bool runs_again(const LaunchPlan& plan, const std::vector<char>* is_again) {
  return is_again && !plan.nodes.empty() && (*is_again)[static_cast<std::size_t>(plan.nodes[0])];
}

bool may_gather(const Lowered& lowered, const std::vector<std::int32_t>& members,
                std::vector<std::int32_t>& later) {
  const auto launch = [&](std::int32_t index) -> const LaunchPlan& {
    return lowered.launches[static_cast<std::size_t>(index)];
  };
  const auto [low, high] = std::minmax_element(members.begin(), members.end());
  std::vector<char> is_made(lowered.buffers.size(), 0);  // by a member, or after one
  constexpr char kByMember = 1, kAfterMember = 2;
  for (std::int32_t index = *low; index <= *high; ++index) {
    const bool is_member = has(members, index);
    bool is_later = false;
    for (const Operand& operand : launch(index).operands) {
      if (operand.buffer < 0) continue;
      const char made = is_made[static_cast<std::size_t>(operand.buffer)];
      if (is_member && made == kAfterMember) return false;
      is_later |= !is_member && made != 0;
    }
    if (is_member && (launch(index).overwrites || launch(index).copies_base)) return false;
    if (!is_member && !is_later) continue;
    if (is_later) {
      // A copy stays right before the launch that overwrites part of it.
      const bool has_copy = index > *low && launch(index - 1).copies_base;
      if (has_copy && (later.empty() || later.back() != index - 1)) later.push_back(index - 1);
      later.push_back(index);
    }
    for (const Operand& operand : launch(index).operands) {
      if (operand.buffer < 0 || !operand.is_store) continue;
      is_made[static_cast<std::size_t>(operand.buffer)] = is_member ? kByMember : kAfterMember;
    }
  }
  return true;
}

std::int32_t gather(Lowered& lowered, const std::vector<std::int32_t>& members,
                    const std::vector<std::int32_t>& later, LaunchPlan plan) {
  const auto [low, high] = std::minmax_element(members.begin(), members.end());
  const std::int32_t first = *low, last = *high;
  std::vector<LaunchPlan> order, behind;
  for (std::int32_t index = first; index <= last; ++index) {
    if (has(members, index)) continue;
    LaunchPlan& moved = lowered.launches[static_cast<std::size_t>(index)];
    (has(later, index) ? behind : order).push_back(std::move(moved));
  }
  order.push_back(std::move(plan));
  std::move(behind.begin(), behind.end(), std::back_inserter(order));
  const auto begin = lowered.launches.begin() + first;
  const auto end = std::move(order.begin(), order.end(), begin);
  lowered.launches.erase(end, lowered.launches.begin() + last + 1);
  return first;
}

}  // namespace groove::jit
