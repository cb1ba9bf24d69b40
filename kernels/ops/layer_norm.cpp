// layer_norm: rows, which are the last axes, less their mean and over their standard deviation.
// Forward, the gradient of the input and those of the weights are one fused kernel each: two of
// rows, one of columns.
#include <cmath>

#include "groove/ops/creation.h"
#include "groove/ops/views.h"
#include "kernels/ops/reference.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

enum { kAxes, kEps };
enum { kInput, kWeight, kBias };
enum { kResult, kMean, kInverse };  // outputs; the inverse of the standard deviation

Shape last_dims(std::size_t rank, std::int64_t axes) {
  Shape dims;
  for (auto dim = static_cast<std::int64_t>(rank) - axes; dim < static_cast<std::int64_t>(rank);
       ++dim)
    dims.push_back(dim);
  return dims;
}

// How many last axes of input 1, of a gradient, are normalized over.
std::size_t normalized_axes(const Signature& s) {
  const std::int64_t axes = s.attr().integer(kAxes);
  const std::size_t rank = s.inputs[1].sizes.size();
  GROOVE_CHECK(axes > 0 && static_cast<std::size_t>(axes) <= rank, "{}: the last {} of {} axes",
               s.op.name, axes, rank);
  return static_cast<std::size_t>(axes);
}

TypeResult layer_norm_type(const Signature& s) {
  const Type& input = s.inputs[kInput];
  const auto axes = static_cast<std::size_t>(s.attr().integer(kAxes));
  const std::size_t rank = input.sizes.size();
  GROOVE_CHECK_AS(NotImplementedError, is_floating(input.dtype),
                  "layer_norm: not defined for {} tensors", name(input.dtype));
  GROOVE_CHECK(axes > 0 && axes <= rank, "layer_norm: normalized_shape has {} axes, the input {}",
               axes, rank);
  const Shape normal(IntArrayRef(input.sizes).slice(rank - axes, axes));
  for (const std::size_t i : {kWeight, kBias}) {
    const Type& type = s.inputs[i];
    if (type.dtype == ScalarType::Undefined) continue;
    GROOVE_CHECK(type.sizes == normal && type.dtype == input.dtype,
                 "layer_norm: {} {} of {} does not fit; it must be {} of {}",
                 i == kWeight ? "weight" : "bias", to_string(type.sizes), name(type.dtype),
                 to_string(normal), name(input.dtype));
  }
  Shape kept = input.sizes;
  for (std::size_t axis = rank - axes; axis < rank; ++axis) kept[axis] = 1;
  const ScalarType wide = ComputeDtype(input.dtype);  // statistics keep the accuracy they have
  return {{input, {wide, kept}, {wide, kept}}, input.dtype};
}

Tensor normalized(const Tensor& x, const Tensor& mean, const Tensor& inverse) {
  return (x - mean) * inverse;
}

struct Rows {
  std::size_t rows, count;
};
// Of inputs 1 (the rows) and 2 (one element a row).
Rows rows_of(const std::vector<Reference>& inputs) {
  const std::size_t rows = inputs[2].values.size();
  return {rows, rows == 0 ? 0 : inputs[1].values.size() / rows};
}

std::vector<Reference> backward_reference(const Signature& s,
                                          const std::vector<Reference>& inputs) {
  Reference result{s.op.type(s).outputs[0], {}};
  const Rows r = rows_of(inputs);
  for (std::size_t row = 0; row < r.rows; ++row) {
    std::vector<double> c(r.count), n(r.count);
    double total = 0, along = 0;
    for (std::size_t i = 0; i < r.count; ++i) {
      const std::size_t at = row * r.count + i;
      c[i] = inputs[0].values[at] * (inputs[4].values.empty() ? 1 : inputs[4].values[i]);
      n[i] = (inputs[1].values[at] - inputs[2].values[row]) * inputs[3].values[row];
      total += c[i];
      along += c[i] * n[i];
    }
    const auto count = static_cast<double>(r.count);
    for (std::size_t i = 0; i < r.count; ++i)
      result.values.push_back(inputs[3].values[row] *
                              (c[i] - total / count - n[i] * along / count));
  }
  return {result};
}

std::vector<Reference> weight_reference(const Signature& s, const std::vector<Reference>& inputs) {
  Reference result{s.op.type(s).outputs[0], {}};
  result.values.resize(static_cast<std::size_t>(element_count(result.type.sizes)));
  const Rows r = rows_of(inputs);
  for (std::size_t at = 0; at < r.rows * r.count; ++at)
    result.values[at % r.count] += inputs[0].values[at] *
                                   (inputs[1].values[at] - inputs[2].values[at / r.count]) *
                                   inputs[3].values[at / r.count];
  return {result};
}

