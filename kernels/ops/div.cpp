// div: true division by a tensor or a number, and a number divided by a tensor.
#include "groove/ops/creation.h"
#include "kernels/ops/complex_rules.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

const Op& op = define(BinarySpec{
    .name = "div",
    .body = [](kernels::Expr a, kernels::Expr b) { return a / b; },
    .gradient =
        [](const Grad& g) {
          Tensors result(2);
          const Tensor over = div(g.cotangent(), g.input(1));
          if (g.needs[0]) result[0] = reduced_to(over, g.input_types[0]);
          if (g.needs[1])
            result[1] = reduced_to(neg(mul(over, div(g.input(0), g.input(1)))), g.input_types[1]);
          return result;
        },
    .saves_inputs = 3,
    .complex =
        [](const Call& c) {
          return complex_rules::quotient(complex_rules::operand(c, 0),
                                         complex_rules::operand(c, 1));
        },
    .reference = [](double a, double b) { return a / b; },
    .domain = {0.5, 3},
    .type = promoted_floating,
    .dtypes = all_dtypes(),
});

const Op& op_scalar = define(ScalarSpec{
    .name = "div_scalar",
    .body = [](kernels::Expr x, kernels::Expr number) { return x / number; },
    .gradient =
        [](const Grad& g) {
          return Tensors{reduced_to(div(g.cotangent(), g.numbers[0]), g.input_types[0])};
        },
    .complex = complex_rules::on_pairs,
    .reference = [](double a, double b) { return a / b; },
    .type = promoted_floating,
    .dtypes = all_dtypes(),
});

Tensor divide_number(Scalar number, Arg x);

const Op& op_reversed = define(ScalarSpec{
    .name = "rdiv_scalar",
    .body = [](kernels::Expr x, kernels::Expr number) { return number / x; },
    .gradient =
        [](const Grad& g) {
          const Tensor slope = div(divide_number(g.numbers[0], g.input(0)), g.input(0));
          return Tensors{reduced_to(neg(mul(g.cotangent(), slope)), g.input_types[0])};
        },
    .saves_input = true,
    .complex =
        [](const Call& c) {
          const Tensor number = full({}, c.numbers[0], real_dtype(c.inputs[0].scalar_type()));
          return complex_rules::quotient(number, c.inputs[0]);
        },
    .reference = [](double a, double b) { return b / a; },
    .domain = {0.5, 3},
    .type = promoted_floating,
    .dtypes = all_dtypes(),
});

Tensor divide_number(Scalar number, Arg x) { return call(op_reversed, x, number); }

}  // namespace

Tensor div(Arg self, const Tensor& other) { return call(op, self, other); }
Tensor div(Arg self, Scalar other) { return call(op_scalar, self, other); }
Tensor reciprocal(Arg self) { return call(op_reversed, self, 1); }
Tensor operator/(Arg a, const Tensor& b) { return call(op, a, b); }
Tensor operator/(Arg a, Scalar b) { return call(op_scalar, a, b); }
Tensor operator/(Scalar a, Arg b) { return call(op_reversed, b, a); }
Tensor& operator/=(Arg a, const Tensor& b) {
  return call_inplace(op, writable(*a.tensor), {b}, a.site);
}
Tensor& operator/=(Arg a, Scalar b) {
  return call_inplace(op_scalar, writable(*a.tensor), {}, a.site, {}, b);
}

Tensor MathMethods::div(const Tensor& other, Site site) const {
  return call(op, {self(), site}, other);
}
Tensor MathMethods::div(Scalar other, Site site) const {
  return call(op_scalar, {self(), site}, other);
}
Tensor& MathMethods::div_(const Tensor& other, Site site) const {
  return call_inplace(op, writable(self()), {other}, site);
}
Tensor& MathMethods::div_(Scalar other, Site site) const {
  return call_inplace(op_scalar, writable(self()), {}, site, {}, other);
}
Tensor MathMethods::reciprocal(Site site) const { return groove::reciprocal({self(), site}); }
Tensor& MathMethods::reciprocal_(Site site) const {
  return call_inplace(op_reversed, writable(self()), {}, site, {}, Scalar(1));
}

}  // namespace groove
