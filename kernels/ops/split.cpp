// split, chunk and unbind: all slices of an axis, as views.
#include <algorithm>

#include "groove/ops/views.h"
#include "kernels/ops/slice.h"

namespace groove {
namespace {

// The axis, non-negative, of a tensor that has one.
std::size_t axis_of(const char* op, const Tensor& self, std::int64_t dim) {
  const Shape& sizes = checked(op, self).geometry.sizes;
  GROOVE_CHECK(!sizes.empty(), "{}: a 0-d tensor has no axis to divide", op);
  return static_cast<std::size_t>(normal_dim(op, dim, sizes.size()));
}

Tensors pieces(Arg self, std::size_t axis, IntArrayRef lengths) {
  const SiteScope scope(self.site);
  Tensors result;
  result.reserve(lengths.size());
  std::int64_t start = 0;
  for (const std::int64_t length : lengths) {
    result.push_back(
        slice_exact(*self.tensor, static_cast<std::int64_t>(axis), start, length, 1, self.site));
    start += length;
  }
  return result;
}

// Lengths of pieces of `each` elements, of which the last one may have fewer.
Shape equal_lengths(std::int64_t size, std::int64_t each) {
  Shape lengths;
  for (std::int64_t start = 0; start < size; start += each)
    lengths.push_back(std::min(each, size - start));
  if (lengths.empty()) lengths.push_back(0);
  return lengths;
}

}  // namespace

std::vector<Tensor> split(Arg self, std::int64_t split_size, std::int64_t dim) {
  const CallFrame frame(self.site);
  const std::size_t axis = axis_of("split", *self.tensor, dim);
  const std::int64_t size = type_of(*self.tensor).sizes[axis];
  GROOVE_CHECK(split_size > 0 || (split_size == 0 && size == 0),
               "split: split_size {} must be positive for dim {} of size {}", split_size, axis,
               size);
  return pieces(self, axis, equal_lengths(size, split_size));
}
std::vector<Tensor> split_with_sizes(Arg self, IntArrayRef split_sizes, std::int64_t dim) {
  const CallFrame frame(self.site);
  const std::size_t axis = axis_of("split", *self.tensor, dim);
  std::int64_t total = 0;
  for (const std::int64_t length : split_sizes) {
    GROOVE_CHECK(length >= 0, "split: sizes {} contain a negative one", to_string(split_sizes));
    total += length;
  }
  const std::int64_t size = type_of(*self.tensor).sizes[axis];
  GROOVE_CHECK(total == size, "split: sizes {} add up to {}, not to the {} of dim {}",
               to_string(split_sizes), total, size, axis);
  return pieces(self, axis, split_sizes);
}
std::vector<Tensor> split(Arg self, IntArrayRef split_sizes, std::int64_t dim) {
  const CallFrame frame(self.site);
  return split_with_sizes(self, split_sizes, dim);
}
std::vector<Tensor> chunk(Arg self, std::int64_t chunks, std::int64_t dim) {
  const CallFrame frame(self.site);
  const std::size_t axis = axis_of("chunk", *self.tensor, dim);
  GROOVE_CHECK(chunks > 0, "chunk: {} chunks; there must be at least one", chunks);
  const std::int64_t size = type_of(*self.tensor).sizes[axis];
  // As LibTorch: an empty axis gives all chunks, otherwise there may be fewer than asked for.
  if (size == 0) return pieces(self, axis, Shape(static_cast<std::size_t>(chunks), 0));
  return pieces(self, axis, equal_lengths(size, (size + chunks - 1) / chunks));
}
std::vector<Tensor> unbind(Arg self, std::int64_t dim) {
  const CallFrame frame(self.site);
  const std::size_t axis = axis_of("unbind", *self.tensor, dim);
  const std::int64_t size = type_of(*self.tensor).sizes[axis];
  const SiteScope scope(self.site);
  Tensors result;
  for (std::int64_t i = 0; i < size; ++i)
    result.push_back(select(self, static_cast<std::int64_t>(axis), i));
  return result;
}

std::vector<Tensor> ViewMethods::split(std::int64_t split_size, std::int64_t dim, Site site) const {
  return groove::split({self(), site}, split_size, dim);
}
std::vector<Tensor> ViewMethods::split(IntArrayRef split_sizes, std::int64_t dim, Site site) const {
  const CallFrame frame(site);
  return groove::split_with_sizes({self(), site}, split_sizes, dim);
}
std::vector<Tensor> ViewMethods::split_with_sizes(IntArrayRef split_sizes, std::int64_t dim,
                                                  Site site) const {
  return groove::split_with_sizes({self(), site}, split_sizes, dim);
}
std::vector<Tensor> ViewMethods::chunk(std::int64_t chunks, std::int64_t dim, Site site) const {
  return groove::chunk({self(), site}, chunks, dim);
}
std::vector<Tensor> ViewMethods::unbind(std::int64_t dim, Site site) const {
  return groove::unbind({self(), site}, dim);
}

}  // namespace groove
