// stft and istft: transforms of windows of a signal, and the signal back from them.
#include <cmath>
#include <string>

#include "groove/fft.h"
#include "groove/ops/creation.h"
#include "groove/ops/index.h"
#include "groove/ops/views.h"
#include "groove/warning.h"
#include "kernels/ops/complex_rules.h"

namespace groove {
namespace {

struct Windows {
  std::int64_t hop;
  Tensor values;  // n_fft of them
};

Windows windows_of(const char* what, const Tensor& like, std::int64_t n_fft,
                   std::optional<std::int64_t> hop_length, std::optional<std::int64_t> win_length,
                   const Tensor& window) {
  GROOVE_CHECK(n_fft > 0, "{}: n_fft is {}; it must be positive", what, n_fft);
  const std::int64_t hop = hop_length.value_or(n_fft / 4), length = win_length.value_or(n_fft);
  GROOVE_CHECK(hop > 0, "{}: hop_length is {}; it must be positive", what, hop);
  GROOVE_CHECK(length > 0 && length <= n_fft, "{}: win_length is {}; expected 1 to n_fft = {}",
               what, length, n_fft);
  GROOVE_CHECK(!window.defined() || (window.dim() == 1 && window.size(0) == length),
               "{}: expected a 1-d window of win_length = {} values, not one of shape {}", what,
               length, to_string(window.sizes()));
  Tensor values = window.defined() ? window : ones({length}, real_dtype(like.scalar_type()));
  if (length < n_fft) {
    const std::int64_t left = (n_fft - length) / 2;
    values = pad(values, {left, n_fft - length - left});
  }
  return {hop, values};
}

// Windows [batch, count, n_fft] added up where they lie, [batch, size].
Tensor overlapped(const Tensor& windows, std::int64_t hop) {
  const std::int64_t count = windows.size(1), n_fft = windows.size(2);
  const Tensor starts = mul(arange(Scalar(count), kLong), hop);
  const Tensor places = add(starts.unsqueeze(1), arange(Scalar(n_fft), kLong)).flatten();
  const Tensor room = windows.new_zeros({windows.size(0), n_fft + hop * (count - 1)});
  return index_add(room, 1, places, windows.flatten(1, 2));
}

}  // namespace

Tensor stft(Arg self, std::int64_t n_fft, std::optional<std::int64_t> hop_length,
            std::optional<std::int64_t> win_length, const Tensor& window, bool center,
            std::string_view pad_mode, bool normalized, std::optional<bool> onesided,
            std::optional<bool> return_complex) {
  const SiteScope scope(self.site);
  const ScalarType dtype = checked("stft", *self.tensor).dtype;
  GROOVE_CHECK(is_floating(dtype) || is_complex(dtype),
               "stft: expected a floating-point or complex signal, not {}", name(dtype));
  GROOVE_CHECK(self.tensor->dim() == 1 || self.tensor->dim() == 2,
               "stft: expected a signal of 1 or 2 dimensions, not shape {}",
               to_string(self.tensor->sizes()));
  const auto [hop, values] =
      windows_of("stft", *self.tensor, n_fft, hop_length, win_length, window);
  const bool is_alone = self.tensor->dim() == 1;
  Tensor signal = is_alone ? self.tensor->unsqueeze(0) : *self.tensor;
  if (center) {
    const std::string mode(pad_mode);
    signal = pad(signal.unsqueeze(0), {n_fft / 2, n_fft / 2}, mode.c_str()).squeeze(0);
  }
  GROOVE_CHECK(n_fft <= signal.size(1), "stft: n_fft is {} but the signal has {} values", n_fft,
               signal.size(1));
  const Tensor windows = mul(signal.unfold(1, n_fft, hop), values);
  const bool is_real = !windows.is_complex(), is_half = onesided.value_or(is_real);
  GROOVE_CHECK(is_real || !is_half,
               "stft: onesided output is of real signals; this one, or its window, is complex");
  const fft::Norm norm = normalized ? "ortho" : "backward";
  Tensor result = is_half ? fft::rfft(windows, {}, -1, norm) : fft::fft(windows, {}, -1, norm);
  result = result.transpose(1, 2);
  if (is_alone) result = result.squeeze(0);
  return return_complex.value_or(!is_real) ? result : view_as_real(result);
}
Tensor stft(Arg self, std::int64_t n_fft, std::optional<std::int64_t> hop_length,
            std::optional<std::int64_t> win_length, const Tensor& window, bool normalized,
            std::optional<bool> onesided, std::optional<bool> return_complex) {
  return stft(self, n_fft, hop_length, win_length, window, false, "constant", normalized, onesided,
              return_complex);
}

Tensor istft(Arg self, std::int64_t n_fft, std::optional<std::int64_t> hop_length,
             std::optional<std::int64_t> win_length, const Tensor& window, bool center,
             bool normalized, std::optional<bool> onesided, std::optional<std::int64_t> length,
             bool return_complex) {
  const SiteScope scope(self.site);
  const ScalarType dtype = checked("istft", *self.tensor).dtype;
  GROOVE_CHECK(is_complex(dtype), "istft: expected a complex tensor, not {}; see view_as_complex",
               name(dtype));
  const bool is_alone = self.tensor->dim() == 2;
  GROOVE_CHECK(is_alone || self.tensor->dim() == 3,
               "istft: expected [frequencies, windows] or a batch of them, not shape {}",
               to_string(self.tensor->sizes()));
  const Tensor spectra = is_alone ? self.tensor->unsqueeze(0) : *self.tensor;
  const bool is_half = onesided.value_or(spectra.size(1) != n_fft);
  const std::int64_t expected = is_half ? n_fft / 2 + 1 : n_fft;
  GROOVE_CHECK(spectra.size(1) == expected && spectra.size(2) > 0,
               "istft: expected {} frequencies of {}n_fft = {} and some windows, not shape {}",
               expected, is_half ? "onesided " : "", n_fft, to_string(self.tensor->sizes()));
  GROOVE_CHECK(!(return_complex && is_half),
               "istft: a complex signal has no onesided spectrum; give onesided = false");
  const auto [hop, values] = windows_of("istft", spectra, n_fft, hop_length, win_length, window);
  GROOVE_CHECK(hop <= n_fft, "istft: hop_length is {}; more than n_fft = {} leaves gaps", hop,
               n_fft);
  const fft::Norm norm = normalized ? "ortho" : "backward";
  Tensor windows = spectra.transpose(1, 2);
  if (return_complex)
    windows = fft::ifft(windows, n_fft, -1, norm);
  else
    windows = fft::irfft(windows.narrow(2, 0, n_fft / 2 + 1), n_fft, -1, norm);
  const Tensor sum = overlapped(mul(windows, values), hop);
  const Tensor squares = mul(values, values).expand({1, windows.size(1), n_fft});
  const Tensor weight = overlapped(squares, hop);
  const std::int64_t start = center ? n_fft / 2 : 0, size = sum.size(1);
  const std::int64_t end = length ? start + *length : center ? size - n_fft / 2 : size;
  const std::int64_t stop = std::min(end, size);
  GROOVE_CHECK(stop > start, "istft: nothing is left of {} values from {} to {}", size, start, end);
  const Tensor there = weight.narrow(1, start, stop - start);
  GROOVE_CHECK(there.abs().min().item<double>() > 1e-11,
               "istft: the squares of the windows do not cover the signal (window overlap add "
               "min: 1); give a window without zeros there, or center = true");
  Tensor result = div(sum.narrow(1, start, stop - start), there);
  if (end > size) {
    warn("istft: the length is more than the windows cover; the rest is filled with zeros");
    result = pad(result, {0, end - size});
  }
  return is_alone ? result.squeeze(0) : result;
}

Tensor DataMethods::stft(std::int64_t n_fft, std::optional<std::int64_t> hop_length,
                         std::optional<std::int64_t> win_length, const Tensor& window, bool center,
                         std::string_view pad_mode, bool normalized, std::optional<bool> onesided,
                         std::optional<bool> return_complex, Site site) const {
  return groove::stft({self(), site}, n_fft, hop_length, win_length, window, center, pad_mode,
                      normalized, onesided, return_complex);
}
Tensor DataMethods::stft(std::int64_t n_fft, std::optional<std::int64_t> hop_length,
                         std::optional<std::int64_t> win_length, const Tensor& window,
                         bool normalized, std::optional<bool> onesided,
                         std::optional<bool> return_complex, Site site) const {
  return groove::stft({self(), site}, n_fft, hop_length, win_length, window, normalized, onesided,
                      return_complex);
}
Tensor DataMethods::istft(std::int64_t n_fft, std::optional<std::int64_t> hop_length,
                          std::optional<std::int64_t> win_length, const Tensor& window, bool center,
                          bool normalized, std::optional<bool> onesided,
                          std::optional<std::int64_t> length, bool return_complex,
                          Site site) const {
  return groove::istft({self(), site}, n_fft, hop_length, win_length, window, center, normalized,
                       onesided, length, return_complex);
}

}  // namespace groove
