// Row buffers: what one phase of a row computes at some cost and a later one needs again (the exp of
// a softmax) is stored in a row of scratch memory and loaded, instead of being computed twice.
#include <algorithm>

#include "jit/kernel_writer.h"
#include "kernels/build.h"

namespace groove::jit {
namespace {

// A store and a load into the first-level cache cost as much as a few instructions.
constexpr std::int32_t kDear = 10;

}  // namespace

// Instructions of the node's body over operands that are there.
bool KernelWriter::is_dear(std::int32_t index) const {
  const Node& n = node(index);
  const auto* how = n.op->lowering
                        ? std::get_if<kernels::ElementwiseLowering>(&n.op->lowering->how)
                        : nullptr;
  if (!how || n.outputs.size() != 1 || how->uses_flat_index || how->uses_last_index) return false;
  const std::vector<Type> types = operand_types(graph_, n);
  const std::vector<Scalar> numbers = recorded_numbers(graph_, n);
  const Signature signature{*n.op, types, n.attrs, numbers};
  const TypeResult result = derive_types(graph_, n);
  kernels::Builder builder;
  kernels::Exprs inputs, parameters;
  for (const Type& type : types) {
    inputs.push_back(type.dtype == ScalarType::Undefined
                         ? kernels::Expr()
                         : builder.load(type.dtype, kernels::StrideClass::kContiguous));
  }
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    parameters.push_back(
        builder.param(kernels::number_dtype(signature, *how, result.compute, i)));
  }
  const auto leaves = static_cast<std::int32_t>(inputs.size() + parameters.size());
  const kernels::Exprs body =
      kernels::emit_elementwise(builder, signature, result, inputs, parameters);
  return body[0].id() - leaves >= kDear;
}

const KernelWriter::Kept* KernelWriter::kept(std::int32_t index, const Chain* chain) const {
  if (chain->has_pick) return nullptr;
  for (const Kept& row : kept_) {
    if (row.index == index) return &row;
  }
  return nullptr;
}

void KernelWriter::keep(const std::vector<std::int32_t>& members, BufferId scratch,
                        std::int64_t row_bytes) {
  Walk walk;
  walk.strides = identity_strides(group_.loop, Span::kFull);
  for (std::size_t i = 0; i < walk.strides.size(); ++i) {
    if (!group_.loop.is_reduced[i]) walk.strides[i] = 0;
  }
  std::int64_t begin = 0;
  for (const std::int32_t index : members) {
    const ScalarType dtype = graph_.type(node(index).outputs[0]).dtype;
    walk.offset = begin / static_cast<std::int64_t>(element_size(dtype));
    begin += row_bytes;
    Memory memory;
    memory.use = Memory::Use::kStore;
    memory.buffer = scratch;
    memory.dtype = dtype;
    memory.walk = walk;
    memory.is_row_buffer = true;
    memories_.push_back(memory);
    memory.use = Memory::Use::kLoad;
    memories_.push_back(memory);
    kept_.push_back({index, memories_.size() - 2, memories_.size() - 1});
  }
}

}  // namespace groove::jit
