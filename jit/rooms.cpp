#include "jit/rooms.h"

#include <algorithm>

namespace groove::jit {
namespace {

constexpr std::int64_t kLine = 64;

}  // namespace

Rooms::Rooms(const std::vector<Buffer>& buffers, const MemoryPlan& plan,
             const std::vector<std::int32_t>& stage_begin) {
  // The stage in which it is first used, of what lives from this level on.
  const auto stage_of = [&](std::int32_t level) {
    return std::upper_bound(stage_begin.begin(), stage_begin.end(), level) - stage_begin.begin();
  };
  room_of_.assign(buffers.size(), -1);
  std::vector<BufferId> order;
  for (std::size_t i = 0; i < buffers.size(); ++i)
    if (plan.homes[i].slot == static_cast<BufferId>(i)) order.push_back(plan.homes[i].slot);
  const auto home = [&](BufferId id) -> const MemoryPlan::Home& {
    return plan.homes[static_cast<std::size_t>(id)];
  };
  std::stable_sort(order.begin(), order.end(), [&](BufferId a, BufferId b) {
    const auto first = stage_of(home(a).first), second = stage_of(home(b).first);
    return first != second ? first < second
                           : buffers[static_cast<std::size_t>(a)].bytes >
                                 buffers[static_cast<std::size_t>(b)].bytes;
  });
  std::vector<std::vector<MemoryPlan::Home>> rooms;
  for (const BufferId id : order) {
    const MemoryPlan::Home& own = home(id);
    const auto is_free = [&](const std::vector<MemoryPlan::Home>& room) {
      return stage_of(room[0].first) == stage_of(own.first) &&
             std::none_of(room.begin(), room.end(), [&](const MemoryPlan::Home& other) {
               return own.first <= other.last && other.first <= own.last;
             });
    };
    auto room = std::find_if(rooms.begin(), rooms.end(), is_free);
    if (room == rooms.end()) room = rooms.emplace(rooms.end());
    room->push_back(own);
    room_of_[static_cast<std::size_t>(id)] = static_cast<std::int32_t>(room - rooms.begin());
  }
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const BufferId slot = plan.homes[i].slot;
    if (slot >= 0) room_of_[i] = room_of_[static_cast<std::size_t>(slot)];
  }
  at_.resize(rooms.size());
  bytes_.assign(rooms.size(), kLine);
}

std::int64_t Rooms::place_rooms(const std::vector<Buffer>& buffers, std::int64_t begin) {
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (room_of_[i] < 0) continue;
    std::int64_t& bytes = bytes_[static_cast<std::size_t>(room_of_[i])];
    bytes = std::max(bytes, buffers[i].bytes);
  }
  for (std::size_t room = 0; room < at_.size(); ++room) {
    at_[room] = begin;
    begin += (bytes_[room] + kLine - 1) / kLine * kLine;
  }
  return begin;
}

}  // namespace groove::jit
