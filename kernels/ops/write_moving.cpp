// A write through a view that moves, made functional: as write_strided, of a region whose place
// depends on run-time numbers. Number k moves it by steps[k] * start, a negative start counting
// from extents[k].
#include "kernels/lowering.h"
#include "kernels/ops/structural.h"
#include "src/core/check.h"

namespace groove {
namespace {

TypeResult type_of(const Signature& signature) {
  const Type& base = signature.inputs[0];
  const Type& value = signature.inputs[1];
  const AttrReader attr = signature.attr();
  GROOVE_CHECK(base.dtype == value.dtype, "write_moving: the value is {}, the base {}",
               name(value.dtype), name(base.dtype));
  GROOVE_CHECK(IntArrayRef(value.sizes) == attr.integers(0),
               "write_moving: the value has shape {}, the region {}", to_string(value.sizes),
               to_string(attr.integers(0)));
  GROOVE_CHECK(attr.integers(3).size() == signature.numbers.size() &&
                   attr.integers(4).size() == signature.numbers.size(),
               "write_moving: {} numbers, but {} steps and {} extents", signature.numbers.size(),
               attr.integers(3).size(), attr.integers(4).size());
  return {{base}, base.dtype};
}

const Op& op = define({
    .name = "write_moving",
    .kind = OpKind::kIndexMap,
    .inputs = 2,
    .attributes = {{"sizes", AttrType::kInts},
                   {"strides", AttrType::kInts},
                   {"offset", AttrType::kInt},
                   {"steps", AttrType::kInts},
                   {"extents", AttrType::kInts}},
    .type = type_of,
    .lowering = kernels::lower(kernels::OverwriteLowering{}),
    .has_inplace = false,
});

}  // namespace

const Op& write_moving_op() { return op; }

}  // namespace groove
