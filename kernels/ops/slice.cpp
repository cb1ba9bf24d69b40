// slice: every step-th element along an axis; narrow is a spelling of it, select takes one
// element. Lengths are structure, the start is a number: a moving window is one word.
#include "kernels/ops/slice.h"

#include <algorithm>

#include "groove/ops/views.h"
#include "kernels/ops/axis.h"
#include "kernels/ops/complex_rules.h"
#include "kernels/ops/reference.h"

namespace groove {
namespace {

enum { kDim, kLength, kStep };

// The compiler tries views on what lies behind another view, of any number of axes.
void check_axis(const Signature& s, const Geometry& input) {
  GROOVE_CHECK(static_cast<std::size_t>(s.attr().integer(kDim)) < input.sizes.size(),
               "{}: axis {} of {} axes", s.op.name, s.attr().integer(kDim), input.sizes.size());
}

void check_start(const Signature& s, std::int64_t size, std::int64_t last) {
  const std::int64_t start = s.numbers[0].to_int();
  GROOVE_CHECK(start >= 0 && start <= size && start + last < size + (last < 0 ? 1 : 0),
               "{}: elements {} to {} are outside the axis of size {}", s.op.name, start,
               start + last, size);
}

const Op& op = define({
    .name = "slice",
    .kind = OpKind::kView,
    .attributes = {{"dim", AttrType::kInt}, {"length", AttrType::kInt}, {"step", AttrType::kInt}},
    .number_names = {"start"},
    .type = [](const Signature& s) -> TypeResult {
      Type type = s.inputs[0];
      const AttrReader attr = s.attr();
      const std::int64_t length = attr.integer(kLength), step = attr.integer(kStep);
      std::int64_t& size = type.sizes[axis_of(s, kDim)];
      GROOVE_CHECK(length >= 0 && length <= size && step >= 1 && (length <= 1 || step <= size),
                   "slice: {} elements at steps of {} from an axis of size {}", length, step, size);
      size = length;
      return {{type}, type.dtype};
    },
    .view =
        [](const Geometry& input, const Signature& s) {
          const AttrReader attr = s.attr();
          const auto dim = static_cast<std::size_t>(attr.integer(kDim));
          const std::int64_t length = attr.integer(kLength), step = attr.integer(kStep);
          check_axis(s, input);
          check_start(s, input.sizes[dim], length == 0 ? -1 : (length - 1) * step);
          Geometry result = input;
          result.offset += s.numbers[0].to_int() * input.strides[dim];
          result.sizes[dim] = length;
          result.strides[dim] *= step;
          return result;
        },
    .gradient =
        [](const Grad& g) {
          const AttrReader attr = g.attr();
          return Tensors{place_slice(g.cotangent(), g.input_types[0].sizes, attr.integer(kDim),
                                     g.numbers[0], attr.integer(kStep))};
        },
    .complex = complex_rules::on_pairs,
    .has_inplace = false,
    .reference =
        [](const Signature& s, const std::vector<Reference>& inputs) {
          const AttrReader attr = s.attr();
          return std::vector<Reference>{make_reference(s.op.type(s).outputs[0], [&](Shape index) {
            std::int64_t& at = index[static_cast<std::size_t>(attr.integer(kDim))];
            at = s.numbers[0].to_int() + at * attr.integer(kStep);
            return inputs[0]
                .values[static_cast<std::size_t>(flat_position(inputs[0].type.sizes, index))];
          })};
        },
    .dtypes = all_dtypes(),
    .samples =
        [](ScalarType dtype) {
          const auto attrs = [](std::int64_t dim, std::int64_t length, std::int64_t step) {
            return Attrs().add(dim).add(length).add(step);
          };
          return std::vector<Sample>{{{{dtype, {7}}}, attrs(0, 3, 2), {Scalar(1)}},
                                     {{{dtype, {3, 5}}}, attrs(1, 2, 1), {Scalar(3)}},
                                     {{{dtype, {3, 5}}}, attrs(0, 3, 1), {Scalar(0)}},
                                     {{{dtype, {3, 5}}}, attrs(0, 0, 1), {Scalar(3)}},
                                     {{{dtype, {2, 0}}}, attrs(0, 1, 1), {Scalar(1)}}};
        },
    .tolerance_ulp = 0,
});

const Op& op_select = define({
    .name = "select",
    .kind = OpKind::kView,
    .attributes = {{"dim", AttrType::kInt}},
    .number_names = {"index"},
    .type = [](const Signature& s) -> TypeResult {
      Type type = s.inputs[0];
      type.sizes.erase(axis_of(s, 0));
      return {{type}, type.dtype};
    },
    .view =
        [](const Geometry& input, const Signature& s) {
          const auto dim = static_cast<std::size_t>(s.attr().integer(0));
          check_axis(s, input);
          check_start(s, input.sizes[dim], 0);
          Geometry result = input;
          result.offset += s.numbers[0].to_int() * input.strides[dim];
          result.sizes.erase(dim);
          result.strides.erase(dim);
          return result;
        },
    .gradient =
        [](const Grad& g) {
          const std::int64_t dim = g.attr().integer(0);
          return Tensors{place_slice(g.cotangent().unsqueeze(dim), g.input_types[0].sizes, dim,
                                     g.numbers[0], 1)};
        },
    .complex = complex_rules::on_pairs,
    .has_inplace = false,
    .reference =
        [](const Signature& s, const std::vector<Reference>& inputs) {
          return std::vector<Reference>{make_reference(s.op.type(s).outputs[0], [&](Shape index) {
            index.insert(static_cast<std::size_t>(s.attr().integer(0)), s.numbers[0].to_int());
            return inputs[0]
                .values[static_cast<std::size_t>(flat_position(inputs[0].type.sizes, index))];
          })};
        },
    .dtypes = all_dtypes(),
    .samples =
        [](ScalarType dtype) {
          return std::vector<Sample>{{{{dtype, {7}}}, Attrs().add(0), {Scalar(4)}},
                                     {{{dtype, {3, 5}}}, Attrs().add(1), {Scalar(0)}},
                                     {{{dtype, {2, 3, 4}}}, Attrs().add(1), {Scalar(2)}},
                                     {{{dtype, {2, 0}}}, Attrs().add(0), {Scalar(1)}}};
        },
    .tolerance_ulp = 0,
});

}  // namespace

Tensor slice_exact(const Tensor& self, std::int64_t dim, Scalar start, std::int64_t length,
                   std::int64_t step, Site site) {
  return call(op, {self}, site, Attrs().add(dim).add(length).add(step), start);
}

Tensor slice(Arg self, std::int64_t dim, std::optional<std::int64_t> start,
             std::optional<std::int64_t> end, std::int64_t step) {
  const CallFrame frame(self.site);
  const Shape& sizes = checked("slice", *self.tensor).geometry.sizes;
  GROOVE_CHECK(!sizes.empty(), "slice: a 0-d tensor has no axis to slice");
  GROOVE_CHECK(step > 0, "slice: step {} must be positive", step);
  const std::int64_t axis = normal_dim("slice", dim, sizes.size());
  const std::int64_t size = sizes[static_cast<std::size_t>(axis)];
  const auto position = [size](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? at + size : at, 0, size);
  };
  const std::int64_t first = position(start.value_or(0)), last = position(end.value_or(size));
  if (first == 0 && last == size && step == 1) return *self.tensor;
  const std::int64_t length = last > first ? (last - first + step - 1) / step : 0;
  return slice_exact(*self.tensor, axis, first, length, step, self.site);
}
Tensor narrow(Arg self, std::int64_t dim, std::int64_t start, std::int64_t length) {
  const CallFrame frame(self.site);
  const Shape& sizes = checked("narrow", *self.tensor).geometry.sizes;
  GROOVE_CHECK(!sizes.empty(), "narrow: a 0-d tensor has no axis to narrow");
  const std::int64_t axis = normal_dim("narrow", dim, sizes.size());
  const std::int64_t size = sizes[static_cast<std::size_t>(axis)];
  const std::int64_t first = start < 0 ? start + size : start;
  GROOVE_CHECK(length >= 0 && first >= 0 && first + length <= size,
               "narrow: start {} and length {} exceed the size {} of dim {}", start, length, size,
               axis);
  return slice_exact(*self.tensor, axis, first, length, 1, self.site);
}
Tensor narrow(Arg self, std::int64_t dim, const Tensor& start, std::int64_t length) {
  const CallFrame frame(self.site);
  const TensorImpl& impl = checked("narrow", start);
  GROOVE_CHECK(impl.geometry.sizes.empty() && is_integral(impl.dtype) && impl.dtype != kBool,
               "narrow: start must be a 0-d tensor of integers, not {} {}", name(impl.dtype),
               to_string(impl.geometry.sizes));
  return groove::narrow(self, dim, start.item<std::int64_t>(self.site), length);
}
Tensor select(Arg self, std::int64_t dim, std::int64_t index) {
  const CallFrame frame(self.site);
  const Shape& sizes = checked("select", *self.tensor).geometry.sizes;
  GROOVE_CHECK(!sizes.empty(), "select: a 0-d tensor has no axis to select from");
  const std::int64_t axis = normal_dim("select", dim, sizes.size());
  const std::int64_t size = sizes[static_cast<std::size_t>(axis)];
  GROOVE_CHECK_AS(IndexError, index >= -size && index < size,
                  "select: index {} is out of range for dim {} of size {}", index, axis, size);
  return call(op_select, {*self.tensor}, self.site, Attrs().add(axis),
              Scalar(index < 0 ? index + size : index));
}

Tensor ViewMethods::slice(std::int64_t dim, std::optional<std::int64_t> start,
                          std::optional<std::int64_t> end, std::int64_t step, Site site) const {
  return groove::slice({self(), site}, dim, start, end, step);
}
Tensor ViewMethods::narrow(std::int64_t dim, const Tensor& start, std::int64_t length,
                           Site site) const {
  return groove::narrow({self(), site}, dim, start, length);
}
Tensor ViewMethods::narrow(std::int64_t dim, std::int64_t start, std::int64_t length,
                           Site site) const {
  return groove::narrow({self(), site}, dim, start, length);
}
Tensor ViewMethods::select(std::int64_t dim, std::int64_t index, Site site) const {
  return groove::select({self(), site}, dim, index);
}

}  // namespace groove
