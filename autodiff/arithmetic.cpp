#include "autodiff/arithmetic.h"

#include "groove/ops/creation.h"
#include "groove/ops/math.h"
#include "groove/ops/reductions.h"
#include "src/core/check.h"
#include "src/core/tensor_impl.h"
#include "tracer/tell/coverage.h"
#include "tracer/thread/context.h"

namespace groove::autodiff {

Tensor zeros_of(const Type& type) { return zeros(type.sizes, type.dtype); }
Tensor ones_like_root(const Tensor& root) { return ones(root.sizes(), root.scalar_type()); }
Tensor sum_of(const Tensor& a, const Tensor& b) { return add(a, b); }
void add_in_place(Tensor& target, const Tensor& value) { target.add_(value); }
Tensor copy_of(const Tensor& tensor) { return clone(tensor); }
void copy_into(Tensor& target, const Tensor& source) { target.copy_(source); }

Tensor owned_gradient(const Tensor& gradient) {
  const TensorImpl& impl = *gradient.impl();
  const bool is_shared = gradient.use_count() > 1 || !impl.storage ||
                         impl.storage->use_count() > 1 || !impl.is_contiguous;
  if (!is_shared) return gradient;
  // A recording holds every result: what it alone does eager mode would have handed over.
  const tracer::Context* const context = tracer::known_context();
  const bool is_recorded = context && context->state() == tracer::State::kRecording;
  const tracer::Uncounted uncounted(is_recorded && gradient.use_count() == 2);
  return clone(gradient);
}

Tensor conform(const Tensor& gradient, const Type& type, const char* op) {
  const TensorImpl& impl = *gradient.impl();
  Tensor result = gradient;
  if (!(impl.geometry.sizes == type.sizes)) {
    const IntArrayRef have = impl.geometry.sizes, want = type.sizes;
    bool fits = have.size() >= want.size();
    for (std::size_t i = 0; fits && i < want.size(); ++i) {
      const std::int64_t size = want[want.size() - 1 - i];
      fits = size == 1 || size == have[have.size() - 1 - i];
    }
    GROOVE_CHECK(fits, "backward of {}: gradient has shape {}, its tensor {}", op, to_string(have),
                 to_string(want));
    result = sum_to(result, want);
  }
  return impl.dtype == type.dtype ? result : result.to(type.dtype);
}

}  // namespace groove::autodiff
