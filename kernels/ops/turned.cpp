// Axes exchanged and elements in reverse order, spelled with permute and flip.
#include "groove/ops/complex.h"
#include "groove/ops/parts.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

Tensor matrices_transposed(const char* op, const Tensor& self, Site site) {
  const Shape& sizes = checked(op, self).geometry.sizes;
  GROOVE_CHECK(sizes.size() >= 2, "{}: shape {} has no rows and columns", op, to_string(sizes));
  return transpose({self, site}, -2, -1);
}

Tensor conjugated(const Tensor& x, Site site) { return conj({x, site}); }

}  // namespace

Tensor adjoint(Arg self) {
  const SiteScope scope(self.site);
  return conjugated(matrices_transposed("adjoint", *self.tensor, self.site), self.site);
}
Tensor PartMethods::adjoint(Site site) const { return groove::adjoint({self(), site}); }
Tensor PartMethods::mT(Site site) const {
  const CallFrame frame(site);
  return matrices_transposed("mT", self(), site);
}
Tensor PartMethods::mH(Site site) const {
  const SiteScope scope(site);
  return conjugated(matrices_transposed("mH", self(), site), site);
}
Tensor PartMethods::matrix_H(Site site) const {
  const SiteScope scope(site);
  const Shape& sizes = checked("matrix_H", self()).geometry.sizes;
  GROOVE_CHECK(sizes.size() == 2, "matrix_H: shape {} is not that of a matrix", to_string(sizes));
  return conjugated(groove::transpose({self(), site}, 0, 1), site);
}
Tensor PartMethods::numpy_T(Site site) const {
  const CallFrame frame(site);
  Shape order;
  for (std::size_t i = checked("numpy_T", self()).geometry.sizes.size(); i-- > 0;)
    order.push_back(static_cast<std::int64_t>(i));
  return groove::permute({self(), site}, order);
}

Tensor movedim(Arg self, IntArrayRef source, IntArrayRef destination) {
  const CallFrame frame(self.site);
  const std::size_t rank = checked("movedim", *self.tensor).geometry.sizes.size();
  GROOVE_CHECK(source.size() == destination.size(), "movedim: {} axes to {} places", source.size(),
               destination.size());
  normal_dims("movedim", source, rank);
  normal_dims("movedim", destination, rank);
  Shape order(rank, -1), rest;
  for (std::size_t i = 0; i < source.size(); ++i)
    order[static_cast<std::size_t>(normal_dim("movedim", destination[i], rank))] =
        normal_dim("movedim", source[i], rank);
  std::size_t next = 0;
  const auto is_moved = [&](std::size_t axis) {
    for (const std::int64_t one : source)
      if (normal_dim("movedim", one, rank) == static_cast<std::int64_t>(axis)) return true;
    return false;
  };
  for (std::int64_t& axis : order) {
    if (axis >= 0) continue;
    while (is_moved(next)) ++next;
    axis = static_cast<std::int64_t>(next++);
  }
  return permute(self, order);
}
Tensor ViewMethods::movedim(IntArrayRef source, IntArrayRef destination, Site site) const {
  return groove::movedim({self(), site}, source, destination);
}
Tensor PartMethods::moveaxis(std::int64_t source, std::int64_t destination, Site site) const {
  const CallFrame frame(site);
  return groove::movedim({self(), site}, source, destination);
}
Tensor PartMethods::moveaxis(IntArrayRef source, IntArrayRef destination, Site site) const {
  const CallFrame frame(site);
  return groove::movedim({self(), site}, source, destination);
}
Tensor& PartMethods::swapaxes_(std::int64_t axis0, std::int64_t axis1, Site site) const {
  const CallFrame frame(site);
  return transpose_(axis0, axis1, site);
}
Tensor& PartMethods::swapdims_(std::int64_t dim0, std::int64_t dim1, Site site) const {
  const CallFrame frame(site);
  return transpose_(dim0, dim1, site);
}

Tensor squeeze(Arg self, IntArrayRef dims) {
  const CallFrame frame(self.site);
  const Shape& sizes = checked("squeeze", *self.tensor).geometry.sizes;
  const Shape axes = normal_dims("squeeze", dims, sizes.size());
  Shape kept;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    bool is_named = false;
    for (const std::int64_t axis : axes)
      is_named = is_named || axis == static_cast<std::int64_t>(i);
    if (!is_named || sizes[i] != 1) kept.push_back(sizes[i]);
  }
  return self.tensor->view(kept, self.site);
}
Tensor ViewMethods::squeeze(IntArrayRef dims, Site site) const {
  return groove::squeeze({self(), site}, dims);
}

Tensor fliplr(Arg self) {
  const CallFrame frame(self.site);
  const Shape& sizes = checked("fliplr", *self.tensor).geometry.sizes;
  GROOVE_CHECK(sizes.size() >= 2, "fliplr: shape {} has no second axis", to_string(sizes));
  return flip(self, {1});
}
Tensor flipud(Arg self) {
  const CallFrame frame(self.site);
  const Shape& sizes = checked("flipud", *self.tensor).geometry.sizes;
  GROOVE_CHECK(!sizes.empty(), "flipud: a 0-d tensor has no axis to turn");
  return flip(self, {0});
}
Tensor rot90(Arg self, std::int64_t k, IntArrayRef dims) {
  const SiteScope scope(self.site);
  const std::size_t rank = checked("rot90", *self.tensor).geometry.sizes.size();
  GROOVE_CHECK(dims.size() == 2 && rank >= 2, "rot90: {} dims for {} axes; there must be two",
               dims.size(), rank);
  const std::int64_t from = normal_dim("rot90", dims[0], rank);
  const std::int64_t to = normal_dim("rot90", dims[1], rank);
  GROOVE_CHECK(from != to, "rot90: dims {} and {} are the same axis", dims[0], dims[1]);
  switch ((k % 4 + 4) % 4) {
    case 1:
      return transpose(flip(self, {to}), from, to);
    case 2:
      return flip(self, {from, to});
    case 3:
      return transpose(flip(self, {from}), from, to);
    default:
      return clone(self);
  }
}
Tensor PartMethods::fliplr(Site site) const { return groove::fliplr({self(), site}); }
Tensor PartMethods::flipud(Site site) const { return groove::flipud({self(), site}); }
Tensor PartMethods::rot90(std::int64_t k, IntArrayRef dims, Site site) const {
  return groove::rot90({self(), site}, k, dims);
}

}  // namespace groove
