// A number as a graph value: what constant folding leaves behind. The attributes hold the bits, so
// that a NaN's payload and the sign of zero survive.
#include "kernels/lowering.h"
#include "kernels/ops/structural.h"

namespace groove {
namespace {

const Op& op = define({
    .name = "constant",
    .kind = OpKind::kElementwise,
    .inputs = 0,
    .attributes = {{"sizes", AttrType::kInts}, {"dtype", AttrType::kDtype}, {"bits", AttrType::kInt}},
    .type =
        [](const Signature& signature) {
          const AttrReader attr = signature.attr();
          return TypeResult{{Type{attr.dtype(1), Shape(attr.integers(0))}}, attr.dtype(1)};
        },
    .lowering = kernels::lower(kernels::ElementwiseLowering{
        .body =
            [](kernels::Body& body) {
              const AttrReader attr = body.attr();
              return kernels::Exprs{body.builder.constant_bits(
                  attr.dtype(1), static_cast<std::uint64_t>(attr.integer(2)))};
            }}),
    .has_inplace = false,
});

}  // namespace

const Op& constant_op() { return op; }

}  // namespace groove
