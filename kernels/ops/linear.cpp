// linear: rows times a transposed weight, plus a bias that is added after the sum.
#include "groove/ops/contractions.h"
#include "groove/ops/views.h"
#include "kernels/ops/complex_rules.h"
#include "kernels/ops/reference.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

TypeResult linear_type(const Signature& s) {
  const Type &x = s.inputs[0], &weight = s.inputs[1], &bias = s.inputs[2];
  GROOVE_CHECK(x.sizes.size() == 2 && weight.sizes.size() == 2 && x.sizes[1] == weight.sizes[1],
               "linear: input {} does not fit weight {}: the input's last size must be the "
               "weight's second",
               to_string(x.sizes), to_string(weight.sizes));
  GROOVE_CHECK(x.dtype != kBool && x.dtype == weight.dtype,
               "linear: input is {}, weight is {}; they must be one numeric dtype", name(x.dtype),
               name(weight.dtype));
  if (bias.dtype != ScalarType::Undefined) {
    GROOVE_CHECK(
        bias.sizes.size() == 1 && bias.sizes[0] == weight.sizes[0] && bias.dtype == x.dtype,
        "linear: bias {} of {} does not fit weight {} of {}", to_string(bias.sizes),
        name(bias.dtype), to_string(weight.sizes), name(weight.dtype));
  }
  return {{{x.dtype, {x.sizes[0], weight.sizes[0]}}}, x.dtype};
}

const Op& op = define({
    .name = "linear",
    .kind = OpKind::kContraction,
    .inputs = 3,
    .type = linear_type,
    .lowering = kernels::lower(kernels::ContractionLowering{.transpose_b = true, .has_bias = true}),
    .gradient =
        [](const Grad& g) {
          Tensors result(3);
          if (g.needs[0]) result[0] = mm(g.cotangent(), g.input(1));
          if (g.needs[1]) result[1] = mm(t(g.cotangent()), g.input(0));
          if (g.needs[2]) result[2] = sum(g.cotangent(), 0);
          return result;
        },
    .saves_inputs = 3,
    .complex =
        [](const Call& c) {
          const Tensor product = mm(c.inputs[0], t(c.inputs[1]));
          return c.inputs[2].defined() ? add(product, c.inputs[2]) : product;
        },
    .autocast = Precision::kShort,
    .has_inplace = false,
    .reference =
        [](const Signature& s, const std::vector<Reference>& inputs) {
          const std::int64_t k = inputs[0].type.sizes[1];
          return std::vector<Reference>{
              make_reference(s.op.type(s).outputs[0], [&](const Shape& index) {
                double total = 0;
                for (std::int64_t i = 0; i < k; ++i)
                  total += inputs[0].values[static_cast<std::size_t>(index[0] * k + i)] *
                           inputs[1].values[static_cast<std::size_t>(index[1] * k + i)];
                if (inputs[2].type.dtype == ScalarType::Undefined) return total;
                return total + inputs[2].values[static_cast<std::size_t>(index[1])];
              })};
        },
    .domain = {-1, 1},
    .dtypes = numeric_dtypes(),
    .samples =
        [](ScalarType dtype) {
          const auto sample = [dtype](std::int64_t rows, std::int64_t k, std::int64_t n,
                                      bool biased) {
            const Type bias = biased ? Type{dtype, {n}} : Type{ScalarType::Undefined, {}};
            return Sample{{{dtype, {rows, k}}, {dtype, {n, k}}, bias}, {}, {}};
          };
          return std::vector<Sample>{sample(3, 4, 5, true), sample(3, 4, 5, false),
                                     sample(1, 9, 1, true), sample(20, 300, 17, true),
                                     sample(0, 4, 5, true), sample(4, 0, 3, true)};
        },
    .tolerance_ulp = 2000,  // of sums that may cancel
});

}  // namespace

Tensor linear(Arg input, const Tensor& weight, const Tensor& bias) {
  const CallFrame frame(input.site);
  const Shape sizes = checked("linear", *input.tensor).geometry.sizes;
  checked("linear", weight);
  if (sizes.size() == 2) return call(op, {*input.tensor, weight, bias}, input.site);
  GROOVE_CHECK(!sizes.empty(), "linear: a 0-d input; its last size must be the weight's second");
  Shape result = sizes;
  std::int64_t count = 1;
  for (std::size_t i = 0; i + 1 < sizes.size(); ++i) count *= sizes[i];
  const Tensor rows = reshape(input, {count, sizes.back()});
  result.back() = type_of(weight).sizes.empty() ? 0 : type_of(weight).sizes[0];
  return reshape({call(op, {rows, weight, bias}, input.site), input.site}, result);
}

}  // namespace groove
