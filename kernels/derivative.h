// Gradients of interned graphs, for the gradient rules of control flow. What differentiates lies
// above the operators, so it registers here.
#pragma once

#include <vector>

#include "src/core/subgraph.h"

namespace groove::kernels {

// Of which inputs the gradients are wanted, and given which cotangents.
struct DerivativeRequest {
  std::int64_t graph = -1;
  std::vector<char> wanted;  // per input
  // Per wanted input: its gradient is added to a sum that is given, in the order of the tape.
  std::vector<char> seeded;
  std::vector<char> given;  // per output
};

/// The number of a graph with the same entry numbers. Its inputs: those of the graph, then a seed
/// for every seeded input, then a cotangent for every given output; its outputs: the gradients of
/// the wanted inputs (without a seed and without a way to it: -0.0, which changes no sum). It
/// computes what it needs of the graph again.
std::int64_t derivative(const DerivativeRequest& request, ArrayRef<Scalar> numbers);

// A derivative in two parts, for loops. Of an input, when the second part runs …
enum class Later : char {
  kGone,       // … it is there only if the first part put it out,
  kThere,      // … it is there,
  kInvariant,  // … it is there, the same in every turn; what follows from it is computed again.
};
struct SplitRequest {
  DerivativeRequest whole;
  std::vector<Later> later;     // per input
  std::int32_t first_kept = 0;  // outputs of the graph from this one on are kept for every turn
};
struct SplitDerivative {
  // Inputs: those of the graph that are there later, the residuals, the seeds, the cotangents;
  // outputs as those of a derivative.
  std::int64_t backward = -1;
  std::vector<std::int32_t> residuals;  // which outputs of the graph
};
/// The graph with more outputs: what the second parts of its derivatives will need, also those of
/// its second derivatives.
std::int64_t with_residuals(const SplitRequest& request, ArrayRef<Scalar> numbers);
/// Of such a graph.
SplitDerivative split_derivative(const SplitRequest& request, ArrayRef<Scalar> numbers);

struct Differentiator {
  std::int64_t (*derivative)(const DerivativeRequest&, ArrayRef<Scalar>);
  std::int64_t (*with_residuals)(const SplitRequest&, ArrayRef<Scalar>);
  SplitDerivative (*split)(const SplitRequest&, ArrayRef<Scalar>);
};
void register_differentiator(const Differentiator& differentiator);

}  // namespace groove::kernels
