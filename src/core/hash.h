#pragma once

#include <cstdint>

namespace groove {

/// A hash of words so far, and one more. For tables in memory: not kept, not for hostile input.
constexpr std::uint64_t mixed(std::uint64_t hash, std::uint64_t word) {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 32;
}
/// … and all of these, integers of any type.
constexpr std::uint64_t mixed_all(std::uint64_t hash, const auto& words) {
  for (const auto word : words) hash = mixed(hash, static_cast<std::uint64_t>(word));
  return hash;
}

}  // namespace groove
