// full: a new tensor whose elements are one number; zeros, ones, empty and the *_like forms. An
// empty tensor is zeros too: undefined content would differ between eager and compiled runs.
#include "groove/ops/complex.h"
#include "groove/ops/creation.h"
#include "kernels/ops/reference.h"
#include "kernels/ops/rules.h"
#include "src/core/held_numbers.h"

namespace groove {
namespace {

const Op& op = define({
    .name = "full",
    .inputs = 0,
    .attributes = {{"sizes", AttrType::kInts}, {"dtype", AttrType::kDtype}},
    .number_names = {"value"},
    .type = [](const Signature& s) -> TypeResult {
      check_sizes("full", s.attr().integers(0));
      return {{{s.attr().dtype(1), s.attr().integers(0)}}, s.attr().dtype(1)};
    },
    .lowering = kernels::lower(kernels::ElementwiseLowering{
        .body = [](kernels::Body& b) { return kernels::Exprs{b.numbers[0]}; }}),
    .range = [](const Signature& s, ArrayRef<ValueRange>,
                int) { return range_of(s.numbers[0], s.attr().dtype(1)); },
    .has_inplace = false,
    .reference = elementwise_reference(
        [](const std::vector<double>&, const Signature& s) { return s.numbers[0].to_double(); }),
    .dtypes = all_dtypes(),
    .samples =
        [](ScalarType dtype) {
          std::vector<Sample> samples;
          for (const Sample& shape : unary_samples(dtype))
            samples.push_back(
                {{}, Attrs().add(IntArrayRef(shape.inputs[0].sizes)).add(dtype), {Scalar(1)}});
          return samples;
        },
    .tolerance_ulp = 0,
});

Tensor filled(IntArrayRef size, Scalar value, ScalarType dtype, const TensorOptions& options,
              Site site) {
  detail::check_place("full", options);
  check_held("full", value, dtype);
  if (is_complex(dtype))
    return detail::complex_tensor(size, value.to_double(), dtype, options.dtype(dtype), site);
  Tensor result = call(op, {}, site, Attrs().add(size).add(dtype), value);
  if (options.requires_grad()) result.requires_grad_(true, site);
  return result;
}

ScalarType dtype_of_number(Scalar value) {
  return value.isFloatingPoint() ? get_default_dtype() : value.type();
}

Tensor filled_like(Arg self, Scalar value, const TensorOptions& options) {
  const Type type = {checked("full_like", *self.tensor).dtype, type_of(*self.tensor).sizes};
  return filled(type.sizes, value, options.dtype_opt().value_or(type.dtype), options, self.site);
}

}  // namespace

Tensor full(IntArrayRef size, Scalar value, TensorOptions options, Site site) {
  const CallFrame frame(site);
  return filled(size, value, options.dtype_opt().value_or(dtype_of_number(value)), options, site);
}
Tensor empty(IntArrayRef size, TensorOptions options, Site site) {
  const CallFrame frame(site);
  return filled(size, 0, options.dtype(), options, site);
}
Tensor zeros(IntArrayRef size, TensorOptions options, Site site) {
  const CallFrame frame(site);
  return filled(size, 0, options.dtype(), options, site);
}
Tensor ones(IntArrayRef size, TensorOptions options, Site site) {
  const CallFrame frame(site);
  return filled(size, 1, options.dtype(), options, site);
}
Tensor full_like(Arg self, Scalar value, TensorOptions options) {
  const CallFrame frame(self.site);
  return filled_like(self, value, options);
}
Tensor empty_like(Arg self, TensorOptions options) {
  const CallFrame frame(self.site);
  return filled_like(self, 0, options);
}
Tensor zeros_like(Arg self, TensorOptions options) {
  const CallFrame frame(self.site);
  return filled_like(self, 0, options);
}
Tensor ones_like(Arg self, TensorOptions options) {
  const CallFrame frame(self.site);
  return filled_like(self, 1, options);
}

}  // namespace groove
