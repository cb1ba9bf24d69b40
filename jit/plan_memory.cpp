// Liveness by level, in-place sharing, placement by size, and the checker.
#include "jit/plan_memory.h"

#include <fmt/format.h>

#include <algorithm>

#include "jit/arena_places.h"
#include "jit/relay.h"
#include "jit/row_buffers.h"
#include "src/core/faults.h"

namespace groove::jit {
namespace {

constexpr std::int64_t kLine = 64;

struct Life {
  std::int32_t first = -1, last = -1;  // levels
};

// The buffer that stands for all that share its memory.
BufferId root_of(const Lowered& lowered, BufferId id) {
  while (id >= 0 && lowered.buffers[static_cast<std::size_t>(id)].same_as >= 0) {
    id = lowered.buffers[static_cast<std::size_t>(id)].same_as;
  }
  return id;
}

std::vector<Life> find_lives(const Lowered& lowered, const Schedule& schedule) {
  std::vector<Life> lives(lowered.buffers.size());
  const auto touch = [&](BufferId id, std::int32_t level) {
    if (id < 0) return;
    Life& life = lives[static_cast<std::size_t>(id)];
    if (life.first < 0 || level < life.first) life.first = level;
    life.last = std::max(life.last, level);
  };
  for (std::size_t i = 0; i < lowered.launches.size(); ++i) {
    for (const Operand& operand : lowered.launches[i].operands) {
      touch(root_of(lowered, operand.buffer), schedule.level_of[i]);
    }
    if (!lowered.launches[i].is_dropped && !has_fault(Fault::kLifeEndsEarly))
      touch(lowered.launches[i].scratch, schedule.level_of[i]);
  }
  return lives;
}

class Planner {
 public:
  Planner(Lowered& lowered, const Schedule& schedule)
      : lowered_(lowered), schedule_(schedule), lives_(find_lives(lowered, schedule)) {}

  MemoryPlan run(std::int64_t begin) {
    share_in_place();
    note_homes();
    place(begin);
    return std::move(plan_);
  }

 private:
  bool is_arena(BufferId id) const {
    return id >= 0 &&
           lowered_.buffers[static_cast<std::size_t>(id)].place == Buffer::Place::kArena &&
           lives_[static_cast<std::size_t>(id)].first >= 0;
  }
  Life& life(BufferId id) { return lives_[static_cast<std::size_t>(id)]; }
  std::int64_t bytes(BufferId id) const {
    return lowered_.buffers[static_cast<std::size_t>(id)].bytes;
  }

  // slot_[b]: the buffer whose memory b uses; itself unless it took over an operand's.
  void share_in_place() {
    slot_.resize(lowered_.buffers.size());
    end_.resize(lowered_.buffers.size());
    for (std::size_t i = 0; i < slot_.size(); ++i) {
      slot_[i] = static_cast<BufferId>(i);
      end_[i] = lives_[i].last;
    }
    std::vector<std::int32_t> touching(lowered_.buffers.size());
    for (std::size_t level = 0; level < schedule_.levels.size(); ++level) {
      const auto& launches = schedule_.levels[level].launches;
      for (const std::int32_t index : launches) count(index, touching, 1);
      for (const std::int32_t index : launches)
        share(index, static_cast<std::int32_t>(level), touching);
      for (const std::int32_t index : launches) count(index, touching, -1);
    }
  }
  void note_homes() {
    plan_.homes.resize(slot_.size());
    for (std::size_t i = 0; i < slot_.size(); ++i) {
      const BufferId root = root_of(lowered_, static_cast<BufferId>(i));
      if (!is_arena(root)) continue;
      const BufferId slot = slot_of(root);
      plan_.homes[i] = {slot, life(slot).first, end_[static_cast<std::size_t>(slot)]};
    }
  }
  void count(std::int32_t index, std::vector<std::int32_t>& touching, std::int32_t by) {
    std::vector<BufferId> own;
    for (const Operand& operand : lowered_.launches[static_cast<std::size_t>(index)].operands) {
      const BufferId id = root_of(lowered_, operand.buffer);
      if (id >= 0 && std::find(own.begin(), own.end(), id) == own.end()) {
        own.push_back(id);
        touching[static_cast<std::size_t>(id)] += by;
      }
    }
  }
  void share(std::int32_t index, std::int32_t level, const std::vector<std::int32_t>& touching) {
    const LaunchPlan& launch = lowered_.launches[static_cast<std::size_t>(index)];
    if (!launch.kernel || launch.order == kernels::Order::kColumn ||
        launch.order == kernels::Order::kTree)
      return;
    for (std::size_t s = 0; s < launch.operands.size(); ++s) {
      const Operand& store = launch.operands[s];
      const BufferId to = root_of(lowered_, store.buffer);
      if (!store.is_store || !store.is_identity || !is_arena(to)) continue;
      if (life(to).first != level || slot_of(to) != to) continue;
      for (std::size_t l = 0; l < launch.operands.size(); ++l) {
        const Operand& load = launch.operands[l];
        const BufferId from = root_of(lowered_, load.buffer);
        if (load.is_store || !is_arena(from) || from == to) continue;
        if (life(from).last != level || life(from).first == level) continue;
        if (bytes(from) != bytes(to) || load.dtype != store.dtype) continue;
        if (touching[static_cast<std::size_t>(from)] != 1) continue;
        if (end_[static_cast<std::size_t>(slot_of(from))] != level) continue;
        const bool reads_elsewhere =
            std::any_of(launch.operands.begin(), launch.operands.end(), [&](const Operand& other) {
              return root_of(lowered_, other.buffer) == from && !other.is_identity;
            });
        if (reads_elsewhere && !has_fault(Fault::kInPlaceThroughAView)) continue;
        if (!is_loaded_first(launch, from, s)) continue;
        const BufferId slot = slot_of(from);
        slot_[static_cast<std::size_t>(to)] = slot;
        if (!has_fault(Fault::kAliasedSlot)) end_[static_cast<std::size_t>(slot)] = life(to).last;
        break;
      }
    }
  }
  // Is an element of the buffer never loaded again once the operand is stored? A row is gone
  // through phase by phase, so what a later phase loads must not be overwritten yet.
  bool is_loaded_first(const LaunchPlan& launch, BufferId from, std::size_t store) const {
    const std::vector<kernels::Instr>& code = launch.kernel->code;
    const auto touches = [&](const kernels::Instr& instr, std::size_t operand) {
      return access_of(launch, operand) == static_cast<std::int64_t>(instr.imm);
    };
    bool is_stored = false;
    for (const kernels::Instr& instr : code) {
      if (instr.prim == kernels::Prim::kStore) is_stored |= touches(instr, store);
      if (instr.prim != kernels::Prim::kLoad || !is_stored) continue;
      for (std::size_t i = 0; i < launch.operands.size(); ++i) {
        if (root_of(lowered_, launch.operands[i].buffer) == from && touches(instr, i)) return false;
      }
    }
    return is_stored;
  }
  // The epilogue of a product has the sums for its first access; its operands follow A and B.
  static std::int64_t access_of(const LaunchPlan& launch, std::size_t operand) {
    if (launch.relay) return launch.relay->row_access(operand);
    const auto at = static_cast<std::int64_t>(operand);
    return launch.kind == LaunchPlan::Kind::kContraction ? at - 1 : at;
  }
  BufferId slot_of(BufferId id) const { return slot_[static_cast<std::size_t>(id)]; }

