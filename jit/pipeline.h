// The order of the passes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "src/core/graph.h"

namespace groove::jit {

// What a pass makes true of a graph, and what others need: tests run the passes in every order that
// these allow.
enum PassFact : unsigned {
  kAnyGraph = 0,
  kNoComposites = 1,  // composites are their parts
  kWideProducts = 2,  // no contraction and no host code on 16-bit floats
  kOwnMemory = 4,     // each value has memory that its readers can take; made last
};

// Which programs want what a pass makes.
enum class Serves : std::uint8_t {
  kAnySizes,    // those that are for many sizes, too
  kTheseSizes,  // it rests on numbers that may be others at other sizes
  kLongRuns,    // … and takes long to compile
};

struct Pass {
  const char* name;
  bool (*run)(Graph& graph);
  const char* about;  // what it does, for people who look inside
  unsigned needs = kNoComposites;
  unsigned makes = kAnyGraph;  // a pass that makes nothing may be left out: same results
  Serves serves = Serves::kAnySizes;
};

/// Every pass by name, in pipeline order; for groove-opt.
const std::vector<Pass>& passes();

/// Tests: the passes that run_pipeline takes from now on, in the whole process and while nothing is
/// being compiled; all of passes() again with none.
void choose_passes(std::vector<Pass> chosen);

/// What comes before them under Numerics::kFast: passes that keep no bits.
const std::vector<Pass>& fast_passes();
void run_fast_passes(Graph& graph);

/// What a pass made of a graph, for people who look on.
using PassObserver =
    std::function<void(const std::string& name, const char* about, const Graph& graph)>;

/// All of passes(), and between them those of the program (jit/user_passes.h). In debug builds the
/// verifier runs after each; GROOVE_DUMP names a folder that gets the graph before the first and
/// after each.
void run_pipeline(Graph& graph, Serves most = Serves::kLongRuns);
/// Without those of the program and without files: how eager mode's composites are made.
void run_own_passes(Graph& graph);
/// As run_pipeline(), without files.
void observe_pipeline(Graph& graph, const PassObserver& observer, Serves most = Serves::kLongRuns);
/// The same for one of many sizes: what may follow from them is not made part of code.
void run_pipeline_for_many_sizes(Graph& graph);

}  // namespace groove::jit
