// Index tensors are brought to one list of flat positions over the indexed axes. The values are
// read on the host, for range checks, negative indices and masks; the elements are then read by
// index_select, which the tape and the tracer know.
#include "kernels/tensor/index_tensors.h"

#include <cstring>

#include "groove/ops/views.h"
#include "src/core/autograd_meta.h"
#include "src/core/check.h"
#include "src/core/host_value.h"
#include "src/core/promotion.h"

namespace groove {
namespace {

// Integer indices of one axis on the host, row-major over `shape`.
struct HostIndex {
  std::int64_t axis;
  Shape shape;
  std::vector<std::int64_t> values;
};

// Walks the elements of a tensor in row-major order.
template <typename Visit>
void for_each_element(const Tensor& tensor, const Visit& visit) {
  TensorImpl& impl = *tensor.impl();
  materialize(impl);
  const Geometry& geometry = impl.geometry;
  const std::size_t rank = geometry.sizes.size();
  const std::int64_t width = static_cast<std::int64_t>(element_size(impl.dtype));
  Shape at(rank, 0);
  std::int64_t offset = 0;
  for (std::int64_t k = 0; k < impl.numel; ++k) {
    visit(static_cast<char*>(impl.data()) + offset * width, at);
    for (std::size_t i = rank; i-- > 0;) {
      offset += geometry.strides[i];
      if (++at[i] < geometry.sizes[i]) break;
      offset -= at[i] * geometry.strides[i];
      at[i] = 0;
    }
  }
}

bool is_mask(const Tensor& tensor) {
  return tensor.scalar_type() == kBool || tensor.scalar_type() == kByte;
}

void add_mask(const Tensor& x, const AxisIndex& mask, std::vector<HostIndex>& out) {
  check_mask(x, mask);
  const std::size_t first = out.size();
  for (std::int64_t i = 0; i < mask.index.dim(); ++i) out.push_back({mask.axis + i, {}, {}});
  for_each_element(mask.index, [&](const void* value, const Shape& at) {
    if (!host_value(value, mask.index.scalar_type()).toBool()) return;
    for (std::size_t i = 0; i < at.size(); ++i) out[first + i].values.push_back(at[i]);
  });
  for (std::size_t i = first; i < out.size(); ++i)
    out[i].shape = {static_cast<std::int64_t>(out[i].values.size())};
}

void add_integers(const Tensor& x, const AxisIndex& at, std::vector<HostIndex>& out) {
  GROOVE_CHECK(is_integral(at.index.scalar_type()),
               "index: an index tensor must hold integers or bools, not {}",
               name(at.index.scalar_type()));
  const std::int64_t size = x.size(at.axis);
  HostIndex index{at.axis, Shape(at.index.sizes()), {}};
  for_each_element(at.index, [&](const void* address, const Shape&) {
    const std::int64_t value = host_value(address, at.index.scalar_type()).to_int();
    GROOVE_CHECK(value >= -size && value < size,
                 "index: {} is out of range for dimension {} with size {} (shape {})", value,
                 at.axis, size, to_string(x.sizes()));
    index.values.push_back(value < 0 ? value + size : value);
  });
  out.push_back(std::move(index));
}

// All places as flat positions over the indexed axes.
struct Places {
  Shape shape;                     // of the broadcast index tensors
  std::vector<std::int64_t> axes;  // indexed, ascending
  std::vector<std::int64_t> flat;  // row-major over the sizes of `axes`
};

Places find_places(const Tensor& x, const IndexTensors& indices) {
  std::vector<HostIndex> all;
  for (const AxisIndex& index : indices)
    is_mask(index.index) ? add_mask(x, index, all) : add_integers(x, index, all);
  Places places;
  for (const HostIndex& index : all)
    places.shape = broadcast_shapes("index", places.shape, index.shape);
  places.flat.assign(static_cast<std::size_t>(element_count(places.shape)), 0);
  for (const HostIndex& index : all) {
    places.axes.push_back(index.axis);
    const std::size_t lead = places.shape.size() - index.shape.size();
    const Shape strides = contiguous_strides(index.shape);
    for (std::size_t k = 0; k < places.flat.size(); ++k) {
      std::size_t rest = k;
      std::int64_t offset = 0;
      for (std::size_t i = places.shape.size(); i-- > lead;) {
        const std::size_t size = static_cast<std::size_t>(places.shape[i]);
        if (index.shape[i - lead] != 1)
          offset += static_cast<std::int64_t>(rest % size) * strides[i - lead];
        rest /= size;
      }
      places.flat[k] =
          places.flat[k] * x.size(index.axis) + index.values[static_cast<std::size_t>(offset)];
    }
  }
  return places;
}

bool are_adjacent(const std::vector<std::int64_t>& axes) {
  return axes.back() - axes.front() == static_cast<std::int64_t>(axes.size()) - 1;
}

Tensor index_tensor(const std::vector<std::int64_t>& values) {
  Tensor result = make_empty({static_cast<std::int64_t>(values.size())}, kLong);
  if (!values.empty())
    std::memcpy(result.impl()->data(), values.data(), values.size() * sizeof(std::int64_t));
  return result;
}

// The order of axes that brings the indexed ones to the front (not adjacent) or leaves them.
std::vector<std::int64_t> axis_order(const Tensor& x, const Places& places) {
  std::vector<std::int64_t> order;
  const auto is_indexed = [&](std::int64_t axis) {
    for (std::int64_t a : places.axes)
      if (a == axis) return true;
    return false;
  };
  if (!are_adjacent(places.axes)) order = places.axes;
  for (std::int64_t axis = 0; axis < x.dim(); ++axis)
    if (are_adjacent(places.axes) || !is_indexed(axis)) order.push_back(axis);
  return order;
}

}  // namespace

void check_mask(const Tensor& x, const AxisIndex& mask) {
  const IntArrayRef covered = x.sizes().slice(static_cast<std::size_t>(mask.axis),
                                              static_cast<std::size_t>(mask.index.dim()));
  GROOVE_CHECK(covered == mask.index.sizes(),
               "index: a mask of shape {} does not fit the axes {} of shape {}",
               to_string(mask.index.sizes()), to_string(covered), to_string(x.sizes()));
}

Tensor read_at(const Tensor& x, const IndexTensors& indices) {
  const Places places = find_places(x, indices);
  // One untouched 1-d i64 index needs no other tensor.
  if (indices.size() == 1 && indices[0].index.dim() == 1 &&
      indices[0].index.scalar_type() == kLong) {
    bool is_plain = true;
    std::size_t k = 0;
    for_each_element(indices[0].index, [&](const void* address, const Shape&) {
      is_plain = is_plain && host_value(address, kLong).to_int() == places.flat[k++];
    });
    if (is_plain) return x.index_select(indices[0].axis, indices[0].index);
  }
  const bool stays = are_adjacent(places.axes);
  const std::int64_t at = stays ? places.axes.front() : 0;
  Tensor source = stays ? x : x.permute(axis_order(x, places));
  // before × indexed × after
  const std::size_t first = static_cast<std::size_t>(at), count = places.axes.size();
  const std::vector<std::int64_t> sizes = source.sizes().vec();
  std::vector<std::int64_t> joined(sizes.begin(), sizes.begin() + at), result = joined;
  std::int64_t indexed = 1;
  for (std::size_t i = first; i < first + count; ++i) indexed *= sizes[i];
  joined.push_back(indexed);
  result.insert(result.end(), places.shape.begin(), places.shape.end());
  joined.insert(joined.end(), sizes.begin() + static_cast<std::ptrdiff_t>(first + count),
                sizes.end());
  result.insert(result.end(), sizes.begin() + static_cast<std::ptrdiff_t>(first + count),
                sizes.end());
  if (count > 1) source = source.reshape(joined);
  Tensor read = source.index_select(at, index_tensor(places.flat));
  return places.shape.size() == 1 ? read : read.reshape(result);
}

void write_at(const Tensor& x, const IndexTensors& indices, const Tensor& value) {
  GROOVE_CHECK(!grad_enabled() || (!x.impl()->requires_grad && !value.impl()->requires_grad),
               "index_put_: writing at index tensors is not built for tensors that require a "
               "gradient; use where() or a NoGradGuard");
  const Places places = find_places(x, indices);
  // A view of x with the indexed axes first, then the rest.
  const bool stays = are_adjacent(places.axes);
  const std::size_t before = stays ? static_cast<std::size_t>(places.axes.front()) : 0;
  Shape target;  // the shape that value broadcasts to
  std::vector<std::int64_t> rest;
  for (std::int64_t axis = 0; axis < x.dim(); ++axis) {
    bool is_indexed = false;
    for (std::int64_t a : places.axes) is_indexed = is_indexed || a == axis;
    if (!is_indexed) rest.push_back(axis);
  }
  for (std::size_t i = 0; i <= rest.size(); ++i) {
    if (i == before) target.append(places.shape.data(), places.shape.size());
    if (i < rest.size()) target.push_back(x.size(rest[i]));
  }
  const Shape joint = broadcast_shapes("index_put_", target, value.sizes());
  GROOVE_CHECK(joint == target, "index_put_: a value of shape {} does not fit the indexed shape {}",
               to_string(value.sizes()), to_string(target));
  Tensor source = value.to(x.scalar_type());
  if (source.is_alias_of(x)) source = source.clone();
  const Tensor wide = source.expand(target);
  char* const base = static_cast<char*>(x.data_ptr());
  before_write(*x.impl()->storage);
  const IntArrayRef strides = x.strides();
  const std::size_t width = element_size(x.scalar_type());
  const std::size_t places_end = before + places.shape.size();
  const Shape place_strides = contiguous_strides(places.shape);
  for_each_element(wide, [&](const void* element, const Shape& at) {
    std::int64_t place = 0, offset = 0;
    for (std::size_t i = before; i < places_end; ++i) place += at[i] * place_strides[i - before];
    for (std::size_t i = 0; i < at.size(); ++i) {
      if (i >= before && i < places_end) continue;
      const std::size_t r = i < before ? i : i - places.shape.size();
      offset += at[i] * strides[static_cast<std::size_t>(rest[r])];
    }
    std::int64_t flat = places.flat[static_cast<std::size_t>(place)];
    for (std::size_t a = places.axes.size(); a-- > 0;) {
      offset += flat % x.size(places.axes[a]) * strides[static_cast<std::size_t>(places.axes[a])];
      flat /= x.size(places.axes[a]);
    }
    std::memcpy(base + offset * static_cast<std::int64_t>(width), element, width);
  });
  ++x.impl()->storage->version;
}

}  // namespace groove
