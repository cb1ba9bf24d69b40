// Where the elements of a graph's values lie, from what each operator says of its results.
#pragma once

#include <utility>

#include "src/core/graph.h"

namespace groove {

struct KnownNumbers {
  const std::uint64_t* words = nullptr;  // [entry number]; null: those of the recording
  /// Filled with the entry numbers that were read, and their words.
  std::vector<std::pair<std::int32_t, std::uint64_t>>* read = nullptr;
};
/// Wider than the truth when it is not known, or far to seek.
ValueRange range_of(const Graph& graph, ValueId value, const KnownNumbers& numbers = {});

}  // namespace groove
