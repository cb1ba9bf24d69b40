// The identity, in memory of its own: what the compiler inserts where memory must lie otherwise
// than it does. `order` lists the axes from the outermost to the innermost in memory (empty:
// row-major); it says nothing about values.
#include "kernels/ops/structural.h"

#include "kernels/lowering.h"
#include "kernels/ops/complex_rules.h"

namespace groove {
namespace {

const Op& op = define({
    .name = "materialize",
    .kind = OpKind::kElementwise,
    .attributes = {{"order", AttrType::kInts}},
    .type =
        [](const Signature& signature) {
          return TypeResult{{signature.inputs[0]}, signature.inputs[0].dtype};
        },
    .lowering = kernels::lower(kernels::ElementwiseLowering{
        .body = [](kernels::Body& body) { return kernels::Exprs{body.inputs[0]}; }}),
    .complex = complex_rules::on_pairs,
    .has_inplace = false,
});

}  // namespace

const Op& materialize_op() { return op; }

}  // namespace groove
