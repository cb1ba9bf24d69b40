// A program's own pass over the graphs that are compiled.
//
//   jit::register_pass("square_relu", [](jit::Graph& graph) {
//     for (const jit::Node& node : graph.nodes())
//       if (node.op() == "mul" && …) graph.replace(node.output(), …);
//     graph.remove_dead_code();
//   });
//
// It sees every graph that is compiled from then on, forward, backward and update of a step in one;
// loops that were compiled before stay as they are, and the operators of eager mode are no graphs.
// It runs on the compile thread, so what it shares with the program needs a lock. Groove promises
// the bits of eager mode for its own passes only: whether these keep them is the author's business,
// and GROOVE_CHECK=1 compares.
//
// After it ran the graph is verified: types, order, the same inputs, outputs as before in number
// and type, nothing read before it is there, no index that nobody checks. A pass that leaves
// another graph, or throws, is undone and reported once on standard error, and compilation goes on
// without it; run_pass() throws the same as groove::Error.
#pragma once

#include <functional>

#include "groove/jit/graph.h"

namespace groove::jit {

enum class PassPlace : std::uint8_t {
  kRecorded,   // before all others: the operators that the program called (under fast numerics,
               // what its rules have made of them)
  kExpanded,   // once losses, softmax and the like are taken apart
  kOptimized,  // after those that simplify, before memory is given to values
};

using PassFunction = std::function<void(Graph& graph)>;

/// Throws groove::Error for a name that a pass has already.
void register_pass(const std::string& name, PassFunction function,
                   PassPlace place = PassPlace::kRecorded);
/// False when there is none of this name. A compilation that began keeps it.
bool unregister_pass(const std::string& name);

/// One pass on one graph: a registered one, or one of Groove's own (`groove-opt --list`). Throws
/// groove::Error when there is none of this name, or when it leaves an invalid graph.
void run_pass(const std::string& name, Graph& graph);

}  // namespace groove::jit
