// index_copy: a source's slices put at the positions of a 1-d index, the last of equal ones
// staying; index_fill puts a number there.
#include "groove/ops/creation.h"
#include "groove/ops/index.h"
#include "groove/ops/views.h"
#include "kernels/ops/complex_rules.h"
#include "kernels/ops/indexed_write.h"

namespace groove {
namespace {

// Values along one axis, so that they broadcast against a tensor of that rank.
Tensor along(const Tensor& line, std::size_t rank, std::int64_t dim) {
  Shape sizes(rank, 1);
  sizes[static_cast<std::size_t>(dim)] = type_of(line).sizes[0];
  return line.view(sizes);
}

// bool [size]: is the position in the index?
Tensor is_listed(const Op& op, const Tensor& index, std::int64_t size, Site site) {
  const Shape count = type_of(index).sizes;
  return call(op, {zeros({size}, kBool, site), index, ones(count, kBool, site)}, site,
              Attrs().add(std::int64_t{0}));
}

// bool [k]: which slices of the source stayed.
Tensor stayed(const Op& op, const Tensor& index, std::int64_t size) {
  const Tensor order = arange(Scalar(index.numel()), kLong);
  const Tensor last =
      call(op, {zeros({size}, kLong), index, order}, Site::current(), Attrs().add(std::int64_t{0}));
  return eq(index_select(last, 0, index), order);
}

const Op& op = define(IndexedWrite{
    .name = "index_copy",
    .writing = Writing::kSlices,
    .meeting = Meeting::kLast,
    .gradient =
        [](const Grad& g) {
          const std::int64_t dim = g.attr().integer(0);
          const Shape& sizes = g.input_types[0].sizes;
          const std::int64_t size = sizes[static_cast<std::size_t>(dim)];
          const Tensor& index = g.input(1);
          Tensors result(3);
          if (g.needs[0]) {
            const Tensor written = is_listed(g.op, index, size, Site::current());
            result[0] = masked_fill(g.cotangent(), along(written, sizes.size(), dim), 0);
          }
          if (g.needs[2]) {
            const Tensor kept = along(stayed(g.op, index, size), sizes.size(), dim);
            result[2] = where(kept, index_select(g.cotangent(), dim, index), 0);
          }
          return result;
        },
    .complex = complex_rules::on_pairs,
});

Attrs attrs_of(const Tensor& self, std::int64_t dim) {
  return Attrs().add(indexed_axis("index_copy", self, dim));
}

// Positions count from the end where they are negative.
Tensor fill_mask(const Tensor& self, std::int64_t dim, const Tensor& index, Site site) {
  const std::int64_t axis = indexed_axis("index_fill", self, dim);
  const Tensor list = as_list("index_fill", index, site);
  check_index_dtype("index_fill", type_of(list));
  const Shape& sizes = type_of(self).sizes;
  GROOVE_CHECK(type_of(list).sizes.size() == 1, "index_fill: the index has shape {}, not one axis",
               to_string(type_of(list).sizes));
  const std::int64_t size = sizes[static_cast<std::size_t>(axis)];
  const Tensor from_start = where(lt(list, 0), list + size, list);
  return along(is_listed(op, from_start, size, site), sizes.size(), axis);
}

bool is_one_number(const char* op, const Tensor& self) {
  return checked(op, self).geometry.sizes.empty();
}

}  // namespace

Tensor index_copy(Arg self, std::int64_t dim, const Tensor& index, const Tensor& source) {
  const CallFrame frame(self.site);
  if (is_one_number("index_copy", *self.tensor) && is_one_number("index_copy", source))
    return squeeze(index_copy(unsqueeze(self, 0), dim, index, unsqueeze(source, 0)), 0);
  return call(op, {*self.tensor, as_list("index_copy", index, self.site), source}, self.site,
              attrs_of(*self.tensor, dim));
}
Tensor index_fill(Arg self, std::int64_t dim, const Tensor& index, Scalar value) {
  const SiteScope scope(self.site);
  if (is_one_number("index_fill", *self.tensor))
    return squeeze(index_fill(unsqueeze(self, 0), dim, index, value), 0);
  return masked_fill(self, fill_mask(*self.tensor, dim, index, self.site), value);
}

Tensor IndexMethods::index_copy(std::int64_t dim, const Tensor& index, const Tensor& source,
                                Site site) const {
  return groove::index_copy({self(), site}, dim, index, source);
}
Tensor& IndexMethods::index_copy_(std::int64_t dim, const Tensor& index, const Tensor& source,
                                  Site site) const {
  return call_inplace(op, writable(self()), {as_list("index_copy_", index, site), source}, site,
                      attrs_of(self(), dim));
}
Tensor IndexMethods::index_fill(std::int64_t dim, const Tensor& index, Scalar value,
                                Site site) const {
  return groove::index_fill({self(), site}, dim, index, value);
}
Tensor& IndexMethods::index_fill_(std::int64_t dim, const Tensor& index, Scalar value,
                                  Site site) const {
  const SiteScope scope(site);
  if (is_one_number("index_fill_", self())) {
    self().unsqueeze(0, site).index_fill_(dim, index, value, site);
    return writable(self());
  }
  return self().masked_fill_(fill_mask(self(), dim, index, site), value, site);
}

// What stands for the slices at the positions.
static Tensor filling(const Tensor& self, std::int64_t dim, const Tensor& index,
                      const Tensor& value, Site site) {
  Shape sizes = checked("index_fill", self).geometry.sizes;
  GROOVE_CHECK(checked("index_fill", value).geometry.sizes.empty(),
               "index_fill: value has shape {}; it must be 0-d", to_string(type_of(value).sizes));
  const std::int64_t axis = normal_dim("index_fill", dim, sizes.size());
  if (!sizes.empty()) sizes[static_cast<std::size_t>(axis)] = index.numel();
  return value.to(type_of(self).dtype, false, false, site).expand(sizes, false, site);
}
Tensor index_fill(Arg self, std::int64_t dim, const Tensor& index, const Tensor& value) {
  const CallFrame frame(self.site);
  return index_copy(self, dim, index, filling(*self.tensor, dim, index, value, self.site));
}
Tensor IndexMethods::index_fill(std::int64_t dim, const Tensor& index, const Tensor& value,
                                Site site) const {
  return groove::index_fill({self(), site}, dim, index, value);
}
Tensor& IndexMethods::index_fill_(std::int64_t dim, const Tensor& index, const Tensor& value,
                                  Site site) const {
  const CallFrame frame(site);
  return index_copy_(dim, index, filling(self(), dim, index, value, site), site);
}

}  // namespace groove
