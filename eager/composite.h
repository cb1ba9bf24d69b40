// Composites as fused kernels. The JIT is above eager mode, so it registers here what turns the
// signature of a composite into something to run.
#pragma once

#include <chrono>
#include <memory>

#include "src/core/dispatch.h"
#include "src/core/graph.h"

namespace groove::eager {

class CompiledComposite {
 public:
  virtual ~CompiledComposite() = default;
  /// Inputs are real and have the signature that was compiled; outputs become fresh tensors. False
  /// when the parts must run instead: then nothing has happened.
  virtual bool run(ArrayRef<Tensor> inputs, Tensor* outputs) const = 0;
};

/// Gives null for a composite that only its parts can compute (results that are views, host code,
/// random draws). The bits are those of the parts.
using CompositeCompiler = std::unique_ptr<const CompiledComposite> (*)(const Call& call);
void register_composite_compiler(CompositeCompiler compiler);
CompositeCompiler registered_composite_compiler();  // null when none is linked

/// The same for a graph of gradients (eager/gradient.h); null as well where as many kernels would
/// be left as there are operators.
using GraphCompiler = std::unique_ptr<const CompiledComposite> (*)(Graph graph);
void register_graph_compiler(GraphCompiler compiler);
GraphCompiler registered_graph_compiler();  // null when none is linked

/// What the parts of a signature take in all before they are fused: about as long as fusing takes.
/// A program that meets a signature a few times, as with batches of any size, gains nothing by it.
std::chrono::nanoseconds& parts_before_fusing();

}  // namespace groove::eager
