// The handle itself: one pointer to a shared TensorImpl, and the source location of a call.
#pragma once

#include "groove/array_ref.h"
#include "groove/detail/ref_counted.h"
#include "groove/detail/site.h"
#include "groove/options.h"
#include "groove/scalar.h"

namespace groove {

class Tensor;
struct TensorImpl;
void destroy(TensorImpl* impl);  // when the last reference has gone
// Every handle counts references, also where TensorImpl is incomplete: its count comes first in it
// (checked in src/core/tensor_impl.cpp).
inline const detail::RefCounted& reference_counter(TensorImpl* impl) {
  return *reinterpret_cast<const detail::RefCounted*>(impl);
}

class TensorBase {
 public:
  TensorBase() = default;
  explicit TensorBase(TensorImpl* impl) : impl_(impl) {}
  explicit TensorBase(detail::RefPtr<TensorImpl> impl) : impl_(std::move(impl)) {}
  bool defined() const { return static_cast<bool>(impl_); }
  TensorImpl* impl() const { return impl_.get(); }
  TensorImpl* unsafeGetTensorImpl() const { return impl_.get(); }
  bool is_same(const TensorBase& other) const { return impl_ == other.impl_; }
  void reset() { impl_.reset(); }
  std::int64_t use_count() const;

 protected:
  const Tensor& self() const;  // every TensorBase is a Tensor
  detail::RefPtr<TensorImpl> impl_;
};

// A tensor argument together with the user's place in the source, also for `a + b`.
struct Arg {
  Arg(const Tensor& value, Site place = Site::current()) : tensor(&value), site(place) {}
  const Tensor* tensor;
  Site site;
};

}  // namespace groove
