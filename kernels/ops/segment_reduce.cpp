// segment_reduce: slices that follow each other brought together by scatter_reduce, from the number
// that each segment begins with.
#include <limits>

#include "groove/ops/index.h"
#include "groove/ops/parts.h"
#include "groove/ops/statistics.h"
#include "kernels/ops/spelled.h"

namespace groove {

Tensor segment_reduce(Arg data, std::string_view reduce, const std::optional<Tensor>& lengths,
                      const std::optional<Tensor>& indices, const std::optional<Tensor>& offsets,
                      std::int64_t axis, bool unsafe, const std::optional<Scalar>& initial) {
  const SiteScope scope(data.site);
  const Tensor& x = *data.tensor;
  const Type type{checked("segment_reduce", x).dtype, type_of(x).sizes};
  GROOVE_CHECK(is_floating(type.dtype), "segment_reduce: not defined for {} tensors",
               name(type.dtype));
  GROOVE_CHECK(!indices, "segment_reduce: not built with indices; give lengths or offsets");
  GROOVE_CHECK(lengths || offsets, "segment_reduce: give lengths or offsets");
  GROOVE_CHECK(!type.sizes.empty(), "segment_reduce: a 0-d tensor has no slices");
  const Tensor& given = lengths ? *lengths : *offsets;
  GROOVE_CHECK(is_integral(checked("segment_reduce", given).dtype) &&
                   type_of(given).sizes.size() == 1 && normal_dim("segment_reduce", axis, 1) == 0,
               "segment_reduce: built along axis 0, with 1-d lengths or offsets of integers; they "
               "are {} {} along axis {}",
               name(type_of(given).dtype), to_string(type_of(given).sizes), axis);
  const Tensor counts = lengths ? given : diff(given);
  const std::int64_t segments = counts.size(0);
  if (!unsafe) {
    GROOVE_CHECK(segments == 0 || min(counts).item<std::int64_t>() >= 0,
                 "segment_reduce: lengths contains negative value");
    GROOVE_CHECK(sum(counts).item<std::int64_t>() == type.sizes[0],
                 "segment_reduce: the lengths must add up to the size {} of axis 0", type.sizes[0]);
  }
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const bool is_mean = reduce == "mean", is_product = reduce == "prod";
  const bool is_max = reduce == "max", is_min = reduce == "min";
  GROOVE_CHECK(is_mean || is_product || is_max || is_min || reduce == "sum",
               "segment_reduce: reduce is {}; it must be sum, mean, max, min or prod", reduce);
  const double neutral = is_max ? -kInfinity : is_min ? kInfinity : is_product ? 1.0 : 0.0;
  Shape sizes = type.sizes, along(type.sizes.size(), 1);
  sizes[0] = segments;
  along[0] = -1;
  const Tensor start = full(sizes, initial.value_or(neutral), type.dtype);
  const Tensor segment_of = repeat_interleave(counts.to(kLong));
  const Tensor index = expand(reshape(segment_of, along), type.sizes);
  if (is_max || is_min) return scatter_reduce(start, 0, index, x, is_max ? "amax" : "amin", true);
  if (is_product) return scatter_reduce(start, 0, index, x, "prod", true);
  const Tensor total = scatter_add(start, 0, index, x);
  if (!is_mean) return total;
  const Tensor count = reshape(counts, along), is_empty = eq(count, 0);
  const Tensor mean = total / masked_fill(count, is_empty, 1).to(type.dtype);
  return initial ? mean : masked_fill(mean, is_empty, std::numeric_limits<double>::quiet_NaN());
}

}  // namespace groove
