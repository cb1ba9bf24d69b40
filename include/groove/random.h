// The random state of the process, as the user sees it.
#pragma once

#include <cstdint>

namespace groove {

/// From here on the draws of this process depend on the seed alone.
void manual_seed(std::uint64_t seed);
std::uint64_t initial_seed();

struct RandomState {
  std::uint64_t seed = 0;
  std::uint64_t draws = 0;  // made since the seed was set
  bool operator==(const RandomState&) const = default;
};
RandomState get_random_state();
void set_random_state(const RandomState& state);

}  // namespace groove
