// Records of greatest and smallest elements.
#include "kernels/ops/extremum.h"

#include <cmath>

#include "groove/ops/creation.h"
#include "groove/ops/views.h"

namespace groove {
namespace {

std::size_t best_of(const std::vector<double>& row, ScalarTest2 is_before) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < row.size(); ++i) {
    if (std::isnan(row[best])) break;
    if (is_before(row[i], row[best]) || std::isnan(row[i])) best = i;
  }
  return best;
}
ReferenceRule best_value(ScalarTest2 is_before) {
  return reduction_reference(
      [=](const std::vector<double>& row) { return row[best_of(row, is_before)]; });
}
ReferenceRule best_position(ScalarTest2 is_before) {
  return reduction_reference([=](const std::vector<double>& row) {
    return static_cast<double>(best_of(row, is_before));
  });
}

// Among the elements that one result was chosen from.
ValueRange positions(const Signature& s) {
  const std::int64_t results = element_count(s.op.type(s).outputs[0].sizes);
  return positions_below(results > 0 ? element_count(s.inputs[0].sizes) / results : 1);
}

std::vector<Sample> samples(ScalarType dtype) { return reduction_samples(dtype, false); }

// Elements that tie share the gradient.
const Op& define_value(const Extremum& e) {
  return define({
      .name = e.value_name,
      .kind = OpKind::kReduction,
      .attributes = reduction_attributes(),
      .type = [](const Signature& s) -> TypeResult {
        const Shape sizes = reduced_sizes(s);
        check_not_empty(s);
        return {{{s.inputs[0].dtype, sizes}}, s.inputs[0].dtype};
      },
      .lowering =
          kernels::lower(kernels::ReductionLowering{.reductions = {e.value}}),
      .gradient =
          [](const Grad& g) {
            const Tensor chosen = eq(g.input(0), unreduced(g.output(), g));
            const Tensor ties = chosen.sum(g.attr().integers(0), true).to(g.input_types[0].dtype);
            return Tensors{where(chosen, div(unreduced(g.cotangent(), g), ties), 0)};
          },
      .saves_inputs = 1,
      .saves_outputs = 1,
      .range = first_range,
      .has_inplace = false,
      .reference = best_value(e.is_before),
      .dtypes = all_dtypes(),
      .samples = samples,
      .tolerance_ulp = 0,
  });
}

// Along one axis, which is the only entry of `dims`.
const Op& define_with_index(const Extremum& e) {
  return define({
      .name = e.indexed_name,
      .kind = OpKind::kReduction,
      .outputs = 2,
      .attributes = reduction_attributes(),
      .type = [](const Signature& s) -> TypeResult {
        const Shape sizes = reduced_sizes(s);
        check_not_empty(s);
        return {{{s.inputs[0].dtype, sizes}, {kLong, sizes}}, s.inputs[0].dtype};
      },
      .lowering = kernels::lower(kernels::ReductionLowering{
          .reductions = {e.value, e.position}}),
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
      .range = [](const Signature& s, ArrayRef<ValueRange> inputs,
                  int output) { return output == 0 ? inputs[0] : positions(s); },
      .has_inplace = false,
      .reference =
          [is_before = e.is_before](const Signature& s, const std::vector<Reference>& inputs) {
            Reference values = best_value(is_before)(s, inputs)[0];
            Reference positions = best_position(is_before)(s, inputs)[0];
            positions.type.dtype = kLong;
            return std::vector<Reference>{values, positions};
          },
      .dtypes = all_dtypes(),
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
}

const Op& define_position(const Extremum& e) {
  return define({
      .name = e.position_name,
      .kind = OpKind::kReduction,
      .attributes = reduction_attributes(),
      .type = [](const Signature& s) -> TypeResult {
        const Shape sizes = reduced_sizes(s);
        check_not_empty(s);
        return {{{kLong, sizes}}, s.inputs[0].dtype};
      },
      .lowering =
          kernels::lower(kernels::ReductionLowering{.reductions = {e.position}}),
      .range = [](const Signature& s, ArrayRef<ValueRange>, int) { return positions(s); },
      .has_inplace = false,
      .reference = best_position(e.is_before),
      .dtypes = numeric_dtypes(),
      .samples = samples,
      .tolerance_ulp = 0,
  });
}

}  // namespace

ExtremumOps define_extremum(const Extremum& e) {
  return {define_value(e), define_with_index(e), define_position(e)};
}

Tensor extremum(const Op& op, Arg self, IntArrayRef dims, bool keepdim) {
  return call(op, {*self.tensor}, self.site,
              reduction_attrs(op.name.c_str(), *self.tensor, dims, keepdim));
}

std::tuple<Tensor, Tensor> extremum_with_index(const char* name, const Op& op, Arg self,
                                               std::int64_t dim, bool keepdim) {
  const Attrs attrs = reduction_attrs(name, *self.tensor, dim, keepdim);
  Tensor outputs[2];
  dispatch(Call{&op, ArrayRef<Tensor>(*self.tensor), &attrs, {}, self.site}, outputs);
  return {outputs[0], outputs[1]};
}

Tensor extremum_position(const Op& op, Arg self, std::optional<std::int64_t> dim, bool keepdim) {
  return dim ? extremum(op, self, *dim, keepdim) : extremum(op, self, {}, keepdim);
}

// A tie shares its gradient between both.
const Op& define_pairwise(const Pairwise& p) {
  return define(BinarySpec{
      .name = p.name,
      .body = p.body,
      .gradient =
          [loses = p.loses, wins = p.wins](const Grad& g) {
            const Tensor &a = g.input(0), &b = g.input(1);
            const Tensor shared = where(eq(a, b), mul(g.cotangent(), 0.5), g.cotangent());
            Tensors result(2);
            if (g.needs[0])
              result[0] = reduced_to(masked_fill(shared, loses(a, b), 0), g.input_types[0]);
            if (g.needs[1])
              result[1] = reduced_to(masked_fill(shared, wins(a, b), 0), g.input_types[1]);
            return result;
          },
      .saves_inputs = 3,
      .reference = p.reference,
      .dtypes = all_dtypes(),
      .tolerance_ulp = 0,
  });
}

}  // namespace groove
