// tensor(), scalar_tensor() and from_blob().
#include "groove/factories.h"

#include <utility>

#include "src/core/check.h"
#include "src/core/complex.h"
#include "src/core/environment.h"
#include "src/core/geometry.h"
#include "src/core/held_numbers.h"
#include "src/core/host_value.h"
#include "src/core/state.h"

namespace groove {
namespace detail {

TensorData::TensorData(std::initializer_list<TensorData> items)
    : dtype_(kDouble), is_number_(false) {
  sizes_.push_back(static_cast<std::int64_t>(items.size()));
  if (items.size() == 0) return;
  const TensorData& first = *items.begin();
  dtype_ = first.dtype_;
  sizes_.insert(sizes_.end(), first.sizes_.begin(), first.sizes_.end());
  for (const TensorData& item : items) {
    GROOVE_CHECK(item.sizes_ == first.sizes_,
                 "tensor: lists of unequal shape: {} beside {}; all rows need one length",
                 to_string(IntArrayRef(first.sizes_)), to_string(IntArrayRef(item.sizes_)));
    GROOVE_CHECK(item.dtype_ == first.dtype_,
                 "tensor: values of different kinds: {} beside {}; write them alike (1. and 2.)",
                 name(first.dtype_), name(item.dtype_));
    if (item.is_number_) values_.push_back(item.number_);
    values_.insert(values_.end(), item.values_.begin(), item.values_.end());
  }
}

}  // namespace detail

namespace {

Tensor finish(const char* what, Tensor tensor, const TensorOptions& options) {
  if (options.requires_grad()) {
    const Tensor& leaf = taped(tensor);
    GROOVE_CHECK(is_floating(leaf.scalar_type()),
                 "{}: only floating-point tensors can require a gradient, not {}", what,
                 name(tensor.scalar_type()));
    leaf.impl()->requires_grad = true;
  }
  note_given(tensor.impl()->geometry.sizes, false);
  return tensor;
}

}  // namespace

Tensor tensor(const detail::TensorData& data, TensorOptions options, Site site) {
  const CallFrame frame(site);
  detail::check_place("tensor", options);
  const ScalarType natural = data.dtype() == kDouble ? get_default_dtype() : data.dtype();
  const ScalarType dtype = options.dtype_opt().value_or(natural), part = real_dtype(dtype);
  const bool adds_imaginary = is_complex(dtype) && !is_complex(data.dtype());
  GROOVE_CHECK(is_complex(dtype) || !is_complex(data.dtype()),
               "tensor: complex values as {}, which has no imaginary part; take real() of them",
               name(dtype));
  Tensor result = make_empty(Shape(data.sizes()), dtype);
  char* out = static_cast<char*>(result.impl()->data());
  const auto put = [&](const Scalar& value) {
    check_element("tensor", value, part);
    store_host_value(out, part, value);
    out += element_size(part);
    if (adds_imaginary) store_host_value(std::exchange(out, out + element_size(part)), part, 0);
  };
  if (data.is_number()) put(data.number());
  for (const Scalar& value : data.values()) put(value);
  return finish("tensor", result, options);
}

Tensor scalar_tensor(const Scalar& value, TensorOptions options, Site site) {
  const CallFrame frame(site);
  detail::check_place("scalar_tensor", options);
  return tensor(value, options.dtype(options.dtype()), site);
}

namespace {

struct Deleter {
  std::function<void(void*)> call;
  void* data;
};

Tensor wrap(void* data, IntArrayRef sizes, IntArrayRef strides,
            const std::function<void(void*)>& deleter, const TensorOptions& options) {
  ensure_environment();
  detail::check_place("from_blob", options);
  const ScalarType dtype = options.dtype();
  const std::size_t width = element_size(dtype);
  GROOVE_CHECK(width != 0, "from_blob: Groove does not compute with dtype {}", name(dtype));
  GROOVE_CHECK(sizes.size() == strides.size(), "from_blob: {} sizes but {} strides", sizes.size(),
               strides.size());
  for (std::size_t i = 0; i < sizes.size(); ++i)
    GROOVE_CHECK(sizes[i] >= 0 && strides[i] >= 0, "from_blob: size {} with stride {} is negative",
                 sizes[i], strides[i]);
  Geometry geometry{Shape(sizes), Shape(strides), 0};
  if (is_complex(dtype)) geometry = pair_geometry(std::move(geometry));
  GROOVE_CHECK(data || element_count(sizes) == 0, "from_blob: null pointer for shape {}",
               to_string(sizes));
  StoragePtr storage = make_storage();
  storage->data = data;
  storage->bytes =
      static_cast<std::size_t>(extent(geometry).high + 1) * element_size(real_dtype(dtype));
  storage->flags = Storage::kExposed | Storage::kForeign;
  if (deleter) {
    storage->free_context = new Deleter{deleter, data};
    storage->free = [](Storage& s) {
      Deleter* const held = static_cast<Deleter*>(s.free_context);
      held->call(held->data);
      delete held;
    };
  }
  const Tensor result(make_impl(std::move(storage), std::move(geometry), real_dtype(dtype)));
  return finish("from_blob", is_complex(dtype) ? from_pair(result) : result, options);
}

}  // namespace

Tensor from_blob(void* data, IntArrayRef sizes, TensorOptions options, Site site) {
  const CallFrame frame(site);
  return wrap(data, sizes, contiguous_strides(sizes), {}, options);
}
Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, TensorOptions options,
                 Site site) {
  const CallFrame frame(site);
  return wrap(data, sizes, strides, {}, options);
}
Tensor from_blob(void* data, IntArrayRef sizes, const std::function<void(void*)>& deleter,
                 TensorOptions options, Site site) {
  const CallFrame frame(site);
  return wrap(data, sizes, contiguous_strides(sizes), deleter, options);
}
Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides,
                 const std::function<void(void*)>& deleter, TensorOptions options, Site site) {
  const CallFrame frame(site);
  return wrap(data, sizes, strides, deleter, options);
}

}  // namespace groove
