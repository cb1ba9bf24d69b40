// Life of complex tensors.
#include "src/core/complex.h"

#include "src/core/check.h"
#include "src/core/dispatch.h"

namespace groove {

bool can_pair(const Geometry& geometry) {
  const std::size_t rank = geometry.sizes.size();
  if (rank == 0 || geometry.sizes[rank - 1] != 2 || geometry.strides[rank - 1] != 1) return false;
  bool is_even = geometry.offset % 2 == 0;
  for (std::size_t i = 0; i + 1 < rank; ++i) is_even = is_even && geometry.strides[i] % 2 == 0;
  return is_even;
}

Geometry pair_geometry(Geometry geometry) {
  for (std::int64_t& stride : geometry.strides) stride *= 2;
  geometry.offset *= 2;
  geometry.sizes.push_back(2);
  geometry.strides.push_back(1);
  return geometry;
}

Tensor from_pair(const Tensor& pair) {
  TensorImpl& real = *pair.impl();
  GROOVE_ASSERT(can_pair(real.geometry) && is_floating(real.dtype), "{} {} is no pair of numbers",
                name(real.dtype), to_string(real.geometry.sizes));
  Geometry geometry = real.geometry;
  geometry.sizes.pop_back();
  geometry.strides.pop_back();
  for (std::int64_t& stride : geometry.strides) stride /= 2;
  geometry.offset /= 2;
  complex_numbers_are_used.store(true, std::memory_order_relaxed);
  auto impl = make_impl(real.storage, std::move(geometry), complex_dtype(real.dtype));
  impl->device = real.device;
  impl->complex = new ComplexParts{pair, {}};
  impl->is_pending = true;  // for good: whoever reads it goes to the pair
  return Tensor(std::move(impl));
}

void materialize_slowly(TensorImpl& impl) {
  if (!impl.complex) return pending_hooks().materialize(impl);
  TensorImpl& real = *impl.complex->pair.impl();
  materialize(real);
  impl.storage = real.storage;
  impl.geometry.offset = real.geometry.offset / 2;  // known of a view only now
}

void host_read(TensorImpl& impl) {
  if (impl.complex) {
    host_read(*impl.complex->pair.impl());
  } else if (pending_hooks().host_read) {
    pending_hooks().host_read(impl);
  }
  materialize(impl);
}

}  // namespace groove