  // Largest first, each at the lowest place free of everything alive at the same time.
  void place(std::int64_t begin) {
    std::vector<BufferId> order;
    for (std::size_t i = 0; i < slot_.size(); ++i) {
      const auto id = static_cast<BufferId>(i);
      if (is_arena(id) && slot_of(id) == id) order.push_back(id);
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](BufferId a, BufferId b) { return bytes(a) > bytes(b); });
    plan_.bytes = begin;
    ArenaPlaces places(begin);
    for (const BufferId id : order) {
      const std::int64_t size =
          std::max(rounded(bytes(id)) - (has_fault(Fault::kShortSlot) ? kLine : 0), kLine);
      const std::int32_t last = end_[static_cast<std::size_t>(id)];
      const std::int64_t at = places.take(size, life(id).first, last);
      lowered_.buffers[static_cast<std::size_t>(id)].offset = at;
      plan_.bytes = std::max(plan_.bytes, at + size);
      plan_.freed.push_back({last, at, size, dtype_of(id)});
    }
    place_outputs(places);
    for (std::size_t i = 0; i < slot_.size(); ++i) {
      if (is_arena(static_cast<BufferId>(i))) {
        lowered_.buffers[i].offset = lowered_.buffers[static_cast<std::size_t>(slot_[i])].offset;
      }
    }
    for (std::size_t i = 0; i < slot_.size(); ++i) {
      const BufferId root = root_of(lowered_, static_cast<BufferId>(i));
      lowered_.buffers[i].offset = lowered_.buffers[static_cast<std::size_t>(root)].offset;
    }
  }
  void place_outputs(ArenaPlaces& places) {
    std::vector<BufferId> order;
    for (std::size_t i = 0; i < lowered_.buffers.size(); ++i) {
      const Buffer& buffer = lowered_.buffers[i];
      if (buffer.place != Buffer::Place::kOutput) continue;
      const auto count = static_cast<std::size_t>(buffer.index) + 1;
      if (plan_.outputs.size() < count) plan_.outputs.resize(count, -1);
      if (buffer.same_as < 0 && lives_[i].first >= 0 && buffer.bytes >= kLine)
        order.push_back(static_cast<BufferId>(i));
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](BufferId a, BufferId b) { return bytes(a) > bytes(b); });
    const auto end = static_cast<std::int32_t>(schedule_.levels.size());
    for (const BufferId id : order) {
      const std::int64_t size = rounded(bytes(id));
      const std::int64_t at = places.take(size, life(id).first, end);
      if (at + size > plan_.bytes) continue;
      Buffer& buffer = lowered_.buffers[static_cast<std::size_t>(id)];
      plan_.outputs[static_cast<std::size_t>(buffer.index)] = buffer.offset = at;
    }
  }
  ScalarType dtype_of(BufferId id) const {
    for (const LaunchPlan& launch : lowered_.launches) {
      for (const Operand& operand : launch.operands) {
        if (operand.buffer == id) return operand.dtype;
      }
    }
    return kFloat;
  }
  static std::int64_t rounded(std::int64_t size) {
    return std::max<std::int64_t>((size + kLine - 1) / kLine * kLine, kLine);
  }

