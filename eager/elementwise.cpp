// Elementwise ops: one kernel over the broadcast shape.
#include <cstring>

#include "eager/kept_kernels.h"
#include "eager/plan.h"
#include "kernels/backend.h"
#include "kernels/fours.h"
#include "src/core/check.h"

namespace groove::eager {
namespace {

using kernels::Box;
using kernels::Builder;
using kernels::Expr;
using kernels::Exprs;

constexpr std::size_t kMaxAccesses = 24;
constexpr std::size_t kMaxNumbers = 24;

class ElementwisePlan : public Plan {
 public:
  TypeResult types;
  Box box;
  std::shared_ptr<const kernels::Callable> callable;
  std::vector<std::size_t> loads;  // which inputs have an access, in order
  std::vector<ScalarType> number_dtypes;

  void run(const Call& call, Tensor* outputs) const override {
    void* pointers[kMaxAccesses];
    std::uint64_t scalars[kMaxNumbers];
    std::size_t count = 0;
    for (const std::size_t i : loads) pointers[count++] = call.inputs[i].impl()->data();
    for (std::size_t k = 0; k < types.outputs.size(); ++k) {
      if (call.is_inplace) {
        outputs[k] = inplace_target(call, static_cast<int>(k));
      } else {
        outputs[k] = make_empty(types.outputs[k].sizes, types.outputs[k].dtype);
      }
      pointers[count++] = outputs[k].impl()->data();
    }
    for (std::size_t i = 0; i < number_dtypes.size(); ++i)
      scalars[i] = call.numbers[i].bits_as(number_dtypes[i]);
    kernels::Launch launch;
    kernels::describe(launch, box);
    launch.pointers = pointers;
    launch.scalars = scalars;
    kernels::run_parallel(*callable, kernels::Order::kMap, launch);
    if (call.is_inplace)
      for (std::size_t k = 0; k < types.outputs.size(); ++k)
        finish_write(call, static_cast<int>(k));
  }
};

// Fours of elements, each written by four stores of one loop; the last may be a part.
class FoursPlan : public Plan {
 public:
  Type output;
  std::shared_ptr<const kernels::Callable> callable;
  std::vector<ScalarType> number_dtypes;

  void run(const Call& call, Tensor* outputs) const override {
    outputs[0] = make_empty(output.sizes, output.dtype);
    std::uint64_t scalars[kMaxNumbers] = {};
    const std::size_t numbers = number_dtypes.size();
    for (std::size_t i = 0; i < numbers; ++i)
      scalars[i] = call.numbers[i].bits_as(number_dtypes[i]);
    char* const data = static_cast<char*>(outputs[0].impl()->data());
    const std::int64_t elements = outputs[0].impl()->numel, fours = elements / 4,
                       rest = elements % 4;
    const auto four_bytes = 4 * element_size(output.dtype);
    if (fours > 0) run_fours(data, fours, scalars);
    if (rest == 0) return;
    alignas(8) char last[4 * sizeof(double)];
    scalars[numbers] = static_cast<std::uint64_t>(fours);
    run_fours(last, 1, scalars);
    std::memcpy(data + static_cast<std::size_t>(fours) * four_bytes, last,
                static_cast<std::size_t>(rest) * element_size(output.dtype));
  }

