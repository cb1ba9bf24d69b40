// pow: self ^ exponent. Exponents with an exact form of their own are a class, part of the
// structure, so that every tier takes the same path.
#include <cmath>

#include "groove/ops/creation.h"
#include "kernels/ops/complex_rules.h"
#include "kernels/ops/reference.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

enum ExponentClass : std::int64_t { kOther, kTwo, kThree, kHalf, kMinusOne, kMinusHalf, kNegative };

ExponentClass class_of(double exponent) {
  if (exponent == 2) return kTwo;
  if (exponent == 3) return kThree;
  if (exponent == 0.5) return kHalf;
  if (exponent == -1) return kMinusOne;
  if (exponent == -0.5) return kMinusHalf;
  return exponent < 0 ? kNegative : kOther;
}

TypeResult scalar_type(const Signature& s) {
  TypeResult result = promoted(s);
  const std::int64_t kind = s.attr().integer(0);
  GROOVE_CHECK(is_floating(result.compute) || (kind != kNegative && kind != kMinusOne),
               "pow: integers have no negative integer powers such as {}; convert the tensor to a "
               "floating dtype",
               s.numbers[0].to_double());
  return result;
}

TypeResult tensor_type(const Signature& s) {
  const TypeResult result = promoted(s);
  GROOVE_CHECK(result.compute != kBool, "pow: not defined for Bool tensors; convert with to(kInt)");
  return result;
}

// x^n by squaring, wrapping. Of what a negative power truncates to, only 1 and -1 leave anything.
kernels::Expr integer_power(kernels::Expr x, kernels::Expr n) {
  kernels::Builder& b = x.builder();
  const ScalarType dtype = x.dtype();
  const kernels::Expr one = b.constant_int(dtype, 1), zero = b.constant_int(dtype, 0);
  const int bits = 8 * static_cast<int>(element_size(dtype)) - (dtype == kByte ? 0 : 1);
  kernels::Expr result = one, square = x;
  for (int i = 0; i < bits; ++i) {
    const kernels::Expr bit = shift_right_logical(n, b.constant_int(dtype, i)) & one;
    result = select(ne(bit, zero), result * square, result);
    if (i + 1 < bits) square = square * square;
  }
  if (dtype == kByte) return result;
  const kernels::Expr sign = select(ne(n & one, zero), x, one);
  const kernels::Expr is_unit = eq(x, one) | eq(x, -one);
  return select(lt(n, zero), select(is_unit, sign, zero), result);
}

kernels::Expr power_of(kernels::Expr x, kernels::Expr n) {
  return is_floating(x.dtype()) ? kernels::pow(x, n) : integer_power(x, n);
}

kernels::Exprs scalar_body(kernels::Body& b) {
  const kernels::Expr x = b.inputs[0];
  switch (b.attr().integer(0)) {
    case kTwo:
      return {x * x};
    case kThree:
      return {x * x * x};
    case kHalf:
      return {sqrt(x)};
    case kMinusOne:
      return {1.0 / x};
    case kMinusHalf:
      return {rsqrt(x)};
    default:
      return {power_of(x, b.numbers[0])};
  }
}

Tensor power(Arg self, Scalar exponent);

const Op& op_scalar = define({
    .name = "pow_scalar",
    .attributes = {{"exponent_class", AttrType::kInt}},
    .number_names = {"exponent"},
    .type = scalar_type,
    .lowering = kernels::lower(kernels::ElementwiseLowering{.body = scalar_body}),
    .gradient =
        [](const Grad& g) {
          const double exponent = g.numbers[0].to_double();
          if (exponent == 0) return Tensors{zeros_like(g.input(0))};
          if (exponent == 2) return Tensors{mul(g.cotangent(), mul(g.input(0), 2))};
          return Tensors{mul(g.cotangent(), mul(power(g.input(0), exponent - 1), g.numbers[0]))};
        },
    .saves_inputs = 1,
    .complex =
        [](const Call& c) {
          if (c.numbers[0].equal(2)) return square(c.inputs[0]);
          if (c.numbers[0].equal(0)) return ones_like(c.inputs[0]);
          const ScalarType part = real_dtype(c.inputs[0].scalar_type());
          return complex_rules::power(c.inputs[0], full({}, c.numbers[0], part));
        },
    .reference = elementwise_reference([](const std::vector<double>& x, const Signature& s) {
      return std::pow(x[0], s.numbers[0].to_double());
    }),
    .domain = {0.2, 3},
    .dtypes = all_dtypes(),
    .samples =
        [](ScalarType dtype) {
          std::vector<double> exponents = {2, 3, 0.5, 1.7, 0, 4};
          if (is_floating(dtype)) exponents.insert(exponents.end(), {-1, -0.5, -2});
          std::vector<Sample> samples = scalar_samples(dtype, exponents);
          for (Sample& sample : samples)
            sample.attrs = Attrs().add(class_of(sample.numbers[0].to_double()));
          return samples;
        },
    .tolerance_ulp = 4,
});

