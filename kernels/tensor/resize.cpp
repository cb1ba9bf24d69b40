// resize_: the tensor itself, in every handle, takes another shape over its storage, which grows
// where it is too small. Views of the storage go on seeing it.
#include <cstring>
#include <utility>

#include "groove/tensor.h"
#include "kernels/ops/rules.h"
#include "src/core/autograd_meta.h"
#include "src/core/check.h"
#include "src/core/complex.h"
#include "src/core/dispatch.h"

namespace groove {
namespace {

void grow(Storage& storage, std::size_t bytes) {
  GROOVE_CHECK(!(storage.flags & Storage::kForeign),
               "resize_: the memory of this tensor is the program's own (from_blob) and too small "
               "for {} bytes; clone() it first",
               bytes);
  const StoragePtr larger = allocate_storage(bytes, storage.device);
  std::memcpy(larger->data, storage.data, storage.bytes);
  std::memset(static_cast<char*>(larger->data) + storage.bytes, 0, bytes - storage.bytes);
  std::swap(storage.data, larger->data);
  std::swap(storage.bytes, larger->bytes);
  std::swap(storage.free, larger->free);
  std::swap(storage.free_context, larger->free_context);
}

// Another pair of the same memory: views of the one until now keep their shape.
void resize_complex(const Tensor& self, IntArrayRef size, Site site) {
  TensorImpl& impl = *self.impl();
  const Tensor pair = pair_of(self).detach(site);
  Shape sizes(size);
  sizes.push_back(2);
  pair.resize_(sizes, std::nullopt, site);
  impl.complex->pair = pair;
  impl.storage = pair.impl()->storage;
  impl.set_geometry({size, contiguous_strides(size), pair.impl()->geometry.offset / 2});
  ++impl.metadata_epoch;
}

}  // namespace

Tensor& ViewMethods::resize_(IntArrayRef size, std::optional<MemoryFormat> format,
                             Site site) const {
  const SiteScope scope(site);
  checked("resize_", self());
  detail::check_memory_format("resize_", format);
  check_sizes("resize_", size);
  TensorImpl& impl = *self().impl();
  Tensor& result = const_cast<Tensor&>(self());
  if (IntArrayRef(impl.geometry.sizes) == size) return result;
  GROOVE_CHECK(!taped(self()).impl()->requires_grad,
               "resize_: the shape {} of a tensor that requires a gradient cannot change in place",
               to_string(impl.geometry.sizes));
  if (impl.complex) {
    resize_complex(self(), size, site);
    return result;
  }
  GROOVE_CHECK(impl.tape_references == 0,
               "resize_: the shape {} cannot change in place while other tensors are views of this "
               "one or backward() needs it",
               to_string(impl.geometry.sizes));
  if (state_hooks().on_host_access) state_hooks().on_host_access(impl);
  if (state_hooks().on_metadata_change) state_hooks().on_metadata_change(impl);
  materialize(impl);
  before_write(*impl.storage);
  Geometry geometry{size, contiguous_strides(size), impl.geometry.offset};
  const auto bytes =
      static_cast<std::size_t>(geometry.offset + element_count(size)) * element_size(impl.dtype);
  if (bytes > impl.storage->bytes) grow(*impl.storage, bytes);
  impl.set_geometry(std::move(geometry));
  ++impl.metadata_epoch;
  impl.trace_session = 0;
  impl.trace_id = -1;
  return result;
}

Tensor& ViewMethods::resize_as_(const Tensor& other, Site site) const {
  const CallFrame frame(site);
  return resize_(checked("resize_as_", other).geometry.sizes, std::nullopt, site);
}

}  // namespace groove
