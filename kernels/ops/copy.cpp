// copy: the values of another tensor, broadcast and converted to self's dtype; used in place.
#include "groove/ops/creation.h"
#include "kernels/ops/complex_rules.h"
#include "kernels/ops/reference.h"
#include "kernels/ops/rules.h"
#include "src/core/promotion.h"

namespace groove {
namespace {

const Op& op = define({
    .name = "copy",
    .inputs = 2,
    .type = [](const Signature& s) -> TypeResult {
      check_defined(s);
      const Shape sizes = broadcast_shapes("copy_", s.inputs[0].sizes, s.inputs[1].sizes);
      GROOVE_CHECK(sizes == s.inputs[0].sizes, "copy_: shape {} does not broadcast to {}",
                   to_string(s.inputs[1].sizes), to_string(s.inputs[0].sizes));
      return {{s.inputs[0]}, s.inputs[1].dtype};
    },
    .lowering = kernels::lower(kernels::ElementwiseLowering{
        .body = [](kernels::Body& b) { return kernels::Exprs{b.inputs[1]}; }, .raw_inputs = 1}),
    .gradient =
        [](const Grad& g) {
          Tensors result(2);
          if (g.needs[0]) result[0] = zeros_like(g.cotangent());
          if (g.needs[1]) result[1] = reduced_to(g.cotangent(), g.input_types[1]);
          return result;
        },
    .complex =
        [](const Call& c) {
          const Tensor& source = c.inputs[1];
          const ScalarType dtype = c.inputs[0].scalar_type();
          return (is_complex(dtype) ? source : source.to(dtype)).expand(c.inputs[0].sizes());
        },
    .range = [](const Signature& s, ArrayRef<ValueRange> inputs,
                int) { return converted_range(s.inputs[1].dtype, inputs[1], s.inputs[0].dtype); },
    .reference =
        elementwise_reference([](const std::vector<double>& x, const Signature&) { return x[1]; }),
    .dtypes = all_dtypes(),
    .samples =
        [](ScalarType dtype) {
          return std::vector<Sample>{{{{dtype, {3, 4}}, {dtype, {3, 4}}}, {}, {}},
                                     {{{dtype, {3, 4}}, {dtype, {4}}}, {}, {}},
                                     {{{dtype, {3, 4}}, {dtype, {}}}, {}, {}},
                                     {{{dtype, {}}, {dtype, {}}}, {}, {}},
                                     {{{dtype, {0, 2}}, {dtype, {2}}}, {}, {}}};
        },
    .tolerance_ulp = 0,
});

}  // namespace

Tensor& MathMethods::copy_(const Tensor& source, bool, Site site) const {
  return call_inplace(op, writable(self()), {source}, site);
}

}  // namespace groove
