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
    .attributes = {{"sizes", AttrType::kInts},
                   {"dtype", AttrType::kDtype},
                   {"bits", AttrType::kInt}},
    .type =
        [](const Signature& signature) {
          const AttrReader attr = signature.attr();
          return TypeResult{{Type{attr.dtype(1), Shape(attr.integers(0))}}, attr.dtype(1)};
        },
    .lowering = kernels::lower(kernels::ElementwiseLowering{
        .body =
            [](kernels::Body& body) {
              const AttrReader attr = body.attr();
              const ScalarType dtype = attr.dtype(1);
              const std::size_t unused = 64 - 8 * element_size(dtype);
              const auto bits = static_cast<std::uint64_t>(attr.integer(2)) << unused >> unused;
              return kernels::Exprs{body.builder.constant_bits(dtype, bits)};
            }}),
    .has_inplace = false,
});

}  // namespace

const Op& constant_op() { return op; }

}  // namespace groove
