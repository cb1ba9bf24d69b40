// Copies with a part written anew, and elements by positions in the flattened tensor.
#include "groove/ops/parts.h"
#include "groove/ops/reductions.h"
#include "kernels/ops/indexed_write.h"
#include "kernels/ops/spelled.h"

namespace groove {
namespace {

Tensor with_part(const char* op, const Tensor& whole, const Tensor& part, const Tensor& src) {
  GROOVE_CHECK(type_of(part).sizes == checked(op, src).geometry.sizes,
               "{}: src {} has not the shape {} of the part", op, to_string(src.sizes()),
               to_string(part.sizes()));
  part.copy_(src);
  return whole;
}

// Positions that may count from the end, as a list.
Tensor positions(const char* op, const Tensor& index, std::int64_t count, Site site) {
  GROOVE_CHECK(checked(op, index).dtype == kLong || index.impl()->dtype == kInt,
               "{}: the index is {}; it must hold integers", op, name(index.impl()->dtype));
  const Tensor list = index.reshape({-1}, site);
  return where(lt(list, 0), list + count, list);
}

Tensor put_into(const char* op, const Tensor& self, const Tensor& index, const Tensor& source,
                bool accumulate, Site site) {
  const Shape sizes = checked(op, self).geometry.sizes;
  GROOVE_CHECK(checked(op, index).numel == checked(op, source).numel,
               "{}: {} positions for {} elements", op, index.numel(), source.numel());
  GROOVE_CHECK(self.impl()->dtype == source.impl()->dtype,
               "{}: self is {}, source is {}; convert one of them", op, name(self.impl()->dtype),
               name(source.impl()->dtype));
  const Tensor at = positions(op, index, self.numel(), site);
  const Tensor flat = self.reshape({-1}, site), values = source.reshape({-1}, site);
  const Tensor result =
      accumulate ? index_add(flat, 0, at, values) : index_copy(flat, 0, at, values);
  return result.view(sizes, site);
}

// The n-th place that is set takes element n; a place that is not looks at any.
Tensor scattered(const char* op, const Tensor& self, const Tensor& mask, const Tensor& source,
                 Site site) {
  GROOVE_CHECK(checked(op, mask).dtype == kBool, "{}: the mask is {}, not Bool; use to(kBool)", op,
               name(mask.impl()->dtype));
  GROOVE_CHECK(checked(op, self).dtype == checked(op, source).dtype,
               "{}: self is {}, source is {}; convert one of them", op, name(self.impl()->dtype),
               name(source.impl()->dtype));
  const Shape sizes = broadcast_of(op, self.impl()->geometry.sizes, mask.impl()->geometry.sizes);
  const Tensor wide = expand({mask, site}, sizes);
  const Tensor count = cumsum(wide.reshape({-1}, site), 0);
  const Tensor picked =
      index_select(source.reshape({-1}, site), 0, clamp_min(count - 1, 0)).view(sizes, site);
  return where(wide, picked, self);
}

}  // namespace

Tensor select_scatter(Arg self, const Tensor& src, std::int64_t dim, std::int64_t index) {
  const SiteScope scope(self.site);
  checked("select_scatter", *self.tensor);
  const Tensor whole = clone(self);
  return with_part("select_scatter", whole, select(whole, dim, index), src);
}
Tensor slice_scatter(Arg self, const Tensor& src, std::int64_t dim,
                     std::optional<std::int64_t> start, std::optional<std::int64_t> end,
                     std::int64_t step) {
  const SiteScope scope(self.site);
  checked("slice_scatter", *self.tensor);
  const Tensor whole = clone(self);
  return with_part("slice_scatter", whole, slice(whole, dim, start, end, step), src);
}
Tensor take(Arg self, const Tensor& index) {
  const SiteScope scope(self.site);
  checked("take", *self.tensor);
  const Tensor at = positions("take", index, self.tensor->numel(), self.site);
  return index_select(self.tensor->reshape({-1}, self.site), 0, at).view(type_of(index).sizes);
}
Tensor take_along_dim(Arg self, const Tensor& indices, std::optional<std::int64_t> dim) {
  const SiteScope scope(self.site);
  const Shape own = checked("take_along_dim", *self.tensor).geometry.sizes;
  const Shape asked = checked("take_along_dim", indices).geometry.sizes;
  if (!dim) return gather(self.tensor->reshape({-1}), 0, indices.reshape({-1}));
  GROOVE_CHECK(own.size() == asked.size(), "take_along_dim: {} axes and {} axes of indices",
               own.size(), asked.size());
  const auto axis = static_cast<std::size_t>(normal_dim("take_along_dim", *dim, own.size()));
  Shape around = own, around_asked = asked;
  around[axis] = around_asked[axis] = 1;
  Shape sizes = broadcast_of("take_along_dim", around, around_asked), wanted = sizes;
  sizes[axis] = own[axis];
  wanted[axis] = asked[axis];
  return gather(expand(self, sizes), *dim, expand(indices, wanted));
}
Tensor index_put(Arg self, ArrayRef<TensorIndex> indices, const Tensor& values, bool accumulate) {
  const SiteScope scope(self.site);
  checked("index_put", *self.tensor);
  const Tensor result = clone(self);
  result.index_put_(indices, values, accumulate, self.site);
  return result;
}
Tensor index_put(Arg self, std::initializer_list<TensorIndex> indices, const Tensor& values,
                 bool accumulate) {
  return index_put(self, ArrayRef<TensorIndex>(indices.begin(), indices.size()), values,
                   accumulate);
}
Tensor put(Arg self, const Tensor& index, const Tensor& source, bool accumulate) {
  const SiteScope scope(self.site);
  return put_into("put", *self.tensor, index, source, accumulate, self.site);
}
Tensor masked_scatter(Arg self, const Tensor& mask, const Tensor& source) {
  const SiteScope scope(self.site);
  return scattered("masked_scatter", *self.tensor, mask, source, self.site);
}

Tensor PartMethods::select_scatter(const Tensor& src, std::int64_t dim, std::int64_t index,
                                   Site site) const {
  return groove::select_scatter({self(), site}, src, dim, index);
}
Tensor PartMethods::slice_scatter(const Tensor& src, std::int64_t dim,
                                  std::optional<std::int64_t> start,
                                  std::optional<std::int64_t> end, std::int64_t step,
                                  Site site) const {
  return groove::slice_scatter({self(), site}, src, dim, start, end, step);
}
Tensor PartMethods::take(const Tensor& index, Site site) const {
  return groove::take({self(), site}, index);
}
Tensor PartMethods::take_along_dim(const Tensor& indices, std::optional<std::int64_t> dim,
                                   Site site) const {
  return groove::take_along_dim({self(), site}, indices, dim);
}
Tensor PartMethods::index_put(ArrayRef<TensorIndex> indices, const Tensor& values, bool accumulate,
                              Site site) const {
  return groove::index_put({self(), site}, indices, values, accumulate);
}
Tensor PartMethods::index_put(std::initializer_list<TensorIndex> indices, const Tensor& values,
                              bool accumulate, Site site) const {
  return groove::index_put({self(), site}, indices, values, accumulate);
}
Tensor PartMethods::put(const Tensor& index, const Tensor& source, bool accumulate,
                        Site site) const {
  return groove::put({self(), site}, index, source, accumulate);
}
Tensor& PartMethods::put_(const Tensor& index, const Tensor& source, bool accumulate,
                          Site site) const {
  const SiteScope scope(site);
  return self().copy_(put_into("put_", self(), index, source, accumulate, site), false, site);
}
Tensor PartMethods::masked_scatter(const Tensor& mask, const Tensor& source, Site site) const {
  return groove::masked_scatter({self(), site}, mask, source);
}
Tensor& PartMethods::masked_scatter_(const Tensor& mask, const Tensor& source, Site site) const {
  const SiteScope scope(site);
  return write_back("masked_scatter_", self(),
                    scattered("masked_scatter_", self(), mask, source, site), site);
}
Tensor PartMethods::argwhere(Site site) const {
  const CallFrame frame(site);
  return groove::nonzero({self(), site});
}

}  // namespace groove
