#include "autodiff/saved.h"

#include "groove/warning.h"
#include "src/core/check.h"
#include "tracer/thread/threads.h"

namespace groove::autodiff {

void SavedValue::reset() {
  TensorImpl* impl = std::exchange(impl_, nullptr);
  if (!impl || !is_owned_) return;
  impl->tape_references.fetch_sub(1, std::memory_order_relaxed);
  if (impl->release()) destroy(impl);
}

void SavedValue::adopt() {
  if (!impl_ || is_owned_) return;
  auto alias = make_impl(impl_->storage, impl_->geometry, impl_->dtype);
  alias->counts_apart = impl_->counts_apart;
  // The tracer goes on knowing the value.
  alias->trace_session = impl_->trace_session;
  alias->trace_id = impl_->trace_id;
  own(alias.get());
  is_adopted_ = true;
}

Tensor SavedValue::get() const {
  if (!impl_) return {};
  if (is_owned_) return Tensor(impl_);
  if (!impl_->try_retain()) return {};
  Tensor tensor(impl_);
  impl_->release();  // the handle has its own
  return tensor;
}

bool SavedValue::check(const char* op, const char* role, std::size_t index) const {
  if (impl_->storage) tracer::settle_writes(*impl_->storage);
  const std::uint32_t now = version_of(*impl_);
  GROOVE_CHECK(now == version_,
               "backward of {}: one of the variables needed for gradient computation has been "
               "modified by an inplace operation: {} {} ({} {}) is at version {}; expected version "
               "{}; clone it before the inplace operation",
               op, role, index, groove::name(impl_->dtype), to_string(impl_->geometry.sizes), now,
               version_);
  return has_other_writes();
}

void warn_of_change() {
  warn(
      "backward: a value that the gradient needs was changed since it was used, by an optimizer's "
      "step or through data(); the gradient is taken at the new value: call backward() before "
      "step(), and write without data()");
}

}  // namespace groove::autodiff
