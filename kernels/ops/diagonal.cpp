// diagonal: the elements of two axes whose indices differ by an offset, as a view; diag makes a
// matrix of them or takes them out of one.
#include <algorithm>

#include "groove/ops/creation.h"
#include "groove/ops/views.h"
#include "kernels/ops/complex_rules.h"
#include "kernels/ops/reference.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

enum { kOffset, kFirst, kSecond };

struct Place {
  std::size_t first, second;  // axes
  std::int64_t row, column;   // of the first element
  std::int64_t length;
};

Place place_of(IntArrayRef sizes, const AttrReader& attr) {
  const std::int64_t offset = attr.integer(kOffset);
  Place place{static_cast<std::size_t>(attr.integer(kFirst)),
              static_cast<std::size_t>(attr.integer(kSecond)), std::max<std::int64_t>(-offset, 0),
              std::max<std::int64_t>(offset, 0), 0};
  GROOVE_CHECK(std::max(place.first, place.second) < sizes.size(),
               "diagonal: axes {} and {} of {} axes", place.first, place.second, sizes.size());
  place.length = std::max<std::int64_t>(
      std::min(sizes[place.first] - place.row, sizes[place.second] - place.column), 0);
  return place;
}

Shape without(const Shape& values, const Place& place, std::int64_t last) {
  Shape result = values;
  result.erase(std::max(place.first, place.second));
  result.erase(std::min(place.first, place.second));
  result.push_back(last);
  return result;
}

const Op& op = define({
    .name = "diagonal",
    .kind = OpKind::kView,
    .attributes = {{"offset", AttrType::kInt}, {"dim1", AttrType::kInt}, {"dim2", AttrType::kInt}},
    .type = [](const Signature& s) -> TypeResult {
      const Place place = place_of(s.inputs[0].sizes, s.attr());
      return {{{s.inputs[0].dtype, without(s.inputs[0].sizes, place, place.length)}},
              s.inputs[0].dtype};
    },
    .view =
        [](const Geometry& input, const Signature& s) {
          const Place place = place_of(input.sizes, s.attr());
          const std::int64_t down = input.strides[place.first];
          const std::int64_t right = input.strides[place.second];
          const std::int64_t start =
              place.length == 0 ? 0 : place.row * down + place.column * right;
          return Geometry{without(input.sizes, place, place.length),
                          without(input.strides, place, down + right), input.offset + start};
        },
    .complex = complex_rules::with_new_axis,
    .has_inplace = false,
    .reference =
        [](const Signature& s, const std::vector<Reference>& inputs) {
          const AttrReader attr = s.attr();
          const Place place = place_of(inputs[0].type.sizes, attr);
          return std::vector<Reference>{make_reference(s.op.type(s).outputs[0], [&](Shape index) {
            const std::int64_t at = index.back();
            index.erase(index.size() - 1);
            const bool is_ordered = place.first < place.second;
            const std::int64_t row = at + place.row, column = at + place.column;
            index.insert(std::min(place.first, place.second), is_ordered ? row : column);
            index.insert(std::max(place.first, place.second), is_ordered ? column : row);
            return inputs[0]
                .values[static_cast<std::size_t>(flat_position(inputs[0].type.sizes, index))];
          })};
        },
    .dtypes = all_dtypes(),
    .samples =
        [](ScalarType dtype) {
          const auto attrs = [](std::int64_t offset, std::int64_t first, std::int64_t second) {
            return Attrs().add(offset).add(first).add(second);
          };
          return std::vector<Sample>{{{{dtype, {3, 3}}}, attrs(0, 0, 1), {}},
                                     {{{dtype, {3, 5}}}, attrs(1, 0, 1), {}},
                                     {{{dtype, {3, 5}}}, attrs(-2, 1, 0), {}},
                                     {{{dtype, {3, 4}}}, attrs(7, 0, 1), {}},
                                     {{{dtype, {0, 4}}}, attrs(-1, 0, 1), {}},
                                     {{{dtype, {2, 3, 4}}}, attrs(-1, 0, 2), {}},
                                     {{{dtype, {2, 3, 2}}}, attrs(0, 2, 0), {}}};
        },
    .tolerance_ulp = 0,
});

// [n] -> [n + |k|, n + |k|]: row i and column i + k meet at element i.
Tensor matrix_of(Arg self, std::int64_t k) {
  const Tensor& x = *self.tensor;
  const std::int64_t size = x.numel() + (k < 0 ? -k : k);
  const Tensor padded = constant_pad_nd({x, self.site}, {0, size - x.numel()});
  const Tensor line = arange(Scalar(size), {}, self.site);
  const Tensor rows = line.unsqueeze(1, self.site);
  const Tensor apart = ne({k == 0 ? rows : rows.add(Scalar(k), 1, self.site), self.site}, line);
  return masked_fill({k < 0 ? padded : padded.unsqueeze(1, self.site), self.site}, apart, 0);
}

}  // namespace

Tensor diagonal(Arg self, std::int64_t offset, std::int64_t dim1, std::int64_t dim2) {
  const CallFrame frame(self.site);
  const Shape& sizes = checked("diagonal", *self.tensor).geometry.sizes;
  GROOVE_CHECK(sizes.size() >= 2, "diagonal: shape {} has no two axes", to_string(sizes));
  const std::int64_t first = normal_dim("diagonal", dim1, sizes.size());
  const std::int64_t second = normal_dim("diagonal", dim2, sizes.size());
  GROOVE_CHECK(first != second, "diagonal: dim1 {} and dim2 {} are the same axis", dim1, dim2);
  return call(op, {*self.tensor}, self.site, Attrs().add(offset).add(first).add(second));
}
Tensor ViewMethods::diagonal(std::int64_t offset, std::int64_t dim1, std::int64_t dim2,
                             Site site) const {
  return groove::diagonal({self(), site}, offset, dim1, dim2);
}

Tensor diag(Arg self, std::int64_t diagonal) {
  const CallFrame frame(self.site);
  const std::size_t rank = checked("diag", *self.tensor).geometry.sizes.size();
  GROOVE_CHECK(rank == 1 || rank == 2, "diag: shape {} has neither one axis nor two",
               to_string(self.tensor->sizes()));
  const SiteScope scope(self.site);
  if (rank == 1) return matrix_of(self, diagonal);
  return groove::diagonal(self, diagonal).clone(self.site);
}
Tensor ViewMethods::diag(std::int64_t diagonal, Site site) const {
  return groove::diag({self(), site}, diagonal);
}

}  // namespace groove
