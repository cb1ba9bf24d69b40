// gelu: self * Phi(self) with the normal distribution Phi, or its tanh form. The slope is an op of
// its own, because both share one exponential.
#include <cmath>

#include "kernels/ops/reference.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

std::vector<AttrField> form() { return {{"is_tanh", AttrType::kBool}}; }

std::vector<Sample> in_both_forms(std::vector<Sample> samples) {
  std::vector<Sample> both;
  for (const bool is_tanh : {false, true}) {
    for (Sample sample : samples) {
      sample.attrs = Attrs().add(is_tanh);
      both.push_back(std::move(sample));
    }
  }
  return both;
}

constexpr double kScale = M_2_SQRTPI * M_SQRT2;  // 2 sqrt(2 / pi)
constexpr double kCubic = 0.044715;
const double kDensity = 0.5 * M_2_SQRTPI * M_SQRT1_2;  // 1 / sqrt(2 pi)

double value(double x, bool is_tanh) {
  if (!is_tanh) return 0.5 * x * std::erfc(-x * M_SQRT1_2);
  return x / (1 + std::exp(-kScale * (x + kCubic * x * x * x)));
}
double slope(double x, bool is_tanh) {
  if (!is_tanh) return 0.5 * std::erfc(-x * M_SQRT1_2) + x * kDensity * std::exp(-0.5 * x * x);
  const double s = 1 / (1 + std::exp(-kScale * (x + kCubic * x * x * x)));
  return s + x * kScale * (1 + 3 * kCubic * x * x) * s * (1 - s);
}

// The derivative of the slope, in ordinary ops.
Tensor curvature(const Tensor& x, bool is_tanh) {
  const Tensor square_of_x = square(x);
  if (!is_tanh) return exp(square_of_x * -0.5) * (2 - square_of_x) * kDensity;
  const Tensor s = sigmoid(x * (square_of_x * (kScale * kCubic) + kScale));
  const Tensor rate = square_of_x * (3 * kScale * kCubic) + kScale;
  const Tensor bend = (rate + square_of_x * (3 * kScale * kCubic)) * 2;
  return s * (1 - s) * (bend + x * square(rate) * (1 - s * 2));
}

// grad * slope(x)
const Op& op_backward = define({
    .name = "gelu_backward",
    .inputs = 2,
    .attributes = form(),
    .type = promoted_floating,
    .lowering = kernels::lower(kernels::ElementwiseLowering{
        .body =
            [](kernels::Body& b) {
              const kernels::Expr x = b.inputs[1];
              const bool is_tanh = b.attr().boolean(0);
              return kernels::Exprs{b.inputs[0] * (is_tanh ? gelu_tanh_slope(x) : gelu_slope(x))};
            }}),
    .gradient =
        [](const Grad& g) {
          const Tensor& x = g.input(1);
          Tensors result(2);
          if (g.needs[0]) {
            const Tensor grad = call(g.op, {g.cotangent(), x}, Site::current(), g.attrs);
            result[0] = reduced_to(grad, g.input_types[0]);
          }
          if (g.needs[1]) {
            const Tensor bend = curvature(x, g.attr().boolean(0));
            result[1] = reduced_to(g.cotangent() * g.input(0) * bend, g.input_types[1]);
          }
          return result;
        },
    .saves_inputs = 3,
    .reference = elementwise_reference([](const std::vector<double>& x, const Signature& s) {
      return x[0] * slope(x[1], s.attr().boolean(0));
    }),
    .domain = {-3, 3},
    .dtypes = floating_dtypes(),
    .samples = [](ScalarType dtype) { return in_both_forms(binary_samples(dtype)); },
    .tolerance_ulp = 64,  // the slope has a root
});

const Op& op = define({
    .name = "gelu",
    .attributes = form(),
    .type = floating_only,
    .lowering = kernels::lower(kernels::ElementwiseLowering{
        .body =
            [](kernels::Body& b) {
              const kernels::Expr x = b.inputs[0];
              return kernels::Exprs{b.attr().boolean(0) ? gelu_tanh(x) : kernels::gelu(x)};
            }}),
    .gradient =
        [](const Grad& g) {
          return Tensors{call(op_backward, {g.cotangent(), g.input(0)}, Site::current(), g.attrs)};
        },
    .saves_inputs = 1,
    .reference = elementwise_reference([](const std::vector<double>& x, const Signature& s) {
      return value(x[0], s.attr().boolean(0));
    }),
    .domain = {-5, 5},
    .dtypes = floating_dtypes(),
    .samples = [](ScalarType dtype) { return in_both_forms(unary_samples(dtype)); },
    .tolerance_ulp = 64,  // of the reference, whose argument is rounded
});

}  // namespace

Tensor gelu(Arg self, std::string_view approximate) {
  const CallFrame frame(self.site);
  const bool is_tanh = approximate == "tanh";
  GROOVE_CHECK(is_tanh || approximate == "none",
               "gelu: approximate is \"{}\"; it must be \"none\" or \"tanh\"", approximate);
  return call(op, {*self.tensor}, self.site, Attrs().add(is_tanh));
}

}  // namespace groove
