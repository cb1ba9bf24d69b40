// tensor_split, hsplit, vsplit and dsplit: pieces of one axis between positions, as views.
#include "groove/ops/parts.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

std::int64_t axis_to_split(const char* op, const Tensor& self, std::int64_t dim) {
  const Shape& sizes = checked(op, self).geometry.sizes;
  GROOVE_CHECK(!sizes.empty(), "{}: a 0-d tensor has no axis to divide", op);
  return normal_dim(op, dim, sizes.size());
}

Tensors between(Arg self, std::int64_t axis, IntArrayRef positions) {
  const SiteScope scope(self.site, nullptr);
  Tensors pieces;
  std::int64_t start = 0;
  for (const std::int64_t end : positions) {
    pieces.push_back(slice(self, axis, start, end));
    start = end;
  }
  pieces.push_back(slice(self, axis, start));
  return pieces;
}

Tensors sections_of(const char* op, Arg self, std::int64_t axis, std::int64_t sections) {
  GROOVE_CHECK(sections > 0, "{}: {} sections; there must be at least one", op, sections);
  const std::int64_t size = type_of(*self.tensor).sizes[static_cast<std::size_t>(axis)];
  Shape positions;
  std::int64_t at = 0;
  for (std::int64_t i = 0; i + 1 < sections; ++i)
    positions.push_back(at += size / sections + (i < size % sections ? 1 : 0));
  return between(self, axis, positions);
}

// Which axis a function divides that has the number of axes in its name.
std::int64_t axis_of(const char* op, const Tensor& self, std::size_t least, std::int64_t axis) {
  const Shape& sizes = checked(op, self).geometry.sizes;
  GROOVE_CHECK(sizes.size() >= least, "{}: shape {} has less than {} axes", op, to_string(sizes),
               least);
  return sizes.size() == 1 ? 0 : axis;
}
Tensors equal_sections(const char* op, Arg self, std::int64_t axis, std::int64_t sections) {
  const std::int64_t size = type_of(*self.tensor).sizes[static_cast<std::size_t>(axis)];
  GROOVE_CHECK(sections > 0 && size % sections == 0,
               "{}: {} sections do not divide dim {} of size {}", op, sections, axis, size);
  return sections_of(op, self, axis, sections);
}

}  // namespace

std::vector<Tensor> tensor_split(Arg self, std::int64_t sections, std::int64_t dim) {
  const CallFrame frame(self.site);
  return sections_of("tensor_split", self, axis_to_split("tensor_split", *self.tensor, dim),
                     sections);
}
std::vector<Tensor> tensor_split(Arg self, IntArrayRef indices, std::int64_t dim) {
  const CallFrame frame(self.site);
  return between(self, axis_to_split("tensor_split", *self.tensor, dim), indices);
}
std::vector<Tensor> tensor_split(Arg self, const Tensor& indices_or_sections, std::int64_t dim) {
  const CallFrame frame(self.site);
  const TensorImpl& impl = checked("tensor_split", indices_or_sections);
  const std::size_t rank = impl.geometry.sizes.size();
  GROOVE_CHECK(impl.dtype == kLong, "tensor_split: the sections or positions must be i64, not {}",
               name(impl.dtype));
  GROOVE_CHECK(rank <= 1, "tensor_split: the sections or positions must be 0-d or 1-d, not {}",
               to_string(impl.geometry.sizes));
  if (rank == 0)
    return groove::tensor_split(self, indices_or_sections.item<std::int64_t>(self.site), dim);
  Shape positions;
  for (std::int64_t i = 0; i < indices_or_sections.size(0); ++i)
    positions.push_back(select(indices_or_sections, 0, i).item<std::int64_t>(self.site));
  return groove::tensor_split(self, positions, dim);
}
std::vector<Tensor> hsplit(Arg self, std::int64_t sections) {
  const CallFrame frame(self.site);
  return equal_sections("hsplit", self, axis_of("hsplit", *self.tensor, 1, 1), sections);
}
std::vector<Tensor> hsplit(Arg self, IntArrayRef indices) {
  const CallFrame frame(self.site);
  return between(self, axis_of("hsplit", *self.tensor, 1, 1), indices);
}
std::vector<Tensor> vsplit(Arg self, std::int64_t sections) {
  const CallFrame frame(self.site);
  return equal_sections("vsplit", self, axis_of("vsplit", *self.tensor, 2, 0), sections);
}
std::vector<Tensor> vsplit(Arg self, IntArrayRef indices) {
  const CallFrame frame(self.site);
  return between(self, axis_of("vsplit", *self.tensor, 2, 0), indices);
}
std::vector<Tensor> dsplit(Arg self, std::int64_t sections) {
  const CallFrame frame(self.site);
  return equal_sections("dsplit", self, axis_of("dsplit", *self.tensor, 3, 2), sections);
}
std::vector<Tensor> dsplit(Arg self, IntArrayRef indices) {
  const CallFrame frame(self.site);
  return between(self, axis_of("dsplit", *self.tensor, 3, 2), indices);
}

std::vector<Tensor> PartMethods::tensor_split(std::int64_t sections, std::int64_t dim,
                                              Site site) const {
  return groove::tensor_split({self(), site}, sections, dim);
}
std::vector<Tensor> PartMethods::tensor_split(IntArrayRef indices, std::int64_t dim,
                                              Site site) const {
  return groove::tensor_split({self(), site}, indices, dim);
}
std::vector<Tensor> PartMethods::tensor_split(const Tensor& indices_or_sections, std::int64_t dim,
                                              Site site) const {
  return groove::tensor_split({self(), site}, indices_or_sections, dim);
}
std::vector<Tensor> PartMethods::hsplit(std::int64_t sections, Site site) const {
  return groove::hsplit({self(), site}, sections);
}
std::vector<Tensor> PartMethods::hsplit(IntArrayRef indices, Site site) const {
  return groove::hsplit({self(), site}, indices);
}
std::vector<Tensor> PartMethods::vsplit(std::int64_t sections, Site site) const {
  return groove::vsplit({self(), site}, sections);
}
std::vector<Tensor> PartMethods::vsplit(IntArrayRef indices, Site site) const {
  return groove::vsplit({self(), site}, indices);
}
std::vector<Tensor> PartMethods::dsplit(std::int64_t sections, Site site) const {
  return groove::dsplit({self(), site}, sections);
}
std::vector<Tensor> PartMethods::dsplit(IntArrayRef indices, Site site) const {
  return groove::dsplit({self(), site}, indices);
}

}  // namespace groove
