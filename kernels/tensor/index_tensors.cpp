// Index tensors are brought to one list of flat positions over the indexed axes. The values are
// read on the host, for range checks, negative indices and masks; the elements are then read by
// index_select and written by index_copy, which the tape and the tracer know.
#include "kernels/tensor/index_tensors.h"

#include <cstring>

#include "groove/ops/index.h"
#include "groove/ops/views.h"
#include "kernels/ops/indices.h"
#include "src/core/check.h"
#include "src/core/promotion.h"

namespace groove {
namespace {

// Integer indices of one axis on the host, row-major over `shape`.
struct HostIndex {
  std::int64_t axis, size;
  Shape shape;
  std::vector<std::int64_t> values;
};

// Walks the elements of a tensor in row-major order.
template <typename T, typename Visit>
void for_each_element(const TensorImpl& impl, const Visit& visit) {
  const Geometry& geometry = impl.geometry;
  const T* at = static_cast<const T*>(impl.data());
  const std::size_t rank = geometry.sizes.size();
  const std::int64_t length = rank == 0 ? 1 : geometry.sizes[rank - 1];
  const std::int64_t stride = rank == 0 ? 0 : geometry.strides[rank - 1];
  Shape index(rank, 0);
  for (std::int64_t left = impl.numel; left > 0; left -= length) {
    for (std::int64_t k = 0; k < length; ++k) visit(at[k * stride]);
    for (std::size_t i = rank; i-- > 1;) {
      at += geometry.strides[i - 1];
      if (++index[i - 1] < geometry.sizes[i - 1]) break;
      at -= index[i - 1] * geometry.strides[i - 1];
      index[i - 1] = 0;
    }
  }
}

template <typename Visit>
void for_each_integer(const Tensor& tensor, const Visit& visit) {
  TensorImpl& impl = *tensor.impl();
  GROOVE_CHECK(is_integral(impl.dtype),
               "index: an index tensor must hold integers or bools, not {}", name(impl.dtype));
  read_now(impl);
  switch (impl.dtype) {
    case kLong:
      return for_each_element<std::int64_t>(impl, visit);
    case kInt:
      return for_each_element<std::int32_t>(impl, visit);
    case kShort:
      return for_each_element<std::int16_t>(impl, visit);
    case kChar:
      return for_each_element<std::int8_t>(impl, visit);
    default:
      return for_each_element<std::uint8_t>(impl, visit);
  }
}

bool is_mask(const Tensor& tensor) {
  return tensor.scalar_type() == kBool || tensor.scalar_type() == kByte;
}

// The positions in a mask's axes, axis by axis.
void add_mask(const AxisIndex& mask, const Tensor& positions, std::vector<HostIndex>& out) {
  const std::size_t first = out.size();
  const Shape sizes = mask.index.sizes();
  const auto count = static_cast<std::size_t>(positions.numel());
  for (std::size_t i = 0; i < sizes.size(); ++i)
    out.push_back({mask.axis + static_cast<std::int64_t>(i),
                   sizes[i],
                   {positions.numel()},
                   std::vector<std::int64_t>(count)});
  for (std::size_t n = 0; n < count; ++n) {
    std::int64_t rest = index_at(positions, static_cast<std::int64_t>(n));
    for (std::size_t i = sizes.size(); i-- > 0; rest /= sizes[i])
      out[first + i].values[n] = rest % sizes[i];
  }
}

void add_integers(const Tensor& x, const AxisIndex& at, std::vector<HostIndex>& out) {
  const std::int64_t size = x.size(at.axis);
  HostIndex index{at.axis, size, Shape(at.index.sizes()), {}};
  index.values.reserve(static_cast<std::size_t>(at.index.numel()));
  for_each_integer(at.index, [&](std::int64_t value) {
    GROOVE_CHECK_AS(IndexError, value >= -size && value < size,
                    "index: {} is out of range for dimension {} with size {} (shape {})", value,
                    at.axis, size, to_string(x.sizes()));
    index.values.push_back(value < 0 ? value + size : value);
  });
  out.push_back(std::move(index));
}

// Does index_select take it as it is?
bool is_plain(const Tensor& index, std::int64_t size) {
  if (index.dim() != 1 || index.scalar_type() != kLong) return false;
  bool are_inside = true;
  for_each_integer(
      index, [&](std::int64_t value) { are_inside = are_inside && value >= 0 && value < size; });
  return are_inside;
}

// All places as flat positions over the indexed axes.
struct Places {
  Shape shape;                     // of the broadcast index tensors
  std::vector<std::int64_t> axes;  // indexed, ascending
  Tensor flat;                     // i64, row-major over the sizes of `axes`
};

// flat = flat * size + index, which is broadcast to `shape`.
void add_axis(const HostIndex& index, const Shape& shape, std::vector<std::int64_t>& flat) {
  if (index.shape == shape) {
    for (std::size_t k = 0; k < flat.size(); ++k) flat[k] = flat[k] * index.size + index.values[k];
    return;
  }
  const std::size_t lead = shape.size() - index.shape.size();
  const Shape strides = contiguous_strides(index.shape);
  for (std::size_t k = 0; k < flat.size(); ++k) {
    std::size_t rest = k;
    std::int64_t offset = 0;
    for (std::size_t i = shape.size(); i-- > lead;) {
      const std::size_t size = static_cast<std::size_t>(shape[i]);
      if (index.shape[i - lead] != 1)
        offset += static_cast<std::int64_t>(rest % size) * strides[i - lead];
      rest /= size;
    }
    flat[k] = flat[k] * index.size + index.values[static_cast<std::size_t>(offset)];
  }
}

Places find_places(const Tensor& x, const IndexTensors& indices) {
  Places places;
  std::vector<HostIndex> all;
  for (const AxisIndex& index : indices) {
    if (!is_mask(index.index)) {
      add_integers(x, index, all);
      continue;
    }
    check_mask(x, index);
    const Tensor positions = selected_positions(index.index, Site::current());
    if (indices.size() > 1) {
      add_mask(index, positions, all);
      continue;
    }
    for (std::int64_t i = 0; i < index.index.dim(); ++i) places.axes.push_back(index.axis + i);
    places.shape = {positions.numel()};
    places.flat = positions;
    return places;
  }
  for (const HostIndex& index : all) {
    places.shape = broadcast_shapes("index", places.shape, index.shape);
    places.axes.push_back(index.axis);
  }
  std::vector<std::int64_t> flat(static_cast<std::size_t>(element_count(places.shape)), 0);
  for (const HostIndex& index : all) add_axis(index, places.shape, flat);
  places.flat = index_list(flat);
  return places;
}

bool are_adjacent(const std::vector<std::int64_t>& axes) {
  return axes.back() - axes.front() == static_cast<std::int64_t>(axes.size()) - 1;
}

// Do the axes come first and in a row? Then a contiguous tensor can be seen with them joined.
bool stays_whole(const std::vector<std::int64_t>& axes) {
  return are_adjacent(axes) && axes.front() == 0;
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

Tensor index_list(const std::vector<std::int64_t>& values) {
  Tensor result = make_empty({static_cast<std::int64_t>(values.size())}, kLong);
  if (!values.empty())
    std::memcpy(result.impl()->data(), values.data(), values.size() * sizeof(std::int64_t));
  return result;
}

void check_mask(const Tensor& x, const AxisIndex& mask) {
  const IntArrayRef covered = x.sizes().slice(static_cast<std::size_t>(mask.axis),
                                              static_cast<std::size_t>(mask.index.dim()));
  GROOVE_CHECK_AS(IndexError, covered == mask.index.sizes(),
                  "index: a mask of shape {} does not fit the axes {} of shape {}",
                  to_string(mask.index.sizes()), to_string(covered), to_string(x.sizes()));
}

Tensor read_at(const Tensor& x, const IndexTensors& indices) {
  const AxisIndex& first_index = indices[0];
  if (indices.size() == 1 && is_plain(first_index.index, x.size(first_index.axis)))
    return x.index_select(first_index.axis, first_index.index);
  const Places places = find_places(x, indices);
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
  Tensor read = source.index_select(at, places.flat);
  return places.shape.size() == 1 ? read : read.reshape(result);
}

// The indexed axes in front and joined to one, slices are put at positions of that. Where strides
// allow it through a view of x, otherwise in a copy that x then takes over.
void write_at(const Tensor& x, const IndexTensors& indices, const Tensor& value, bool accumulate) {
  const auto write = [accumulate](const Tensor& to, const Tensor& at, const Tensor& from) {
    accumulate ? to.index_add_(0, at, from) : to.index_copy_(0, at, from);
  };
  const Places places = find_places(x, indices);
  std::vector<std::int64_t> order = places.axes, rest, value_order;
  for (std::int64_t axis = 0; axis < x.dim(); ++axis) {
    bool is_indexed = false;
    for (std::int64_t a : places.axes) is_indexed = is_indexed || a == axis;
    if (!is_indexed) rest.push_back(axis);
  }
  order.insert(order.end(), rest.begin(), rest.end());
  // The shape that value broadcasts to, and the way from it to [places…, rest…].
  const bool stays = are_adjacent(places.axes);
  const std::size_t before = stays ? static_cast<std::size_t>(places.axes.front()) : 0;
  const std::size_t width = places.shape.size();
  Shape target, joined{1}, lines{element_count(places.shape)};
  for (std::size_t i = 0; i <= rest.size(); ++i) {
    if (i == before) target.append(places.shape.data(), width);
    if (i < rest.size()) target.push_back(x.size(rest[i]));
  }
  for (std::size_t i = 0; i < width; ++i)
    value_order.push_back(static_cast<std::int64_t>(before + i));
  for (std::size_t i = 0; i < rest.size(); ++i) {
    value_order.push_back(static_cast<std::int64_t>(i < before ? i : i + width));
    lines.push_back(x.size(rest[i]));
  }
  for (const std::int64_t axis : places.axes) joined[0] *= x.size(axis);
  for (const std::int64_t axis : rest) joined.push_back(x.size(axis));
  const Shape joint = broadcast_shapes("index_put_", target, value.sizes());
  GROOVE_CHECK(joint == target, "index_put_: a value of shape {} does not fit the indexed shape {}",
               to_string(value.sizes()), to_string(target));
  const Tensor source =
      value.to(x.scalar_type()).expand(target).permute(value_order).reshape(lines);
  const Tensor& positions = places.flat;
  const Tensor turned = x.permute(order);
  const Shape own = turned.sizes();
  if (places.axes.size() == 1) {
    write(turned, positions, source);
    return;
  }
  if (x.is_contiguous() && stays_whole(places.axes)) {
    write(x.view(joined), positions, source);
    return;
  }
  const Tensor all = turned.reshape(joined);
  turned.copy_(
      (accumulate ? all.index_add(0, positions, source) : all.index_copy(0, positions, source))
          .view(own));
}

}  // namespace groove
