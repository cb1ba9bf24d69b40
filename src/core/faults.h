// Seeded faults: points at which a test build (cmake -DGROOVE_FAULTS=ON) does the wrong thing on
// purpose, one at a time, to see that a test notices (tools/run-faults). In every other build
// has_fault() is a constant, and nothing of a point is left.
#pragma once

#ifdef GROOVE_FAULTS
#include <cstdio>
#include <cstdlib>
#include <cstring>
#endif

namespace groove {

enum class Fault {
#define GROOVE_SEEDED_FAULT(name, about) k##name,
#include "src/core/faults.def"
#undef GROOVE_SEEDED_FAULT
};

#ifdef GROOVE_FAULTS
/// Is it the one that the environment's SEEDED_FAULT names? (No GROOVE_ name: users have none.)
inline bool has_fault(Fault fault) noexcept {
  static const int seeded = [] {
    const char* const wanted = std::getenv("SEEDED_FAULT");
    if (!wanted) return -1;
    static constexpr const char* kNames[] = {
#define GROOVE_SEEDED_FAULT(name, about) #name,
#include "src/core/faults.def"
#undef GROOVE_SEEDED_FAULT
    };
    int number = 0;
    for (const char* const name : kNames) {
      if (std::strcmp(name, wanted) == 0) return number;
      ++number;
    }
    std::fprintf(stderr, "there is no seeded fault %s\n", wanted);
    std::_Exit(99);
  }();
  return static_cast<int>(fault) == seeded;
}
#else
constexpr bool has_fault(Fault) noexcept { return false; }
#endif

}  // namespace groove
