// add: self + other, with a tensor, a scaled tensor or a number.
#include "groove/ops/elementwise.h"
#include "kernels/ops/complex_rules.h"
#include "kernels/ops/reference.h"
#include "kernels/ops/rules.h"
#include "src/core/held_numbers.h"

namespace groove {
namespace {

using kernels::Expr;

Expr sum_of(Expr a, Expr b) { return a.dtype() == kBool ? (a | b) : a + b; }

Tensors both(const Grad& g, const Tensor& second) {
  Tensors result(2);
  if (g.needs[0]) result[0] = reduced_to(g.cotangent(), g.input_types[0]);
  if (g.needs[1]) result[1] = reduced_to(second, g.input_types[1]);
  return result;
}

const Op& op = define(BinarySpec{
    .name = "add",
    .body = sum_of,
    .gradient = [](const Grad& g) { return both(g, g.cotangent()); },
    .complex = complex_rules::on_all_pairs,
    .reference = [](double a, double b) { return a + b; },
    .dtypes = all_dtypes(),
});

const Op& op_scalar = define(ScalarSpec{
    .name = "add_scalar",
    .body = sum_of,
    .gradient = [](const Grad& g) { return Tensors{reduced_to(g.cotangent(), g.input_types[0])}; },
    .complex = complex_rules::on_real_part,
    .reference = [](double a, double b) { return a + b; },
    .dtypes = all_dtypes(),
    .range =
        [](const Signature& s, ArrayRef<ValueRange> inputs, int) {
          const ScalarType dtype = s.op.type(s).outputs[0].dtype;
          const ValueRange x = in_dtype(inputs[0], dtype), by = range_of(s.numbers[0], dtype);
          return in_dtype({x.low + by.low, x.high + by.high}, dtype);
        },
});

TypeResult scaled_type(const Signature& s) {
  // alpha does not take part in promotion, it only has to fit
  TypeResult result = promoted({s.op, s.inputs, s.attrs, {}});
  GROOVE_CHECK(is_floating(result.compute) || !s.numbers[0].isFloatingPoint(),
               "{}: alpha {} is not an integer but the result is {}; convert a tensor to a "
               "floating dtype",
               s.op.name, s.numbers[0].to_double(), name(result.compute));
  return result;
}

const Op& op_scaled = define({
    .name = "add_scaled",
    .inputs = 2,
    .number_names = {"alpha"},
    .type = scaled_type,
    .lowering =
        kernels::lower(kernels::ElementwiseLowering{.body =
                                                        [](kernels::Body& b) {
                                                          const Expr &x = b.inputs[0],
                                                                     &y = b.inputs[1],
                                                                     &alpha = b.numbers[0];
                                                          if (b.compute == kBool)
                                                            return kernels::Exprs{x | (alpha & y)};
                                                          return kernels::Exprs{x + alpha * y};
                                                        }}),
    .gradient =
        [](const Grad& g) {
          return both(g, g.needs[1] ? mul(g.cotangent(), g.numbers[0]) : Tensor());
        },
    .complex = complex_rules::on_all_pairs,
    .reference = elementwise_reference([](const std::vector<double>& x, const Signature& s) {
      return x[0] + s.numbers[0].to_double() * x[1];
    }),
    .dtypes = numeric_dtypes(),
    .samples =
        [](ScalarType dtype) {
          std::vector<Sample> samples = binary_samples(dtype);
          for (Sample& sample : samples) sample.numbers = {Scalar(-2)};
          return samples;
        },
});

bool is_one(Scalar alpha) {
  return alpha.to_double() == 1.0 && alpha.origin() < 0 && !alpha.isBoolean();
}

void check_alpha(const char* op, Scalar alpha, ScalarType dtype) {
  GROOVE_CHECK(!alpha.isBoolean() || dtype == kBool,
               "{}: a bool alpha for a result of {}; give a number", op, name(dtype));
  GROOVE_CHECK(!alpha.isFloatingPoint() || !(is_integral(dtype) || dtype == kBool),
               "{}: alpha {} is not an integer but the result is {}; convert a tensor to a "
               "floating dtype",
               op, alpha.with_origin(-1).to_double(), name(dtype));
  check_held(op, alpha, dtype);
}

Scalar product(const char* op, Arg self, Scalar a, Scalar alpha) {
  checked(op, *self.tensor);
  const ScalarType dtype = result_type(self, a);
  check_alpha(op, alpha, dtype);
  if (dtype == kBool) return a.toBool() && alpha.toBool();
  const Scalar b = alpha.isBoolean() ? Scalar(alpha.to_int()) : alpha;
  if (a.isFloatingPoint() || b.isFloatingPoint()) return a.to_double() * b.to_double();
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a.to_int()) *
                                   static_cast<std::uint64_t>(b.to_int()));
}

}  // namespace

Tensor add(Arg self, const Tensor& other, Scalar alpha) {
  if (is_one(alpha)) return call(op, self, other);
  const CallFrame frame(self.site);
  checked("add", *self.tensor);
  checked("add", other);
  check_alpha("add", alpha, result_type(self, other));
  return call(op_scaled, {*self.tensor, other}, self.site, {}, alpha);
}
Tensor add(Arg self, Scalar other, Scalar alpha) {
  const CallFrame frame(self.site);
  return call(op_scalar, self, is_one(alpha) ? other : product("add", self, other, alpha));
}
Tensor operator+(Arg a, const Tensor& b) { return call(op, a, b); }
Tensor operator+(Arg a, Scalar b) { return call(op_scalar, a, b); }
Tensor operator+(Scalar a, Arg b) { return call(op_scalar, b, a); }
Tensor& operator+=(Arg a, const Tensor& b) {
  return call_inplace(op, writable(*a.tensor), {b}, a.site);
}
Tensor& operator+=(Arg a, Scalar b) {
  return call_inplace(op_scalar, writable(*a.tensor), {}, a.site, {}, b);
}

Tensor MathMethods::add(const Tensor& other, Scalar alpha, Site site) const {
  return groove::add({self(), site}, other, alpha);
}
Tensor MathMethods::add(Scalar other, Scalar alpha, Site site) const {
  return groove::add({self(), site}, other, alpha);
}
Tensor& MathMethods::add_(const Tensor& other, Scalar alpha, Site site) const {
  if (is_one(alpha)) return call_inplace(op, writable(self()), {other}, site);
  const CallFrame frame(site);
  checked("add_", self());
  checked("add_", other);
  check_alpha("add_", alpha, result_type({self(), site}, other));
  return call_inplace(op_scaled, writable(self()), {other}, site, {}, alpha);
}
Tensor& MathMethods::add_(Scalar other, Scalar alpha, Site site) const {
  const CallFrame frame(site);
  const Scalar number = is_one(alpha) ? other : product("add_", {self(), site}, other, alpha);
  return call_inplace(op_scalar, writable(self()), {}, site, {}, number);
}

}  // namespace groove
