// Gathers (index_select, gather) and concatenation: index maps that need a kernel.
#include "eager/plan.h"
#include "kernels/backend.h"
#include "src/core/check.h"

namespace groove::eager {
namespace {

using kernels::Builder;
using kernels::Expr;

class GatherPlan : public Plan {
 public:
  TypeResult types;
  kernels::Box box;
  std::uint64_t axis_stride = 0;
  std::shared_ptr<const kernels::Callable> callable;

  void run(const Call& call, Tensor* outputs) const override {
    outputs[0] = make_empty(types.outputs[0].sizes, types.outputs[0].dtype);
    void* pointers[] = {call.inputs[0].impl()->data(), call.inputs[1].impl()->data(),
                        outputs[0].impl()->data()};
    kernels::Launch launch;
    kernels::describe(launch, box);
    launch.pointers = pointers;
    launch.scalars = &axis_stride;
    kernels::run_parallel(*callable, kernels::Order::kMap, launch);
  }
};

class ConcatenatePlan : public Plan {
 public:
  TypeResult types;
  std::size_t axis = 0;

  void run(const Call& call, Tensor* outputs) const override {
    outputs[0] = make_empty(types.outputs[0].sizes, types.outputs[0].dtype);
    Geometry region = outputs[0].impl()->geometry;
    for (const Tensor& piece : call.inputs) {
      const Shape& sizes = piece.impl()->geometry.sizes;
      if (sizes.size() != region.sizes.size()) continue;  // LibTorch's legacy empty [0] tensors
      region.sizes[axis] = sizes[axis];
      copy_elements(piece, make_view(outputs[0], region));
      region.offset += sizes[axis] * region.strides[axis];
    }
  }
};

}  // namespace

PlanPtr plan_gather(const Call& call) {
  const auto& how = std::get<kernels::GatherLowering>(call.op->lowering->how);
  const std::vector<Type> inputs = input_types(call);
  const Signature signature{*call.op, inputs, *call.attrs, call.numbers};
  auto plan = std::make_unique<GatherPlan>();
  plan->types = call.op->type(signature);
  const Shape& domain = plan->types.outputs[0].sizes;
  const Geometry& source = call.inputs[0].impl()->geometry;
  const Geometry& index = call.inputs[1].impl()->geometry;
  Shape source_strides = source.strides, index_strides(domain.size(), 0);
  if (!domain.empty()) {
    const auto axis = static_cast<std::size_t>(signature.attr().integer(0));
    plan->axis_stride = static_cast<std::uint64_t>(source.strides[axis]);
    source_strides[axis] = 0;
    if (how.index_is_full)
      index_strides = index.strides;
    else
      index_strides[axis] = index.strides.empty() ? 0 : index.strides[0];
  }
  plan->box =
      kernels::collapse(domain, {source_strides, index_strides, contiguous_strides(domain)});
  Builder builder;
  const auto inner = [&plan](int access) {
    return kernels::stride_class(plan->box.strides[static_cast<std::size_t>(access)][0],
                                 plan->box.count[0]);
  };
  const int from = builder.access(inputs[0].dtype, false, inner(0));
  const int at = builder.access(inputs[1].dtype, false, inner(1));
  const Expr offset = kernels::convert(builder.load(at), kLong) * builder.param(kLong);
  builder.store(inputs[0].dtype, inner(2), builder.load_at(from, offset));
  plan->callable = kernels::compile_cached(kernels::current_backend(), builder.finish());
  return plan;
}

PlanPtr plan_concatenate(const Call& call) {
  const std::vector<Type> inputs = input_types(call);
  const Signature signature{*call.op, inputs, *call.attrs, call.numbers};
  auto plan = std::make_unique<ConcatenatePlan>();
  plan->types = call.op->type(signature);
  plan->axis = static_cast<std::size_t>(signature.attr().integer(0));
  return plan;
}

}  // namespace groove::eager
