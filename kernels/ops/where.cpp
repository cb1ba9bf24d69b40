// where: condition ? self : other, with tensors or numbers on either side.
#include "groove/ops/creation.h"
#include "kernels/ops/complex_rules.h"
#include "kernels/ops/reference.h"
#include "kernels/ops/rules.h"
#include "src/core/held_numbers.h"
#include "src/core/promotion.h"

namespace groove {
namespace {

TypeResult where_type(const Signature& s) {
  check_defined(s);
  GROOVE_CHECK(s.inputs[0].dtype == kBool,
               "where: the condition is {}, not Bool; compare it with something or use to(kBool)",
               name(s.inputs[0].dtype));
  const ScalarType dtype = result_type(s.inputs.slice(1, s.inputs.size() - 1), s.numbers);
  return {{{dtype, broadcast_shapes("where", s.inputs)}}, dtype};
}

std::vector<Sample> samples(ScalarType dtype) {
  std::vector<Sample> result = binary_samples(dtype);
  for (Sample& sample : result)
    sample.inputs.insert(sample.inputs.begin(), Type{kBool, sample.inputs[0].sizes});
  return result;
}

const Op& op = define({
    .name = "where",
    .inputs = 3,
    .type = where_type,
    .lowering = kernels::lower(kernels::ElementwiseLowering{
        .body =
            [](kernels::Body& b) {
              return kernels::Exprs{select(b.inputs[0], b.inputs[1], b.inputs[2])};
            },
        .raw_inputs = 1}),
    .gradient =
        [](const Grad& g) {
          const Tensor& condition = g.input(0);
          Tensors result(3);
          if (g.needs[1])
            result[1] = reduced_to(where(condition, g.cotangent(), 0), g.input_types[1]);
          if (g.needs[2])
            result[2] = reduced_to(masked_fill(g.cotangent(), condition, 0), g.input_types[2]);
          return result;
        },
    .saves_inputs = 1,
    .complex =
        [](const Call& c) {
          const ScalarType part = complex_rules::part_dtype(c);
          return complex_rules::over(where(c.inputs[0].unsqueeze(-1),
                                           complex_rules::pair_as(c.inputs[1], part),
                                           complex_rules::pair_as(c.inputs[2], part)));
        },
    .range =
        [](const Signature& s, ArrayRef<ValueRange> inputs, int) {
          const ScalarType dtype = s.op.type(s).outputs[0].dtype;
          return joined(in_dtype(inputs[1], dtype), in_dtype(inputs[2], dtype));
        },
    .has_inplace = false,
    .reference = elementwise_reference(
        [](const std::vector<double>& x, const Signature&) { return x[0] != 0 ? x[1] : x[2]; }),
    .dtypes = all_dtypes(),
    .samples = samples,
    .tolerance_ulp = 0,
});

// The number is `other`.
const Op& op_scalar = define({
    .name = "where_scalar",
    .inputs = 2,
    .number_names = {"other"},
    .type = where_type,
    .lowering = kernels::lower(kernels::ElementwiseLowering{
        .body =
            [](kernels::Body& b) {
              return kernels::Exprs{select(b.inputs[0], b.inputs[1], b.numbers[0])};
            },
        .raw_inputs = 1}),
    .gradient =
        [](const Grad& g) {
          return Tensors{Tensor(),
                         reduced_to(where(g.input(0), g.cotangent(), 0), g.input_types[1])};
        },
    .saves_inputs = 1,
    .complex =
        [](const Call& c) {
          const auto z = complex_rules::parts_of(c.inputs[1]);
          return complex_rules::joined(where(c.inputs[0], z.re, c.numbers[0]),
                                       where(c.inputs[0], z.im, 0));
        },
    .range =
        [](const Signature& s, ArrayRef<ValueRange> inputs, int) {
          const ScalarType dtype = s.op.type(s).outputs[0].dtype;
          return joined(in_dtype(inputs[1], dtype), range_of(s.numbers[0], dtype));
        },
    .has_inplace = false,
    .reference = elementwise_reference([](const std::vector<double>& x, const Signature& s) {
      return x[0] != 0 ? x[1] : s.numbers[0].to_double();
    }),
    .dtypes = all_dtypes(),
    .samples =
        [](ScalarType dtype) {
          std::vector<Sample> result = binary_samples(dtype);
          for (Sample& sample : result) {
            sample.inputs[0].dtype = kBool;
            sample.numbers = {Scalar(3)};
          }
          return result;
        },
    .tolerance_ulp = 0,
});

}  // namespace

Tensor where(Arg condition, const Tensor& self, const Tensor& other) {
  return call(op, {*condition.tensor, self, other}, condition.site);
}
Tensor where(Arg condition, const Tensor& self, Scalar other) {
  const CallFrame frame(condition.site);
  checked("where", self);
  check_element("where", other,
                result_type(ArrayRef<Type>(type_of(self)), ArrayRef<Scalar>(other)));
  return call(op_scalar, {*condition.tensor, self}, condition.site, {}, other);
}
Tensor where(Arg condition, Scalar self, const Tensor& other) {
  const CallFrame frame(condition.site);
  const Tensor number = full({}, self, result_type(type_of(other), self), condition.site);
  return where(condition, number, other);
}
Tensor where(Arg condition, Scalar self, Scalar other) {
  const CallFrame frame(condition.site);
  const Scalar both[] = {self, other};
  const TensorOptions options = result_type(ArrayRef<Type>(), both);
  return where(condition, full({}, self, options, condition.site), other);
}
Tensor MathMethods::where(const Tensor& condition, const Tensor& other, Site site) const {
  return groove::where({condition, site}, self(), other);
}
Tensor MathMethods::where(const Tensor& condition, Scalar other, Site site) const {
  return groove::where({condition, site}, self(), other);
}

}  // namespace groove
