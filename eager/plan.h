// A plan is what eager mode remembers about one call signature (op, attributes, dtypes, sizes,
// strides): output types, compiled kernels, collapsed loops. Kernels are never specialised on
// sizes; plans are, so that a repeated call checks and derives nothing again.
#pragma once

#include <memory>
#include <vector>

#include "kernels/build.h"
#include "kernels/launch.h"
#include "src/core/dispatch.h"

namespace groove::eager {

class Plan {
 public:
  virtual ~Plan() = default;
  /// Inputs are real; outputs are written to fresh tensors, or in place as the call says.
  virtual void run(const Call& call, Tensor* outputs) const = 0;
};
using PlanPtr = std::unique_ptr<const Plan>;

std::vector<Type> input_types(const Call& call);

// One maker per lowering; each runs the type rule first, so a bad call throws here.
PlanPtr plan_elementwise(const Call& call);
PlanPtr plan_reduction(const Call& call);
PlanPtr plan_gather(const Call& call);
PlanPtr plan_concatenate(const Call& call);
PlanPtr plan_contraction(const Call& call);
PlanPtr plan_composite(const Call& call);
PlanPtr plan_opaque(const Call& call);
PlanPtr make_plan(const Call& call);
/// What this thread has spent on plans of calls whose types were new, in nanoseconds: less and less
/// as a program goes on.
std::int64_t planning_time();

/// Views need no plan: metadata only.
void run_view(const Call& call, Tensor* outputs);

/// dst[...] = convert(src[...]), same shapes, any strides.
void copy_elements(const Tensor& src, const Tensor& dst);
/// src itself when it is contiguous, otherwise a contiguous copy.
Tensor contiguous_copy(const Tensor& src);

/// The tensor an in-place call writes output k to; prepares the write (observers, overlap errors).
const Tensor& inplace_target(const Call& call, int output);
void finish_write(const Call& call, int output);

}  // namespace groove::eager
