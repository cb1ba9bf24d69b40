// Row buffers: what one phase of a row computes at some cost and a later one needs again (the exp
// of a softmax) is stored in a row of scratch memory and loaded, instead of being computed twice.
#include "jit/kernel_writer.h"

namespace groove::jit {
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
