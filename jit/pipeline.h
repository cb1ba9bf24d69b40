// The order of the passes.
#pragma once

#include <string>
#include <vector>

#include "src/core/graph.h"

namespace groove::jit {

struct Pass {
  const char* name;
  bool (*run)(Graph& graph);
  const char* about;  // what it does, for people who look inside
};

/// Every pass by name, in pipeline order; for groove-opt.
const std::vector<Pass>& passes();

/// All of them. In debug builds the verifier runs after each; GROOVE_DUMP names a folder that gets
/// the graph before the first and after each.
void run_pipeline(Graph& graph);
/// The same for one of many sizes: what may follow from them is not made part of code.
void run_pipeline_for_many_sizes(Graph& graph);

}  // namespace groove::jit
