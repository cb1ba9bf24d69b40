// grid_sampler: an image read at positions that a tensor holds. Each element of the result is a sum
// of a few gathered elements (corners of the cell that holds the position) times weights; both
// gradients come from these operators.
#include <algorithm>
#include <cmath>

#include "groove/ops/index.h"
#include "groove/ops/sampling.h"
#include "groove/ops/views.h"
#include "kernels/ops/reference.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

enum Mode : std::int64_t { kLinearly, kNearestOnly, kCubically };
enum Outside : std::int64_t { kAsZeros, kAtBorder, kMirrored };

enum { kMode, kOutside, kAlign };

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

Tensor sampled(const Tensor& input, const Tensor& grid, const Sampling& how) {
  const Shape sizes = type_of(input).sizes, places = type_of(grid).sizes;
  const std::size_t axes = sizes.size() - 2;
  const IntArrayRef image = IntArrayRef(sizes).slice(2);
  const std::int64_t elements = element_count(image);
  const std::int64_t positions = element_count(IntArrayRef(places).slice(1, axes));
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
  return sum;
}

// [N, C, …] at the P positions of a grid [N, …, axes]: [N, C, P].
TypeResult type_of_samples(const Signature& s) {
  check_defined(s);
  const Shape &sizes = s.inputs[0].sizes, &places = s.inputs[1].sizes;
  const std::size_t axes = sizes.size() - 2;
  GROOVE_CHECK((sizes.size() == 4 || sizes.size() == 5) && places.size() == sizes.size() &&
                   places[0] == sizes[0] && places.back() == static_cast<std::int64_t>(axes),
               "grid_sampler: grid {} does not fit input {}: as many dimensions and images, and {} "
               "numbers for each position",
               to_string(places), to_string(sizes), axes);
  GROOVE_CHECK(is_floating(s.inputs[0].dtype) && s.inputs[0].dtype == s.inputs[1].dtype,
               "grid_sampler: input is {} and grid {}; they must have one floating dtype",
               name(s.inputs[0].dtype), name(s.inputs[1].dtype));
  for (std::size_t i = 1; i < sizes.size(); ++i)
    GROOVE_CHECK(sizes[i] > 0, "grid_sampler: input {} has nothing to read", to_string(sizes));
  const std::int64_t mode = s.attr().integer(kMode), outside = s.attr().integer(kOutside);
  GROOVE_CHECK(mode >= 0 && mode <= 2 && outside >= 0 && outside <= 2,
               "grid_sampler: interpolation_mode {} and padding_mode {} must be 0, 1 or 2", mode,
               outside);
  const std::int64_t positions = element_count(IntArrayRef(places).slice(1, axes));
  return {{{s.inputs[0].dtype, {sizes[0], sizes[1], positions}}}, s.inputs[0].dtype};
}

// By the formulas of the manual, an axis at a time and position by position.
double reference_position(double x, double size, const Sampling& how) {
  double at = how.align_corners ? (x + 1) / 2 * (size - 1) : ((x + 1) * size - 1) / 2;
  if (how.outside == kMirrored) {
    const double low = how.align_corners ? 0 : -0.5, high = size - 1 - low;
    while (high > low && (at < low || at > high)) at = at < low ? 2 * low - at : 2 * high - at;
  }
  return how.outside == kAsZeros ? at : std::clamp(at, 0.0, size - 1);
}

Reference reference(const Signature& s, const Reference& x, const Reference& grid) {
  const Sampling how{s.attr().integer(kMode), s.attr().integer(kOutside), s.attr().boolean(kAlign)};
  const Shape& sizes = x.type.sizes;
  const std::size_t axes = sizes.size() - 2;
  return make_reference(s.op.type(s).outputs[0], [&](const Shape& index) {
    const std::int64_t count = s.op.type(s).outputs[0].sizes[2];
    double total = 0;
    for (std::size_t corner = 0; corner < std::size_t{1} << axes; ++corner) {
      Shape place = {index[0], index[1]};
      double weight = 1;
      for (std::size_t i = 0; i < axes; ++i) {
        const std::int64_t number =
            (index[0] * count + index[2]) * static_cast<std::int64_t>(axes) +
            static_cast<std::int64_t>(axes - 1 - i);
        const double at = reference_position(grid.values[static_cast<std::size_t>(number)],
                                             static_cast<double>(sizes[2 + i]), how);
        const bool is_second = corner >> i & 1;
        const double tap =
            how.mode == kNearestOnly ? std::nearbyint(at) : std::floor(at) + is_second;
        weight *= how.mode == kNearestOnly ? !is_second : 1 - std::fabs(at - tap);
        if (tap < 0 || tap >= static_cast<double>(sizes[2 + i])) weight = 0;
        place.push_back(
            std::clamp<std::int64_t>(static_cast<std::int64_t>(tap), 0, sizes[2 + i] - 1));
      }
      total += weight * x.values[static_cast<std::size_t>(flat_position(sizes, place))];
    }
    return total;
  });
}

const Op& op = define({
    .name = "grid_sampler",
    .kind = OpKind::kComposite,
    .inputs = 2,
    .attributes = {{"mode", AttrType::kInt},
                   {"padding", AttrType::kInt},
                   {"align_corners", AttrType::kBool}},
    .type = type_of_samples,
    .lowering =
        kernels::lower(kernels::CompositeLowering{[](const Signature& s, ArrayRef<Tensor> inputs) {
          const Sampling how{s.attr().integer(kMode), s.attr().integer(kOutside),
                             s.attr().boolean(kAlign)};
          return Tensors{sampled(inputs[0], inputs[1], how)};
        }}),
    .has_inplace = false,
    .reference =
        [](const Signature& s, const std::vector<Reference>& inputs) {
          return std::vector<Reference>{reference(s, inputs[0], inputs[1])};
        },
    .dtypes = {kFloat, kDouble},
    .samples =
        [](ScalarType dtype) {
          std::vector<Sample> samples;
          for (const std::int64_t mode : {kLinearly, kNearestOnly})
            for (const std::int64_t outside : {kAsZeros, kAtBorder, kMirrored})
              for (const bool aligns : {false, true}) {
                const Attrs attrs = Attrs().add(mode).add(outside).add(aligns);
                samples.push_back({{{dtype, {2, 3, 4, 5}}, {dtype, {2, 3, 2, 2}}}, attrs, {}});
                samples.push_back(
                    {{{dtype, {1, 2, 2, 3, 4}}, {dtype, {1, 2, 1, 3, 3}}}, attrs, {}});
              }
          return samples;
        },
    .tolerance_ulp = 1024,  // sums of both signs, at positions that are rounded themselves
});

Tensor sampled(const char* name, const Tensor& input, const Tensor& grid, const Sampling& how,
               std::size_t axes) {
  const std::size_t rank = checked(name, input).geometry.sizes.size();
  checked(name, grid);
  GROOVE_CHECK(rank == axes + 2, "{}: input {} must have {} dimensions", name,
               to_string(input.sizes()), axes + 2);
  const Tensor samples = call(op, {input, grid}, Site::current(),
                              Attrs().add(how.mode).add(how.outside).add(how.align_corners));
  const Shape sizes = type_of(input).sizes, places = type_of(grid).sizes;
  Shape result = {sizes[0], sizes[1]};
  for (std::size_t i = 0; i < axes; ++i) result.push_back(places[1 + i]);
  return samples.view(result);
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