// Cotangent, input and statistics, and the weight if asked for.
std::vector<Sample> backward_samples(ScalarType dtype, bool has_weight) {
  std::vector<Sample> samples;
  for (const Shape& sizes :
       {Shape{3, 5}, Shape{2, 3, 10}, Shape{7}, Shape{0, 5}, Shape{300, 40}, Shape{1, 5000}}) {
    Shape kept = sizes;
    kept.back() = 1;
    const Type rows{dtype, sizes}, statistics{ComputeDtype(dtype), kept};
    Sample sample{{rows, rows, statistics, statistics}, Attrs().add(1), {}};
    if (has_weight) {
      sample.inputs.push_back({dtype, {sizes.back()}});
      samples.push_back(sample);
      sample.inputs.back() = {ScalarType::Undefined, {}};
    }
    samples.push_back(std::move(sample));
  }
  return samples;
}

// cotangent (of the result, times the weight if any), input, mean, inverse -> the input's gradient.
// With n = (x - mean) * inverse: inverse * (c - mean(c) - n * mean(c * n)).
const Op& op_backward = define({
    .name = "layer_norm_backward",
    .kind = OpKind::kComposite,
    .inputs = 5,
    .attributes = {{"axes", AttrType::kInt}},
    .type = [](const Signature& s) -> TypeResult {
      normalized_axes(s);
      return {{s.inputs[1]}, s.inputs[1].dtype};
    },
    .lowering =
        kernels::lower(kernels::CompositeLowering{[](const Signature& s, ArrayRef<Tensor> inputs) {
          const Shape dims = last_dims(s.inputs[1].sizes.size(), s.attr().integer(kAxes));
          const Tensor& inverse = inputs[3];
          const Tensor n = normalized(inputs[1], inputs[2], inverse);
          const Tensor c = inputs[4].defined() ? inputs[0] * inputs[4] : inputs[0];
          const Tensor along = mean(c * n, dims, true);
          return Tensors{inverse * (c - mean(c, dims, true) - n * along)};
        }}),
    .has_inplace = false,
    .reference = backward_reference,
    .dtypes = floating_dtypes(),
    .samples = [](ScalarType dtype) { return backward_samples(dtype, true); },
    .tolerance_ulp = 300,  // of sums that may cancel
});

// cotangent, input, mean, inverse -> the weight's gradient.
const Op& op_weight = define({
    .name = "layer_norm_weight",
    .kind = OpKind::kComposite,
    .inputs = 4,
    .attributes = {{"axes", AttrType::kInt}},
    .type = [](const Signature& s) -> TypeResult {
      const Type& x = s.inputs[1];
      const std::size_t axes = normalized_axes(s);
      return {{{x.dtype, Shape(IntArrayRef(x.sizes).slice(x.sizes.size() - axes, axes))}}, x.dtype};
    },
    .lowering =
        kernels::lower(kernels::CompositeLowering{[](const Signature& s, ArrayRef<Tensor> inputs) {
          const Tensor products = inputs[0] * normalized(inputs[1], inputs[2], inputs[3]);
          Shape rows;
          const auto rank = static_cast<std::int64_t>(s.inputs[1].sizes.size());
          for (std::int64_t dim = 0; dim < rank - s.attr().integer(kAxes); ++dim)
            rows.push_back(dim);
          return Tensors{rows.empty() ? products : sum(products, rows)};
        }}),
    .has_inplace = false,
    .reference = weight_reference,
    .dtypes = floating_dtypes(),
    .samples = [](ScalarType dtype) { return backward_samples(dtype, false); },
    .tolerance_ulp = 300,
});

Tensors gradient(const Grad& g) {
  const Tensor &x = g.input(kInput), &weight = g.input(kWeight);
  const Tensor &mean = g.output(kMean), &inverse = g.output(kInverse);
  const Attrs axes = Attrs().add(g.attr().integer(kAxes));
  Tensors result(3);
  const Tensor& c = g.cotangent();
  if (c.defined()) {
    if (g.needs[kInput])
      result[kInput] = call(op_backward, {c, x, mean, inverse, weight}, Site::current(), axes);
    if (g.needs[kWeight])
      result[kWeight] = call(op_weight, {c, x, mean, inverse}, Site::current(), axes);
    if (g.needs[kBias]) result[kBias] = sum_to(c, g.input_types[kBias].sizes);
  }
  // The statistics are results as well: second derivatives come in through them.
  if (!g.needs[kInput] || (!g.cotangents[kMean].defined() && !g.cotangents[kInverse].defined()))
    return result;
  const std::int64_t rows = std::max<std::int64_t>(1, element_count(type_of(mean).sizes));
  const auto count = static_cast<double>(element_count(g.input_types[kInput].sizes) / rows);
  Tensor through = result[kInput].defined() ? result[kInput] : zeros_like(x);
  if (g.cotangents[kMean].defined()) through = through + g.cotangents[kMean] / count;
  if (g.cotangents[kInverse].defined()) {
    const Tensor slope = square(inverse) * normalized(x, mean, inverse) / count;
    through = through - g.cotangents[kInverse] * slope;
  }
  result[kInput] = through.to(g.input_types[kInput].dtype);
  return result;
}