 private:
  void run_fours(char* to, std::int64_t count, const std::uint64_t* scalars) const {
    void* pointers[4];
    Box box;
    box.count[0] = count;
    for (std::size_t i = 0; i < 4; ++i) {
      pointers[i] = to + i * element_size(output.dtype);
      box.strides.push_back({4});
    }
    kernels::Launch launch;
    kernels::describe(launch, box);
    launch.pointers = pointers;
    launch.scalars = scalars;
    kernels::run_parallel(*callable, kernels::Order::kMap, launch);
  }
};

PlanPtr plan_fours(const Call& call, const Signature& signature) {
  const auto& how = std::get<kernels::ElementwiseLowering>(call.op->lowering->how);
  auto plan = std::make_unique<FoursPlan>();
  const TypeResult types = call.op->type(signature);
  plan->output = types.outputs[0];
  GROOVE_ASSERT(call.numbers.size() < kMaxNumbers);
  KernelKey key(call, signature.inputs, types);
  for (std::size_t i = 0; i < call.numbers.size(); ++i) {
    plan->number_dtypes.push_back(kernels::number_dtype(signature, how, types.compute, i));
    key.add(plan->number_dtypes.back());
  }
  key.add(4);  // no class of strides
  plan->callable = kept_kernel(std::move(key), [&] {
    Builder builder;
    Exprs numbers;
    for (const ScalarType number : plan->number_dtypes) numbers.push_back(builder.param(number));
    const Expr four = builder.index(0) + builder.param(kLong);
    for (const Expr result : kernels::emit_fours(builder, signature, types, numbers, four))
      builder.store(plan->output.dtype, kernels::StrideClass::kStrided, result);
    return builder.finish();
  });
  return plan;
}

}  // namespace

PlanPtr plan_elementwise(const Call& call) {
  const auto& how = std::get<kernels::ElementwiseLowering>(call.op->lowering->how);
  if (kernels::fours_of(*call.op))
    return plan_fours(call, Signature{*call.op, {}, *call.attrs, call.numbers});
  const std::vector<Type> inputs = input_types(call);
  const Signature signature{*call.op, inputs, *call.attrs, call.numbers};
  auto plan = std::make_unique<ElementwisePlan>();
  plan->types = call.op->type(signature);
  const Shape domain = plan->types.outputs[0].sizes;
  std::vector<Shape> strides;
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    if (!call.inputs[i].defined()) continue;
    const Geometry& geometry = call.inputs[i].impl()->geometry;
    plan->loads.push_back(i);
    strides.push_back(kernels::broadcast_strides(geometry.sizes, geometry.strides, domain));
  }
  for (std::size_t k = 0; k < plan->types.outputs.size(); ++k) {
    if (call.is_inplace) {
      const Tensor& target = call.inputs[static_cast<std::size_t>(call.op->mutates[k])];
      GROOVE_CHECK(target.impl()->geometry.sizes == domain,
                   "{}_: the output shape {} does not match the broadcast shape {}", call.op->name,
                   to_string(target.impl()->geometry.sizes), to_string(domain));
      strides.push_back(target.impl()->geometry.strides);
      plan->types.outputs[k].dtype = target.impl()->dtype;
    } else {
      strides.push_back(contiguous_strides(domain));
    }
  }
  GROOVE_ASSERT(strides.size() <= kMaxAccesses && call.numbers.size() <= kMaxNumbers);
  plan->box = kernels::collapse(domain, strides, how.uses_last_index ? 1 : 0);
  GROOVE_ASSERT(!how.uses_flat_index || plan->box.rank == 1, "{}: needs one flat loop",
                call.op->name);

  for (std::size_t i = 0; i < call.numbers.size(); ++i)
    plan->number_dtypes.push_back(kernels::number_dtype(signature, how, plan->types.compute, i));
  const auto class_of = [&](std::size_t access) {
    return kernels::stride_class(plan->box.strides[access][0], plan->box.count[0]);
  };

  KernelKey key(call, inputs, plan->types);
  for (const ScalarType number : plan->number_dtypes) key.add(number);
  for (std::size_t access = 0; access < strides.size(); ++access) key.add(class_of(access));
  plan->callable = kept_kernel(std::move(key), [&] {
    Builder builder;
    Exprs loaded(call.inputs.size()), numbers;
    for (std::size_t access = 0; access < plan->loads.size(); ++access) {
      const std::size_t i = plan->loads[access];
      loaded[i] = builder.load(inputs[i].dtype, class_of(access));
    }
    for (const ScalarType number : plan->number_dtypes) numbers.push_back(builder.param(number));
    const Exprs results = kernels::emit_elementwise(
        builder, signature, plan->types, loaded, numbers, [&builder] { return builder.index(0); });
    for (std::size_t k = 0; k < results.size(); ++k)
      builder.store(plan->types.outputs[k].dtype, class_of(plan->loads.size() + k), results[k]);
    return builder.finish();
  });
  return plan;
}

}  // namespace groove::eager
