#include "groove/dlpack.h"

#include <algorithm>
#include <memory>

#include "groove/factories.h"
#include "src/core/check.h"
#include "src/core/environment.h"
#include "src/core/tensor_impl.h"

namespace groove {
namespace {

struct TypeCode {
  ScalarType dtype;
  DLDataTypeCode code;
};
constexpr TypeCode kCodes[] = {{kDouble, kDLFloat},   {kFloat, kDLFloat}, {kHalf, kDLFloat},
                               {kLong, kDLInt},       {kInt, kDLInt},     {kShort, kDLInt},
                               {kChar, kDLInt},       {kByte, kDLUInt},   {kBool, kDLBool},
                               {kBFloat16, kDLBfloat}};

DLDataType code_of(ScalarType dtype) {
  for (const TypeCode& known : kCodes)
    if (known.dtype == dtype)
      return {static_cast<std::uint8_t>(known.code),
              static_cast<std::uint8_t>(8 * element_size(dtype)), 1};
  throw_error(fmt::format("to_dlpack: DLPack has no dtype {}", name(dtype)));
}

ScalarType dtype_of_code(const DLDataType& type) {
  for (const TypeCode& known : kCodes)
    if (known.code == type.code && 8 * element_size(known.dtype) == type.bits && type.lanes == 1)
      return known.dtype;
  throw_error(
      fmt::format("from_dlpack: elements of type code {} with {} bits and {} lanes are of no dtype "
                  "of Groove's",
                  type.code, type.bits, type.lanes));
}

// ---- to others ----

// What a receiver holds. The storage, not the tensor, which the program may give other memory.
template <typename Managed>
struct Lent {
  StoragePtr storage;
  Shape sizes, strides;
  Managed managed{};
};

template <typename Managed>
Managed* lend(const Tensor& tensor) {
  GROOVE_CHECK(tensor.defined(), "to_dlpack: the tensor is undefined; give it a value first");
  TensorImpl& impl = *tensor.impl();
  GROOVE_CHECK(impl.device.is_cpu(), "to_dlpack: the tensor is on {}; bring it to the CPU first",
               impl.device.str());
  const DLDataType type = code_of(impl.dtype);
  void* const data = tensor.data_ptr();
  auto lent = std::make_unique<Lent<Managed>>();
  lent->storage = impl.storage;
  lent->sizes = impl.geometry.sizes;
  lent->strides = impl.geometry.strides;
  DLTensor& out = lent->managed.dl_tensor;
  out.data = impl.numel == 0 ? nullptr : data;
  out.device = {kDLCPU, 0};
  out.ndim = static_cast<std::int32_t>(lent->sizes.size());
  out.dtype = type;
  out.shape = lent->sizes.data();
  out.strides = lent->strides.data();
  lent->managed.manager_ctx = lent.get();
  lent->managed.deleter = [](Managed* self) {
    delete static_cast<Lent<Managed>*>(self->manager_ctx);
  };
  return &lent.release()->managed;
}

// ---- from others ----

// Row-major unless the structure says otherwise; throws unless all elements lie within 2^63 bytes.
Shape strides_of(const DLTensor& given, const Shape& sizes, std::size_t width) {
  Shape strides;
  bool fits = true, is_empty = false;
  std::int64_t bytes = static_cast<std::int64_t>(width);
  for (const std::int64_t size : sizes) {
    GROOVE_CHECK(size >= 0, "from_dlpack: the size {} is negative", size);
    is_empty = is_empty || size == 0;
    fits = fits && !__builtin_mul_overflow(bytes, std::max<std::int64_t>(size, 1), &bytes);
  }
  GROOVE_CHECK(fits, "from_dlpack: the shape {} has more than 2^63 bytes",
               to_string(IntArrayRef(sizes)));
  if (!given.strides) return contiguous_strides(sizes);
  std::int64_t last = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::int64_t stride = given.strides[i];
    GROOVE_CHECK(stride >= 0, "from_dlpack: the stride {} is negative; pass a copy", stride);
    std::int64_t reach = 0;
    fits = fits &&
           !__builtin_mul_overflow(std::max<std::int64_t>(sizes[i] - 1, 0), stride, &reach) &&
           !__builtin_add_overflow(last, reach, &last);
    strides.push_back(stride);
  }
  fits = fits && !__builtin_add_overflow(last, 1, &last) &&
         !__builtin_mul_overflow(last, static_cast<std::int64_t>(width), &bytes);
  GROOVE_CHECK(fits, "from_dlpack: shape {} with strides {} reaches over more than 2^63 bytes",
               to_string(IntArrayRef(sizes)), to_string(IntArrayRef(strides)));
  // Of no elements, strides say nothing; they may not even be those of a tensor.
  return is_empty ? contiguous_strides(sizes) : strides;
}

template <typename Managed>
Tensor adopt(Managed* managed, std::function<void(void*)> deleter) {
  constexpr std::int32_t kMostDims = 64;
  const DLTensor& given = managed->dl_tensor;
  GROOVE_CHECK(given.device.device_type == kDLCPU,
               "from_dlpack: the memory is on a device of type {}; Groove takes the CPU's (type 1)",
               static_cast<int>(given.device.device_type));
  const ScalarType dtype = dtype_of_code(given.dtype);
  GROOVE_CHECK(given.ndim >= 0 && given.ndim <= kMostDims,
               "from_dlpack: {} dimensions; there are 0 to {}", given.ndim, kMostDims);
  GROOVE_CHECK(given.ndim == 0 || given.shape, "from_dlpack: the pointer to the shape is null");
  const Shape sizes(given.shape, static_cast<std::size_t>(given.ndim));
  const std::size_t width = element_size(dtype);
  const Shape strides = strides_of(given, sizes, width);
  const bool is_empty = std::find(sizes.begin(), sizes.end(), 0) != sizes.end();
  const auto start = reinterpret_cast<std::uintptr_t>(given.data);
  std::uintptr_t address = 0;
  GROOVE_CHECK(
      is_empty || (given.data && !__builtin_add_overflow(start, given.byte_offset, &address)),
      "from_dlpack: the memory is at {} with an offset of {} bytes", given.data, given.byte_offset);
  GROOVE_CHECK(address % width == 0,
               "from_dlpack: the memory is not aligned to elements of {} bytes; pass a copy",
               width);
  if (!deleter && managed->deleter) deleter = [managed](void*) { managed->deleter(managed); };
  return from_blob(reinterpret_cast<void*>(address), sizes, strides, deleter, dtype);
}

}  // namespace

