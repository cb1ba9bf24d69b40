// Two products read different operands for the last time and each leaves a result: side by side,
// both operands and both results are alive at once. One after the other, the second result may lie
// where the first product's operand lay:
//
//     level    1    2    3         level    1    2    3    4
//     a        ■----■              a        ■----■
//     x = f(a)      ■----■    →    x = f(a)      ■----+----■
//     y = g(b)      ■----■         y = g(b)           ■----■
//
#include "jit/spread_levels.h"

#include <algorithm>

namespace groove::jit {
namespace {

constexpr int kMostSplits = 64;
constexpr std::int64_t kWorthABarrier = 64 << 10;  // bytes; or this part of all that are alive:
constexpr std::int64_t kWorthAPart = 128;

struct Span {
  std::int32_t first = -1, last = -1;
};

class Spreader {
 public:
  Spreader(const Lowered& lowered, std::vector<std::int32_t>& level_of)
      : lowered_(lowered), level_of_(level_of) {
    uses_.resize(lowered.launches.size());
    for (std::size_t i = 0; i < uses_.size(); ++i) find_uses(i);
  }

  void run(std::int64_t least_bytes) {
    for (int splits = 0; splits < kMostSplits; ++splits) {
      measure();
      const auto most = std::max_element(alive_.begin(), alive_.end());
      if (most == alive_.end() || *most < least_bytes) return;
      if (!split(static_cast<std::int32_t>(most - alive_.begin()))) return;
    }
  }

 private:
  // What a launch has to do with a buffer of the arena.
  struct Use {
    BufferId buffer;
    bool is_load = false, is_store = false;
    bool is_identity = true;  // element by element
  };

  void find_uses(std::size_t index) {
    const LaunchPlan& launch = lowered_.launches[index];
    if (launch.is_dropped) return;
    const auto note = [&](BufferId id, bool is_store, bool is_identity) {
      while (id >= 0 && buffer(id).same_as >= 0) id = buffer(id).same_as;
      if (id < 0 || buffer(id).place != Buffer::Place::kArena) return;
      std::vector<Use>& uses = uses_[index];
      auto use = std::find_if(uses.begin(), uses.end(),
                              [&](const Use& other) { return other.buffer == id; });
      if (use == uses.end()) use = uses.insert(use, Use{id});
      (is_store ? use->is_store : use->is_load) = true;
      use->is_identity &= is_identity;
    };
    const bool is_in_order = launch.kernel && launch.order != kernels::Order::kColumn &&
                             launch.order != kernels::Order::kTree;
    for (const Operand& operand : launch.operands)
      note(operand.buffer, operand.is_store, operand.is_identity && is_in_order);
    note(launch.scratch, true, false);
  }
  const Buffer& buffer(BufferId id) const {
    return lowered_.buffers[static_cast<std::size_t>(id)];
  }
  Span& life(BufferId id) { return lives_[static_cast<std::size_t>(id)]; }
  std::int32_t level(std::size_t index) const {
    return begin_[static_cast<std::size_t>(lowered_.launches[index].stage)] + level_of_[index];
  }

  // How much is alive at each level, of all stages one after the other.
  void measure() {
    std::vector<std::int32_t> count;
    for (std::size_t i = 0; i < uses_.size(); ++i) {
      const auto stage = static_cast<std::size_t>(lowered_.launches[i].stage);
      if (stage >= count.size()) count.resize(stage + 1);
      count[stage] = std::max(count[stage], level_of_[i] + 1);
    }
    begin_.assign(1, 0);
    for (const std::int32_t levels : count) begin_.push_back(begin_.back() + levels);
    lives_.assign(lowered_.buffers.size(), {});
    for (std::size_t i = 0; i < uses_.size(); ++i) {
      for (const Use& use : uses_[i]) {
        Span& own = life(use.buffer);
        const std::int32_t at = level(i);
        own.first = own.first < 0 ? at : std::min(own.first, at);
        own.last = std::max(own.last, at);
      }
    }
    alive_.assign(static_cast<std::size_t>(begin_.back()), 0);
    for (std::size_t id = 0; id < lives_.size(); ++id) {
      if (lives_[id].first < 0) continue;
      for (std::int32_t at = lives_[id].first; at <= lives_[id].last; ++at)
        alive_[static_cast<std::size_t>(at)] += lowered_.buffers[id].bytes;
    }
    for (std::size_t i = 0; i < uses_.size(); ++i)
      alive_[static_cast<std::size_t>(level(i))] -= shared_in_place(i, level(i), level(i));
  }

