// Levels bound every search: what lies between two groups has a level between theirs.
#include "jit/group_graph.h"

#include <algorithm>

#include "src/core/check.h"

namespace groove::jit {
namespace {

using Groups = std::vector<std::int32_t>;
constexpr std::size_t kMostSearched = 64;

bool has(const Groups& groups, std::int32_t group) {
  return std::find(groups.begin(), groups.end(), group) != groups.end();
}

}  // namespace

GroupGraph::GroupGraph(std::vector<std::vector<std::int32_t>> after)
    : after_(std::move(after)), before_(after_.size()) {
  for (std::size_t from = 0; from < after_.size(); ++from) {
    for (const std::int32_t to : after_[from])
      before_[static_cast<std::size_t>(to)].push_back(static_cast<std::int32_t>(from));
  }
  find_levels();
}

void GroupGraph::find_levels() {
  const std::size_t count = after_.size();
  level_.assign(count, 0);
  order_.clear();
  std::vector<std::size_t> missing(count);
  for (std::size_t i = 0; i < count; ++i) {
    missing[i] = before_[i].size();
    if (missing[i] == 0) order_.push_back(static_cast<std::int32_t>(i));
  }
  for (std::size_t done = 0; done < order_.size(); ++done) {
    const std::int32_t at = order_[done];
    for (const std::int32_t next : after(at)) {
      auto& own = level_[static_cast<std::size_t>(next)];
      own = std::max(own, level(at) + 1);
      if (--missing[static_cast<std::size_t>(next)] == 0) order_.push_back(next);
    }
  }
  GROOVE_ASSERT(order_.size() == count, "groups depend on each other in a circle");
}

// From the end backwards: where the tree's paths from all that run after a group to the end meet.
std::vector<std::int32_t> GroupGraph::post_dominators() const {
  std::vector<std::int32_t> nearest(after_.size(), kExit), depth(after_.size(), 0);
  const auto depth_of = [&](std::int32_t group) {
    return group == kExit ? -1 : depth[static_cast<std::size_t>(group)];
  };
  for (std::size_t i = order_.size(); i-- > 0;) {
    const std::int32_t group = order_[i];
    if (after(group).empty()) continue;
    std::int32_t meeting = after(group)[0];
    for (std::int32_t other : after(group)) {
      while (meeting != other) {
        std::int32_t& lower = depth_of(meeting) >= depth_of(other) ? meeting : other;
        lower = nearest[static_cast<std::size_t>(lower)];
      }
    }
    nearest[static_cast<std::size_t>(group)] = meeting;
    depth[static_cast<std::size_t>(group)] = depth_of(meeting) + 1;
  }
  return nearest;
}

bool GroupGraph::reaches(std::int32_t from, std::int32_t to) const {
  if (from == to) return true;
  if (level(from) >= level(to)) return false;
  Groups open{from}, seen;
  while (!open.empty()) {
    const std::int32_t at = open.back();
    open.pop_back();
    for (const std::int32_t next : after(at)) {
      if (next == to) return true;
      if (level(next) >= level(to) || has(seen, next)) continue;
      seen.push_back(next);
      open.push_back(next);
    }
  }
  return false;
}

std::vector<std::int32_t> GroupGraph::between(std::int32_t from, std::int32_t to,
                                              std::size_t most) const {
  if (level(from) >= level(to)) return {};
  // What reaches `to`, as far down as `from`; then what of it `from` reaches.
  Groups reaching{to};
  for (std::size_t i = 0; i < reaching.size(); ++i) {
    for (const std::int32_t earlier : before(reaching[i])) {
      if (level(earlier) < level(from) || has(reaching, earlier)) continue;
      if (level(earlier) == level(from) && earlier != from) continue;
      reaching.push_back(earlier);
    }
    if (reaching.size() > kMostSearched) return {};
  }
  if (!has(reaching, from)) return {};
  Groups found{from};
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (const std::int32_t next : after(found[i])) {
      if (has(reaching, next) && !has(found, next)) found.push_back(next);
    }
    if (found.size() > most) return {};
  }
  return found;
}

void GroupGraph::merge(const std::vector<std::int32_t>& members, std::int32_t home) {
  Groups outside[2];  // after, before
  for (const std::int32_t member : members) {
    for (const bool is_before : {false, true}) {
      auto& lists = is_before ? before_ : after_;
      auto& others = is_before ? after_ : before_;
      for (const std::int32_t other : lists[static_cast<std::size_t>(member)]) {
        if (has(members, other)) continue;
        Groups& back = others[static_cast<std::size_t>(other)];
        back.erase(std::remove(back.begin(), back.end(), member), back.end());
        Groups& kept = outside[is_before];
        if (!has(kept, other)) kept.push_back(other);
      }
      lists[static_cast<std::size_t>(member)].clear();
    }
  }
  for (const std::int32_t other : outside[0]) before_[static_cast<std::size_t>(other)].push_back(home);
  for (const std::int32_t other : outside[1]) after_[static_cast<std::size_t>(other)].push_back(home);
  after_[static_cast<std::size_t>(home)] = std::move(outside[0]);
  before_[static_cast<std::size_t>(home)] = std::move(outside[1]);
  auto& own = level_[static_cast<std::size_t>(home)];
  own = 0;
  for (const std::int32_t earlier : before(home)) own = std::max(own, level(earlier) + 1);
  Groups open{home};
  while (!open.empty()) {
    const std::int32_t at = open.back();
    open.pop_back();
    for (const std::int32_t next : after(at)) {
      if (level(next) > level(at)) continue;
      level_[static_cast<std::size_t>(next)] = level(at) + 1;
      open.push_back(next);
    }
  }
}

}  // namespace groove::jit
