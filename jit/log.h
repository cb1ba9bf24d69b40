// What GROOVE_LOG and GROOVE_DUMP show of a compilation.
#pragma once

#include "jit/schedule.h"

namespace groove::jit {

/// Writes a file into the folder that GROOVE_DUMP names, if it names one; warns once if it cannot.
void dump_text(const std::string& name, const std::string& text);

/// Are kernel texts wanted? Lowering then keeps them in LaunchPlan::text.
bool wants_kernel_texts();

/// Channels: `fusion` names the groups and what they store, `memory` where every arena buffer lies
/// and when it is alive, `kernels` gives each launch's kernel in the text form. With GROOVE_DUMP
/// the same goes to `program<number>_{fusion,memory,kernels}.txt` in that folder.
void log_program(const Graph& graph, const Fusion& fusion, const Lowered& lowered,
                 const Schedule& schedule);

}  // namespace groove::jit
