// var: the mean squared deviation from the mean, in two passes over the data. Chan's formula needs
// one, but no elementwise kernel can follow it; these are ordinary reductions, which fuse with each
// other and with what surrounds them while a row is in cache.
#include "groove/ops/statistics.h"
#include "groove/ops/views.h"
#include "kernels/ops/complex_rules.h"
#include "kernels/ops/deviation.h"

namespace groove {
namespace {

enum { kDims, kKeepdim, kCorrection };

double divisor(const Signature& s) {
  const Shape& sizes = s.inputs[0].sizes;
  const std::int64_t kept = element_count(reduced_sizes(s));
  const std::int64_t count = kept == 0 ? 1 : element_count(sizes) / kept;
  return static_cast<double>(std::max<std::int64_t>(0, count - s.attr().integer(kCorrection)));
}

const Op& op = define({
    .name = "var",
    .kind = OpKind::kComposite,
    .attributes = deviation_attributes(),
    .type = deviation_type,
    .lowering =
        kernels::lower(kernels::CompositeLowering{[](const Signature& s, ArrayRef<Tensor> inputs) {
          const IntArrayRef dims = s.attr().integers(kDims);
          const Tensor deviation = inputs[0] - mean(inputs[0], dims, true);
          return Tensors{sum(square(deviation), dims, s.attr().boolean(kKeepdim)) / divisor(s)};
        }}),
    .gradient = [](const Grad& g) { return Tensors{variance_gradient(g, g.cotangent())}; },
    .saves_inputs = 1,
    .complex =
        [](const Call& c) {
          const auto z = complex_rules::parts_of(c.inputs[0]);
          return add(call(*c.op, {z.re}, c.site, *c.attrs), call(*c.op, {z.im}, c.site, *c.attrs));
        },
    .has_inplace = false,
    .reference = deviation_reference([](double variance) { return variance; }),
    .dtypes = floating_dtypes(),
    .samples = deviation_samples,
    .tolerance_ulp = 64,
});

}  // namespace

Tensor variance(Arg self, IntArrayRef dims, std::int64_t correction, bool keepdim) {
  return call(op, {*self.tensor}, self.site,
              reduction_attrs("var", *self.tensor, dims, keepdim).add(correction));
}

std::vector<AttrField> deviation_attributes() {
  std::vector<AttrField> fields = reduction_attributes();
  fields.push_back({"correction", AttrType::kInt});
  return fields;
}

TypeResult deviation_type(const Signature& s) {
  const Shape sizes = reduced_sizes(s);
  const ScalarType dtype = s.inputs[0].dtype;
  GROOVE_CHECK_AS(NotImplementedError, is_floating(dtype),
                  "{}: not defined for {} tensors; convert to a floating dtype", s.op.name,
                  name(dtype));
  return {{{dtype, sizes}}, dtype};
}

std::vector<Sample> deviation_samples(ScalarType dtype) {
  std::vector<Sample> samples;
  for (const std::int64_t correction : {0, 1}) {
    for (Sample& sample : reduction_samples(dtype)) {
      sample.attrs.add(correction);
      samples.push_back(std::move(sample));
    }
  }
  return samples;
}

Tensor variance_gradient(const Grad& g, const Tensor& grad) {
  const Tensor& x = g.input(0);
  const Tensor deviation = x - mean(x, g.attr().integers(kDims), true);
  const Signature signature{g.op, g.input_types, g.attrs, g.numbers};
  return deviation * unreduced(grad * (2 / divisor(signature)), g);
}

double reference_variance(const std::vector<double>& row, std::int64_t correction) {
  double total = 0, squares = 0;
  for (double x : row) total += x;
  for (double x : row) {
    const double d = x - total / static_cast<double>(row.size());
    squares += d * d;
  }
  const auto count = static_cast<std::int64_t>(row.size()) - correction;
  return squares / static_cast<double>(std::max<std::int64_t>(0, count));
}

ReferenceRule deviation_reference(double (*value)(double variance)) {
  return [value](const Signature& s, const std::vector<Reference>& inputs) {
    const std::int64_t correction = s.attr().integer(kCorrection);
    return reduction_reference([=](const std::vector<double>& row) {
      return value(reference_variance(row, correction));
    })(s, inputs);
  };
}

Tensor var(Arg self) {
  const CallFrame frame(self.site);
  return variance(self, {}, 1, false);
}
Tensor var(Arg self, OptionalIntArrayRef dim, bool unbiased, bool keepdim) {
  const CallFrame frame(self.site);
  return variance(self, dim.value_or({}), unbiased, keepdim);
}
Tensor ReductionMethods::var(Site site) const {
  const CallFrame frame(site);
  return variance({self(), site}, {}, 1, false);
}
Tensor ReductionMethods::var(OptionalIntArrayRef dim, bool unbiased, bool keepdim,
                             Site site) const {
  const CallFrame frame(site);
  return variance({self(), site}, dim.value_or({}), unbiased, keepdim);
}

Tensor var(Arg self, OptionalIntArrayRef dim, const std::optional<Scalar>& correction,
           bool keepdim) {
  const CallFrame frame(self.site);
  return std::get<0>(var_mean(self, dim, correction, keepdim));
}
Tensor ReductionMethods::var(OptionalIntArrayRef dim, const std::optional<Scalar>& correction,
                             bool keepdim, Site site) const {
  return groove::var({self(), site}, dim, correction, keepdim);
}

}  // namespace groove
