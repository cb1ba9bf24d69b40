// A training step of an MLP as the tracer would record it: linear, relu, cross entropy, their
// gradients and Adam over all parameters, the loss and the gradients as outputs.
#pragma once

#include <cstdint>
#include <vector>

#include "src/core/graph.h"

namespace groove::jit {

Graph mlp_step(const std::vector<std::int64_t>& sizes, std::int64_t batch);
/// The entry numbers of that graph: those of Adam at its third step.
std::vector<std::uint64_t> mlp_numbers();

}  // namespace groove::jit
