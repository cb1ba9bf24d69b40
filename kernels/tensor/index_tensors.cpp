// Index tensors are brought to one list of flat positions over the indexed axes. The values are
// read on the host, for range checks, negative indices and masks; the elements are then read by
// index_select and written by index_copy, which the tape and the tracer know.
#include "kernels/tensor/index_tensors.h"

#include <cstring>

#include "groove/ops/index.h"
#include "groove/ops/views.h"
#include "kernels/ops/indices.h"
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
  read_now(impl);
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
  const Tensor positions = selected_positions(mask.index, Site::current());
  for (std::int64_t n = 0; n < positions.numel(); ++n) {
    std::int64_t rest = index_at(positions, n);
    for (std::size_t i = out.size(); i-- > first;) {
      const std::int64_t size = mask.index.size(static_cast<std::int64_t>(i - first));
      out[i].values.push_back(rest % size);
      rest /= size;
    }
  }
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
  Tensor read = source.index_select(at, index_list(places.flat));
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
  const Tensor positions = index_list(places.flat);
  const Tensor turned = x.permute(order);
  const Shape own = turned.sizes();
  const bool is_plain = places.axes.size() == 1;
  if (is_plain) {
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
