// flip: elements in reverse order along axes. To the user a copy; inside, a view with negative
// strides and a copy of it, so that the compiler reads backwards where it needs the elements. That
// view never reaches a user: elsewhere strides are not negative.
#include <algorithm>

#include "groove/ops/views.h"
#include "kernels/ops/complex_rules.h"
#include "kernels/ops/reference.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

std::vector<Reference> reference(const Signature& s, const std::vector<Reference>& inputs) {
  const Type& type = inputs[0].type;
  return {make_reference(type, [&](Shape index) {
    for (const std::int64_t dim : s.attr().integers(0)) {
      const auto axis = static_cast<std::size_t>(dim);
      index[axis] = type.sizes[axis] - 1 - index[axis];
    }
    return inputs[0].values[static_cast<std::size_t>(flat_position(type.sizes, index))];
  })};
}

std::vector<Sample> samples(ScalarType dtype) {
  const Shape pairs[][2] = {{{}, {}},      {{5}, {0}},          {{3, 4}, {1}},
                            {{3, 4}, {0}}, {{2, 3, 4}, {0, 2}}, {{1, 7}, {0, 1}},
                            {{0, 3}, {0}}, {{3, 4}, {}},        {{2, 40}, {1}}};
  std::vector<Sample> result;
  for (const auto& pair : pairs)
    result.push_back({{{dtype, pair[0]}}, Attrs().add(IntArrayRef(pair[1])), {}});
  return result;
}

const Op& op_view = define({
    .name = "reversed_view",
    .kind = OpKind::kView,
    .attributes = {{"dims", AttrType::kInts}},
    .type = same_as_input,
    .view =
        [](const Geometry& input, const Signature& s) {
          Geometry result = input;
          for (const std::int64_t dim : s.attr().integers(0)) {
            const auto axis = static_cast<std::size_t>(dim);
            GROOVE_CHECK(axis < input.sizes.size(), "flip: axis {} of {} axes", axis,
                         input.sizes.size());
            result.offset += std::max<std::int64_t>(input.sizes[axis] - 1, 0) * input.strides[axis];
            result.strides[axis] = -input.strides[axis];
          }
          return result;
        },
    .complex = complex_rules::on_pairs,
    .has_inplace = false,
    .reference = reference,
    .dtypes = all_dtypes(),
    .samples = samples,
    .tolerance_ulp = 0,
});

const Op& op = define({
    .name = "flip",
    .kind = OpKind::kComposite,
    .attributes = {{"dims", AttrType::kInts}},
    .type = same_as_input,
    .lowering =
        kernels::lower(kernels::CompositeLowering{[](const Signature& s, ArrayRef<Tensor> inputs) {
          return Tensors{clone(call(op_view, {inputs[0]}, Site::current(), s.attrs))};
        }}),
    .gradient =
        [](const Grad& g) {
          return Tensors{call(g.op, {g.cotangent()}, Site::current(), g.attrs)};
        },
    .complex = complex_rules::on_pairs,
    .has_inplace = false,
    .reference = reference,
    .dtypes = all_dtypes(),
    .samples = samples,
    .tolerance_ulp = 0,
});

}  // namespace

Tensor flip(Arg self, IntArrayRef dims) {
  const CallFrame frame(self.site);
  const std::size_t rank = checked("flip", *self.tensor).geometry.sizes.size();
  return call(op, {*self.tensor}, self.site,
              Attrs().add(IntArrayRef(normal_dims("flip", dims, rank))));
}
Tensor ViewMethods::flip(IntArrayRef dims, Site site) const {
  return groove::flip({self(), site}, dims);
}

}  // namespace groove
