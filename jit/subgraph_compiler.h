// Functions as programs of their own, outside any segment.
#pragma once

#include <memory>

#include "kernels/subgraph_run.h"

namespace groove::jit {

/// Compiled now, on this thread. Null with the interpreter, which is what compiled code is compared
/// with. Throws groove::Error with the reason when it cannot be compiled.
std::shared_ptr<const kernels::CompiledSubgraph> compile_now(const groove::Graph& graph);

}  // namespace groove::jit
