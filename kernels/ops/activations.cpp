// Activations that are spelled with other operators, with their in-place forms.
#include "groove/ops/activations.h"

#include "groove/ops/creation.h"
#include "groove/ops/views.h"
#include "kernels/lowering.h"
#include "kernels/ops/reference.h"
#include "kernels/ops/rules.h"
#include "src/core/held_numbers.h"

namespace groove {
namespace {

// The fixed point of mean 0 and variance 1.
constexpr double kSeluAlpha = 1.6732632423543772848170429916717;
constexpr double kSeluScale = 1.0507009873554804934193352946;

// What backward needs of the input is kept from before the write.
template <class Function>
Tensor& placed(const Arg& self, Function function) {
  return writable(*self.tensor).copy_(function(clone(*self.tensor)), false, self.site);
}

void check_floating(const char* op, const Tensor& x) {
  const ScalarType dtype = checked(op, x).dtype;
  GROOVE_CHECK_AS(NotImplementedError, is_floating(dtype),
                  "{}: not defined for {} tensors; convert to a floating dtype", op, name(dtype));
}

// Without a gradient at the bounds. Of integers the bounds are what their dtype holds.
Tensor between(const Tensor& x, Scalar low, Scalar high) {
  const ScalarType dtype = checked("hardtanh", x).dtype;
  GROOVE_CHECK(dtype != kBool, "hardtanh: not defined for Bool tensors; convert with to(kInt)");
  const Scalar least = nearest_held(low, dtype), most = nearest_held(high, dtype);
  return masked_fill(masked_fill(x, le(x, least), least), ge(x, most), most);
}

}  // namespace

Tensor selu(Arg self) {
  const SiteScope scope(self.site);
  return elu(*self.tensor, kSeluAlpha) * kSeluScale;
}
Tensor celu(Arg self, Scalar alpha) {
  const SiteScope scope(self.site);
  GROOVE_CHECK(alpha.to_double() != 0, "celu: alpha is 0; it must be another number");
  return elu(*self.tensor, alpha, 1, 1 / alpha.to_double());
}
Tensor hardtanh(Arg self, Scalar min_val, Scalar max_val) {
  const SiteScope scope(self.site);
  return between(*self.tensor, min_val, max_val);
}
Tensor relu6(Arg self) {
  const SiteScope scope(self.site);
  return between(*self.tensor, 0, 6);
}
Tensor hardsigmoid(Arg self) {
  const SiteScope scope(self.site);
  return between(*self.tensor + 3, 0, 6) / 6;
}
Tensor hardswish(Arg self) {
  const SiteScope scope(self.site);
  return *self.tensor * (between(*self.tensor + 3, 0, 6) / 6);
}
Tensor hardshrink(Arg self, Scalar lambd) {
  const SiteScope scope(self.site);
  check_floating("hardshrink", *self.tensor);
  return masked_fill(*self.tensor, le(abs(*self.tensor), lambd), 0);
}
Tensor softshrink(Arg self, Scalar lambd) {
  const SiteScope scope(self.site);
  GROOVE_CHECK(lambd.to_double() >= 0, "softshrink: lambda is {}; it must not be negative",
               lambd.to_double());
  const Tensor& x = *self.tensor;
  const double least = -lambd.to_double();
  const Tensor is_inside = logical_and(ge(x, least), le(x, lambd));  // flat at the bounds, too
  return x - where(is_inside, x, clamp(x.detach(), least, lambd));
}
Tensor threshold(Arg self, Scalar threshold, Scalar value) {
  const SiteScope scope(self.site);
  return masked_fill(*self.tensor, le(*self.tensor, threshold), value);
}
Tensor log_sigmoid(Arg self) {
  const SiteScope scope(self.site);
  return -softplus(-*self.tensor, 1, std::numeric_limits<double>::infinity());
}
Tensor mish(Arg self) {
  const SiteScope scope(self.site);
  return *self.tensor * tanh(softplus(*self.tensor));
}

namespace {

// One of several parts, so that it is fused where no tape runs through it. The slope broadcasts.
const Op& op_prelu = define({
    .name = "prelu",
    .kind = OpKind::kComposite,
    .inputs = 2,
    .type = [](const Signature& s) -> TypeResult { return promoted(s); },
    .lowering =
        kernels::lower(kernels::CompositeLowering{[](const Signature&, ArrayRef<Tensor> inputs) {
          const Tensor& x = inputs[0];
          return Tensors{where(gt(x, 0), x, inputs[1] * x)};
        }}),
    .has_inplace = false,
    .reference = elementwise_reference([](const std::vector<double>& x, const Signature&) {
      return x[0] > 0 ? x[0] : x[1] * x[0];
    }),
    .dtypes = floating_dtypes(),
    .samples =
        [](ScalarType dtype) {
          return std::vector<Sample>{{{{dtype, {7}}, {dtype, {1}}}, {}, {}},
                                     {{{dtype, {3, 5}}, {dtype, {1, 5}}}, {}, {}},
                                     {{{dtype, {2, 3, 4}}, {dtype, {1, 3, 1}}}, {}, {}},
                                     {{{dtype, {0, 3}}, {dtype, {1, 3}}}, {}, {}}};
        },
});

}  // namespace

Tensor prelu(Arg self, const Tensor& weight) {
  const SiteScope scope(self.site);
  const Shape &sizes = checked("prelu", *self.tensor).geometry.sizes,
              &own = checked("prelu", weight).geometry.sizes;
  const std::int64_t channels = sizes.size() < 2 ? 1 : sizes[1], count = element_count(own);
  GROOVE_CHECK(own.size() <= 1 && (count == 1 || count == channels),
               "prelu: weight has {} elements; it must have 1 or as many as the input has channels "
               "({})",
               count, channels);
  Tensor slope = weight;
  if (count > 1) {
    Shape shape(sizes.size(), 1);
    shape[1] = channels;
    slope = reshape(weight, shape);
  }
  return call(op_prelu, {*self.tensor, slope}, self.site);
}

Tensor glu(Arg self, std::int64_t dim) {
  const SiteScope scope(self.site);
  check_floating("glu", *self.tensor);
  const Shape& sizes = type_of(*self.tensor).sizes;
  GROOVE_CHECK(!sizes.empty(), "glu: a 0-d tensor has no halves");
  const std::int64_t axis = normal_dim("glu", dim, sizes.size());
  const std::int64_t size = sizes[static_cast<std::size_t>(axis)], half = size / 2;
  GROOVE_CHECK(size % 2 == 0, "glu: axis {} has size {}; it must be even", dim, size);
  return narrow(*self.tensor, axis, 0, half) * sigmoid(narrow(*self.tensor, axis, half, half));
}

Tensor rrelu(Arg self, Scalar lower, Scalar upper, bool training) {
  const SiteScope scope(self.site);
  const double low = lower.to_double(), high = upper.to_double();
  GROOVE_CHECK(low <= high, "rrelu: lower {} is greater than upper {}", low, high);
  if (!training) return leaky_relu(*self.tensor, (low + high) / 2);
  const Tensor slope = rand_like(*self.tensor) * (high - low) + low;
  return where(le(*self.tensor, 0), *self.tensor * slope, *self.tensor);
}

Tensor& elu_(Arg self, Scalar alpha, Scalar scale, Scalar input_scale) {
  const SiteScope scope(self.site);
  return placed(self, [&](const Tensor& x) { return elu(x, alpha, scale, input_scale); });
}
Tensor& selu_(Arg self) {
  const SiteScope scope(self.site);
  return placed(self, [](const Tensor& x) { return selu(x); });
}
Tensor& celu_(Arg self, Scalar alpha) {
  const SiteScope scope(self.site);
  return placed(self, [&](const Tensor& x) { return celu(x, alpha); });
}
Tensor& leaky_relu_(Arg self, Scalar negative_slope) {
  const SiteScope scope(self.site);
  return placed(self, [&](const Tensor& x) { return leaky_relu(x, negative_slope); });
}
Tensor& hardtanh_(Arg self, Scalar min_val, Scalar max_val) {
  const SiteScope scope(self.site);
  return placed(self, [&](const Tensor& x) { return between(x, min_val, max_val); });
}
Tensor& relu6_(Arg self) {
  const SiteScope scope(self.site);
  return placed(self, [](const Tensor& x) { return between(x, 0, 6); });
}
Tensor& hardsigmoid_(Arg self) {
  const SiteScope scope(self.site);
  return placed(self, [](const Tensor& x) { return hardsigmoid(x); });
}
Tensor& hardswish_(Arg self) {
  const SiteScope scope(self.site);
  return placed(self, [](const Tensor& x) { return hardswish(x); });
}
Tensor& threshold_(Arg self, Scalar bound, Scalar value) {
  const SiteScope scope(self.site);
  return placed(self, [&](const Tensor& x) { return threshold(x, bound, value); });
}
Tensor& silu_(Arg self) {
  const SiteScope scope(self.site);
  return placed(self, [](const Tensor& x) { return silu(x); });
}
Tensor& mish_(Arg self) {
  const SiteScope scope(self.site);
  return placed(self, [](const Tensor& x) { return mish(x); });
}
Tensor& rrelu_(Arg self, Scalar lower, Scalar upper, bool training) {
  const SiteScope scope(self.site);
  return placed(self, [&](const Tensor& x) { return rrelu(x, lower, upper, training); });
}

Tensor MathMethods::hardshrink(Scalar lambd, Site site) const {
  return groove::hardshrink({self(), site}, lambd);
}
Tensor MathMethods::prelu(const Tensor& weight, Site site) const {
  return groove::prelu({self(), site}, weight);
}

}  // namespace groove
