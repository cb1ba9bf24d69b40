// index_add: a source's slices added at the positions of a 1-d index; index_sum adds into zeros.
#include "groove/ops/index.h"
#include "groove/ops/views.h"
#include "kernels/ops/complex_rules.h"
#include "kernels/ops/indexed_write.h"

namespace groove {
namespace {

const Op& op = define(IndexedWrite{
    .name = "index_add",
    .writing = Writing::kSlices,
    .meeting = Meeting::kAdds,
    .gradient =
        [](const Grad& g) {
          Tensors result(3);
          result[0] = g.cotangent();
          if (g.needs[2]) result[2] = index_select(g.cotangent(), g.attr().integer(0), g.input(1));
          return result;
        },
    .complex = complex_rules::on_pairs,
});

const Op& op_sum = define(IndexedWrite{
    .name = "index_sum",
    .writing = Writing::kSlices,
    .meeting = Meeting::kAdds,
    .into_zeros = true,
    .gradient =
        [](const Grad& g) {
          return Tensors{Tensor(), index_select(g.cotangent(), g.attr().integer(0), g.input(0))};
        },
});

Attrs attrs_of(const Tensor& self, std::int64_t dim) {
  return Attrs().add(indexed_axis("index_add", self, dim));
}

}  // namespace

Tensor index_sum(const Tensor& index, const Tensor& source, std::int64_t dim, IntArrayRef sizes) {
  return call(op_sum, {index, source}, Site::current(), Attrs().add(dim).add(sizes));
}

Tensor index_add(Arg self, std::int64_t dim, const Tensor& index, const Tensor& source) {
  const CallFrame frame(self.site);
  if (checked("index_add", *self.tensor).geometry.sizes.empty() &&
      checked("index_add", source).geometry.sizes.empty())
    return squeeze(index_add(unsqueeze(self, 0), dim, index, unsqueeze(source, 0)), 0);
  return call(op, {*self.tensor, as_list("index_add", index, self.site), source}, self.site,
              attrs_of(*self.tensor, dim));
}
Tensor IndexMethods::index_add(std::int64_t dim, const Tensor& index, const Tensor& source,
                               Site site) const {
  return groove::index_add({self(), site}, dim, index, source);
}
Tensor& IndexMethods::index_add_(std::int64_t dim, const Tensor& index, const Tensor& source,
                                 Site site) const {
  return call_inplace(op, writable(self()), {as_list("index_add_", index, site), source}, site,
                      attrs_of(self(), dim));
}

Tensor index_add(Arg self, std::int64_t dim, const Tensor& index, const Tensor& source,
                 Scalar alpha) {
  const CallFrame frame(self.site);
  return index_add(self, dim, index, mul({source, self.site}, alpha));
}
Tensor IndexMethods::index_add(std::int64_t dim, const Tensor& index, const Tensor& source,
                               Scalar alpha, Site site) const {
  return groove::index_add({self(), site}, dim, index, source, alpha);
}
Tensor& IndexMethods::index_add_(std::int64_t dim, const Tensor& index, const Tensor& source,
                                 Scalar alpha, Site site) const {
  const CallFrame frame(site);
  return index_add_(dim, index, source.mul(alpha, site), site);
}

}  // namespace groove
