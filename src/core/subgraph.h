// Graphs as attributes of operators. A graph is interned by its structure, so that an attribute is
// one number, and equal functions of the user's are one graph however often they are captured.
#pragma once

#include "src/core/graph.h"

namespace groove {

/// The number of this graph: one graph for all of equal structure. Names, places and the recorded
/// values of entry numbers are no part of it; those of the first one are kept. Never freed.
std::int64_t intern(Graph graph);
/// Throws groove::Error where there is no such graph.
const Graph& interned_graph(std::int64_t number);

}  // namespace groove
