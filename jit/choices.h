// What was chosen by cost while a program was made: another one of the same graph at other sizes
// can be made by the same choices. It is then laid out as the first one wherever that is right at
// its sizes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <unordered_map>

#include "src/core/hash.h"

namespace groove::jit {

class Choices {
 public:
  enum class Of : std::uint8_t {
    kSink,
    kLift,
    kMerge,
    kFlatLoop,
    kFullVectors,
    kShortRows,
    kRepeat,
    kDelay,
    kFours,
    kCrowd
  };

  /// The same ones, to be made again.
  Choices followed() const {
    Choices again;
    again.made_ = made_;
    again.are_given_ = true;
    return again;
  }
  /// What is asked from now on is about a graph of so many nodes.
  void begin(std::size_t nodes) { nodes_ = nodes; }
  /// What `choose` finds best, or what was chosen where the same was asked: `about` are numbers of
  /// nodes, groups and launches, which do not depend on sizes.
  template <typename Choose>
  std::uint64_t next(Of of, std::initializer_list<std::int64_t> about, const Choose& choose) {
    std::uint64_t key = mixed(nodes_, static_cast<std::uint64_t>(of));
    for (const std::int64_t each : about) key = mixed(key, static_cast<std::uint64_t>(each));
    const auto known = are_given_ ? made_.find(key) : made_.end();
    if (known != made_.end()) return known->second;
    const auto choice = static_cast<std::uint64_t>(choose());
    if (!are_given_) made_.try_emplace(key, choice);
    return choice;
  }

 private:
  std::unordered_map<std::uint64_t, std::uint64_t> made_;
  std::uint64_t nodes_ = 0;
  bool are_given_ = false;
};

/// The same where nobody may make them again: `choices` is null.
template <typename Choose>
std::uint64_t chosen(Choices* choices, Choices::Of of, std::initializer_list<std::int64_t> about,
                     const Choose& choose) {
  return choices ? choices->next(of, about, choose) : static_cast<std::uint64_t>(choose());
}

}  // namespace groove::jit
