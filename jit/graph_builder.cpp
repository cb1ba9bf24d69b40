// Records dispatched calls as nodes; tensors carry the number of the value they stand for.
#include "jit/graph_builder.h"

#include <atomic>

#include "kernels/ops/widen.h"
#include "src/core/check.h"
#include "src/core/tensor_impl.h"

namespace groove::jit {
namespace {

// Above every number a tracer context gives itself, so that the two cannot meet.
std::uint64_t next_session() {
  static std::atomic<std::uint64_t> next{std::uint64_t{1} << 63};
  return next.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

GraphBuilder::GraphBuilder(Graph& graph) : graph_(graph), session_(next_session()) {}

void GraphBuilder::set_context(Place place, std::int32_t stage,
                               const std::vector<NumberRef>* origins) {
  place_ = place;
  stage_ = stage;
  origins_ = origins;
}

Tensor GraphBuilder::tensor(ValueId value) const {
  if (value == kNoValue) return Tensor();
  const Type& type = graph_.type(value);
  auto impl =
      make_impl(StoragePtr(), Geometry{type.sizes, contiguous_strides(type.sizes), 0}, type.dtype);
  impl->is_pending = true;
  impl->trace_session = session_;
  impl->trace_id = value;
  return Tensor(std::move(impl));
}

ValueId GraphBuilder::value(const Tensor& tensor) const {
  if (!tensor.defined()) return kNoValue;
  GROOVE_CHECK(tensor.impl()->trace_session == session_,
               "a composite reads a tensor that is not one of its inputs; pass it as an input");
  return tensor.impl()->trace_id;
}

void GraphBuilder::handle(void* self, const Call& call, Tensor* outputs) {
  static_cast<GraphBuilder*>(self)->add(call, outputs);
}

void GraphBuilder::add(const Call& call, Tensor* outputs) {
  if (call.op->kind == OpKind::kComposite) {
    std::vector<Type> types;
    for (const Tensor& input : call.inputs) {
      types.push_back(input.defined() ? graph_.type(value(input))
                                      : Type{ScalarType::Undefined, {}});
    }
    const Tensors results =
        kernels::compose(Signature{*call.op, types, *call.attrs, call.numbers}, call.inputs);
    for (std::size_t i = 0; i < results.size(); ++i) outputs[i] = results[i];
    return;
  }
  std::vector<ValueId> operands;
  for (const Tensor& input : call.inputs) operands.push_back(value(input));
  std::vector<NumberRef> numbers;
  for (const Scalar& number : call.numbers) {
    const int origin = number.origin();
    const bool is_known =
        origins_ && origin >= 0 && static_cast<std::size_t>(origin) < origins_->size();
    numbers.push_back(is_known ? (*origins_)[static_cast<std::size_t>(origin)]
                               : NumberRef{-1, number});
  }
  const std::int32_t node = graph_.add_node(*call.op, std::move(operands), *call.attrs,
                                            std::move(numbers), place_, stage_);
  const std::vector<ValueId> results = graph_.nodes[static_cast<std::size_t>(node)].outputs;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (call.is_inplace) {
      // The tensor stands for its new value from here on.
      const Tensor& target = call.inputs[static_cast<std::size_t>(call.op->mutates[i])];
      target.impl()->trace_id = results[i];
      outputs[i] = target;
    } else {
      outputs[i] = tensor(results[i]);
    }
  }
}

}  // namespace groove::jit
