// Passes of the program (groove/jit/pass.h) among Groove's own.
#pragma once

#include "jit/pipeline.h"
#include "src/core/graph.h"

namespace groove::jit {

// The places of groove/jit/pass.h, whose class Graph this header stays clear of.
enum class PassPlace : std::uint8_t;
inline constexpr PassPlace kRecordedPlace{0}, kExpandedPlace{1}, kOptimizedPlace{2};

/// Those registered for this place, in the order of registration. One that leaves an invalid graph,
/// or throws, is undone and reported once.
void run_user_passes(groove::Graph& graph, PassPlace place, const PassObserver& observer);

}  // namespace groove::jit
