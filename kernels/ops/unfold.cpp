// unfold: windows of an axis, each a step after the one before, as a view with a last axis more.
// Where they overlap an element is seen in several places, and its gradient is the sum over them.
#include "groove/ops/creation.h"
#include "groove/ops/index.h"
#include "groove/ops/views.h"
#include "kernels/ops/axis.h"
#include "kernels/ops/complex_rules.h"
#include "kernels/ops/reference.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

enum { kDim, kSize, kStep };

Shape windows_of(const Signature& s) {
  Shape sizes = s.inputs[0].sizes;
  const std::size_t dim = axis_below(s, s.attr().integer(kDim), sizes.size());
  const std::int64_t size = s.attr().integer(kSize), step = s.attr().integer(kStep);
  GROOVE_CHECK(size >= 0 && size <= sizes[dim] && step > 0,
               "unfold: windows of {}, each {} after the one before, in an axis of {}", size, step,
               sizes[dim]);
  sizes[dim] = (sizes[dim] - size) / step + 1;
  sizes.push_back(size);
  return sizes;
}

// i64 [windows * size]: the position of each element of each window.
Tensor positions(std::int64_t windows, std::int64_t size, std::int64_t step) {
  const Tensor starts = arange(Scalar(windows), kLong) * Scalar(step);
  return (starts.unsqueeze(1) + arange(Scalar(size), kLong)).reshape({-1});
}

const Op& op = define({
    .name = "unfold",
    .kind = OpKind::kView,
    .attributes = {{"dim", AttrType::kInt}, {"size", AttrType::kInt}, {"step", AttrType::kInt}},
    .type = [](const Signature& s) -> TypeResult {
      return {{{s.inputs[0].dtype, windows_of(s)}}, s.inputs[0].dtype};
    },
    .view =
        [](const Geometry& input, const Signature& s) {
          const auto dim = static_cast<std::size_t>(s.attr().integer(kDim));
          Shape strides = input.strides;
          strides.push_back(strides[dim]);
          strides[dim] *= s.attr().integer(kStep);
          return Geometry{windows_of(s), std::move(strides), input.offset};
        },
    .gradient =
        [](const Grad& g) {
          const std::int64_t dim = g.attr().integer(kDim);
          const Shape& sizes = g.input_types[0].sizes;
          const Shape apart = type_of(g.cotangent()).sizes;
          const std::int64_t windows = apart[static_cast<std::size_t>(dim)], size = apart.back();
          Shape joined = sizes;
          joined[static_cast<std::size_t>(dim)] = windows * size;
          const Tensor source = movedim(g.cotangent(), -1, dim + 1).reshape(joined);
          const Tensor index = positions(windows, size, g.attr().integer(kStep));
          return Tensors{index_add(zeros(sizes, g.input_types[0].dtype), dim, index, source)};
        },
    .complex = complex_rules::with_new_axis,
    .has_inplace = false,
    .reference =
        [](const Signature& s, const std::vector<Reference>& inputs) {
          const auto dim = static_cast<std::size_t>(s.attr().integer(kDim));
          return std::vector<Reference>{make_reference(s.op.type(s).outputs[0], [&](Shape index) {
            index[dim] = index[dim] * s.attr().integer(kStep) + index.back();
            index.erase(index.size() - 1);
            return inputs[0]
                .values[static_cast<std::size_t>(flat_position(inputs[0].type.sizes, index))];
          })};
        },
    .dtypes = all_dtypes(),
    .samples =
        [](ScalarType dtype) {
          const auto attrs = [](std::int64_t dim, std::int64_t size, std::int64_t step) {
            return Attrs().add(dim).add(size).add(step);
          };
          return std::vector<Sample>{{{{dtype, {7}}}, attrs(0, 3, 2), {}},
                                     {{{dtype, {7}}}, attrs(0, 2, 3), {}},
                                     {{{dtype, {3, 5}}}, attrs(1, 5, 1), {}},
                                     {{{dtype, {4, 3}}}, attrs(0, 2, 1), {}},
                                     {{{dtype, {2, 6, 3}}}, attrs(1, 3, 1), {}}};
        },
    .tolerance_ulp = 0,
});

}  // namespace

Tensor PartMethods::unfold(std::int64_t dimension, std::int64_t size, std::int64_t step,
                           Site site) const {
  const CallFrame frame(site);
  const Shape sizes = checked("unfold", self()).geometry.sizes;
  const std::int64_t dim = normal_dim("unfold", dimension, sizes.size());
  const std::int64_t length = sizes.empty() ? 1 : sizes[static_cast<std::size_t>(dim)];
  GROOVE_CHECK(size >= 0 && size <= length, "unfold: size {} does not fit into dim {} of size {}",
               size, dim, length);
  GROOVE_CHECK(step > 0, "unfold: step {} must be positive", step);
  if (sizes.empty()) return self().reshape({1}, site).slice(0, 0, size, 1, site);
  return call(op, {self()}, site, Attrs().add(dim).add(size).add(step));
}

}  // namespace groove
