// The graph passes. Each is one file with one free function that says what it does, what it needs
// and what it keeps; the order is jit/pipeline.cpp. They return whether anything changed.
#pragma once

#include "src/core/graph.h"

namespace groove::jit {

bool expand_composites(Graph& graph);
bool widen_halves(Graph& graph);
bool merge_duplicates(Graph& graph);
bool fold_constants(Graph& graph);
bool replace_expressions(Graph& graph);
bool replace_divisions(Graph& graph);
bool unroll_scans(Graph& graph);
/// … and how many operators that would make; 0: it would change nothing.
std::int64_t operators_to_unroll(const Graph& graph);
bool turn_products(Graph& graph);
bool skip_reductions(Graph& graph);
bool join_axes(Graph& graph);
bool simplify(Graph& graph);
bool join_slices(Graph& graph);
bool remove_dead_code(Graph& graph);
bool insert_copies(Graph& graph);

// Under Numerics::kFast only:
bool replace_expressions_fast(Graph& graph);
bool scale_products(Graph& graph);
bool fold_into_weights(Graph& graph);

}  // namespace groove::jit
