// min: the smallest element, over all axes or some (amin), or along one axis with its position. NaN
// if an element is; over nothing an error.
#include <cmath>

#include "groove/ops/creation.h"
#include "groove/ops/views.h"
#include "kernels/ops/reduce.h"

namespace groove {
namespace {

std::size_t best_position(const std::vector<double>& row) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < row.size(); ++i) {
    if (std::isnan(row[best])) break;
    if (row[i] < row[best] || std::isnan(row[i])) best = i;
  }
  return best;
}
double best_value(const std::vector<double>& row) { return row[best_position(row)]; }
double position_value(const std::vector<double>& row) {
  return static_cast<double>(best_position(row));
}

std::vector<Sample> samples(ScalarType dtype) { return reduction_samples(dtype, false); }

// Elements that tie share the gradient.
const Op& op = define({
    .name = "amin",
    .kind = OpKind::kReduction,
    .attributes = reduction_attributes(),
    .type = [](const Signature& s) -> TypeResult {
      const Shape sizes = reduced_sizes(s);
      check_not_empty(s);
      return {{{s.inputs[0].dtype, sizes}}, s.inputs[0].dtype};
    },
    .lowering =
        kernels::lower(kernels::ReductionLowering{.reductions = {kernels::Prim::kReduceMin}}),
    .gradient =
        [](const Grad& g) {
          const Tensor chosen = eq(g.input(0), unreduced(g.output(), g));
          const Tensor ties = chosen.sum(g.attr().integers(0), true).to(g.input_types[0].dtype);
          return Tensors{where(chosen, div(unreduced(g.cotangent(), g), ties), 0)};
        },
    .saves_inputs = 1,
    .saves_outputs = 1,
    .has_inplace = false,
    .reference = reduction_reference(best_value),
    .dtypes = {kFloat, kDouble, kLong, kInt, kByte},
    .samples = samples,
    .tolerance_ulp = 0,
});

// Along one axis, which is the only entry of `dims`.
const Op& op_with_index = define({
    .name = "min_with_index",
    .kind = OpKind::kReduction,
    .outputs = 2,
    .attributes = reduction_attributes(),
    .type = [](const Signature& s) -> TypeResult {
      const Shape sizes = reduced_sizes(s);
      check_not_empty(s);
      return {{{s.inputs[0].dtype, sizes}, {kLong, sizes}}, s.inputs[0].dtype};
    },
    .lowering = kernels::lower(kernels::ReductionLowering{
        .reductions = {kernels::Prim::kReduceMin, kernels::Prim::kReduceArgMin}}),
    .gradient =
        [](const Grad& g) {
          if (!g.cotangent().defined()) return Tensors(1);
          // The chosen element of each row: where the position along the axis is the index.
          const Shape& sizes = g.input_types[0].sizes;
          const IntArrayRef dims = g.attr().integers(0);
          const std::size_t axis = dims.empty() ? 0 : static_cast<std::size_t>(dims[0]);
          Shape line(sizes.size(), 1);
          if (!line.empty()) line[axis] = sizes[axis];
          const Tensor places = arange(Scalar(line.empty() ? 1 : line[axis])).view(line);
          return Tensors{
              where(eq(places, unreduced(g.output(1), g)), unreduced(g.cotangent(), g), 0)};
        },
    .saves_outputs = 2,
    .has_inplace = false,
    .reference =
        [](const Signature& s, const std::vector<Reference>& inputs) {
          Reference values = reduction_reference(best_value)(s, inputs)[0];
          Reference positions = reduction_reference(position_value)(s, inputs)[0];
          positions.type.dtype = kLong;
          return std::vector<Reference>{values, positions};
        },
    .dtypes = {kFloat, kDouble, kLong, kInt},
    .samples =
        [](ScalarType dtype) {
          std::vector<Sample> kept;
          for (Sample& sample : samples(dtype)) {
            // one axis only: fields are count, dims …, keepdim
            const auto& words = sample.attrs.words();
            if (words[0] == 1 || sample.inputs[0].sizes.size() <= 1)
              kept.push_back(std::move(sample));
          }
          return kept;
        },
    .tolerance_ulp = 0,
});

const Op& op_position = define({
    .name = "argmin",
    .kind = OpKind::kReduction,
    .attributes = reduction_attributes(),
    .type = [](const Signature& s) -> TypeResult {
      const Shape sizes = reduced_sizes(s);
      check_not_empty(s);
      return {{{kLong, sizes}}, s.inputs[0].dtype};
    },
    .lowering =
        kernels::lower(kernels::ReductionLowering{.reductions = {kernels::Prim::kReduceArgMin}}),
    .has_inplace = false,
    .reference = reduction_reference(position_value),
    .dtypes = {kFloat, kDouble, kLong, kInt},
    .samples = samples,
    .tolerance_ulp = 0,
});

Tensor best(Arg self, IntArrayRef dim, bool keepdim) {
  return call(op, {*self.tensor}, self.site, reduction_attrs("amin", *self.tensor, dim, keepdim));
}

}  // namespace

Tensor min(Arg self) { return best(self, {}, false); }
Tensor amin(Arg self, IntArrayRef dim, bool keepdim) { return best(self, dim, keepdim); }
std::tuple<Tensor, Tensor> min(Arg self, std::int64_t dim, bool keepdim) {
  const Attrs attrs = reduction_attrs("min", *self.tensor, dim, keepdim);
  Tensor outputs[2];
  dispatch(Call{&op_with_index, ArrayRef<Tensor>(*self.tensor), &attrs, {}, self.site}, outputs);
  return {outputs[0], outputs[1]};
}
Tensor argmin(Arg self, std::optional<std::int64_t> dim, bool keepdim) {
  const Attrs attrs = dim ? reduction_attrs("argmin", *self.tensor, *dim, keepdim)
                          : reduction_attrs("argmin", *self.tensor, {}, keepdim);
  return call(op_position, {*self.tensor}, self.site, attrs);
}

Tensor ReductionMethods::min(Site site) const { return best({self(), site}, {}, false); }
std::tuple<Tensor, Tensor> ReductionMethods::min(std::int64_t dim, bool keepdim, Site site) const {
  return groove::min({self(), site}, dim, keepdim);
}
Tensor ReductionMethods::amin(IntArrayRef dim, bool keepdim, Site site) const {
  return best({self(), site}, dim, keepdim);
}
Tensor ReductionMethods::argmin(std::optional<std::int64_t> dim, bool keepdim, Site site) const {
  return groove::argmin({self(), site}, dim, keepdim);
}

}  // namespace groove
