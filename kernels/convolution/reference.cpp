// The reference convolution: each element of the result by itself, tap after tap. It shares
// nothing with the tiles but the definition of an axis.
#include <cmath>

#include "kernels/contraction/epilogue.h"
#include "kernels/convolution/convolution.h"
#include "kernels/order.h"
#include "src/core/pooled.h"

namespace groove::kernels {
namespace {

// The sum of one element. Positions count skipped taps too.
template <typename T>
class Chain {
 public:
  void advance(bool is_valid, const T* a, const T* b) {
    if (position_ % order::kContractionChunk == 0 && position_ > 0) end_chunk();
    ++position_;
    if (is_valid) chunk_ = std::fma(*a, *b, chunk_);
  }
  T value() {
    if (position_ > 0) end_chunk();
    return total_;
  }

 private:
  void end_chunk() {
    total_ = has_total_ ? total_ + chunk_ : chunk_;
    has_total_ = true;
    chunk_ = T(0);
  }
  T total_ = T(0), chunk_ = T(0);
  bool has_total_ = false;
  std::int64_t position_ = 0;
};

template <typename T>
T forward_element(const ConvolutionCall& call, std::int64_t n, std::int64_t g, std::int64_t o,
                  std::int64_t oh, std::int64_t ow) {
  const ConvolutionShape& s = call.shape;
  const T* x = static_cast<const T*>(call.a) + (n * s.groups + g) * s.in_channels * s.in_plane();
  const T* w = static_cast<const T*>(call.b) + (g * s.out_channels + o) * s.in_channels * s.taps();
  Chain<T> chain;
  for (std::int64_t kh = 0; kh < s.height.kernel; ++kh) {
    for (std::int64_t kw = 0; kw < s.width.kernel; ++kw) {
      const std::int64_t ih = s.height.source(oh, kh), iw = s.width.source(ow, kw);
      const bool is_valid = ih >= 0 && iw >= 0;
      const std::int64_t pixel = is_valid ? ih * s.width.in + iw : 0;
      for (std::int64_t c = 0; c < s.in_channels; ++c) {
        chain.advance(is_valid, x + c * s.in_plane() + pixel,
                      w + c * s.taps() + kh * s.width.kernel + kw);
      }
    }
  }
  return chain.value();
}

template <typename T>
T data_element(const ConvolutionCall& call, std::int64_t n, std::int64_t g, std::int64_t c,
               std::int64_t ih, std::int64_t iw) {
  const ConvolutionShape& s = call.shape;
  const T* dy = static_cast<const T*>(call.a) + (n * s.groups + g) * s.out_channels * s.out_plane();
  const T* w = static_cast<const T*>(call.b) + (g * s.out_channels * s.in_channels + c) * s.taps();
  Chain<T> chain;
  for (std::int64_t kh = 0; kh < s.height.kernel; ++kh) {
    for (std::int64_t kw = 0; kw < s.width.kernel; ++kw) {
      const std::int64_t oh = s.height.target(ih, kh), ow = s.width.target(iw, kw);
      const bool is_valid = oh >= 0 && ow >= 0;
      const std::int64_t pixel = is_valid ? oh * s.width.out + ow : 0;
      for (std::int64_t o = 0; o < s.out_channels; ++o) {
        chain.advance(is_valid, dy + o * s.out_plane() + pixel,
                      w + o * s.in_channels * s.taps() + kh * s.width.kernel + kw);
      }
    }
  }
  return chain.value();
}

template <typename T>
T weight_element(const ConvolutionCall& call, std::int64_t g, std::int64_t o, std::int64_t c,
                 std::int64_t kh, std::int64_t kw) {
  const ConvolutionShape& s = call.shape;
  Chain<T> chain;
  for (std::int64_t n = 0; n < s.images; ++n) {
    const T* dy =
        static_cast<const T*>(call.a) + ((n * s.groups + g) * s.out_channels + o) * s.out_plane();
    const T* x =
        static_cast<const T*>(call.b) + ((n * s.groups + g) * s.in_channels + c) * s.in_plane();
    for (std::int64_t oh = 0; oh < s.height.out; ++oh) {
      for (std::int64_t ow = 0; ow < s.width.out; ++ow) {
        const std::int64_t ih = s.height.source(oh, kh), iw = s.width.source(ow, kw);
        const bool is_valid = ih >= 0 && iw >= 0;
        chain.advance(is_valid, dy + oh * s.width.out + ow,
                      x + (is_valid ? ih * s.width.in + iw : 0));
      }
    }
  }
  return chain.value();
}

// Calls element(i, j, h, w) for this part of [outer, inner, height, width] of a group. With an
// epilogue, plane by plane.
template <typename T, typename Element>
void fill(const ConvolutionCall& call, std::int64_t outer, std::int64_t inner, std::int64_t height,
          std::int64_t width, int part, int parts, const Element& element) {
  const std::int64_t planes = outer * inner, pixels = height * width;
  PooledVector<T> plane(static_cast<std::size_t>(call.epilogue ? pixels : 0));
  for (std::int64_t p = planes * part / parts; p < planes * (part + 1) / parts; ++p) {
    T* const result = call.epilogue ? plane.data() : static_cast<T*>(call.result) + p * pixels;
    for (std::int64_t h = 0; h < height; ++h) {
      for (std::int64_t w = 0; w < width; ++w) {
        result[h * width + w] = element(p / inner, p % inner, h, w);
      }
    }
    if (!call.epilogue) continue;
    call.epilogue->epilogue.run(call.epilogue->launch, {.sums = result,
                                                        .row_stride = pixels,
                                                        .batch = p / inner,
                                                        .row = p % inner,
                                                        .rows = 1,
                                                        .cols = pixels});
  }
}

template <typename T>
void run_as(const ConvolutionCall& call, int part, int parts) {
  const ConvolutionShape& s = call.shape;
  switch (call.form) {
    case ConvolutionForm::kForward:
      return fill<T>(call, s.images, s.groups * s.out_channels, s.height.out, s.width.out, part,
                     parts, [&](std::int64_t n, std::int64_t o, std::int64_t h, std::int64_t w) {
                       return forward_element<T>(call, n, o / s.out_channels, o % s.out_channels, h,
                                                 w);
                     });
    case ConvolutionForm::kBackwardData:
      return fill<T>(call, s.images, s.groups * s.in_channels, s.height.in, s.width.in, part, parts,
                     [&](std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) {
                       return data_element<T>(call, n, c / s.in_channels, c % s.in_channels, h, w);
                     });
    case ConvolutionForm::kBackwardWeight:
      return fill<T>(
          call, s.groups * s.out_channels, s.in_channels, s.height.kernel, s.width.kernel, part,
          parts, [&](std::int64_t o, std::int64_t c, std::int64_t h, std::int64_t w) {
            return weight_element<T>(call, o / s.out_channels, o % s.out_channels, c, h, w);
          });
  }
}

}  // namespace

void run_convolution_reference(const ConvolutionCall& call, int part, int parts) {
  call.dtype == kDouble ? run_as<double>(call, part, parts) : run_as<float>(call, part, parts);
}

}  // namespace groove::kernels
