// Tensor's methods about shape, dtype and host access to the data.
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "groove/storage.h"
#include "groove/tensor.h"
#include "src/core/check.h"
#include "src/core/complex.h"
#include "src/core/geometry.h"
#include "src/core/half.h"
#include "src/core/host_value.h"
#include "src/core/tensor_impl.h"

namespace groove {
namespace {

TensorImpl& checked(const TensorBase& tensor, const Site& site, const char* what) {
  GROOVE_CHECK_AT(site, tensor.defined(), "{}: the tensor is undefined; give it a value first",
                  what);
  return *tensor.impl();
}

}  // namespace

IntArrayRef DataMethods::sizes(Site site) const {
  return checked(*this, site, "sizes").geometry.sizes;
}
IntArrayRef DataMethods::strides(Site site) const {
  return checked(*this, site, "strides").geometry.strides;
}

std::int64_t DataMethods::size(std::int64_t dim, Site site) const {
  const CallFrame frame(site);
  const Shape& all = checked(*this, site, "size").geometry.sizes;
  GROOVE_CHECK(!all.empty(), "size: a 0-d tensor has no dimension {}", dim);
  return all[static_cast<std::size_t>(wrap_dim("size", dim, all))];
}

std::int64_t DataMethods::stride(std::int64_t dim, Site site) const {
  const CallFrame frame(site);
  const Geometry& geometry = checked(*this, site, "stride").geometry;
  GROOVE_CHECK(!geometry.sizes.empty(), "stride: a 0-d tensor has no dimension {}", dim);
  return geometry.strides[static_cast<std::size_t>(wrap_dim("stride", dim, geometry.sizes))];
}

std::int64_t DataMethods::numel() const { return impl_ ? impl_->numel : 0; }
std::size_t DataMethods::nbytes() const {
  return static_cast<std::size_t>(numel() * element_size());
}
std::int64_t DataMethods::element_size() const {
  return static_cast<std::int64_t>(groove::element_size(scalar_type()));
}
ScalarType DataMethods::scalar_type(Site site) const { return checked(*this, site, "dtype").dtype; }
Device DataMethods::device(Site site) const { return checked(*this, site, "device").device; }
TensorOptions DataMethods::options(Site site) const {
  const TensorImpl& impl = checked(*this, site, "options");
  return TensorOptions(impl.dtype).device(impl.device).layout(kStrided);
}
std::int64_t DataMethods::storage_offset(Site site) const {
  return checked(*this, site, "storage_offset").geometry.offset;
}
bool DataMethods::is_contiguous() const {
  return checked(*this, Site::none(), "is_contiguous").is_contiguous;
}

bool DataMethods::is_contiguous(MemoryFormat format) const {
  detail::check_memory_format("is_contiguous", format);
  return is_contiguous();
}
bool DataMethods::is_same_size(const Tensor& other) const { return sizes() == other.sizes(); }

bool DataMethods::is_alias_of(const Tensor& other) const {
  TensorImpl& mine = checked(*this, Site::none(), "is_alias_of");
  TensorImpl& theirs = checked(other, Site::none(), "is_alias_of");
  materialize(mine);
  materialize(theirs);
  return mine.storage == theirs.storage;
}

UntypedStorage DataMethods::storage(Site site) const {
  checked(*this, site, "storage");
  return UntypedStorage(self());
}
void* UntypedStorage::data(Site site) const {
  char* const first = static_cast<char*>(tensor_.data_ptr(site));
  return first - tensor_.storage_offset(site) * static_cast<std::int64_t>(tensor_.element_size());
}
DataPtr UntypedStorage::data_ptr(Site site) const {
  void* const address = data(site);
  Storage& storage = *tensor_.impl()->storage;
  return {address, storage.free ? &storage : nullptr, storage.device};
}
const void* UntypedStorage::unsafeGetStorageImpl() const {
  if (!tensor_.defined()) return nullptr;
  materialize(*tensor_.impl());
  return tensor_.impl()->storage.get();
}
std::size_t UntypedStorage::nbytes(Site site) const {
  TensorImpl& impl = checked(tensor_, site, "nbytes");
  materialize(impl);
  return impl.storage->bytes;
}

namespace {

TensorImpl& single_element(const TensorBase& tensor, const Site& site) {
  TensorImpl& impl = checked(tensor, site, "item");
  GROOVE_CHECK_AT(site, impl.numel == 1,
                  "item: the tensor has {} elements (shape {}); item() needs one", impl.numel,
                  to_string(impl.geometry.sizes));
  return impl;
}

}  // namespace

Scalar DataMethods::item(Site site) const {
  TensorImpl& impl = single_element(*this, site);
  GROOVE_CHECK_AT(site, !impl.complex,
                  "item: {} is no single number; name its type, item<c10::complex<float>>()",
                  name(impl.dtype));
  host_read(impl);
  const Scalar value = host_value(impl.data(), impl.dtype);
  // Which sign a NaN has, processors and compilers do not agree on; a program may print it.
  const bool is_nan = is_floating(impl.dtype) && std::isnan(value.to_double());
  return is_nan ? Scalar(std::numeric_limits<double>::quiet_NaN()) : value;
}

std::complex<double> DataMethods::complex_item(const Site& site) const {
  TensorImpl& impl = single_element(*this, site);
  if (!impl.complex) return item(site).to_double();
  host_read(impl);
  const ScalarType part = real_dtype(impl.dtype);
  const char* const first = static_cast<const char*>(impl.data());
  return {host_value(first, part).to_double(),
          host_value(first + groove::element_size(part), part).to_double()};
}

void* DataMethods::checked_data_ptr(ScalarType expected, bool is_const, const Site& site) const {
  TensorImpl& impl = checked(*this, site, "data_ptr");
  GROOVE_CHECK_AT(site, expected == ScalarType::Undefined || expected == impl.dtype,
                  "data_ptr: expected dtype {} but the tensor has dtype {}; convert it with to()",
                  name(expected), name(impl.dtype));
  if (impl.complex) return pair_of(*this).checked_data_ptr(ScalarType::Undefined, is_const, site);
  host_read(impl);
  if (!is_const) {
    if (pending_hooks().expose) pending_hooks().expose(impl);
    impl.storage->flags |= Storage::kExposed;
  }
  return impl.data();
}

void DataMethods::check_accessor(std::int64_t dims, const Site& site) const {
  const Shape& all = checked(*this, site, "accessor").geometry.sizes;
  GROOVE_CHECK_AT(site, static_cast<std::int64_t>(all.size()) == dims,
                  "accessor: expected {} dimensions but the tensor has {} (shape {})", dims,
                  all.size(), to_string(all));
}

Scalar host_value(const void* address, ScalarType dtype) {
  const auto read = [address]<typename T>(T value) {
    std::memcpy(&value, address, sizeof(T));
    return value;
  };
  switch (dtype) {
    case kByte:
      return read(std::uint8_t());
    case kChar:
      return read(std::int8_t());
    case kShort:
      return read(std::int16_t());
    case kInt:
      return read(std::int32_t());
    case kLong:
      return read(std::int64_t());
    case kFloat:
      return read(float());
    case kDouble:
      return read(double());
    case kBool:
      return read(std::uint8_t()) != 0;
    case kHalf:
      return half_value(read(std::uint16_t()));
    case kBFloat16:
      return bfloat16_value(read(std::uint16_t()));
    default:
      throw_error(fmt::format("item: dtype {} is not built", name(dtype)));
  }
}

void store_host_value(void* address, ScalarType dtype, const Scalar& value) {
  const std::uint64_t bits = value.bits_as(dtype);
  std::memcpy(address, &bits, groove::element_size(dtype));  // little-endian
}

}  // namespace groove
