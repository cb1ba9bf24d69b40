// permute: axes in another order; transpose, t, movedim and swapaxes are spellings of it.
#include <algorithm>
#include <utility>

#include "groove/ops/views.h"
#include "kernels/ops/complex_rules.h"
#include "kernels/ops/reference.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

Shape permuted(const Shape& values, IntArrayRef dims) {
  Shape result;
  for (std::int64_t dim : dims) result.push_back(values[static_cast<std::size_t>(dim)]);
  return result;
}

Shape inverse(IntArrayRef dims) {
  Shape result(dims.size(), 0);
  for (std::size_t i = 0; i < dims.size(); ++i)
    result[static_cast<std::size_t>(dims[i])] = static_cast<std::int64_t>(i);
  return result;
}

const Op& op = define({
    .name = "permute",
    .kind = OpKind::kView,
    .attributes = {{"dims", AttrType::kInts}},
    .type = [](const Signature& s) -> TypeResult {
      const IntArrayRef dims = s.attr().integers(0);
      Shape sorted(dims);
      std::sort(sorted.begin(), sorted.end());
      bool fits = dims.size() == s.inputs[0].sizes.size();
      for (std::size_t i = 0; fits && i < sorted.size(); ++i)
        fits = sorted[i] == static_cast<std::int64_t>(i);
      GROOVE_CHECK(fits, "permute: dims {} do not name each axis of {} once", to_string(dims),
                   to_string(s.inputs[0].sizes));
      return {{{s.inputs[0].dtype, permuted(s.inputs[0].sizes, dims)}}, s.inputs[0].dtype};
    },
    .view =
        [](const Geometry& input, const Signature& s) {
          const IntArrayRef dims = s.attr().integers(0);
          GROOVE_CHECK(dims.size() == input.sizes.size(), "permute: {} dims for {} axes",
                       dims.size(), input.sizes.size());
          return Geometry{permuted(input.sizes, dims), permuted(input.strides, dims), input.offset};
        },
    .gradient =
        [](const Grad& g) { return Tensors{g.cotangent().permute(inverse(g.attr().integers(0)))}; },
    .complex =
        [](const Call& c) {
          Shape dims(AttrReader(*c.op, *c.attrs).integers(0));
          dims.push_back(static_cast<std::int64_t>(dims.size()));
          return complex_rules::on_pairs(c, Attrs().add(IntArrayRef(dims)));
        },
    .has_inplace = false,
    .reference =
        [](const Signature& s, const std::vector<Reference>& inputs) {
          const IntArrayRef dims = s.attr().integers(0);
          const Type& type = inputs[0].type;
          return std::vector<Reference>{
              make_reference(s.op.type(s).outputs[0], [&](const Shape& index) {
                const Shape source = permuted(index, inverse(dims));
                return inputs[0]
                    .values[static_cast<std::size_t>(flat_position(type.sizes, source))];
              })};
        },
    .dtypes = all_dtypes(),
    .samples =
        [](ScalarType dtype) {
          const Shape pairs[][2] = {{{}, {}},
                                    {{5}, {0}},
                                    {{3, 4}, {1, 0}},
                                    {{2, 3, 4}, {2, 0, 1}},
                                    {{2, 0, 3}, {1, 2, 0}},
                                    {{1, 7}, {1, 0}}};
          std::vector<Sample> samples;
          for (const auto& pair : pairs)
            samples.push_back({{{dtype, pair[0]}}, Attrs().add(IntArrayRef(pair[1])), {}});
          return samples;
        },
    .tolerance_ulp = 0,
});

}  // namespace

Tensor permute(Arg self, IntArrayRef dims) {
  const CallFrame frame(self.site);
  const std::size_t rank = checked("permute", *self.tensor).geometry.sizes.size();
  Shape normal;
  for (std::int64_t dim : dims) normal.push_back(normal_dim("permute", dim, rank));
  return call(op, {*self.tensor}, self.site, Attrs().add(IntArrayRef(normal)));
}
Tensor transpose(Arg self, std::int64_t dim0, std::int64_t dim1) {
  const CallFrame frame(self.site);
  const std::size_t rank = checked("transpose", *self.tensor).geometry.sizes.size();
  const auto first = static_cast<std::size_t>(normal_dim("transpose", dim0, rank));
  const auto second = static_cast<std::size_t>(normal_dim("transpose", dim1, rank));
  Shape dims(rank, 0);
  for (std::size_t i = 0; i < rank; ++i) dims[i] = static_cast<std::int64_t>(i);
  if (rank > 0) std::swap(dims[first], dims[second]);
  return call(op, {*self.tensor}, self.site, Attrs().add(IntArrayRef(dims)));
}
Tensor t(Arg self) {
  const CallFrame frame(self.site);
  const Shape& sizes = checked("t", *self.tensor).geometry.sizes;
  GROOVE_CHECK(sizes.size() <= 2, "t: shape {} has more than 2 axes; use transpose or permute",
               to_string(sizes));
  return sizes.size() == 2 ? transpose(self, 0, 1) : permute(self, Shape(sizes.size(), 0));
}
Tensor movedim(Arg self, std::int64_t source, std::int64_t destination) {
  const CallFrame frame(self.site);
  const std::size_t rank = checked("movedim", *self.tensor).geometry.sizes.size();
  const auto from = static_cast<std::size_t>(normal_dim("movedim", source, rank));
  const auto to = static_cast<std::size_t>(normal_dim("movedim", destination, rank));
  Shape dims(rank, 0);
  for (std::size_t i = 0; i < rank; ++i) dims[i] = static_cast<std::int64_t>(i);
  if (rank > 0) {
    dims.erase(from);
    dims.insert(to, static_cast<std::int64_t>(from));
  }
  return call(op, {*self.tensor}, self.site, Attrs().add(IntArrayRef(dims)));
}
Tensor swapaxes(Arg self, std::int64_t axis0, std::int64_t axis1) {
  const CallFrame frame(self.site);
  return transpose(self, axis0, axis1);
}

Tensor ViewMethods::permute(IntArrayRef dims, Site site) const {
  return groove::permute({self(), site}, dims);
}
Tensor ViewMethods::transpose(std::int64_t dim0, std::int64_t dim1, Site site) const {
  return groove::transpose({self(), site}, dim0, dim1);
}
Tensor ViewMethods::t(Site site) const { return groove::t({self(), site}); }
Tensor ViewMethods::movedim(std::int64_t source, std::int64_t destination, Site site) const {
  return groove::movedim({self(), site}, source, destination);
}
Tensor ViewMethods::swapdims(std::int64_t dim0, std::int64_t dim1, Site site) const {
  const CallFrame frame(site);
  return transpose(dim0, dim1, site);
}
Tensor ViewMethods::swapaxes(std::int64_t axis0, std::int64_t axis1, Site site) const {
  const CallFrame frame(site);
  return groove::transpose({self(), site}, axis0, axis1);
}

}  // namespace groove
