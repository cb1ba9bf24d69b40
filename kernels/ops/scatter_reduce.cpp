// scatter_reduce: source elements that an index sends to one place, and what was there, brought
// together as a sum, product, mean, maximum or minimum; index_reduce does so with slices, and
// scatter with a reduction is its older name.
#include <limits>

#include "groove/ops/parts.h"
#include "kernels/ops/indexed_write.h"
#include "kernels/ops/scatter.h"
#include "kernels/ops/spelled.h"

namespace groove {
namespace {

// Among equal ones the gradient is divided.
Tensors gradient_of_extremum(const Grad& g) {
  const std::int64_t dim = g.attr().integer(0);
  const Tensor &self = g.input(0), &index = g.input(1), &source = g.input(2);
  const ScalarType dtype = g.input_types[0].dtype;
  const Tensor from_self = eq(self, g.output()).to(dtype);
  const Tensor from_source = eq(source, gather(g.output(), dim, index)).to(dtype);
  const Tensor share = g.cotangent() / scatter_add(from_self, dim, index, from_source);
  Tensors result(3);
  if (g.needs[0]) result[0] = share * from_self;
  if (g.needs[2]) result[2] = gather(share, dim, index) * from_source;
  return result;
}

// The product of the others is the result divided by the element; a single 0 is left out of the
// product instead.
Tensors gradient_of_product(const Grad& g) {
  const std::int64_t dim = g.attr().integer(0);
  const Tensor &self = g.input(0), &index = g.input(1), &source = g.input(2);
  const auto product = [&](const Tensor& start, const Tensor& factors) {
    return call(g.op, {start, index, factors}, Site::current(), g.attrs);
  };
  Tensors result(3);
  if (g.needs[0]) {
    const Tensor rest = product(ones_like(self), source);
    result[0] = g.cotangent() * rest;
  }
  if (g.needs[2]) {
    const Tensor is_zero = eq(source, 0);
    const Tensor zeros_there = gather(
        scatter_add(zeros_like(self), dim, index, is_zero.to(self.scalar_type())), dim, index);
    const Tensor is_only = logical_and(is_zero, eq(zeros_there, 1));
    const Tensor others = product(self, masked_fill(source, is_only, 1));
    const Tensor whole = gather(g.cotangent() * g.output(), dim, index);
    result[2] = where(is_only, gather(g.cotangent() * others, dim, index),
                      whole / masked_fill(source, is_zero, 1));
  }
  return result;
}

const Op& op_product = define(IndexedWrite{.name = "scatter_prod",
                                           .writing = Writing::kElements,
                                           .meeting = Meeting::kMultiplies,
                                           .gradient = gradient_of_product,
                                           .saves_all = true});
const Op& op_greatest = define(IndexedWrite{.name = "scatter_amax",
                                            .writing = Writing::kElements,
                                            .meeting = Meeting::kGreatest,
                                            .gradient = gradient_of_extremum,
                                            .saves_all = true});
const Op& op_least = define(IndexedWrite{.name = "scatter_amin",
                                         .writing = Writing::kElements,
                                         .meeting = Meeting::kLeast,
                                         .gradient = gradient_of_extremum,
                                         .saves_all = true});

// What changes nothing.
Scalar neutral(std::string_view reduce, ScalarType dtype) {
  if (reduce == "prod") return 1;
  if (reduce != "amax" && reduce != "amin") return 0;
  const bool is_least = reduce == "amax";
  if (is_floating(dtype)) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    return is_least ? -kInfinity : kInfinity;
  }
  if (dtype == kByte) return is_least ? 0 : 255;
  using Narrow = std::numeric_limits<std::int32_t>;
  using Wide = std::numeric_limits<std::int64_t>;
  if (dtype == kInt) return is_least ? Narrow::min() : Narrow::max();
  return is_least ? Wide::min() : Wide::max();
}

// The sum divided by the number of terms, of integers rounded down.
Tensor mean_of(const char* name, const Tensor& start, const Tensor& self, std::int64_t dim,
               const Tensor& index, const Tensor& source, bool include_self) {
  const ScalarType dtype = checked(name, self).dtype;
  const Tensor terms = include_self ? ones_like(self) : zeros_like(self);
  const Tensor count =
      clamp_min(scatter_add(terms, dim, index, ones(type_of(source).sizes, dtype)), 1);
  const Tensor total = scatter_add(start, dim, index, source);
  return is_floating(dtype) ? div(total, count) : div(total, count, "floor");
}

Tensor reduced(const char* name, const Tensor& self, std::int64_t dim, const Tensor& index,
               const Tensor& whole, std::string_view reduce, bool include_self, Site site) {
  GROOVE_CHECK(reduce == "sum" || reduce == "prod" || reduce == "mean" || reduce == "amax" ||
                   reduce == "amin",
               "{}: reduce \"{}\" is none of \"sum\", \"prod\", \"mean\", \"amax\" and \"amin\"",
               name, reduce);
  const ScalarType dtype = checked(name, self).dtype;
  GROOVE_CHECK(dtype == checked(name, whole).dtype,
               "{}: self is {}, source is {}; convert one of them", name, groove::name(dtype),
               groove::name(whole.impl()->dtype));
  const std::int64_t axis = indexed_axis(name, self, dim);
  const Tensor source = cut_to_index(name, whole, index, site);
  const Tensor start = include_self ? self : scatter(self, axis, index, neutral(reduce, dtype));
  if (reduce == "sum") return scatter_add(start, axis, index, source);
  if (reduce == "mean") return mean_of(name, start, self, axis, index, source, include_self);
  const Op& op = reduce == "prod" ? op_product : reduce == "amax" ? op_greatest : op_least;
  return call(op, {start, index, source}, site, Attrs().add(axis));
}

Tensor by_old_name(const char* name, const Tensor& self, std::int64_t dim, const Tensor& index,
                   const Tensor& source, std::string_view reduce, Site site) {
  GROOVE_CHECK(reduce == "add" || reduce == "multiply",
               "{}: reduce \"{}\" is neither \"add\" nor \"multiply\"", name, reduce);
  return reduced(name, self, dim, index, source, reduce == "add" ? "sum" : "prod", true, site);
}
Tensor number_for(const char* name, const Tensor& self, const Tensor& index, Scalar value,
                  Site site) {
  return full(checked(name, index).geometry.sizes, value, checked(name, self).dtype, site);
}

// The 1-d index as one of source's shape.
Tensor slices_reduced(const char* name, const Tensor& self, std::int64_t dim, const Tensor& index,
                      const Tensor& source, std::string_view reduce, bool include_self, Site site) {
  GROOVE_CHECK(reduce != "sum", "{}: reduce \"sum\" is index_add", name);
  const Tensor list = as_list(name, index, site);
  const std::int64_t axis = indexed_axis(name, self, dim);
  const Shape sizes = checked(name, source).geometry.sizes;
  Shape along(sizes.size(), 1);
  const auto at = static_cast<std::size_t>(axis);
  GROOVE_CHECK(type_of(list).sizes.size() == 1 && at < sizes.size() && list.numel() == sizes[at],
               "{}: index {} and source {} do not fit along dim {}", name,
               to_string(type_of(list).sizes), to_string(sizes), axis);
  along[at] = list.numel();
  const Tensor wide = expand({list.reshape(along, site), site}, sizes);
  return reduced(name, self, axis, wide, source, reduce, include_self, site);
}

}  // namespace

