// Executes graphs for tests: op by op through eager mode on the interpreter, and as programs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "jit/program.h"
#include "src/core/graph.h"

namespace groove::jit {

// Row-major bytes of one value.
using Bytes = std::vector<unsigned char>;

struct Outcome {
  std::vector<Bytes> outputs;  // one per graph output; for overwritten inputs, their memory
};

/// Inputs drawn from `seed`: small numbers, with ±0, ±inf, NaN and denormals when `has_specials`.
std::vector<Bytes> random_inputs(const Graph& graph, std::uint64_t seed, bool has_specials);

/// Node by node through the dispatcher, in the current backend.
Outcome run_eagerly(const Graph& graph, const std::vector<Bytes>& inputs,
                    const std::vector<std::uint64_t>& scalars);
/// Through the pipeline and a program, all stages in order, `runs` times over.
Outcome run_program(const Graph& graph, const std::vector<Bytes>& inputs,
                    const std::vector<std::uint64_t>& scalars, const ProgramOptions& options,
                    int runs = 1);
/// The same of a program that is there, for this graph by now; `lends`: outputs lie in the arena if
/// they may.
std::unique_ptr<Program> program_of(const Graph& graph, const ProgramOptions& options);
Outcome run_program(const Program& program, const Graph& graph, const std::vector<Bytes>& inputs,
                    const std::vector<std::uint64_t>& scalars, int runs = 1, bool lends = false);

/// Programs against node-by-node execution on the interpreter, over inputs drawn from `seed`: on
/// the interpreter, and on the current backend with 1, 2, 3 and 7 threads, code for one size, for
/// many and for any, serial where the work is small and never. Empty when all are equal, otherwise
/// which is not.
std::string compare_programs(const Graph& graph, std::uint64_t seed, bool has_specials,
                             const std::vector<std::uint64_t>& numbers = {});

/// The machines that tests lower for, wherever they run: one of each instruction set. Code of one
/// that this processor lacks is made and not run.
const std::vector<kernels::Machine>& test_machines();
/// What `text` says of a machine: once where it is the same for all of test_machines(), otherwise
/// for each under the name of its instruction set.
std::string on_machines(const std::function<std::string(const kernels::Machine&)>& text);
/// The graph, fused and lowered for a machine.
Lowered lowered_for(const kernels::Machine& machine, const Graph& graph);
/// What the graph is launched as when fused: a line for each launch, its kind and its operators.
std::string launches_on(const kernels::Machine& machine, const Graph& graph);
/// The same on_machines().
std::string launches(const Graph& graph);

/// Empty when equal, any NaN counting as any other; otherwise where they differ.
std::string compare(const Graph& graph, const Outcome& expected, const Outcome& actual);

}  // namespace groove::jit
