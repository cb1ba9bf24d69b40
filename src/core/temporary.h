// Is a tensor known to nothing but the expression that made it? Counts of references tell, but for
// the references that the tracer has.
#pragma once

#include "src/core/tensor_impl.h"

namespace groove {

/// The tracer's answer, about what a recording or a replay knows.
extern bool (*temporary_hook)(const TensorImpl& impl);

/// Is the reference that asks the only one, and does no other tensor lie in the same memory?
/// `own`, `own_of_memory`: references that do not count.
inline bool is_alone(const TensorImpl& impl, std::int64_t own = 0, std::int64_t own_of_memory = 0) {
  return impl.use_count() == 1 + own && impl.storage &&
         impl.storage->use_count() == 1 + own_of_memory &&
         !(impl.storage->flags & Storage::kForeign);
}
inline bool is_temporary(const TensorImpl& impl) {
  return impl.trace_session != 0 && temporary_hook ? temporary_hook(impl) : is_alone(impl);
}

}  // namespace groove
