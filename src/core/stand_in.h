// Memory in another's place. While calls of a run that was left run again, an operand that the
// program may have rewritten since holds, for the kernels of this thread, what it held at its call.
// The tensor itself stays as it is: other threads may be using it.
#pragma once

#include <vector>

#include "src/core/tensor_impl.h"

namespace groove {

struct StandIn {
  StoragePtr of, memory;
};

namespace detail {
inline constinit thread_local const std::vector<StandIn>* stand_ins = nullptr;
}

inline bool has_stand_ins() { return detail::stand_ins != nullptr; }

/// What kernels of this thread are to use in the place of a storage; null: the storage itself.
inline Storage* stand_in_of(const Storage& storage) {
  for (const StandIn& each : *detail::stand_ins)
    if (each.of.get() == &storage) return each.memory.get();
  return nullptr;
}

/// As long as it lives, kernels that this thread runs use the stand-ins.
class StandInScope {
 public:
  explicit StandInScope(const std::vector<StandIn>& all) : previous_(detail::stand_ins) {
    if (!all.empty()) detail::stand_ins = &all;
  }
  ~StandInScope() { detail::stand_ins = previous_; }
  StandInScope(const StandInScope&) = delete;
  StandInScope& operator=(const StandInScope&) = delete;

 private:
  const std::vector<StandIn>* previous_;
};

}  // namespace groove
