// Programs for Discovery and the finder alone: calls that are numbers.
#pragma once

#include <cstdint>

namespace groove::testing {

/// The hash of call number `i` of a program.
inline std::uint64_t call(std::uint64_t i) {
  i = (i + 1) * 0x9e3779b97f4a7c15u;
  i ^= i >> 29;
  i *= 0xbf58476d1ce4e5b9u;
  return i ^ i >> 32;
}

}  // namespace groove::testing