const Op& op = define(BinarySpec{
    .name = "pow",
    .body = power_of,
    .gradient =
        [](const Grad& g) {
          const Tensor &x = g.input(0), &y = g.input(1);
          Tensors result(2);
          if (g.needs[0]) {
            const Tensor slope = masked_fill(mul(y, pow(x, y - 1)), eq(y, 0), 0);
            result[0] = reduced_to(mul(g.cotangent(), slope), g.input_types[0]);
          }
          if (g.needs[1]) {  // the power of 0 is flat where the exponent is not negative
            const Tensor is_flat = logical_and(eq(x, 0), ge(y, 0));
            const Tensor slope = masked_fill(mul(pow(x, y), log(x)), is_flat, 0);
            result[1] = reduced_to(mul(g.cotangent(), slope), g.input_types[1]);
          }
          return result;
        },
    .saves_inputs = 3,
    .complex =
        [](const Call& c) {
          return complex_rules::power(complex_rules::operand(c, 0), complex_rules::operand(c, 1));
        },
    .reference = [](double a, double b) { return std::pow(a, b); },
    .domain = {0.2, 3},
    .type = tensor_type,
    .dtypes = numeric_dtypes(),
    .tolerance_ulp = 4,
});

const Op& op_reversed = define(ScalarSpec{
    .name = "rpow_scalar",
    .body = [](kernels::Expr x, kernels::Expr number) { return power_of(number, x); },
    .gradient =
        [](const Grad& g) {
          const double base = g.numbers[0].to_double();
          const Tensor slope = mul(pow(g.numbers[0], g.input(0)), std::log(base));
          // The power of 0 is flat where the exponent is not negative.
          const Tensor finite = base == 0 ? masked_fill(slope, ge(g.input(0), 0), 0) : slope;
          return Tensors{reduced_to(mul(g.cotangent(), finite), g.input_types[0])};
        },
    .saves_input = true,
    .complex =
        [](const Call& c) {
          const ScalarType part = real_dtype(c.inputs[0].scalar_type());
          return complex_rules::power(full({}, c.numbers[0], part), c.inputs[0]);
        },
    .reference = [](double a, double b) { return std::pow(b, a); },
    .domain = {0.2, 3},
    .type = tensor_type,
    .numbers = {2, 0.75},
    .tolerance_ulp = 4,
});

Tensor power(Arg self, Scalar exponent) {
  return call(op_scalar, {*self.tensor}, self.site, Attrs().add(class_of(exponent.to_double())),
              exponent);
}

}  // namespace

Tensor pow(Arg self, Scalar exponent) {
  const CallFrame frame(self.site);
  return power(self, exponent);
}
Tensor pow(Arg self, const Tensor& exponent) { return call(op, self, exponent); }
Tensor pow(Scalar self, Arg exponent) { return call(op_reversed, exponent, self); }
Tensor MathMethods::pow(Scalar exponent, Site site) const {
  const CallFrame frame(site);
  return power({self(), site}, exponent);
}
Tensor MathMethods::pow(const Tensor& exponent, Site site) const {
  return call(op, {self(), site}, exponent);
}
Tensor& MathMethods::pow_(const Tensor& exponent, Site site) const {
  return call_inplace(op, writable(self()), {exponent}, site);
}
Tensor& MathMethods::pow_(Scalar exponent, Site site) const {
  return call_inplace(op_scalar, writable(self()), {}, site,
                      Attrs().add(class_of(exponent.to_double())), exponent);
}

}  // namespace groove
