// Life of tensors: making impls over storages and ending them.
#include "src/core/tensor_impl.h"

#include <new>

#include "groove/tensor.h"
#include "src/core/allocator.h"
#include "src/core/autograd_meta.h"
#include "src/core/check.h"
#include "src/core/complex.h"
#include "src/core/environment.h"

namespace groove {

static_assert(std::is_base_of_v<detail::RefCounted, TensorImpl>);

void destroy(TensorImpl* impl) {
  if (impl->autograd) destroy_autograd_meta(impl->autograd);
  delete impl->complex;
  impl->~TensorImpl();
  deallocate_object(impl, sizeof(TensorImpl));
}

void TensorImpl::set_geometry(Geometry value) {
  geometry = std::move(value);
  numel = element_count(geometry.sizes);
  is_contiguous = geometry.is_contiguous();
}

detail::RefPtr<TensorImpl> make_impl(StoragePtr storage, Geometry geometry, ScalarType dtype) {
  detail::RefPtr<TensorImpl> impl(new (allocate_object(sizeof(TensorImpl))) TensorImpl);
  if (storage) impl->device = storage->device;
  impl->storage = std::move(storage);
  impl->dtype = dtype;
  impl->set_geometry(std::move(geometry));
  return impl;
}

Tensor make_empty(const Shape& sizes, ScalarType dtype, Device device) {
  ensure_environment();
  const std::size_t width = element_size(dtype);
  GROOVE_CHECK(width != 0, "empty: Groove does not compute with dtype {}", name(dtype));
  if (is_complex(dtype)) {
    Shape both = sizes;
    both.push_back(2);
    return from_pair(make_empty(both, real_dtype(dtype), device));
  }
  std::int64_t count = 1;
  for (std::int64_t size : sizes) {
    GROOVE_CHECK(size >= 0, "empty: shape {} has a negative size", to_string(sizes));
    GROOVE_CHECK(!__builtin_mul_overflow(count, size, &count) && count < (std::int64_t{1} << 60),
                 "empty: shape {} has too many elements", to_string(sizes));
  }
  StoragePtr storage = allocate_storage(static_cast<std::size_t>(count) * width, device);
  TensorImpl* const impl = new (allocate_object(sizeof(TensorImpl))) TensorImpl;
  impl->storage = std::move(storage);
  impl->geometry.sizes = sizes;
  impl->geometry.strides = contiguous_strides(sizes);
  impl->numel = count;
  impl->dtype = dtype;
  impl->device = device;
  return Tensor(impl);
}

Tensor make_view(const Tensor& base, Geometry geometry) {
  if (is_complex_tensor(base))
    return from_pair(make_view(pair_of(base), pair_geometry(std::move(geometry))));
  auto view = make_impl(base.impl()->storage, std::move(geometry), base.impl()->dtype);
  view->counts_apart = base.impl()->counts_apart;
  return Tensor(std::move(view));
}

std::int64_t TensorBase::use_count() const { return impl_ ? impl_->use_count() : 0; }

const Tensor& undefined_tensor() {
  static const Tensor& tensor = *new Tensor;
  return tensor;
}

constinit PendingHooks pending_hooks_;

// autodiff, which owns the type, defines this; programs of the lower layers alone (their tests)
// make no AutogradMeta and record no tape.
[[gnu::weak]] void destroy_autograd_meta(AutogradMeta*) {
  assertion_failed("autodiff is linked", __FILE__, __LINE__, "");
}

[[gnu::weak]] bool grad_enabled() { return false; }

}  // namespace groove
