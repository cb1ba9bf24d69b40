// torch::fft along any axes, with lengths and norms.
#include <algorithm>
#include <cmath>

#include "groove/fft.h"
#include "groove/ops/creation.h"
#include "groove/ops/views.h"
#include "kernels/ops/complex_rules.h"
#include "kernels/ops/fft.h"

namespace groove::fft {
namespace {

using complex_rules::over;

// By what a transform of n values is multiplied.
double scale_of(const char* what, Norm norm, bool forward, std::int64_t n) {
  const std::string_view mode = norm.value_or("backward");
  GROOVE_CHECK(mode == "backward" || mode == "forward" || mode == "ortho",
               "{}: invalid normalization mode \"{}\"; it is \"backward\", \"forward\" or "
               "\"ortho\"",
               what, mode);
  if (mode == "ortho") return 1 / std::sqrt(static_cast<double>(n));
  return (mode == "forward") == forward ? 1 / static_cast<double>(n) : 1;
}
Tensor scaled(const Tensor& x, double scale) { return scale == 1 ? x : mul(x, scale); }

std::int64_t axis_of(const char* what, const Tensor& x, std::int64_t dim) {
  const std::size_t rank = checked(what, x).geometry.sizes.size();
  GROOVE_CHECK(rank > 0, "{}: a 0-d tensor has no axis to transform", what);
  return normal_dim(what, dim, rank);
}

void check_length(const char* what, std::int64_t n) {
  GROOVE_CHECK(n >= 1, "{}: invalid number of data points ({}) specified", what, n);
}

// Cut or filled with zeros to n values along an axis, which becomes the last one.
Tensor prepared(const Tensor& x, std::int64_t axis, std::int64_t n) {
  const std::int64_t size = x.size(axis);
  Tensor result = x;
  if (n < size) result = x.narrow(axis, 0, n);
  if (n > size) {
    std::vector<std::int64_t> sizes(x.sizes().begin(), x.sizes().end());
    sizes[static_cast<std::size_t>(axis)] = n - size;
    result = cat(Tensors{x, x.new_zeros(sizes)}, axis);
  }
  return result.transpose(axis, -1);
}

Tensor floating(const Tensor& x) {
  if (x.is_complex() || x.scalar_type() == kDouble || x.scalar_type() == kFloat) return x;
  const ScalarType dtype = is_floating(x.scalar_type()) ? kFloat : get_default_dtype();
  return x.to(dtype);
}

// Without its scale.
Tensor complex_along(const Tensor& x, std::int64_t axis, std::int64_t n, bool forward) {
  const Tensor floats = floating(x);
  const Tensor z = prepared(floats, axis, n);
  const Tensor pairs = complex_rules::pair_as(z, real_dtype(floats.scalar_type()));
  return over(transform_pairs(pairs, forward)).transpose(axis, -1);
}
Tensor real_along(const char* what, const Tensor& x, std::int64_t axis, std::int64_t n) {
  GROOVE_CHECK(!x.is_complex(), "{} expects a real input tensor, but got {}", what,
               name(x.scalar_type()));
  return over(transform_real(prepared(floating(x), axis, n))).transpose(axis, -1);
}
Tensor to_real_along(const Tensor& x, std::int64_t axis, std::int64_t n) {
  const Tensor floats = floating(x);
  const Tensor half = prepared(floats, axis, n / 2 + 1);
  const Tensor pairs = complex_rules::pair_as(half, real_dtype(floats.scalar_type()));
  return transform_to_real(pairs, n).transpose(axis, -1);
}

// One axis, how many values it gets, and what they are multiplied by in the end.
struct Line {
  std::int64_t axis, n;
  double scale;
};
Line line_of(const char* what, const Tensor& x, Length n, std::int64_t dim, Norm norm, bool forward,
             bool to_real) {
  const std::int64_t axis = axis_of(what, x, dim), own = x.size(axis);
  const std::int64_t length = n.value_or(to_real ? 2 * (own - 1) : own);
  check_length(what, length);
  return {axis, length, scale_of(what, norm, forward, length)};
}

Tensor one_complex(const char* what, Arg self, Length n, std::int64_t dim, Norm norm,
                   bool forward) {
  const SiteScope scope(self.site, what);
  const Line line = line_of(what, *self.tensor, n, dim, norm, forward, false);
  return scaled(complex_along(*self.tensor, line.axis, line.n, forward), line.scale);
}

// rfft forward; ihfft is its conjugate, scaled as a transform back.
Tensor one_from_real(const char* what, Arg self, Length n, std::int64_t dim, Norm norm,
                     bool forward) {
  const SiteScope scope(self.site, what);
  const Line line = line_of(what, *self.tensor, n, dim, norm, forward, false);
  const Tensor half = scaled(real_along(what, *self.tensor, line.axis, line.n), line.scale);
  return forward ? half : conj(half);
}

// irfft back; hfft is that of the conjugate, scaled as a transform forward.
Tensor one_to_real(const char* what, Arg self, Length n, std::int64_t dim, Norm norm,
                   bool forward) {
  const SiteScope scope(self.site, what);
  const Line line = line_of(what, *self.tensor, n, dim, norm, forward, true);
  const Tensor half = forward ? conj(*self.tensor) : *self.tensor;
  return scaled(to_real_along(half, line.axis, line.n), line.scale);
}

// Axes and their lengths, which are the tensor's own but where `s` names others, and but for the
// last one of a half that becomes real.
struct Axes {
  std::vector<std::int64_t> dims, lengths;
};
Axes axes_of(const char* what, const Tensor& x, OptionalIntArrayRef s, OptionalIntArrayRef dim,
             bool to_real) {
  const std::size_t rank = checked(what, x).geometry.sizes.size();
  Axes axes;
  if (dim) {
    for (const std::int64_t one : *dim) axes.dims.push_back(axis_of(what, x, one));
    std::vector<std::int64_t> sorted = axes.dims;
    std::sort(sorted.begin(), sorted.end());
    GROOVE_CHECK(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end(),
                 "{}: dims {} name an axis twice", what, to_string(*dim));
    GROOVE_CHECK(!s || s->size() == dim->size(), "{}: {} lengths for {} dims; give one for each",
                 what, s ? s->size() : 0, dim->size());
  } else {
    const std::size_t count = s ? s->size() : rank;
    GROOVE_CHECK(count <= rank, "{}: got {} lengths but the tensor only has {} dimensions", what,
                 count, rank);
    for (std::size_t i = rank - count; i < rank; ++i)
      axes.dims.push_back(static_cast<std::int64_t>(i));
  }
  for (std::size_t i = 0; i < axes.dims.size(); ++i) {
    const std::int64_t own = x.size(axes.dims[i]);
    const bool is_half = to_real && i + 1 == axes.dims.size();
    const bool is_given = s && (*s)[i] != -1;
    axes.lengths.push_back(is_given ? (*s)[i] : is_half ? 2 * (own - 1) : own);
    check_length(what, axes.lengths.back());
  }
  return axes;
}
double scale_of(const char* what, Norm norm, bool forward, const Axes& axes) {
  double scale = 1;
  for (const std::int64_t n : axes.lengths) scale *= scale_of(what, norm, forward, n);
  return scale;
}
Tensor along_all(Tensor x, const Axes& axes, std::size_t count, bool forward) {
  for (std::size_t i = 0; i < count; ++i)
    x = complex_along(x, axes.dims[i], axes.lengths[i], forward);
  return x;
}
void check_some(const char* what, const Axes& axes) {
  GROOVE_CHECK(!axes.dims.empty(), "{} must transform at least one axis", what);
}

Tensor all_complex(const char* what, Arg self, OptionalIntArrayRef s, OptionalIntArrayRef dim,
                   Norm norm, bool forward) {
  const SiteScope scope(self.site, what);
  const Axes axes = axes_of(what, *self.tensor, s, dim, false);
  const double scale = scale_of(what, norm, forward, axes);
  const Tensor floats = floating(*self.tensor);
  const Tensor z = floats.to(complex_dtype(floats.scalar_type()));
  return scaled(along_all(z, axes, axes.dims.size(), forward), scale);
}

// The last axis first, then the others; rfftn forward, ihfftn back.
Tensor all_from_real(const char* what, Arg self, OptionalIntArrayRef s, OptionalIntArrayRef dim,
                     Norm norm, bool forward) {
  const SiteScope scope(self.site, what);
  const Axes axes = axes_of(what, *self.tensor, s, dim, false);
  check_some(what, axes);
  const double scale = scale_of(what, norm, forward, axes);
  const Tensor half = real_along(what, *self.tensor, axes.dims.back(), axes.lengths.back());
  const std::size_t others = axes.dims.size() - 1;
  return scaled(along_all(forward ? half : conj(half), axes, others, forward), scale);
}

// The last axis last; irfftn back, hfftn forward.
Tensor all_to_real(const char* what, Arg self, OptionalIntArrayRef s, OptionalIntArrayRef dim,
                   Norm norm, bool forward) {
  const SiteScope scope(self.site, what);
  const Axes axes = axes_of(what, *self.tensor, s, dim, true);
  check_some(what, axes);
  const double scale = scale_of(what, norm, forward, axes);
  const Tensor z = along_all(*self.tensor, axes, axes.dims.size() - 1, forward);
  return scaled(to_real_along(forward ? conj(z) : z, axes.dims.back(), axes.lengths.back()), scale);
}

Tensor frequencies(const char* what, std::int64_t n, double d, const TensorOptions& options,
                   bool half, Site site) {
  const SiteScope scope(site, what);
  check_length(what, n);
  const TensorOptions plain = options.requires_grad(false);
  const Tensor up = arange(Scalar(half ? n / 2 + 1 : (n + 1) / 2), plain.dtype(options.dtype()));
  const Tensor all = half ? up
                          : cat(Tensors{up, arange(Scalar(-(n / 2)), Scalar(std::int64_t{0}),
                                                   plain.dtype(options.dtype()))},
                                0);
  Tensor result = mul(all, 1 / (static_cast<double>(n) * d));
  if (options.requires_grad()) result.requires_grad_(true, site);
  return result;
}

Tensor shifted(const char* what, Arg self, OptionalIntArrayRef dim, bool forward) {
  const SiteScope scope(self.site, what);
  const Axes axes = axes_of(what, *self.tensor, {}, dim, false);
  std::vector<std::int64_t> shifts;
  for (const std::int64_t n : axes.lengths) shifts.push_back(forward ? n / 2 : (n + 1) / 2);
  return axes.dims.empty() ? *self.tensor : roll(*self.tensor, shifts, axes.dims);
}

}  // namespace

#define GROOVE_TRANSFORM_1D(name, rule, forward)                 \
  Tensor name(Arg self, Length n, std::int64_t dim, Norm norm) { \
    return rule(#name, self, n, dim, norm, forward);             \
  }
GROOVE_TRANSFORM_1D(fft, one_complex, true)
GROOVE_TRANSFORM_1D(ifft, one_complex, false)
GROOVE_TRANSFORM_1D(rfft, one_from_real, true)
GROOVE_TRANSFORM_1D(ihfft, one_from_real, false)
GROOVE_TRANSFORM_1D(hfft, one_to_real, true)
GROOVE_TRANSFORM_1D(irfft, one_to_real, false)
#undef GROOVE_TRANSFORM_1D

#define GROOVE_TRANSFORM_ND(name, rule, forward, Dims)                          \
  Tensor name##n(Arg self, OptionalIntArrayRef s, Dims dim, Norm norm) {        \
    return rule(#name "n", self, s, dim, norm, forward);                        \
  }                                                                             \
  Tensor name##2(Arg self, OptionalIntArrayRef s, IntArrayRef dim, Norm norm) { \
    return rule(#name "2", self, s, dim, norm, forward);                        \
  }
GROOVE_TRANSFORM_ND(fft, all_complex, true, OptionalIntArrayRef)
GROOVE_TRANSFORM_ND(ifft, all_complex, false, OptionalIntArrayRef)
GROOVE_TRANSFORM_ND(rfft, all_from_real, true, OptionalIntArrayRef)
GROOVE_TRANSFORM_ND(ihfft, all_from_real, false, IntArrayRef)
GROOVE_TRANSFORM_ND(hfft, all_to_real, true, IntArrayRef)
GROOVE_TRANSFORM_ND(irfft, all_to_real, false, OptionalIntArrayRef)
#undef GROOVE_TRANSFORM_ND

Tensor fftfreq(std::int64_t n, double d, TensorOptions options, Site site) {
  return frequencies("fftfreq", n, d, options, false, site);
}
Tensor fftfreq(std::int64_t n, TensorOptions options, Site site) {
  return frequencies("fftfreq", n, 1, options, false, site);
}
Tensor rfftfreq(std::int64_t n, double d, TensorOptions options, Site site) {
  return frequencies("rfftfreq", n, d, options, true, site);
}
Tensor rfftfreq(std::int64_t n, TensorOptions options, Site site) {
  return frequencies("rfftfreq", n, 1, options, true, site);
}
Tensor fftshift(Arg self, OptionalIntArrayRef dim) { return shifted("fftshift", self, dim, true); }
Tensor ifftshift(Arg self, OptionalIntArrayRef dim) {
  return shifted("ifftshift", self, dim, false);
}

}  // namespace groove::fft
