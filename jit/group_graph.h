// Which groups of a fusion run after which, while groups are merged: levels, paths and the tree of
// post-dominators.
#pragma once

#include <cstdint>
#include <vector>

namespace groove::jit {

class GroupGraph {
 public:
  static constexpr std::int32_t kExit = -1;

  /// Per group those that must run after it; no circles.
  explicit GroupGraph(std::vector<std::vector<std::int32_t>> after);

  const std::vector<std::int32_t>& after(std::int32_t group) const {
    return after_[static_cast<std::size_t>(group)];
  }
  const std::vector<std::int32_t>& before(std::int32_t group) const {
    return before_[static_cast<std::size_t>(group)];
  }
  /// The length of the longest path to it; once groups were merged that or more, until they are
  /// counted again. Always more than that of the groups it runs after.
  std::int32_t level(std::int32_t group) const { return level_[static_cast<std::size_t>(group)]; }

  /// Per group the nearest one that every path from it to the end goes through; kExit: none. Needs
  /// levels counted afresh.
  std::vector<std::int32_t> post_dominators() const;
  bool reaches(std::int32_t from, std::int32_t to) const;
  /// All that lies on paths from one to the other, both included, the first in front; empty where there is
  /// no path, they are more than `most`, or far too much lies around them. No path leaves these groups and comes back, so they may
  /// become one.
  std::vector<std::int32_t> between(std::int32_t from, std::int32_t to, std::size_t most) const;
  /// `members` become `home`, which is one of them. No path may leave them and come back.
  void merge(const std::vector<std::int32_t>& members, std::int32_t home);
  void find_levels();

 private:

  std::vector<std::vector<std::int32_t>> after_, before_;
  std::vector<std::int32_t> level_;
  std::vector<std::int32_t> order_;  // by level
};

}  // namespace groove::jit
