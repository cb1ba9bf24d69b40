// x[i], x.index({…}) and x.index_put_({…}) in terms of view ops, index_select and where. Integers,
// slices, None and Ellipsis give a view; index tensors then read or write through it.
#include "groove/indexing.h"

#include <ostream>

#include <algorithm>
#include <cmath>

#include "groove/ops/complex.h"
#include "groove/ops/math.h"
#include "groove/ops/views.h"
#include "kernels/tensor/index_tensors.h"
#include "src/core/check.h"
#include "src/core/dispatch.h"
#include "src/core/held_numbers.h"
#include "src/core/temporary.h"

namespace groove {
namespace {

using Kind = TensorIndex::Kind;

std::size_t axes_of(const TensorIndex& index) {
  switch (index.kind()) {
    case Kind::kInteger:
    case Kind::kSlice:
      return 1;
    case Kind::kTensor:
      return index.tensor().scalar_type() == kBool || index.tensor().scalar_type() == kByte
                 ? static_cast<std::size_t>(index.tensor().dim())
                 : 1;
    default:
      return 0;
  }
}

Tensor select_checked(const Tensor& x, std::int64_t axis, std::int64_t index, Site site) {
  const std::int64_t size = x.size(axis);
  GROOVE_CHECK_AS(IndexError, index >= -size && index < size,
                  "index: {} is out of range for dimension {} with size {} (shape {})", index, axis,
                  size, to_string(x.sizes()));
  return x.select(axis, index < 0 ? index + size : index, site);
}

bool is_mask(const Tensor& tensor) {
  return tensor.scalar_type() == kBool || tensor.scalar_type() == kByte;
}

// What is left after all views: a tensor and, for some of its axes, an index tensor.
struct Located {
  Tensor view;
  IndexTensors by_axis;
};

// A bool is an index tensor on an axis of its own: the one element of it, or none.
Tensor index_of(bool value) {
  return index_list(value ? std::vector<std::int64_t>{0} : std::vector<std::int64_t>{});
}

Located locate(const char* op, const Tensor& x, ArrayRef<TensorIndex> indices, Site site) {
  GROOVE_CHECK(x.defined(), "index: the tensor is undefined");
  GROOVE_CHECK(!indices.empty(), "{}: an empty list of indices; \"...\" stands for all elements",
               op);
  std::size_t used = 0;
  for (const TensorIndex& index : indices) {
    GROOVE_CHECK(index.kind() != Kind::kTensor || index.tensor().defined(),
                 "index: an index tensor is undefined");
    used += axes_of(index);
  }
  GROOVE_CHECK(used <= static_cast<std::size_t>(x.dim()),
               "index: {} indices are too many for shape {}", used, to_string(x.sizes()));
  Located result{x, {}};
  Tensor& view = result.view;
  std::int64_t axis = 0;
  for (const TensorIndex& index : indices) {
    switch (index.kind()) {
      case Kind::kInteger:
        view = select_checked(view, axis, index.integer(), site);
        break;
      case Kind::kSlice:
        GROOVE_CHECK(index.slice().step() > 0, "index: a slice's step must be positive, not {}",
                     index.slice().step());
        if (!index.slice().is_whole())
          view = view.slice(axis, index.slice().given_start(), index.slice().given_stop(),
                            index.slice().step(), site);
        ++axis;
        break;
      case Kind::kEllipsis:
        axis += x.dim() - static_cast<std::int64_t>(used);
        break;
      case Kind::kNone:
        view = view.unsqueeze(axis++, site);
        break;
      case Kind::kBoolean:
        view = view.unsqueeze(axis, site);
        result.by_axis.push_back({axis++, index_of(index.boolean())});
        break;
      case Kind::kTensor:
        if (index.tensor().dim() == 0 && !is_mask(index.tensor())) {
          view = select_checked(view, axis, index.tensor().item<std::int64_t>(), site);
        } else if (index.tensor().dim() == 0) {
          view = view.unsqueeze(axis, site);
          result.by_axis.push_back({axis++, index_of(index.tensor().item<bool>())});
        } else {
          result.by_axis.push_back({axis, index.tensor()});
          axis += static_cast<std::int64_t>(axes_of(index));
        }
        break;
    }
  }
  return result;
}

// Of what is read or written there.
std::size_t places_rank(const Located& at) {
  std::size_t rank = static_cast<std::size_t>(at.view.dim()), joint = 0;
  for (const AxisIndex& index : at.by_axis) {
    const bool is_mask_there = is_mask(index.index);
    rank -= is_mask_there ? static_cast<std::size_t>(index.index.dim()) : 1;
    joint = std::max(joint, is_mask_there ? 1 : static_cast<std::size_t>(index.index.dim()));
  }
  return rank + joint;
}

// A mask over leading axes of `view`, with a value for every selected place, needs no list of
// places: one select per element.
bool put_by_mask(const Located& at, const Tensor& value, Site site) {
  if (at.by_axis.size() != 1 || !is_mask(at.by_axis[0].index)) return false;
  const Tensor& mask = at.by_axis[0].index;
  const std::int64_t rest = at.view.dim() - at.by_axis[0].axis - mask.dim();
  // The value must not have an axis along the selected places.
  if (at.by_axis[0].axis != 0 || (value.numel() != 1 && value.dim() > rest)) return false;
  check_mask(at.view, at.by_axis[0]);
  Tensor wide = mask.scalar_type() == kBool ? mask : mask != 0;
  for (std::int64_t i = 0; i < rest; ++i) wide = wide.unsqueeze(-1, site);
  Tensor filler = value.numel() == 1 && value.dim() > 0 ? value.reshape({}, site) : value;
  filler = filler.to(at.view.scalar_type());
  at.view.copy_(where(Arg(wide, site), filler, at.view), false, site);
  return true;
}

// Axes of size 1 in front are nothing to what a value is written to.
Tensor without_leading_ones(const Tensor& value, std::size_t most, Site site) {
  const IntArrayRef sizes = value.sizes();
  std::size_t first = 0;
  while (sizes.size() - first > most && sizes[first] == 1) ++first;
  return first == 0 ? value : value.reshape(sizes.slice(first, sizes.size() - first), site);
}

void write_values(const Tensor& x, ArrayRef<TensorIndex> indices, const Tensor& given, Site site) {
  GROOVE_CHECK(given.defined(), "index_put_: the value is undefined");
  const SiteScope scope(site);
  const Located at = locate("index_put_", x, indices, site);
  const Tensor value = without_leading_ones(given, places_rank(at), site);
  if (at.by_axis.empty()) {
    at.view.copy_(value, false, site);
  } else if (!put_by_mask(at, value, site)) {
    write_at(at.view, at.by_axis, value);
  }
}

// `x[mask] = value` would write to a copy and be lost: index tensors copy, unlike all other
// indices.
void check_is_seen(const Tensor& target) {
  const TensorImpl* const impl = target.impl();
  GROOVE_CHECK(!impl || !is_temporary(*impl),
               "assignment to a temporary of shape {} that nothing else sees would be lost (index "
               "tensors and masks copy); use index_put_({{index}}, value)",
               to_string(impl->geometry.sizes));
}

// Beyond all numbers of a 16-bit float is infinity.
Scalar as_element(const Tensor& target, const Scalar& value) {
  if (!target.defined()) return value;
  const ScalarType dtype = target.scalar_type();
  check_element("index_put_", value, dtype);
  return is_held(value, dtype) ? value : Scalar(std::copysign(INFINITY, value.to_double()));
}

Tensor as_tensor(const Tensor& like, const Scalar& value) {
  Tensor result = make_empty({}, like.scalar_type());
  result.fill_(as_element(like, value));
  return result;
}

}  // namespace

TensorIndex::TensorIndex(const char* text) : kind_(Kind::kEllipsis) {
  GROOVE_CHECK(std::string(text) == "...", "index: \"{}\" is no index; only \"...\" is", text);
}

std::ostream& indexing::operator<<(std::ostream& out, const Slice& slice) {
  return out << slice.start() << ':' << slice.stop() << ':' << slice.step();
}
std::ostream& operator<<(std::ostream& out, const TensorIndex& index) {
  switch (index.kind()) {
    case Kind::kNone:
      return out << "None";
    case Kind::kEllipsis:
      return out << "...";
    case Kind::kInteger:
      return out << index.integer();
    case Kind::kBoolean:
      return out << std::boolalpha << index.boolean();  // which stays, as in LibTorch
    case Kind::kSlice:
      return out << index.slice();
    default:
      return out << index.tensor();
  }
}
std::ostream& operator<<(std::ostream& out, const std::vector<TensorIndex>& indices) {
  out << '(';
  for (std::size_t i = 0; i < indices.size(); ++i) out << (i > 0 ? ", " : "") << indices[i];
  return out << ')';
}

Tensor DataMethods::operator[](detail::SubscriptArg at) const {
  const CallFrame frame(at.site);
  GROOVE_CHECK(defined(), "index: the tensor is undefined");
  if (at.tensor) return index({TensorIndex(*at.tensor)}, at.site);
  GROOVE_CHECK(dim() > 0, "index: a 0-d tensor has no elements to index; use item()");
  return select_checked(self(), 0, at.integer, at.site);
}

Tensor DataMethods::index(ArrayRef<TensorIndex> indices, Site site) const {
  const SiteScope scope(site);
  const Located at = locate("index", self(), indices, site);
  if (!at.by_axis.empty()) return read_at(at.view, at.by_axis);
  return at.view.is_same(self()) ? alias(self(), site) : at.view;
}

Tensor DataMethods::index(std::initializer_list<TensorIndex> indices, Site site) const {
  return index(ArrayRef<TensorIndex>(indices.begin(), indices.size()), site);
}

Tensor& DataMethods::index_put_(ArrayRef<TensorIndex> indices, const Tensor& value,
                                Site site) const {
  const CallFrame frame(site);
  write_values(self(), indices, value, site);
  return const_cast<Tensor&>(self());
}

Tensor& DataMethods::index_put_(std::initializer_list<TensorIndex> indices, const Tensor& value,
                                Site site) const {
  return index_put_(ArrayRef<TensorIndex>(indices.begin(), indices.size()), value, site);
}

Tensor& DataMethods::index_put_(ArrayRef<TensorIndex> indices, const Scalar& value,
                                Site site) const {
  const SiteScope scope(site);
  const Located at = locate("index_put_", self(), indices, site);
  if (at.by_axis.empty()) {
    at.view.fill_(as_element(self(), value), site);
  } else {
    const Tensor filler = as_tensor(self(), value);
    if (!put_by_mask(at, filler, site)) write_at(at.view, at.by_axis, filler);
  }
  return const_cast<Tensor&>(self());
}

Tensor& DataMethods::index_put_(std::initializer_list<TensorIndex> indices, const Scalar& value,
                                Site site) const {
  return index_put_(ArrayRef<TensorIndex>(indices.begin(), indices.size()), value, site);
}

Tensor& DataMethods::index_put_(ArrayRef<TensorIndex> indices, const Tensor& value, bool accumulate,
                                Site site) const {
  const CallFrame frame(site);
  if (!accumulate) return index_put_(indices, value, site);
  GROOVE_CHECK(value.defined(), "index_put_: the value is undefined");
  const SiteScope scope(site);
  const Located at = locate("index_put_", self(), indices, site);
  if (at.by_axis.empty()) {
    at.view.add_(value, 1, site);
  } else {
    write_at(at.view, at.by_axis, value, true);
  }
  return const_cast<Tensor&>(self());
}

Tensor& DataMethods::index_put_(std::initializer_list<TensorIndex> indices, const Tensor& value,
                                bool accumulate, Site site) const {
  return index_put_(ArrayRef<TensorIndex>(indices.begin(), indices.size()), value, accumulate,
                    site);
}

Tensor& Tensor::operator=(Arg value) && {
  const SiteScope scope(value.site);
  check_is_seen(*this);
  copy_(*value.tensor, false, value.site);
  return *this;
}

Tensor& Tensor::assign(const std::complex<double>& value) {
  check_is_seen(*this);
  return copy_(detail::complex_operand(value, *this));
}
Tensor& Tensor::operator=(detail::ScalarArg value) && {
  const SiteScope scope(value.site);
  check_is_seen(*this);
  fill_(as_element(*this, value.value), value.site);
  return *this;
}

}  // namespace groove
