// The memory in which a thread's small programs compute. They run one at a time and leave nothing
// in it, so all share the same: a loop that goes through many programs, one for each length of its
// sequences, say, finds it in the caches.
#pragma once

#include <cstddef>

#include "groove/tensor.h"
#include "src/core/tensor_impl.h"

namespace groove::tracer {

class Workspace {
 public:
  /// At least so many bytes; at another address when it has grown. Throws groove::Error.
  void* take(std::size_t bytes);

 private:
  StoragePtr memory_;
};

}  // namespace groove::tracer