DLManagedTensor* to_dlpack(const Tensor& tensor, Site site) {
  const CallFrame frame(site);
  return lend<DLManagedTensor>(tensor);
}

DLManagedTensorVersioned* to_dlpack_versioned(const Tensor& tensor, Site site) {
  const CallFrame frame(site);
  auto* const managed = lend<DLManagedTensorVersioned>(tensor);
  managed->version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  return managed;
}

Tensor from_dlpack(DLManagedTensor* managed, std::function<void(void*)> deleter, Site site) {
  const CallFrame frame(site);
  GROOVE_CHECK(managed, "from_dlpack: the pointer is null");
  return adopt(managed, std::move(deleter));
}

Tensor from_dlpack(DLManagedTensorVersioned* managed, std::function<void(void*)> deleter,
                   Site site) {
  const CallFrame frame(site);
  GROOVE_CHECK(managed, "from_dlpack: the pointer is null");
  // What follows the flags may be another in another major version.
  GROOVE_CHECK(managed->version.major == DLPACK_MAJOR_VERSION,
               "from_dlpack: the structure is of DLPack {}.{}; Groove knows {}.x",
               managed->version.major, managed->version.minor, DLPACK_MAJOR_VERSION);
  GROOVE_CHECK(
      (managed->flags & DLPACK_FLAG_BITMASK_READ_ONLY) == 0,
      "from_dlpack: the memory may only be read, and Groove's tensors can be written; pass "
      "a copy");
  return adopt(managed, std::move(deleter));
}

}  // namespace groove
