// Interpolation that filters against aliasing: along each axis an element is the weighted mean of
// all elements below the filter, which is as wide as the element where an image becomes smaller.
// The weights of an axis are a matrix, which the operators compute.
#include <algorithm>

#include "groove/ops/contractions.h"
#include "groove/ops/creation.h"
#include "groove/ops/interpolation.h"
#include "groove/ops/views.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

Tensor triangle(const Tensor& distance) { return clamp_min(1 - distance, 0); }

// Cubic convolution with a = -0.5 (Keys 1981).
Tensor cubic(const Tensor& distance) {
  const Tensor near = ((distance * 1.5 - 2.5) * distance) * distance + 1;
  const Tensor far = ((distance * -0.5 + 2.5) * distance - 4) * distance + 2;
  return where(distance < 1, near, where(distance < 2, far, 0));
}

struct Filter {
  Tensor (*weight)(const Tensor& distance);
  double reach;  // beyond which it is 0
};

// [out, in]
Tensor weights(const Filter& filter, std::int64_t in, std::int64_t out, bool align_corners,
               std::optional<double> factor, ScalarType dtype) {
  double scale = static_cast<double>(in) / static_cast<double>(out);
  if (align_corners)
    scale = out > 1 ? static_cast<double>(in - 1) / static_cast<double>(out - 1) : 0;
  else if (factor && *factor > 0)
    scale = 1 / *factor;
  const double wide = std::max(scale, 1.0), reach = filter.reach * wide;
  const Tensor centre = ((arange(out, dtype) + 0.5) * scale).unsqueeze(1);
  const Tensor first = clamp_min(trunc(centre - reach + 0.5), 0);
  const Tensor end = clamp_max(trunc(centre + reach + 0.5), in);
  const Tensor at = arange(in, dtype);
  const Tensor all = filter.weight(abs((at - centre + 0.5) * (1 / wide)));
  const Tensor own = where(logical_and(at >= first, at < end), all, 0);
  const Tensor total = sum(own, {1}, true);  // 0 where a factor leads beyond the image
  return own / where(total == 0, 1, total);
}

Tensor filtered(const char* name, const Tensor& self, IntArrayRef sizes, bool align_corners,
                const std::optional<double> (&factors)[2], const Filter& filter) {
  const Shape own = checked(name, self).geometry.sizes;
  GROOVE_CHECK(own.size() == 4 && sizes.size() == 2,
               "{}: input {} must be [N, C, H, W], output_size {} two numbers", name,
               to_string(own), to_string(sizes));
  GROOVE_CHECK(own[2] > 0 && own[3] > 0 && sizes[0] > 0 && sizes[1] > 0,
               "{}: sizes must be positive: input {}, output {}", name, to_string(own),
               to_string(sizes));
  const ScalarType dtype = self.scalar_type();
  GROOVE_CHECK(is_floating(dtype), "{}: input is {}; convert it to a floating dtype", name,
               groove::name(dtype));
  const ScalarType precise = dtype == kDouble ? kDouble : kFloat;
  const Tensor x = self.to(precise);
  const Tensor rows = weights(filter, own[2], sizes[0], align_corners, factors[0], precise);
  const Tensor columns = weights(filter, own[3], sizes[1], align_corners, factors[1], precise);
  return matmul(rows, matmul(x, columns.t())).to(dtype);
}

}  // namespace

Tensor _upsample_bilinear2d_aa(Arg self, IntArrayRef output_size, bool align_corners,
                               std::optional<double> scales_h, std::optional<double> scales_w) {
  const SiteScope scope(self.site);
  return filtered(__func__, *self.tensor, output_size, align_corners, {scales_h, scales_w},
                  {triangle, 1});
}
Tensor _upsample_bicubic2d_aa(Arg self, IntArrayRef output_size, bool align_corners,
                              std::optional<double> scales_h, std::optional<double> scales_w) {
  const SiteScope scope(self.site);
  return filtered(__func__, *self.tensor, output_size, align_corners, {scales_h, scales_w},
                  {cubic, 2});
}

}  // namespace groove
