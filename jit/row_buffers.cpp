// Row buffers: what one phase of a row computes at some cost and a later one needs again (the exp
// of a softmax) is stored in a row of scratch memory and loaded, instead of being computed twice.
#include "jit/row_buffers.h"

#include "jit/kernel_writer.h"

namespace groove::jit {
namespace {

constexpr std::int64_t kPage = 4096, kLine = 64;
constexpr std::int64_t kLeastShifted = 1024;  // bytes of a row

}  // namespace

std::int64_t room_to_shift(std::int64_t row_bytes) {
  return row_bytes >= kLeastShifted ? kPage : 0;
}

// A load waits for an earlier store to an address that differs from its own above the page only, as
// if it were the same one. Rows of large tensors often begin at a page; a row buffer a line or some
// behind that would make each vector wait for the ones before. Half a page is farthest from both.
void shift_row_buffers(Lowered& lowered) {
  for (LaunchPlan& launch : lowered.launches) {
    if (launch.scratch < 0) continue;
    const Buffer& scratch = lowered.buffers[static_cast<std::size_t>(launch.scratch)];
    const std::int64_t rows = launch.scratch_bytes * lowered.machine.threads;
    if (scratch.offset < 0 || scratch.bytes < rows + kPage) continue;
    const std::int64_t shift = (kPage + kPage / 2 - scratch.offset % kPage) % kPage / kLine * kLine;
    for (Operand& operand : launch.operands) {
      if (!operand.is_row_buffer) continue;
      operand.offset += shift / static_cast<std::int64_t>(element_size(operand.dtype));
    }
  }
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
