// scatter: each source element (or a number) put at its index along an axis; the last one stays.
#include "kernels/ops/scatter.h"
#include "kernels/ops/complex_rules.h"

#include "groove/ops/creation.h"
#include "groove/ops/index.h"
#include "groove/ops/views.h"
#include "kernels/ops/indexed_write.h"
#include "kernels/ops/slice.h"

namespace groove {
namespace {

// true where a source element is the one that stayed.
Tensor stayed(const Op& op, const Attrs& attrs, const Tensor& index, IntArrayRef sizes,
              std::int64_t dim) {
  const Tensor order = arange(Scalar(index.numel()), kLong).view(index.sizes());
  const Tensor last = call(op, {zeros(sizes, kLong), index, order}, Site::current(), attrs);
  return eq(gather(last, dim, index), order);
}

const Op& op = define(IndexedWrite{
    .name = "scatter",
    .writing = Writing::kElements,
    .meeting = Meeting::kLast,
    .gradient =
        [](const Grad& g) {
          const std::int64_t dim = g.attr().integer(0);
          const Tensor &index = g.input(1), &cotangent = g.cotangent();
          Tensors result(3);
          if (g.needs[0])
            result[0] = call(g.op, {cotangent, index, zeros(index.sizes(), g.input_types[0].dtype)},
                             Site::current(), g.attrs);
          if (g.needs[2])
            result[2] = where(stayed(g.op, g.attrs, index, g.input_types[0].sizes, dim),
                              gather(cotangent, dim, index), 0);
          return result;
        },
    .complex = complex_rules::with_full_index,
});

Attrs attrs_of(const Tensor& self, std::int64_t dim) {
  return Attrs().add(indexed_axis("scatter", self, dim));
}
Tensor number_at(const Tensor& self, const Tensor& index, Scalar value, Site site) {
  return full(type_of(index).sizes, value, checked("scatter", self).dtype, site);
}

}  // namespace

Tensor cut_to_index(const char* op, const Tensor& source, const Tensor& index, Site site) {
  const Shape sizes = checked(op, source).geometry.sizes;
  const Shape& wanted = checked(op, index).geometry.sizes;
  Tensor result = source;
  for (std::size_t axis = 0; axis < sizes.size() && sizes.size() == wanted.size(); ++axis) {
    if (wanted[axis] < sizes[axis])
      result = slice_exact(result, static_cast<std::int64_t>(axis), 0, wanted[axis], 1, site);
  }
  return result;
}

Tensor scatter(Arg self, std::int64_t dim, const Tensor& index, const Tensor& source) {
  const CallFrame frame(self.site);
  const Tensor reached = cut_to_index("scatter", source, index, self.site);
  return call(op, {*self.tensor, index, reached}, self.site, attrs_of(*self.tensor, dim));
}
Tensor scatter(Arg self, std::int64_t dim, const Tensor& index, Scalar value) {
  const CallFrame frame(self.site);
  checked("scatter", index);
  return call(op, {*self.tensor, index, number_at(*self.tensor, index, value, self.site)},
              self.site, attrs_of(*self.tensor, dim));
}

Tensor IndexMethods::scatter(std::int64_t dim, const Tensor& index, const Tensor& source,
                             Site site) const {
  return groove::scatter({self(), site}, dim, index, source);
}
Tensor IndexMethods::scatter(std::int64_t dim, const Tensor& index, Scalar value, Site site) const {
  return groove::scatter({self(), site}, dim, index, value);
}
Tensor& IndexMethods::scatter_(std::int64_t dim, const Tensor& index, const Tensor& source,
                               Site site) const {
  const CallFrame frame(site);
  const Tensor reached = cut_to_index("scatter_", source, index, site);
  return call_inplace(op, writable(self()), {index, reached}, site, attrs_of(self(), dim));
}
Tensor& IndexMethods::scatter_(std::int64_t dim, const Tensor& index, Scalar value,
                               Site site) const {
  const CallFrame frame(site);
  checked("scatter_", index);
  return call_inplace(op, writable(self()), {index, number_at(self(), index, value, site)}, site,
                      attrs_of(self(), dim));
}

}  // namespace groove
