// Contractions: matmul and linear through the contraction generator, bias as an epilogue.
#include "eager/plan.h"
#include "kernels/backend.h"
#include "kernels/contraction/operands.h"
#include "kernels/pool.h"
#include "src/core/check.h"

namespace groove::eager {
namespace {

using kernels::ContractionLaunch;
using kernels::kMaxAxes;

// Below this many multiply-adds a second thread costs more than it brings.
constexpr double kSerialWork = 200'000;

class ContractionPlan : public Plan {
 public:
  TypeResult types;
  kernels::ContractionOperands operands;
  std::shared_ptr<const kernels::ContractionCallable> callable;
  bool has_bias = false;
  std::int64_t strides[2][kMaxAxes] = {};
  bool expands_b = false;
  Shape expanded_b;
  // Planned for the copies when operands have to be copied first.
  Geometry a, b;

  void run(const Call& call, Tensor* outputs) const override {
    Tensor left = call.inputs[0], right = call.inputs[1];
    if (operands.copy_a) left = dense(left, a);
    if (operands.copy_b) right = dense(right, b);
    outputs[0] = make_empty(types.outputs[0].sizes, types.outputs[0].dtype);
    if (outputs[0].impl()->numel == 0) return;
    void* pointers[2];
    int count = 0;
    if (has_bias) pointers[count++] = call.inputs[2].impl()->data();
    pointers[count++] = outputs[0].impl()->data();
    ContractionLaunch launch;
    launch.shape = operands.shape;
    launch.a = left.impl()->data();
    launch.b = right.impl()->data();
    launch.pointers = pointers;
    launch.strides = strides;
    const auto& shape = operands.shape;
    const double work = double(shape.batch) * double(shape.m) * double(shape.n) * double(shape.k);
    const int threads = kernels::threads_for(work < kSerialWork);
    const std::size_t scratch = callable->scratch_bytes(launch, threads);
    Tensor room;
    char* base = nullptr;
    const std::size_t each = (scratch + 63) / 64 * 64;
    if (each > 0) {
      room = make_empty({static_cast<std::int64_t>(each) * threads}, kByte);
      base = static_cast<char*>(room.impl()->data());
    }
    if (threads == 1) {
      callable->run(launch, 0, 1, base);
    } else {
      kernels::parallel(threads, [&](int part, int parts) {
        callable->run(launch, part, parts, base + static_cast<std::size_t>(part) * each);
      });
    }
  }

 private:
  static Tensor dense(const Tensor& source, const Geometry& target) {
    Tensor copy = make_empty(target.sizes, source.impl()->dtype);
    const Geometry& from = source.impl()->geometry;
    const Geometry seen{target.sizes,
                        kernels::broadcast_strides(from.sizes, from.strides, target.sizes),
                        from.offset};
    copy_elements(make_view(source, seen), copy);
    return copy;
  }
};

// The operand's sizes with its batch axes expanded to those of the result.
Geometry expanded(const Geometry& operand, const Shape& out_sizes, std::size_t matrix_axes) {
  Geometry result;
  if (out_sizes.size() > matrix_axes && operand.sizes.size() >= matrix_axes)
    result.sizes.append(out_sizes.data(), out_sizes.size() - matrix_axes);
  const std::size_t own =
      operand.sizes.size() < matrix_axes ? 0 : operand.sizes.size() - matrix_axes;
  result.sizes.append(operand.sizes.data() + own, operand.sizes.size() - own);
  result.strides = contiguous_strides(result.sizes);
  return result;
}

}  // namespace

PlanPtr plan_contraction(const Call& call) {
  const auto& how = std::get<kernels::ContractionLowering>(call.op->lowering->how);
  const std::vector<Type> inputs = input_types(call);
  const Signature signature{*call.op, inputs, *call.attrs, call.numbers};
  auto plan = std::make_unique<ContractionPlan>();
  plan->types = call.op->type(signature);
  const Shape& out = plan->types.outputs[0].sizes;
  const ScalarType dtype = plan->types.outputs[0].dtype;
  Geometry a = call.inputs[0].impl()->geometry, b = call.inputs[1].impl()->geometry;
  plan->operands = kernels::contraction_operands(how, a, b, out);
  if (plan->operands.copy_a || plan->operands.copy_b) {
    const bool copy_a = plan->operands.copy_a, copy_b = plan->operands.copy_b;
    const bool is_batched = b.sizes.size() > 2;
    plan->a = is_batched ? expanded(a, out, 2) : Geometry{a.sizes, contiguous_strides(a.sizes), 0};
    plan->b = expanded(b, out, 2);
    if (copy_a) a = plan->a;
    if (copy_b) b = plan->b;
    plan->operands = kernels::contraction_operands(how, a, b, out);
    GROOVE_ASSERT(!plan->operands.copy_a && !plan->operands.copy_b);
    plan->operands.copy_a = copy_a;
    plan->operands.copy_b = copy_b;
  }
  const auto& shape = plan->operands.shape;
  plan->has_bias = how.has_bias && call.inputs.size() > 2 && call.inputs[2].defined();
  std::int64_t(&out_strides)[kMaxAxes] = plan->strides[plan->has_bias ? 1 : 0];
  out_strides[0] = 1;
  out_strides[1] = shape.n;
  out_strides[2] = shape.m * shape.n;
  kernels::Contraction contraction;
  contraction.dtype = dtype;
  contraction.order = plan->operands.order;
  contraction.a = plan->operands.a;
  contraction.b = plan->operands.b;
  if (plan->has_bias) {
    plan->strides[0][0] = call.inputs[2].impl()->geometry.strides[0];
    kernels::Builder builder;
    const kernels::Expr sum = builder.load(dtype, kernels::StrideClass::kContiguous);
    const kernels::Expr bias =
        builder.load(dtype, kernels::stride_class(plan->strides[0][0], shape.n));
    builder.store(dtype, kernels::StrideClass::kContiguous, sum + bias);
    contraction.epilogue = builder.finish();
  } else {
    contraction.epilogue = kernels::plain_epilogue(dtype);
  }
  plan->callable = kernels::compile_cached(kernels::current_backend(), contraction);
  return plan;
}

}  // namespace groove::eager
