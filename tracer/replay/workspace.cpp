#include "tracer/replay/workspace.h"

#include "src/core/allocator.h"

namespace groove::tracer {

void* Workspace::take(std::size_t bytes) {
  if (!memory_ || memory_->bytes < bytes) memory_ = allocate_arena(bytes);
  return memory_->data;
}

}  // namespace groove::tracer
