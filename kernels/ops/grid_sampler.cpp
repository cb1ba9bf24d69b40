// grid_sampler: an image read at positions that a tensor holds. Each element of the result is a sum
// of a few gathered elements (corners of the cell that holds the position) times weights; both
// gradients come from these operators.
#include "groove/ops/index.h"
#include "groove/ops/sampling.h"
#include "groove/ops/views.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

enum Mode : std::int64_t { kLinearly, kNearestOnly, kCubically };
enum Outside : std::int64_t { kAsZeros, kAtBorder, kMirrored };

struct Sampling {
  std::int64_t mode, outside;
  bool align_corners;
};

// A few neighbours along one axis: where they lie (floating, [N, P]) and what they weigh.
struct Tap {
  Tensor at, weight;  // weight undefined: 1
};

// [-1, 1] to positions in an axis.
Tensor position(const Tensor& x, std::int64_t size, const Sampling& how) {
  const auto whole = static_cast<double>(size);
  if (how.align_corners) return (x + 1) / 2 * (whole - 1);
  return ((x + 1) * whole - 1) / 2;
}

// Kept between the outer centres; what is moved gets no gradient, nor do the ends themselves.
Tensor clipped(const Tensor& at, std::int64_t size) {
  const auto last = static_cast<double>(size - 1);
  return where(logical_and(at > 0, at < last), at, clamp(at.detach(), 0, last));
}

// Mirrored at the outer edges, or at the outer centres where corners are aligned.
Tensor mirrored(const Tensor& at, std::int64_t size, bool align_corners) {
  const double low = align_corners ? 0 : -0.5;
  const double span = align_corners ? static_cast<double>(size - 1) : static_cast<double>(size);
  if (span == 0) return at * 0;
  const Tensor from = at - low;
  const Tensor distance = where(from < 0, -from, from);
  const Tensor rest = fmod(distance, span);
  const Tensor flips = floor(distance.detach() / span);
  return where(remainder(flips, 2) == 0, rest + low, (span - rest) + low);
}

Tensor moved_inside(const Tensor& at, std::int64_t size, const Sampling& how) {
  if (how.outside == kAsZeros) return at;
  return clipped(how.outside == kMirrored ? mirrored(at, size, how.align_corners) : at, size);
}

// The cubic convolution kernel with a = -0.75 at distances of at most 1, and of 1 to 2 (Keys 1981).
Tensor near_weight(const Tensor& x) { return ((x * 1.25 - 2.25) * x) * x + 1; }
Tensor far_weight(const Tensor& x) { return ((x * -0.75 + 3.75) * x - 6) * x + 3; }

std::vector<Tap> taps_of(const Tensor& grid, std::int64_t size, const Sampling& how) {
  const Tensor at = position(grid, size, how);
  if (how.mode == kCubically) {
    const Tensor first = floor(at), share = at - first;
    const Tensor weights[] = {far_weight(share + 1), near_weight(share), near_weight(1 - share),
                              far_weight(2 - share)};
    std::vector<Tap> taps;
    for (std::int64_t i = 0; i < 4; ++i)
      taps.push_back({moved_inside(first + (i - 1), size, how), weights[i]});
    return taps;
  }
  const Tensor inside = moved_inside(at, size, how);
  if (how.mode == kNearestOnly) {
    const Tensor nearest = round(inside);
    // Constant, but a grid that asks for a gradient gets one of zeros.
    if (grid.requires_grad()) return {{nearest, nearest - nearest.detach() + 1}};
    return {{nearest, Tensor()}};
  }
  const Tensor first = floor(inside);
  return {{first, first + 1 - inside}, {first + 1, inside - first}};
}

// One tap of each axis, the first axis first.
using Corner = std::vector<Tap>;

std::vector<Corner> corners_of(const std::vector<std::vector<Tap>>& taps) {
  std::vector<Corner> corners = {{}};
  for (const std::vector<Tap>& axis : taps) {
    std::vector<Corner> longer;
    for (const Corner& corner : corners) {
      for (const Tap& tap : axis) {
        longer.push_back(corner);
        longer.back().push_back(tap);
      }
    }
    corners = std::move(longer);
  }
  return corners;
}