  Lowered& lowered_;
  const Schedule& schedule_;
  std::vector<Life> lives_;
  std::vector<BufferId> slot_;
  std::vector<std::int32_t> end_;  // per slot: its last level, of all that share it
  MemoryPlan plan_;
};

}  // namespace

MemoryPlan plan_memory(Lowered& lowered, const Schedule& schedule, std::int64_t begin) {
  return Planner(lowered, schedule).run(begin);
}

std::string check_memory(const Lowered& lowered, const Schedule& schedule) {
  struct Owned {
    std::int64_t begin, end;
    BufferId by;
  };
  std::vector<Owned> owned;
  const auto span_of = [&](BufferId id) {
    const Buffer& buffer = lowered.buffers[static_cast<std::size_t>(id)];
    return Owned{buffer.offset, buffer.offset + buffer.bytes, id};
  };
  // Outputs that have a place there, too.
  const auto is_arena = [&](BufferId id) {
    if (id < 0) return false;
    const Buffer& buffer = lowered.buffers[static_cast<std::size_t>(id)];
    return (buffer.place == Buffer::Place::kArena ||
            (buffer.place == Buffer::Place::kOutput && buffer.offset >= 0)) &&
           buffer.bytes > 0;
  };
  const auto overlap = [](const Owned& a, const Owned& b) {
    return a.begin < b.end && b.begin < a.end;
  };
  for (std::size_t level = 0; level < schedule.levels.size(); ++level) {
    const auto& launches = schedule.levels[level].launches;
    for (const std::int32_t index : launches) {
      const LaunchPlan& launch = lowered.launches[static_cast<std::size_t>(index)];
      for (const Operand& load : launch.operands) {
        if (load.is_store || load.is_row_buffer || load.is_own_sum) continue;
        if (!is_arena(load.buffer)) continue;
        const Owned wanted = span_of(load.buffer);
        bool is_there = false;
        for (const Owned& piece : owned) {
          if (!overlap(piece, wanted)) continue;
          if (piece.by != load.buffer) {
            return fmt::format("level {}: launch {} reads buffer {}, but buffer {} is there", level,
                               index, load.buffer, piece.by);
          }
          is_there = true;
        }
        if (!is_there) {
          return fmt::format("level {}: launch {} reads buffer {} before it is written", level,
                             index, load.buffer);
        }
        // Others write at the same time.
        for (const std::int32_t other : launches) {
          for (const Operand& store : lowered.launches[static_cast<std::size_t>(other)].operands) {
            if (!store.is_store || !is_arena(store.buffer) || store.buffer == load.buffer) continue;
            if (!overlap(span_of(store.buffer), wanted)) continue;
            const Owned written = span_of(store.buffer);
            const bool is_in_place = written.begin == wanted.begin && written.end == wanted.end;
            if (other == index && is_in_place && store.is_identity && load.is_identity) continue;
            return fmt::format("level {}: launch {} overwrites buffer {}, which launch {} reads",
                               level, other, load.buffer, index);
          }
        }
      }
    }
    for (const std::int32_t index : launches) {
      const LaunchPlan& launch = lowered.launches[static_cast<std::size_t>(index)];
      std::vector<BufferId> written;
      for (const Operand& store : launch.operands) {
        if (store.is_store) written.push_back(store.buffer);
      }
      written.push_back(launch.scratch);
      for (const BufferId id : written) {
        if (!is_arena(id)) continue;
        const Owned fresh = span_of(id);
        if (fresh.begin < 0 || fresh.begin % kLine != 0) {
          return fmt::format("buffer {} lies at {}", id, fresh.begin);
        }
        owned.erase(std::remove_if(owned.begin(), owned.end(),
                                   [&](const Owned& piece) { return overlap(piece, fresh); }),
                    owned.end());
        owned.push_back(fresh);
      }
    }
  }
  for (std::size_t id = 0; id < lowered.buffers.size(); ++id) {
    const Buffer& output = lowered.buffers[id];
    if (output.place != Buffer::Place::kOutput || !is_arena(static_cast<BufferId>(id))) continue;
    const Owned wanted = span_of(static_cast<BufferId>(id));
    const auto is_own = [&](const Owned& piece) {
      return piece.begin == wanted.begin && piece.end == wanted.end &&
             root_of(lowered, piece.by) == root_of(lowered, wanted.by);
    };
    if (std::none_of(owned.begin(), owned.end(), is_own))
      return fmt::format("output {} in buffer {} is not there at the end", output.index, id);
  }
  return {};
}

}  // namespace groove::jit
