// Padding of images by their own elements, and pixels that become channels: spelled with pad,
// reshape and permute.
#include "groove/ops/image_views.h"

#include "groove/ops/views.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

Tensor padded(const char* name, const Tensor& x, IntArrayRef padding, std::size_t axes,
              const char* mode) {
  const Shape& sizes = checked(name, x).geometry.sizes;
  GROOVE_CHECK(sizes.size() == axes + 1 || sizes.size() == axes + 2,
               "{}: input {} must have {} or {} axes", name, to_string(sizes), axes + 1, axes + 2);
  GROOVE_CHECK(padding.size() == 2 * axes, "{}: padding {} must hold {} numbers", name,
               to_string(padding), 2 * axes);
  return pad(x, padding, mode);
}

// The last three sizes must be channels and places.
const Shape& image_sizes(const char* name, const Tensor& x) {
  const Shape& sizes = checked(name, x).geometry.sizes;
  GROOVE_CHECK(sizes.size() >= 3, "{}: input {} must be [.., C, H, W]", name, to_string(sizes));
  return sizes;
}

// Axes 0 … first - 1 where they are, the others in the order given, which counts from `first`.
Shape order(std::size_t first, std::initializer_list<std::int64_t> others) {
  Shape result;
  for (std::size_t axis = 0; axis < first; ++axis)
    result.push_back(static_cast<std::int64_t>(axis));
  for (const std::int64_t axis : others) result.push_back(static_cast<std::int64_t>(first) + axis);
  return result;
}

Shape joined(IntArrayRef front, std::initializer_list<std::int64_t> back) {
  Shape result(front);
  for (const std::int64_t size : back) result.push_back(size);
  return result;
}

}  // namespace

Tensor reflection_pad1d(Arg self, IntArrayRef padding) {
  const SiteScope scope(self.site);
  return padded("reflection_pad1d", *self.tensor, padding, 1, "reflect");
}
Tensor reflection_pad2d(Arg self, IntArrayRef padding) {
  const SiteScope scope(self.site);
  return padded("reflection_pad2d", *self.tensor, padding, 2, "reflect");
}
Tensor reflection_pad3d(Arg self, IntArrayRef padding) {
  const SiteScope scope(self.site);
  return padded("reflection_pad3d", *self.tensor, padding, 3, "reflect");
}
Tensor replication_pad1d(Arg self, IntArrayRef padding) {
  const SiteScope scope(self.site);
  return padded("replication_pad1d", *self.tensor, padding, 1, "replicate");
}
Tensor replication_pad2d(Arg self, IntArrayRef padding) {
  const SiteScope scope(self.site);
  return padded("replication_pad2d", *self.tensor, padding, 2, "replicate");
}
Tensor replication_pad3d(Arg self, IntArrayRef padding) {
  const SiteScope scope(self.site);
  return padded("replication_pad3d", *self.tensor, padding, 3, "replicate");
}

Tensor pixel_shuffle(Arg self, std::int64_t upscale_factor) {
  const SiteScope scope(self.site);
  const Shape sizes = image_sizes("pixel_shuffle", *self.tensor);
  const std::size_t first = sizes.size() - 3;
  const std::int64_t r = upscale_factor, c = sizes[first], h = sizes[first + 1],
                     w = sizes[first + 2];
  GROOVE_CHECK(r > 0 && c % (r * r) == 0,
               "pixel_shuffle: {} channels cannot be divided by the square of the factor {}", c, r);
  const IntArrayRef front = IntArrayRef(sizes).slice(0, first);
  const Tensor parts = reshape(*self.tensor, joined(front, {c / (r * r), r, r, h, w}));
  return clone(permute(parts, order(first, {0, 3, 1, 4, 2})))
      .view(joined(front, {c / (r * r), h * r, w * r}));
}

Tensor pixel_unshuffle(Arg self, std::int64_t downscale_factor) {
  const SiteScope scope(self.site);
  const Shape sizes = image_sizes("pixel_unshuffle", *self.tensor);
  const std::size_t first = sizes.size() - 3;
  const std::int64_t r = downscale_factor, c = sizes[first], h = sizes[first + 1],
                     w = sizes[first + 2];
  GROOVE_CHECK(r > 0 && h % r == 0 && w % r == 0,
               "pixel_unshuffle: an image of {} x {} cannot be divided by the factor {}", h, w, r);
  const IntArrayRef front = IntArrayRef(sizes).slice(0, first);
  const Tensor parts = reshape(*self.tensor, joined(front, {c, h / r, r, w / r, r}));
  return clone(permute(parts, order(first, {0, 2, 4, 1, 3})))
      .view(joined(front, {c * r * r, h / r, w / r}));
}

Tensor channel_shuffle(Arg self, std::int64_t groups) {
  const SiteScope scope(self.site);
  const Shape sizes = checked("channel_shuffle", *self.tensor).geometry.sizes;
  GROOVE_CHECK(sizes.size() >= 3, "channel_shuffle: input {} must be [N, C, ..]", to_string(sizes));
  GROOVE_CHECK(groups > 0 && sizes[1] % groups == 0,
               "channel_shuffle: {} channels cannot be divided into {} groups", sizes[1], groups);
  const Tensor parts = reshape(*self.tensor, {sizes[0], groups, sizes[1] / groups, -1});
  return clone(transpose(parts, 1, 2)).view(sizes);
}

}  // namespace groove