// x [N, C, elements] at a corner, times its weight: [N, C, P].
Tensor read(const Tensor& x, IntArrayRef image, const Corner& corner) {
  Tensor index, weight, is_inside;
  for (std::size_t axis = 0; axis < image.size(); ++axis) {
    const Tensor at = corner[axis].at.detach();
    const Tensor inside = logical_and(at >= 0, at <= image[axis] - 1);
    const Tensor whole = clamp(at.to(kLong), 0, image[axis] - 1);
    index = index.defined() ? index * image[axis] + whole : whole;
    is_inside = is_inside.defined() ? logical_and(is_inside, inside) : inside;
    const Tensor& own = corner[axis].weight;
    if (own.defined()) weight = weight.defined() ? weight * own : own;
  }
  const Tensor taken =
      gather(x, 2, index.unsqueeze(1).expand({x.size(0), x.size(1), index.size(1)}));
  const Tensor part = weight.defined() ? taken * weight.unsqueeze(1) : taken;
  return where(is_inside.unsqueeze(1), part, 0);
}

Tensor sampled(const char* name, const Tensor& input, const Tensor& grid, const Sampling& how,
               std::size_t axes) {
  const Shape sizes = checked(name, input).geometry.sizes;
  const Shape places = checked(name, grid).geometry.sizes;
  GROOVE_CHECK(sizes.size() == axes + 2 && places.size() == axes + 2 && places[0] == sizes[0] &&
                   places.back() == static_cast<std::int64_t>(axes),
               "{}: grid {} does not fit input {}: as many dimensions and images, and {} numbers "
               "for each position",
               name, to_string(places), to_string(sizes), axes);
  GROOVE_CHECK(is_floating(input.scalar_type()) && input.scalar_type() == grid.scalar_type(),
               "{}: input is {} and grid {}; they must have one floating dtype", name,
               groove::name(input.scalar_type()), groove::name(grid.scalar_type()));
  for (std::size_t i = 1; i < sizes.size(); ++i)
    GROOVE_CHECK(sizes[i] > 0, "{}: input {} has nothing to read", name, to_string(sizes));
  GROOVE_CHECK(how.mode >= 0 && how.mode <= 2 && how.outside >= 0 && how.outside <= 2,
               "{}: interpolation_mode {} and padding_mode {} must be 0, 1 or 2", name, how.mode,
               how.outside);
  const IntArrayRef image = IntArrayRef(sizes).slice(2);
  Shape result = {sizes[0], sizes[1]};
  std::int64_t elements = 1, positions = 1;
  for (std::size_t i = 0; i < axes; ++i) {
    elements *= image[i];
    positions *= places[1 + i];
    result.push_back(places[1 + i]);
  }
  std::vector<std::vector<Tap>> taps;
  for (std::size_t i = 0; i < axes; ++i) {  // a grid holds the last axis first
    const auto which = static_cast<std::int64_t>(axes - 1 - i);
    taps.push_back(taps_of(grid.select(-1, which).reshape({sizes[0], positions}), image[i], how));
  }
  const Tensor x = input.reshape({sizes[0], sizes[1], elements});
  Tensor sum;
  for (const Corner& corner : corners_of(taps)) {
    const Tensor part = read(x, image, corner);
    sum = sum.defined() ? sum + part : part;
  }
  return sum.view(result);
}

}  // namespace

Tensor grid_sampler_2d(Arg input, const Tensor& grid, std::int64_t interpolation_mode,
                       std::int64_t padding_mode, bool align_corners) {
  const SiteScope scope(input.site);
  return sampled("grid_sampler_2d", *input.tensor, grid,
                 {interpolation_mode, padding_mode, align_corners}, 2);
}
Tensor grid_sampler_3d(Arg input, const Tensor& grid, std::int64_t interpolation_mode,
                       std::int64_t padding_mode, bool align_corners) {
  const SiteScope scope(input.site);
  return sampled("grid_sampler_3d", *input.tensor, grid,
                 {interpolation_mode, padding_mode, align_corners}, 3);
}
Tensor grid_sampler(Arg input, const Tensor& grid, std::int64_t interpolation_mode,
                    std::int64_t padding_mode, bool align_corners) {
  const SiteScope scope(input.site);
  const std::size_t rank = checked("grid_sampler", *input.tensor).geometry.sizes.size();
  GROOVE_CHECK(rank == 4 || rank == 5,
               "grid_sampler: input {} must be [N, C, H, W] or [N, C, D, H, W]",
               to_string(input.tensor->sizes()));
  return sampled("grid_sampler", *input.tensor, grid,
                 {interpolation_mode, padding_mode, align_corners}, rank - 2);
}

}  // namespace groove
