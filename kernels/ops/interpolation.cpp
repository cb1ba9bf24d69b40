// Interpolation, one axis after the other: every element of the result is a sum of a few slices of
// the input (its taps) times weights. Positions and weights are tensors that the operators compute,
// so they are constants to a compiled loop.
#include "groove/ops/interpolation.h"

#include "groove/ops/convolutions.h"
#include "groove/ops/creation.h"
#include "groove/ops/index.h"
#include "groove/ops/pooling.h"
#include "groove/ops/views.h"
#include "kernels/ops/rules.h"
#include "src/core/call_frame.h"

namespace groove {
namespace {

struct Axis {
  std::int64_t in, out;
  std::optional<double> scale;
  ScalarType dtype;  // of positions and weights
};

struct Tap {
  Tensor index;   // [out], i64
  Tensor weight;  // [out]; undefined for 1
};
using Taps = std::vector<Tap>;

Tensor positions(const Axis& axis) { return arange(axis.out, axis.dtype); }

double ratio(const Axis& axis) {
  if (axis.scale && *axis.scale > 0) return 1 / *axis.scale;
  return static_cast<double>(axis.in) / static_cast<double>(axis.out);
}

// Centres of the result's elements in units of the input's, the first centre being 0.
Tensor centres(const Axis& axis, bool align_corners) {
  if (!align_corners) return (positions(axis) + 0.5) * ratio(axis) - 0.5;
  const double step =
      axis.out > 1 ? static_cast<double>(axis.in - 1) / static_cast<double>(axis.out - 1) : 0;
  return positions(axis) * step;
}

Tensor whole(const Tensor& position, const Axis& axis) {
  return clamp(position, 0, axis.in - 1).to(kLong);
}

Taps nearest(const Axis& axis, bool is_exact) {
  const Tensor at = is_exact ? positions(axis) + 0.5 : positions(axis);
  return {{whole(floor(at * ratio(axis)), axis), Tensor()}};
}

Taps linear_taps(const Axis& axis, bool align_corners) {
  const Tensor at = clamp_min(centres(axis, align_corners), 0);
  const Tensor first = clamp_max(floor(at), axis.in - 1);
  const Tensor share = clamp(at - first, 0, 1);
  return {{whole(first, axis), 1 - share}, {whole(first + 1, axis), share}};
}

// The cubic convolution kernel at a distance of at most 1, and of 1 to 2.
Tensor near_weight(const Tensor& x) { return ((x * 1.25 - 2.25) * x) * x + 1; }
Tensor far_weight(const Tensor& x) { return ((x * -0.75 + 3.75) * x - 6) * x + 3; }

Taps cubic_taps(const Axis& axis, bool align_corners) {
  const Tensor at = centres(axis, align_corners);
  const Tensor first = floor(at), share = at - first;
  return {{whole(first - 1, axis), far_weight(share + 1)},
          {whole(first, axis), near_weight(share)},
          {whole(first + 1, axis), near_weight(1 - share)},
          {whole(first + 2, axis), far_weight(2 - share)}};
}

Tensor sampled(const Tensor& input, std::int64_t dim, const Taps& taps) {
  Tensor result;
  for (const Tap& tap : taps) {
    Tensor part = index_select(input, dim, tap.index);
    if (tap.weight.defined()) {
      Shape along(static_cast<std::size_t>(input.dim() - dim), 1);
      along[0] = tap.weight.numel();
      part = part * tap.weight.view(along);
    }
    result = result.defined() ? result + part : part;
  }
  return result;
}

Taps taps_of(const Axis& axis, Interpolation how, bool align_corners) {
  switch (how) {
    case Interpolation::kNearest:
    case Interpolation::kNearestExact:
      return nearest(axis, how == Interpolation::kNearestExact);
    case Interpolation::kCubic:
      return cubic_taps(axis, align_corners);
    default:
      return linear_taps(axis, align_corners);
  }
}

Tensor area(const Tensor& input, IntArrayRef sizes) {
  GROOVE_CHECK(sizes.size() <= 3,
               "interpolate: mode area is there for up to three axes, not for {}", sizes.size());
  if (sizes.size() == 1) return adaptive_avg_pool1d(input, sizes);
  return sizes.size() == 2 ? adaptive_avg_pool2d(input, sizes) : adaptive_avg_pool3d(input, sizes);
}

}  // namespace

Tensor interpolate(Arg input, IntArrayRef sizes, Interpolation how, bool align_corners,
                   ArrayRef<std::optional<double>> scales) {
  const SiteScope scope(input.site);
  const Shape own = checked("interpolate", *input.tensor).geometry.sizes;
  GROOVE_CHECK(own.size() == sizes.size() + 2 && !sizes.empty(),
               "interpolate: input of shape {} has {} axes behind [N, C], but {} sizes are given",
               to_string(own), static_cast<std::int64_t>(own.size()) - 2, sizes.size());
  for (std::size_t i = 0; i < sizes.size(); ++i)
    GROOVE_CHECK(own[i + 2] > 0 && sizes[i] > 0,
                 "interpolate: sizes must be positive: input {}, output {}", to_string(own),
                 to_string(sizes));
  const ScalarType dtype = input.tensor->scalar_type();
  const bool is_nearest = how == Interpolation::kNearest || how == Interpolation::kNearestExact;
  GROOVE_CHECK(is_nearest || is_floating(dtype),
               "interpolate: dtype {} has no values between; convert it to a floating one, or take "
               "the nearest",
               name(dtype));
  if (how == Interpolation::kArea) return area(*input.tensor, sizes);
  Tensor result = *input.tensor;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const Axis axis{own[i + 2], sizes[i], i < scales.size() ? scales[i] : std::nullopt,
                    dtype == kDouble ? kDouble : kFloat};
    if (axis.in == axis.out && (align_corners || !axis.scale)) continue;  // every position its own
    result = sampled(result, static_cast<std::int64_t>(i) + 2, taps_of(axis, how, align_corners));
  }
  if (result.is_same(*input.tensor)) return clone(input);
  return result.to(dtype);
}

}  // namespace groove
