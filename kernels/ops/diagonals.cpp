// Matrices made of diagonals and blocks, and what is read and written along diagonals.
#include <algorithm>

#include "groove/ops/creation.h"
#include "groove/ops/parts.h"
#include "groove/ops/reductions.h"
#include "kernels/ops/rules.h"
#include "src/core/promotion.h"

namespace groove {
namespace {

Tensor copy_of(const Tensor& self, Site site) { return clone({self, site}); }

}  // namespace

// Row i and column i + offset meet at element i; the axis that begins later is padded in front.
Tensor diag_embed(Arg self, std::int64_t offset, std::int64_t dim1, std::int64_t dim2) {
  const SiteScope scope(self.site);
  const std::size_t rank = checked("diag_embed", *self.tensor).geometry.sizes.size();
  GROOVE_CHECK(rank >= 1, "diag_embed: a 0-d tensor has no axis for a diagonal");
  const std::int64_t first = normal_dim("diag_embed", dim1, rank + 1);
  const std::int64_t second = normal_dim("diag_embed", dim2, rank + 1);
  GROOVE_CHECK(first != second, "diag_embed: dim1 {} and dim2 {} are the same axis", dim1, dim2);
  const std::int64_t apart = offset < 0 ? -offset : offset;
  const Tensor padded = apart == 0 ? *self.tensor : constant_pad_nd(self, {0, apart});
  const Tensor line = arange(Scalar(padded.size(-1)), kLong);
  const Tensor apart_there = ne(line.unsqueeze(1) + offset, line);
  const Tensor matrices =
      masked_fill(offset < 0 ? padded.unsqueeze(-2) : padded.unsqueeze(-1), apart_there, 0);
  return movedim(matrices, {-2, -1}, {first, second});
}
Tensor diagflat(Arg self, std::int64_t offset) {
  const SiteScope scope(self.site);
  checked("diagflat", *self.tensor);
  return diag(self.tensor->reshape({-1}), offset);
}
Tensor PartMethods::diag_embed(std::int64_t offset, std::int64_t dim1, std::int64_t dim2,
                               Site site) const {
  return groove::diag_embed({self(), site}, offset, dim1, dim2);
}
Tensor PartMethods::diagflat(std::int64_t offset, Site site) const {
  return groove::diagflat({self(), site}, offset);
}

Tensor trace(Arg self) {
  const SiteScope scope(self.site);
  const Shape& sizes = checked("trace", *self.tensor).geometry.sizes;
  GROOVE_CHECK(self.tensor->impl()->dtype != kBool,
               "trace: not defined for Bool tensors; convert with to(kInt)");
  GROOVE_CHECK(sizes.size() == 2, "trace: shape {} is not that of a matrix", to_string(sizes));
  return sum(diagonal(self));
}
Tensor PartMethods::trace(Site site) const { return groove::trace({self(), site}); }

Tensor diagonal_scatter(Arg self, const Tensor& src, std::int64_t offset, std::int64_t dim1,
                        std::int64_t dim2) {
  const SiteScope scope(self.site);
  checked("diagonal_scatter", *self.tensor);
  const Tensor result = copy_of(*self.tensor, self.site);
  const Tensor part = diagonal(result, offset, dim1, dim2);
  GROOVE_CHECK(type_of(part).sizes == checked("diagonal_scatter", src).geometry.sizes,
               "diagonal_scatter: src {} has not the shape {} of the diagonal",
               to_string(src.sizes()), to_string(part.sizes()));
  part.copy_(src);
  return result;
}
Tensor PartMethods::diagonal_scatter(const Tensor& src, std::int64_t offset, std::int64_t dim1,
                                     std::int64_t dim2, Site site) const {
  return groove::diagonal_scatter({self(), site}, src, offset, dim1, dim2);
}

Tensor& PartMethods::fill_diagonal_(Scalar fill_value, bool wrap, Site site) const {
  const SiteScope scope(site);
  const Shape sizes = checked("fill_diagonal_", self()).geometry.sizes;
  GROOVE_CHECK(sizes.size() >= 2, "fill_diagonal_: shape {} has no two axes", to_string(sizes));
  GROOVE_CHECK(sizes.size() == 2 || std::all_of(sizes.begin(), sizes.end(),
                                                [&](auto size) { return size == sizes[0]; }),
               "fill_diagonal_: the axes of {} are not of one size", to_string(sizes));
  Tensor line = groove::diagonal({self(), site});
  while (line.dim() > 1) line = groove::diagonal({line, site});
  line.fill_(fill_value, site);
  const std::int64_t period = sizes[1] + 1;
  for (std::int64_t row = period; wrap && sizes.size() == 2 && row < sizes[0]; row += period)
    groove::diagonal(groove::slice({self(), site}, 0, row)).fill_(fill_value, site);
  return writable(self());
}

Tensor block_diag(TensorList tensors, Site site) {
  const SiteScope scope(site);
  if (tensors.empty()) return empty({1, 0}, {}, site);
  std::vector<Type> types;
  for (const Tensor& tensor : tensors) {
    checked("block_diag", tensor);
    types.push_back(type_of(tensor));
  }
  const ScalarType dtype = result_type(ArrayRef<Type>(types));
  Tensors blocks;
  std::int64_t width = 0;
  for (const Tensor& tensor : tensors) {
    const Shape sizes = type_of(tensor).sizes;
    GROOVE_CHECK(sizes.size() <= 2, "block_diag: shape {} has more than 2 axes", to_string(sizes));
    blocks.push_back(atleast_2d({tensor.to(dtype, false, false, site), site}));
    width += blocks.back().size(1);
  }
  std::int64_t before = 0;
  for (Tensor& block : blocks) {
    const std::int64_t own = block.size(1);
    block = constant_pad_nd(block, {before, width - before - own});
    before += own;
  }
  return cat(blocks, 0, site);
}

}  // namespace groove
