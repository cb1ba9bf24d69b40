// Window functions (Harris 1978), computed in double precision and rounded.
#include <cmath>
#include <numbers>

#include "groove/ops/ranges.h"
#include "groove/ops/special.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

using std::numbers::pi;

// `form` of 0, 1, … length - 1 and the last of them; a periodic window is the beginning of one
// that has an element more.
template <typename Form>
Tensor window(const char* name, std::int64_t count, bool periodic, const TensorOptions& options,
              Site site, const Form& form) {
  GROOVE_CHECK(count >= 0, "{}: length {} must not be negative", name, count);
  const ScalarType dtype = options.dtype_opt().value_or(get_default_dtype());
  GROOVE_CHECK(is_floating(dtype), "{}: dtype {} is not floating", name, groove::name(dtype));
  Tensor values;
  if (count <= 1) {
    values = ones({count}, kDouble, site);
  } else {
    const std::int64_t last = periodic ? count : count - 1;
    values = form(arange(Scalar(count), kDouble, site), static_cast<double>(last));
  }
  const Tensor result = values.to(dtype, false, false, site);
  if (options.requires_grad()) result.requires_grad_(true, site);
  return result;
}

}  // namespace

Tensor bartlett_window(std::int64_t window_length, bool periodic, TensorOptions options,
                       Site site) {
  const SiteScope scope(site);
  return window("bartlett_window", window_length, periodic, options, site,
                [](const Tensor& at, double last) { return 1 - abs(at * (2 / last) - 1); });
}
Tensor hamming_window(std::int64_t window_length, bool periodic, double alpha, double beta,
                      TensorOptions options, Site site) {
  const SiteScope scope(site);
  return window(
      "hamming_window", window_length, periodic, options, site,
      [&](const Tensor& at, double last) { return alpha - cos(at * (2 * pi / last)) * beta; });
}
Tensor hann_window(std::int64_t window_length, bool periodic, TensorOptions options, Site site) {
  const SiteScope scope(site);
  return hamming_window(window_length, periodic, 0.5, 0.5, options, site);
}
Tensor blackman_window(std::int64_t window_length, bool periodic, TensorOptions options,
                       Site site) {
  const SiteScope scope(site);
  return window("blackman_window", window_length, periodic, options, site,
                [](const Tensor& at, double last) {
                  return cos(at * (4 * pi / last)) * 0.08 - cos(at * (2 * pi / last)) * 0.5 + 0.42;
                });
}
Tensor kaiser_window(std::int64_t window_length, bool periodic, double beta, TensorOptions options,
                     Site site) {
  const SiteScope scope(site);
  return window("kaiser_window", window_length, periodic, options, site,
                [&](const Tensor& at, double last) {
                  const Tensor inside = clamp_min(1 - square(at * (2 / last) - 1), 0);
                  const Tensor peak = i0(full({}, beta, kDouble));
                  return i0(sqrt(inside) * beta) / peak;
                });
}

Tensor bartlett_window(std::int64_t window_length, TensorOptions options, Site site) {
  return bartlett_window(window_length, true, options, site);
}
Tensor hann_window(std::int64_t window_length, TensorOptions options, Site site) {
  return hann_window(window_length, true, options, site);
}
Tensor blackman_window(std::int64_t window_length, TensorOptions options, Site site) {
  return blackman_window(window_length, true, options, site);
}
Tensor hamming_window(std::int64_t window_length, TensorOptions options, Site site) {
  return hamming_window(window_length, true, 0.54, 0.46, options, site);
}
Tensor hamming_window(std::int64_t window_length, bool periodic, TensorOptions options, Site site) {
  return hamming_window(window_length, periodic, 0.54, 0.46, options, site);
}
Tensor hamming_window(std::int64_t window_length, bool periodic, double alpha,
                      TensorOptions options, Site site) {
  return hamming_window(window_length, periodic, alpha, 0.46, options, site);
}
Tensor kaiser_window(std::int64_t window_length, TensorOptions options, Site site) {
  return kaiser_window(window_length, true, 12, options, site);
}
Tensor kaiser_window(std::int64_t window_length, bool periodic, TensorOptions options, Site site) {
  return kaiser_window(window_length, periodic, 12, options, site);
}

}  // namespace groove
