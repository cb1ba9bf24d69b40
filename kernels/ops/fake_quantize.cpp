// fake_quantize_per_tensor_affine and …_per_channel_affine: what quantising to whole numbers and
// back leaves of a tensor, in f32 scales as LibTorch; the gradient is that of the identity between
// the least and the greatest whole number, 0 beyond.
#include <cmath>

#include "groove/ops/native.h"
#include "groove/ops/views.h"
#include "kernels/ops/reference.h"
#include "kernels/ops/spelled.h"

namespace groove {
namespace {

using kernels::Expr;

// x, scale, 1 / scale, zero point, which broadcast; quant_min, quant_max.
const Op& op_values = define({
    .name = "fake_quantize",
    .inputs = 4,
    .number_names = {"quant_min", "quant_max"},
    .type = [](const Signature& s) -> TypeResult {
      const TypeResult all = promoted(s);
      const ScalarType dtype = s.inputs[0].dtype;
      GROOVE_CHECK(is_floating(dtype), "{}: not defined for {} tensors", s.op.name, name(dtype));
      return {{{dtype, all.outputs[0].sizes}}, dtype};
    },
    .lowering = kernels::lower(kernels::ElementwiseLowering{
        .body =
            [](kernels::Body& b) {
              const Expr whole = round_even(b.inputs[0] * b.inputs[2]) + b.inputs[3];
              // A NaN becomes the least number.
              const Expr kept = kernels::min(kernels::max(whole, b.numbers[0]), b.numbers[1]);
              return kernels::Exprs{(kept - b.inputs[3]) * b.inputs[1]};
            }}),
    .reference = elementwise_reference([](const std::vector<double>& x, const Signature& s) {
      const double whole = std::nearbyint(x[0] * x[2]) + x[3];
      const double kept =
          std::min(std::max(whole, s.numbers[0].to_double()), s.numbers[1].to_double());
      return (kept - x[3]) * x[1];
    }),
    .domain = {0.5, 2},
    .dtypes = {kFloat, kDouble},
    .samples =
        [](ScalarType dtype) {
          std::vector<Sample> samples;
          for (const Shape& sizes : {Shape{}, Shape{7}, Shape{3, 5}, Shape{0, 2}})
            samples.push_back({{{dtype, sizes}, {dtype, {}}, {dtype, {}}, {dtype, {}}},
                               {},
                               {Scalar(-2.0), Scalar(3.0)}});
          samples.push_back({{{dtype, {3, 5}}, {dtype, {5}}, {dtype, {5}}, {dtype, {3, 1}}},
                             {},
                             {Scalar(0.0), Scalar(4.0)}});
          return samples;
        },
});

// The first input, with the gradient of the second.
const Op& op_stand_in = define({
    .name = "with_gradient_of",
    .inputs = 2,
    .type = [](const Signature& s) -> TypeResult {
      return {{s.inputs[0]}, s.inputs[0].dtype};
    },
    .lowering = kernels::lower(kernels::ElementwiseLowering{
        .body = [](kernels::Body& b) { return kernels::Exprs{b.inputs[0]}; }}),
    .gradient =
        [](const Grad& g) {
          Tensors result(2);
          if (g.needs[1]) result[1] = g.cotangent();
          return result;
        },
});

Tensor quantised(const Tensor& x, const Tensor& scale, const Tensor& zero_point, std::int64_t least,
                 std::int64_t greatest, Site site) {
  const ScalarType dtype = type_of(x).dtype;
  GROOVE_CHECK(is_floating(dtype), "fake_quantize: not defined for {} tensors", name(dtype));
  GROOVE_CHECK(least <= greatest, "fake_quantize: quant_min {} is greater than quant_max {}", least,
               greatest);
  const auto fit = [&](const Tensor& value) {
    return value.detach().to(kFloat, false, false, site).to(dtype, false, false, site);
  };
  const Tensor step = fit(scale), zero = fit(zero_point);
  const Tensor inverse = fit(reciprocal(scale.detach().to(kFloat, false, false, site)));
  const Tensor plain = x.detach();
  const Tensor values =
      call(op_values, {plain, step, inverse, zero}, site, {},
           {Scalar(static_cast<double>(least)), Scalar(static_cast<double>(greatest))});
  if (!x.requires_grad()) return values;
  const Tensor whole = round(plain * inverse) + zero;
  const Tensor is_kept = logical_and(ge(whole, least), le(whole, greatest));
  return call(op_stand_in, {values, x * is_kept.to(dtype)}, site);
}

}  // namespace

Tensor fake_quantize_per_tensor_affine(Arg self, double scale, std::int64_t zero_point,
                                       std::int64_t quant_min, std::int64_t quant_max) {
  const SiteScope scope(self.site);
  checked("fake_quantize_per_tensor_affine", *self.tensor);
  GROOVE_CHECK(zero_point >= quant_min && zero_point <= quant_max,
               "fake_quantize_per_tensor_affine: zero_point {} must be between quant_min {} and "
               "quant_max {}",
               zero_point, quant_min, quant_max);
  return quantised(*self.tensor, full({}, scale, kFloat),
                   full({}, static_cast<double>(zero_point), kFloat), quant_min, quant_max,
                   self.site);
}
Tensor fake_quantize_per_tensor_affine(Arg self, const Tensor& scale, const Tensor& zero_point,
                                       std::int64_t quant_min, std::int64_t quant_max) {
  const SiteScope scope(self.site);
  checked("fake_quantize_per_tensor_affine", *self.tensor);
  const auto number = [](const Tensor& value) {
    checked("fake_quantize_per_tensor_affine", value);
    GROOVE_CHECK(value.numel() == 1,
                 "fake_quantize_per_tensor_affine: scale and zero_point must have one element, "
                 "not {}",
                 value.numel());
    return reshape(value, {});
  };
  return quantised(*self.tensor, number(scale), number(zero_point), quant_min, quant_max,
                   self.site);
}
Tensor fake_quantize_per_channel_affine(Arg self, const Tensor& scale, const Tensor& zero_point,
                                        std::int64_t axis, std::int64_t quant_min,
                                        std::int64_t quant_max) {
  constexpr const char* kName = "fake_quantize_per_channel_affine";
  const SiteScope scope(self.site);
  const Shape& sizes = checked(kName, *self.tensor).geometry.sizes;
  GROOVE_CHECK(axis >= 0 && axis < static_cast<std::int64_t>(sizes.size()),
               "{}: axis {} is not in [0, {})", kName, axis, sizes.size());
  const Shape expected{sizes[static_cast<std::size_t>(axis)]};
  const Shape &steps = checked(kName, scale).geometry.sizes,
              &zeros = checked(kName, zero_point).geometry.sizes;
  GROOVE_CHECK(steps == expected && zeros == expected,
               "{}: scale {} and zero_point {} must be {}, a number for each slice of dim {}",
               kName, to_string(steps), to_string(zeros), to_string(expected), axis);
  if (is_integral(type_of(zero_point).dtype) && zero_point.numel() > 0)
    GROOVE_CHECK(min(zero_point).item<std::int64_t>() >= quant_min &&
                     max(zero_point).item<std::int64_t>() <= quant_max,
                 "{}: zero_point must be between quant_min {} and quant_max {}", kName, quant_min,
                 quant_max);
  Shape along(sizes.size(), 1);
  along[static_cast<std::size_t>(axis)] = -1;
  return quantised(*self.tensor, reshape(scale, along), reshape(zero_point, along), quant_min,
                   quant_max, self.site);
}

}  // namespace groove
