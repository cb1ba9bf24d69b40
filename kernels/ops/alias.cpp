// alias: another tensor over the same elements, which indices give that take all of them.
#include "kernels/ops/complex_rules.h"
#include "kernels/ops/rules.h"
#include "kernels/tensor/index_tensors.h"

namespace groove {
namespace {

const Op& op = define({
    .name = "alias",
    .kind = OpKind::kView,
    .type =
        [](const Signature& s) {
          return TypeResult{{s.inputs[0]}, s.inputs[0].dtype};
        },
    .view = [](const Geometry& input, const Signature&) { return input; },
    .gradient = [](const Grad& g) { return Tensors{g.cotangent()}; },
    .complex = complex_rules::on_pairs,
    .has_inplace = false,
    .reference = [](const Signature&, const std::vector<Reference>& inputs) { return inputs; },
    .dtypes = all_dtypes(),
    .samples =
        [](ScalarType dtype) {
          return std::vector<Sample>{{{{dtype, {2, 3}}}, {}, {}}, {{{dtype, {}}}, {}, {}}};
        },
    .tolerance_ulp = 0,
});

}  // namespace

Tensor alias(const Tensor& self, Site site) { return call(op, {self}, site); }

}  // namespace groove