Tensor scatter(Arg self, std::int64_t dim, const Tensor& index, const Tensor& source,
               std::string_view reduce) {
  const SiteScope scope(self.site);
  return by_old_name("scatter", *self.tensor, dim, index, source, reduce, self.site);
}
Tensor scatter(Arg self, std::int64_t dim, const Tensor& index, Scalar value,
               std::string_view reduce) {
  const SiteScope scope(self.site);
  const Tensor source = number_for("scatter", *self.tensor, index, value, self.site);
  return by_old_name("scatter", *self.tensor, dim, index, source, reduce, self.site);
}
Tensor scatter_reduce(Arg self, std::int64_t dim, const Tensor& index, const Tensor& source,
                      std::string_view reduce, bool include_self) {
  const SiteScope scope(self.site);
  return reduced("scatter_reduce", *self.tensor, dim, index, source, reduce, include_self,
                 self.site);
}
Tensor index_reduce(Arg self, std::int64_t dim, const Tensor& index, const Tensor& source,
                    std::string_view reduce, bool include_self) {
  const SiteScope scope(self.site);
  return slices_reduced("index_reduce", *self.tensor, dim, index, source, reduce, include_self,
                        self.site);
}

Tensor PartMethods::scatter(std::int64_t dim, const Tensor& index, const Tensor& source,
                            std::string_view reduce, Site site) const {
  return groove::scatter({self(), site}, dim, index, source, reduce);
}
Tensor PartMethods::scatter(std::int64_t dim, const Tensor& index, Scalar value,
                            std::string_view reduce, Site site) const {
  return groove::scatter({self(), site}, dim, index, value, reduce);
}
Tensor& PartMethods::scatter_(std::int64_t dim, const Tensor& index, const Tensor& source,
                              std::string_view reduce, Site site) const {
  const SiteScope scope(site);
  const Tensor result = by_old_name("scatter_", self(), dim, index, source, reduce, site);
  return self().copy_(result, false, site);
}
Tensor& PartMethods::scatter_(std::int64_t dim, const Tensor& index, Scalar value,
                              std::string_view reduce, Site site) const {
  const SiteScope scope(site);
  const Tensor source = number_for("scatter_", self(), index, value, site);
  const Tensor result = by_old_name("scatter_", self(), dim, index, source, reduce, site);
  return self().copy_(result, false, site);
}
Tensor PartMethods::scatter_reduce(std::int64_t dim, const Tensor& index, const Tensor& source,
                                   std::string_view reduce, bool include_self, Site site) const {
  return groove::scatter_reduce({self(), site}, dim, index, source, reduce, include_self);
}
Tensor& PartMethods::scatter_reduce_(std::int64_t dim, const Tensor& index, const Tensor& source,
                                     std::string_view reduce, bool include_self, Site site) const {
  const SiteScope scope(site);
  const Tensor result =
      reduced("scatter_reduce_", self(), dim, index, source, reduce, include_self, site);
  return self().copy_(result, false, site);
}
Tensor PartMethods::index_reduce(std::int64_t dim, const Tensor& index, const Tensor& source,
                                 std::string_view reduce, bool include_self, Site site) const {
  return groove::index_reduce({self(), site}, dim, index, source, reduce, include_self);
}
Tensor& PartMethods::index_reduce_(std::int64_t dim, const Tensor& index, const Tensor& source,
                                   std::string_view reduce, bool include_self, Site site) const {
  const SiteScope scope(site);
  const Tensor result =
      slices_reduced("index_reduce_", self(), dim, index, source, reduce, include_self, site);
  return self().copy_(result, false, site);
}

}  // namespace groove
