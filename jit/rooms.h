// Where arena buffers lie in a program that takes on other sizes: buffers whose lives do not
// overlap share a room, which is as large as the largest of them at any sizes. Those of a stage
// have rooms of their own behind those of the stages before it, which so stay where they are when
// only what later stages make is of other sizes.
#pragma once

#include <vector>

#include "jit/plan_memory.h"

namespace groove::jit {

class Rooms {
 public:
  Rooms() = default;
  /// `plan` tells who lives when, and who takes whose place over.
  Rooms(const std::vector<Buffer>& buffers, const MemoryPlan& plan,
        const std::vector<std::int32_t>& stage_begin);
  /// Sets the offset of every arena buffer by their bytes now, from `begin` on; returns the end.
  /// moved(buffer) is called for those that lay elsewhere. No room gets smaller, so that after a
  /// few sizes nothing moves any more.
  template <typename Moved>
  std::int64_t place(std::vector<Buffer>& buffers, std::int64_t begin, const Moved& moved) {
    const std::int64_t end = place_rooms(buffers, begin);
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      const std::int64_t offset = offset_of(i);
      if (buffers[i].offset != offset) moved(i);
      buffers[i].offset = offset;
    }
    return end;
  }

 private:
  std::int64_t place_rooms(const std::vector<Buffer>& buffers, std::int64_t begin);
  std::int64_t offset_of(std::size_t buffer) const {
    return room_of_[buffer] < 0 ? -1 : at_[static_cast<std::size_t>(room_of_[buffer])];
  }

  std::vector<std::int32_t> room_of_;  // per buffer; -1: not of the arena
  std::vector<std::int64_t> bytes_;    // per room: most that was in it
  std::vector<std::int64_t> at_;       // per room: where it lies
};

}  // namespace groove::jit
