#pragma once

#include <cstdint>

namespace groove {

/// A hash of words so far, and one more. For tables in memory: not kept, not for hostile input.
constexpr std::uint64_t mixed(std::uint64_t hash, std::uint64_t word) {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 32;
}

}  // namespace groove
