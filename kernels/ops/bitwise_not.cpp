// bitwise_not: every bit the other way; of bool, not. Here also lies what the others share.
#include "kernels/ops/bitwise.h"
#include "kernels/ops/reference.h"

namespace groove {
namespace {

const Op& op = define({
    .name = "bitwise_not",
    .type = bitwise_result,
    .lowering = kernels::unary([](kernels::Expr x) { return ~x; }),
    .reference = elementwise_reference([](const std::vector<double>& x, const Signature& s) {
      const ScalarType dtype = s.inputs[0].dtype;
      return dtype == kBool ? static_cast<double>(x[0] == 0) : wrapped(dtype, -1 - x[0]);
    }),
    .dtypes = bit_dtypes(),
    .samples = unary_samples,
    .tolerance_ulp = 0,
});

}  // namespace

std::vector<ScalarType> bit_dtypes() {
  std::vector<ScalarType> dtypes;
  for (const ScalarType dtype : all_dtypes()) {
    if (!is_floating(dtype)) dtypes.push_back(dtype);
  }
  return dtypes;
}

TypeResult bitwise_result(const Signature& s) {
  TypeResult result = promoted(s);
  GROOVE_CHECK_AS(NotImplementedError, !is_floating(result.outputs[0].dtype),
                  "{}: not defined for {} tensors, only for integers and Bool", s.op.name,
                  name(result.outputs[0].dtype));
  return result;
}

BitwiseOps define_bitwise(const char* name, const char* scalar_name,
                          kernels::Expr (*body)(kernels::Expr, kernels::Expr),
                          ScalarFunction2 reference) {
  return {define(BinarySpec{
              .name = name,
              .body = body,
              .reference = reference,
              .type = bitwise_result,
              .dtypes = bit_dtypes(),
              .tolerance_ulp = 0,
          }),
          define(ScalarSpec{
              .name = scalar_name,
              .body = body,
              .reference = reference,
              .type = bitwise_result,
              .numbers = {5, -2},
              .dtypes = bit_dtypes(),
              .tolerance_ulp = 0,
          })};
}

Tensor bitwise_not(Arg self) { return call(op, self); }
Tensor operator~(Arg a) { return call(op, a); }
Tensor MathMethods::bitwise_not(Site site) const { return call(op, {self(), site}); }
Tensor& InPlaceMethods::bitwise_not_(Site site) const {
  return call_inplace(op, writable(self()), {}, site);
}

}  // namespace groove
