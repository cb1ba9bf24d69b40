// torch::fft: discrete Fourier transforms. `norm` is "backward" (the default: a transform back
// divides by the number of values), "forward" (a transform there does) or "ortho" (each divides by
// its root). A length `n` cuts the axis or fills it with zeros. Integers give the default dtype.
// Real transforms hold the n / 2 + 1 values that determine the others. Errors are groove::Error:
// lengths below 1, axes that are not there or named twice, unknown norms, complex input of rfft.
#pragma once

#include <optional>
#include <string_view>

#include "groove/ops/complex.h"
#include "groove/optional_array_ref.h"

namespace groove {
namespace fft {

using Length = std::optional<std::int64_t>;
using Norm = std::optional<std::string_view>;

/// Along one axis.
Tensor fft(Arg self, Length n = {}, std::int64_t dim = -1, Norm norm = {});
Tensor ifft(Arg self, Length n = {}, std::int64_t dim = -1, Norm norm = {});
Tensor rfft(Arg self, Length n = {}, std::int64_t dim = -1, Norm norm = {});
/// Real output of length n, 2 (size - 1) unless given.
Tensor irfft(Arg self, Length n = {}, std::int64_t dim = -1, Norm norm = {});
/// Of signals that are hermitian in time: irfft with the roles of there and back exchanged.
Tensor hfft(Arg self, Length n = {}, std::int64_t dim = -1, Norm norm = {});
Tensor ihfft(Arg self, Length n = {}, std::int64_t dim = -1, Norm norm = {});

/// Along the given axes; without them along the last s.size() ones, or all.
Tensor fftn(Arg self, OptionalIntArrayRef s = {}, OptionalIntArrayRef dim = {}, Norm norm = {});
Tensor ifftn(Arg self, OptionalIntArrayRef s = {}, OptionalIntArrayRef dim = {}, Norm norm = {});
Tensor rfftn(Arg self, OptionalIntArrayRef s = {}, OptionalIntArrayRef dim = {}, Norm norm = {});
Tensor irfftn(Arg self, OptionalIntArrayRef s = {}, OptionalIntArrayRef dim = {}, Norm norm = {});

/// Along two axes unless given, as LibTorch has it.
Tensor hfftn(Arg self, OptionalIntArrayRef s = {}, IntArrayRef dim = {-2, -1}, Norm norm = {});
Tensor ihfftn(Arg self, OptionalIntArrayRef s = {}, IntArrayRef dim = {-2, -1}, Norm norm = {});

/// Along two axes.
Tensor fft2(Arg self, OptionalIntArrayRef s = {}, IntArrayRef dim = {-2, -1}, Norm norm = {});
Tensor ifft2(Arg self, OptionalIntArrayRef s = {}, IntArrayRef dim = {-2, -1}, Norm norm = {});
Tensor rfft2(Arg self, OptionalIntArrayRef s = {}, IntArrayRef dim = {-2, -1}, Norm norm = {});
Tensor irfft2(Arg self, OptionalIntArrayRef s = {}, IntArrayRef dim = {-2, -1}, Norm norm = {});
Tensor hfft2(Arg self, OptionalIntArrayRef s = {}, IntArrayRef dim = {-2, -1}, Norm norm = {});
Tensor ihfft2(Arg self, OptionalIntArrayRef s = {}, IntArrayRef dim = {-2, -1}, Norm norm = {});

/// The frequencies of n values at distance d: 0 to (n - 1) / 2, then the negative ones, over n d.
Tensor fftfreq(std::int64_t n, double d = 1.0, TensorOptions options = {},
               Site site = Site::current());
Tensor fftfreq(std::int64_t n, TensorOptions options, Site site = Site::current());
Tensor rfftfreq(std::int64_t n, double d = 1.0, TensorOptions options = {},
                Site site = Site::current());
Tensor rfftfreq(std::int64_t n, TensorOptions options, Site site = Site::current());
/// Frequency 0 to the middle, and back; along all axes unless given.
Tensor fftshift(Arg self, OptionalIntArrayRef dim = {});
Tensor ifftshift(Arg self, OptionalIntArrayRef dim = {});

}  // namespace fft

/// Transforms of windows of n_fft values, hop_length (n_fft / 4) apart: [batch…, frequencies,
/// windows]. `window` (ones) has win_length (n_fft) values, in the middle of each. With `center`
/// the signal is padded by n_fft / 2 on both sides first, in pad_mode. Real signals give n_fft / 2
/// + 1 frequencies unless onesided is false. Without return_complex the result is a real [..., 2].
Tensor stft(Arg self, std::int64_t n_fft, std::optional<std::int64_t> hop_length,
            std::optional<std::int64_t> win_length, const Tensor& window, bool center,
            std::string_view pad_mode, bool normalized = false,
            std::optional<bool> onesided = std::nullopt,
            std::optional<bool> return_complex = std::nullopt);
Tensor stft(Arg self, std::int64_t n_fft, std::optional<std::int64_t> hop_length = std::nullopt,
            std::optional<std::int64_t> win_length = std::nullopt,
            const Tensor& window = undefined_tensor(), bool normalized = false,
            std::optional<bool> onesided = std::nullopt,
            std::optional<bool> return_complex = std::nullopt);
/// The signal whose stft comes closest to self in least squares. Throws where the squares of the
/// windows do not cover it.
Tensor istft(Arg self, std::int64_t n_fft, std::optional<std::int64_t> hop_length = std::nullopt,
             std::optional<std::int64_t> win_length = std::nullopt,
             const Tensor& window = undefined_tensor(), bool center = true, bool normalized = false,
             std::optional<bool> onesided = std::nullopt,
             std::optional<std::int64_t> length = std::nullopt, bool return_complex = false);

}  // namespace groove