std::vector<Reference> reference(const Signature& s, const std::vector<Reference>& inputs) {
  std::vector<Reference> results;
  for (const Type& type : s.op.type(s).outputs) results.push_back({type, {}});
  const std::vector<double>& x = inputs[kInput].values;
  const auto rows = static_cast<std::size_t>(element_count(results[kMean].type.sizes));
  const std::size_t count = rows == 0 ? 0 : x.size() / rows;
  const auto n = static_cast<double>(count);
  for (std::size_t row = 0; row < rows; ++row) {
    const double* values = x.data() + row * count;
    double mean = 0, squares = 0;
    for (std::size_t i = 0; i < count; ++i) mean += values[i] / n;
    for (std::size_t i = 0; i < count; ++i) squares += (values[i] - mean) * (values[i] - mean);
    const double inverse = 1 / std::sqrt(squares / n + s.attr().real(kEps));
    results[kMean].values.push_back(count == 0 ? NAN : mean);
    results[kInverse].values.push_back(inverse);
    for (std::size_t i = 0; i < count; ++i) {
      double y = (values[i] - mean) * inverse;
      if (!inputs[kWeight].values.empty()) y *= inputs[kWeight].values[i];
      if (!inputs[kBias].values.empty()) y += inputs[kBias].values[i];
      results[kResult].values.push_back(y);
    }
  }
  return results;
}

std::vector<Sample> samples(ScalarType dtype) {
  std::vector<Sample> result;
  const auto add = [&](const Shape& sizes, std::size_t axes, bool has_weight, bool has_bias) {
    const Type normal{dtype, Shape(IntArrayRef(sizes).slice(sizes.size() - axes, axes))};
    const Type none{ScalarType::Undefined, {}};
    result.push_back({{{dtype, sizes}, has_weight ? normal : none, has_bias ? normal : none},
                      Attrs().add(static_cast<std::int64_t>(axes)).add_double(1e-2),
                      {}});
  };
  for (const bool has_weight : {true, false}) {
    add({3, 5}, 1, has_weight, has_weight);
    add({2, 3, 4}, 2, has_weight, has_weight);
    add({2, 3, 10}, 1, has_weight, has_weight);
    add({7}, 1, has_weight, has_weight);
    add({0, 5}, 1, has_weight, has_weight);
    add({300, 40}, 1, has_weight, has_weight);
  }
  add({4, 3}, 1, true, false);
  add({4, 1}, 1, false, true);
  add({1, 5000}, 1, true, true);
  return result;
}

const Op& op = define({
    .name = "layer_norm",
    .kind = OpKind::kComposite,
    .inputs = 3,
    .outputs = 3,
    .attributes = {{"axes", AttrType::kInt}, {"eps", AttrType::kDouble}},
    .type = layer_norm_type,
    .lowering =
        kernels::lower(kernels::CompositeLowering{[](const Signature& s, ArrayRef<Tensor> inputs) {
          const Tensor& x = inputs[kInput];
          const Shape dims = last_dims(s.inputs[kInput].sizes.size(), s.attr().integer(kAxes));
          const Tensor average = mean(x, dims, true);
          const Tensor deviation = x - average;
          const Tensor inverse = rsqrt(mean(square(deviation), dims, true) + s.attr().real(kEps));
          Tensor y = deviation * inverse;
          if (inputs[kWeight].defined()) y = y * inputs[kWeight];
          if (inputs[kBias].defined()) y = y + inputs[kBias];
          return Tensors{y, average, inverse};
        }}),
    .gradient = gradient,
    .saves_inputs = 3,
    .saves_outputs = 6,
    .autocast = Precision::kFloat,
    .has_inplace = false,
    .reference = reference,
    .dtypes = floating_dtypes(),
    .samples = samples,
    .tolerance_ulp = 64,
});

}  // namespace

Tensor layer_norm(Arg input, IntArrayRef normalized_shape, const Tensor& weight, const Tensor& bias,
                  double eps, bool) {
  const CallFrame frame(input.site);
  const Shape& sizes = checked("layer_norm", *input.tensor).geometry.sizes;
  const std::size_t axes = normalized_shape.size();
  GROOVE_CHECK(axes <= sizes.size() &&
                   IntArrayRef(sizes).slice(sizes.size() - axes, axes) == normalized_shape,
               "layer_norm: the input's shape {} does not end in normalized_shape {}",
               to_string(sizes), to_string(normalized_shape));
  const Attrs attrs = Attrs().add(static_cast<std::int64_t>(axes)).add_double(eps);
  const Tensor operands[] = {*input.tensor, weight, bias};
  Tensor outputs[3];
  dispatch(Call{&op, operands, &attrs, {}, input.site}, outputs);
  return outputs[kResult];
}

}  // namespace groove
