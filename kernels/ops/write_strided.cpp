// A write through a view, made functional: the base with a strided region of its contiguous memory
// replaced by the value. The memory planner turns it back into a write in place.
#include "kernels/lowering.h"
#include "kernels/ops/structural.h"
#include "src/core/check.h"

namespace groove {
namespace {

TypeResult type_of(const Signature& signature) {
  const Type& base = signature.inputs[0];
  const Type& value = signature.inputs[1];
  const AttrReader attr = signature.attr();
  const IntArrayRef sizes = attr.integers(0), strides = attr.integers(1);
  GROOVE_CHECK(base.dtype == value.dtype, "write_strided: the value is {}, the base {}",
               name(value.dtype), name(base.dtype));
  GROOVE_CHECK(IntArrayRef(value.sizes) == sizes && strides.size() == sizes.size(),
               "write_strided: the value has shape {}, the region {}", to_string(value.sizes),
               to_string(sizes));
  std::int64_t first = attr.integer(2), last = first;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    (strides[i] < 0 ? first : last) += (sizes[i] - 1) * strides[i];
  }
  const bool is_inside = first >= 0 && last < element_count(base.sizes);
  GROOVE_CHECK(is_inside || element_count(sizes) == 0,
               "write_strided: elements {} to {} lie outside a base of {}", first, last,
               element_count(base.sizes));
  return {{base}, base.dtype};
}

const Op& op = define({
    .name = "write_strided",
    .kind = OpKind::kIndexMap,
    .inputs = 2,
    .attributes = {{"sizes", AttrType::kInts},
                   {"strides", AttrType::kInts},
                   {"offset", AttrType::kInt}},
    .type = type_of,
    .lowering = kernels::lower(kernels::OverwriteLowering{}),
    .has_inplace = false,
});

}  // namespace

const Op& write_strided_op() { return op; }

}  // namespace groove