  // Bytes of results that take the place of an operand which ends here: alive from `from`, until
  // `to`, is what the launch's own level stands for.
  std::int64_t shared_in_place(std::size_t index, std::int32_t from, std::int32_t to) {
    std::int64_t bytes = 0;
    std::vector<char> is_taken(uses_[index].size());
    for (const Use& result : uses_[index]) {
      if (!result.is_store || result.is_load || !result.is_identity) continue;
      if (life(result.buffer).first != from) continue;
      for (std::size_t l = 0; l < is_taken.size(); ++l) {
        const Use& operand = uses_[index][l];
        if (is_taken[l] || operand.is_store || !operand.is_identity) continue;
        const Span& own = life(operand.buffer);
        if (own.last != to || own.first == from) continue;
        if (buffer(operand.buffer).bytes != buffer(result.buffer).bytes) continue;
        is_taken[l] = 1;
        bytes += buffer(result.buffer).bytes;
        break;
      }
    }
    return bytes;
  }

  // Bytes alive after the launch and not before, were it alone.
  std::int64_t growth(std::size_t index, std::int32_t at) {
    std::int64_t bytes = 0;
    for (const Use& use : uses_[index]) {
      const Span& own = life(use.buffer);
      if (own.first == at && own.last > at) bytes += buffer(use.buffer).bytes;
      if (own.first < at && own.last == at) bytes -= buffer(use.buffer).bytes;
    }
    return bytes;
  }

  bool split(std::int32_t at) {
    std::vector<std::size_t> launches;
    for (std::size_t i = 0; i < uses_.size(); ++i) {
      if (!lowered_.launches[i].is_dropped && level(i) == at) launches.push_back(i);
    }
    if (launches.size() < 2) return false;
    std::stable_sort(launches.begin(), launches.end(), [&](std::size_t a, std::size_t b) {
      return growth(a, at) < growth(b, at);
    });
    const std::int64_t before = alive_[static_cast<std::size_t>(at)];
    std::int64_t least = before - std::max(kWorthABarrier, before / kWorthAPart);
    std::size_t best = 0;
    for (std::size_t first = 1; first < launches.size(); ++first) {
      const std::int64_t most = alive_when_split(launches, first, at);
      if (most >= least) continue;
      least = most;
      best = first;
    }
    if (best == 0) return false;
    const std::int32_t stage = lowered_.launches[launches[0]].stage;
    const std::int32_t own = level_of_[launches[0]];
    for (std::size_t i = 0; i < uses_.size(); ++i)
      level_of_[i] += lowered_.launches[i].stage == stage && level_of_[i] > own ? 1 : 0;
    for (std::size_t i = best; i < launches.size(); ++i) level_of_[launches[i]] = own + 1;
    return true;
  }

  // The larger of both halves' bytes, when the first so many launches run before the others.
  std::int64_t alive_when_split(const std::vector<std::size_t>& launches, std::size_t first,
                                std::int32_t at) {
    std::int64_t early = alive_[static_cast<std::size_t>(at)], late = early;
    std::vector<BufferId> by_early, by_late;
    const auto is_among = [](const std::vector<BufferId>& ids, BufferId id) {
      return std::find(ids.begin(), ids.end(), id) != ids.end();
    };
    for (std::size_t i = 0; i < launches.size(); ++i) {
      for (const Use& use : uses_[launches[i]]) {
        std::vector<BufferId>& own = i < first ? by_early : by_late;
        if (!is_among(own, use.buffer)) own.push_back(use.buffer);
      }
      // As it was counted with all in one level.
      const std::int64_t shared = shared_in_place(launches[i], at, at);
      (i < first ? late : early) += shared;
    }
    for (const BufferId id : by_late) {
      if (life(id).first == at && !is_among(by_early, id)) early -= buffer(id).bytes;
    }
    for (const BufferId id : by_early) {
      if (life(id).last == at && !is_among(by_late, id)) late -= buffer(id).bytes;
    }
    return std::max(early, late);
  }

  const Lowered& lowered_;
  std::vector<std::int32_t>& level_of_;
  std::vector<std::vector<Use>> uses_;  // per launch
  std::vector<std::int32_t> begin_;     // first level of each stage, and the end
  std::vector<Span> lives_;             // per buffer
  std::vector<std::int64_t> alive_;     // per level
};

}  // namespace

void spread_levels(const Lowered& lowered, std::int64_t least_bytes,
                   std::vector<std::int32_t>& level_of) {
  Spreader(lowered, level_of).run(least_bytes);
}

}  // namespace groove::jit
