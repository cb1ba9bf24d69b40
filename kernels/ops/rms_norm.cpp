// rms_norm: rows, which are the last axes, over the root of their mean square.
#include <limits>

#include "kernels/ops/rules.h"

namespace groove {
namespace {

double epsilon_of(ScalarType dtype) {
  switch (dtype) {
    case kDouble:
      return std::numeric_limits<double>::epsilon();
    case kHalf:
      return 0x1p-10;
    case kBFloat16:
      return 0x1p-7;
    default:
      return std::numeric_limits<float>::epsilon();
  }
}

}  // namespace

Tensor rms_norm(Arg input, IntArrayRef normalized_shape, const Tensor& weight,
                std::optional<double> eps) {
  const SiteScope scope(input.site);
  const Type type{checked("rms_norm", *input.tensor).dtype,
                  checked("rms_norm", *input.tensor).geometry.sizes};
  const std::size_t axes = normalized_shape.size(), rank = type.sizes.size();
  GROOVE_CHECK(
      axes > 0 && axes <= rank && IntArrayRef(type.sizes).slice(rank - axes) == normalized_shape,
      "rms_norm: the input's shape {} does not end in normalized_shape {}", to_string(type.sizes),
      to_string(normalized_shape));
  GROOVE_CHECK(!weight.defined() || weight.sizes() == normalized_shape,
               "rms_norm: weight {} does not have normalized_shape {}", to_string(weight.sizes()),
               to_string(normalized_shape));
  Shape dims;
  for (std::size_t axis = rank - axes; axis < rank; ++axis)
    dims.push_back(static_cast<std::int64_t>(axis));
  // 16-bit floats are squared in f32.
  const ScalarType wide = type.dtype == kDouble ? kDouble : kFloat;
  const Tensor x = input.tensor->to(wide);
  const Tensor result =
      (x * rsqrt(mean(square(x), dims, true) + eps.value_or(epsilon_of(type.dtype))))
          .to(type.dtype);
  return weight.defined() ? result * weight : result;
}

}  // namespace groove
