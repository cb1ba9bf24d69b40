// scatter_add: each source element added at its index along an axis; the counterpart of gather.
// scatter_sum adds into zeros.
#include "groove/ops/index.h"
#include "kernels/ops/complex_rules.h"
#include "kernels/ops/indexed_write.h"
#include "kernels/ops/scatter.h"

namespace groove {
namespace {

const Op& op = define(IndexedWrite{
    .name = "scatter_add",
    .writing = Writing::kElements,
    .meeting = Meeting::kAdds,
    .gradient =
        [](const Grad& g) {
          Tensors result(3);
          result[0] = g.cotangent();
          if (g.needs[2]) result[2] = gather(g.cotangent(), g.attr().integer(0), g.input(1));
          return result;
        },
    .complex = complex_rules::with_full_index,
});

const Op& op_sum = define(IndexedWrite{
    .name = "scatter_sum",
    .writing = Writing::kElements,
    .meeting = Meeting::kAdds,
    .into_zeros = true,
    .gradient =
        [](const Grad& g) {
          return Tensors{Tensor(), gather(g.cotangent(), g.attr().integer(0), g.input(0))};
        },
});

Attrs attrs_of(const Tensor& self, std::int64_t dim) {
  return Attrs().add(indexed_axis("scatter_add", self, dim));
}

}  // namespace

Tensor scatter_sum(const Tensor& index, const Tensor& source, std::int64_t dim, IntArrayRef sizes) {
  return call(op_sum, {index, source}, Site::current(), Attrs().add(dim).add(sizes));
}

Tensor scatter_add(Arg self, std::int64_t dim, const Tensor& index, const Tensor& source) {
  return call(op, {*self.tensor, index, cut_to_index("scatter_add", source, index, self.site)},
              self.site, attrs_of(*self.tensor, dim));
}
Tensor IndexMethods::scatter_add(std::int64_t dim, const Tensor& index, const Tensor& source,
                                 Site site) const {
  return groove::scatter_add({self(), site}, dim, index, source);
}
Tensor& IndexMethods::scatter_add_(std::int64_t dim, const Tensor& index, const Tensor& source,
                                   Site site) const {
  return call_inplace(op, writable(self()),
                      {index, cut_to_index("scatter_add_", source, index, site)}, site,
                      attrs_of(self(), dim));
}

}  // namespace groove
