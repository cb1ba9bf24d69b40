// The training step that docs/one-training-step.md walks through: a plain loop.
#pragma once

#include <cstdint>

namespace walk {

/// Trains a small network; the median of the last steps' times in microseconds.
double train(std::int64_t steps);

}  // namespace walk
