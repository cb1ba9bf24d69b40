// What GROOVE_LOG and GROOVE_DUMP show of a compilation.
#pragma once

#include "jit/schedule.h"

namespace groove::jit {

/// Writes a file into the folder that GROOVE_DUMP names, if it names one; warns once if it cannot.
void dump_text(const std::string& name, const std::string& text);
/// The same for a graph in Graphviz's form: `name`.dot and, where the program `dot` is installed and
/// the graph small enough to be looked at, `name`.svg.
void dump_picture(const std::string& name, const std::string& dot);
/// A file in Graphviz's form as SVG; false where there is no program `dot`.
bool draw_picture(const std::string& from, const std::string& to);

/// Names the groups and what they store.
std::string fusion_text(const Graph& graph, const Fusion& fusion);
/// Where every arena buffer lies and when it is alive.
std::string memory_text(const Graph& graph, const Lowered& lowered, const Schedule& schedule);

/// Channels: `fusion` and `memory` give the texts above, `kernels` each launch's kernel in the text
/// form. With GROOVE_DUMP the same and the assembly go to
/// `program<number>_{fusion,memory,kernels,assembly}.txt` in that folder.
void log_program(const Graph& graph, const Fusion& fusion, const Lowered& lowered,
                 const Schedule& schedule);

}  // namespace groove::jit
