// Discrete Fourier transforms: lengths, norms, axes, gradients, and transforms of windows.
#include "cases.h"

using namespace agreement;

namespace {

torch::Tensor numbers(torch::IntArrayRef sizes, std::int64_t j = 0) {
  return torch::complex(filled(sizes, j), filled(sizes, j + 3)).clone().requires_grad_();
}

}  // namespace

CASE(lengths) {
  for (const std::int64_t n : {1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 16, 18, 67, 71, 120, 134}) {
    const std::string name = std::to_string(n);
    const auto z = numbers({2, n});
    const auto x = leaf({2, n});
    show_gradients("fft " + name, torch::fft::fft(z), {z});
    show_gradients("ifft " + name, torch::fft::ifft(z), {z});
    show_gradients("rfft " + name, torch::fft::rfft(x), {x});
    const auto half = numbers({2, n / 2 + 1});
    show_gradients("irfft " + name, torch::fft::irfft(half, n), {half});
    show_gradients("hfft " + name, torch::fft::hfft(half, n), {half});
    show_gradients("ihfft " + name, torch::fft::ihfft(x), {x});
  }
}

CASE(options) {
  const auto z = numbers({3, 4, 5});
  const auto x = leaf({3, 4, 5});
  for (const char* const norm : {"backward", "forward", "ortho"}) {
    const std::string name = norm;
    show_gradients("fft " + name, torch::fft::fft(z, 6, 1, norm), {z});
    show_gradients("ifft " + name, torch::fft::ifft(z, 3, 0, norm), {z});
    show_gradients("rfft " + name, torch::fft::rfft(x, 4, -1, norm), {x});
    show_gradients("irfft " + name, torch::fft::irfft(z, 7, -2, norm), {z});
    show_gradients("hfft " + name, torch::fft::hfft(z, 6, 2, norm), {z});
    show_gradients("ihfft " + name, torch::fft::ihfft(x, 4, 0, norm), {x});
    show_gradients("fft2 " + name, torch::fft::fft2(z, c10::nullopt, {-2, -1}, norm), {z});
    show_gradients("rfftn " + name, torch::fft::rfftn(x, c10::nullopt, c10::nullopt, norm), {x});
    show_gradients("irfftn " + name, torch::fft::irfftn(z, c10::nullopt, c10::nullopt, norm), {z});
    show("hfftn " + name, torch::fft::hfftn(z, c10::nullopt, {0, 1, 2}, norm));
    show("ihfftn " + name, torch::fft::ihfftn(x, c10::nullopt, {0, 1, 2}, norm));
  }
  show_gradients("fft of real", torch::fft::fft(x), {x});
  show_gradients("irfft of real", torch::fft::irfft(x), {x});
  show("fft of integers", torch::fft::fft(torch::arange(4)));
  show("rfft of integers", torch::fft::rfft(torch::arange(5)));
  show("fft of f32", torch::fft::fft(x.to(torch::kFloat)));
  show_gradients("there and back", torch::fft::irfft(torch::fft::rfft(x), 5), {x});
  show("fft2", torch::fft::fft2(x));
  show("ifft2", torch::fft::ifft2(z, at::IntArrayRef({2, 6})));
  show("rfft2", torch::fft::rfft2(x));
  show("irfft2", torch::fft::irfft2(z));
  show("fftn", torch::fft::fftn(z));
  show("fftn lengths", torch::fft::fftn(z, at::IntArrayRef({2, 6})));
  show("fftn axes", torch::fft::fftn(z, c10::nullopt, at::IntArrayRef({0, 2})));
  show("ifftn", torch::fft::ifftn(z));
  show("rfftn axes", torch::fft::rfftn(x, at::IntArrayRef({4, 6}), at::IntArrayRef({2, 0})));
  show("irfftn lengths", torch::fft::irfftn(z, at::IntArrayRef({4, 6})));
  show_error("length 0", [&] { torch::fft::fft(z, 0); });
  show_error("norm", [&] { torch::fft::fft(z, c10::nullopt, -1, "other"); });
  show_error("axis", [&] { torch::fft::fft(z, c10::nullopt, 3); });
  show_error("0-d", [&] { torch::fft::fft(torch::tensor(1.)); });
  show_error("rfft of complex", [&] { torch::fft::rfft(z); });
  show_error("axis twice", [&] { torch::fft::fftn(z, c10::nullopt, at::IntArrayRef({0, -3})); });
  show_error("too many lengths", [&] { torch::fft::fftn(z, at::IntArrayRef({1, 2, 3, 4})); });
  show_error("no axis", [&] { torch::fft::rfftn(torch::tensor(1.)); });
}

CASE(frequencies) {
  show("fftfreq", torch::fft::fftfreq(5, torch::kDouble));
  show("fftfreq even", torch::fft::fftfreq(6, 0.5, torch::kDouble));
  show("rfftfreq", torch::fft::rfftfreq(5, 2., torch::kDouble));
  show("rfftfreq even", torch::fft::rfftfreq(6, torch::kFloat));
  const auto x = leaf({4, 5});
  show_gradients("fftshift", torch::fft::fftshift(x), {x});
  show_gradients("ifftshift", torch::fft::ifftshift(x), {x});
  show("fftshift axis", torch::fft::fftshift(x, at::IntArrayRef({1})));
}

CASE(windows) {
  const auto x = leaf({2, 50});
  const auto window = torch::hann_window(8, torch::kDouble);
  const auto spectra = [&] {
    return torch::stft(x, 16, 4, 8, window, true, "reflect", false, true, true);
  };
  show_gradients("stft", spectra(), {x});
  show_gradients("stft of one",
                 torch::stft(x[0], 16, 4, 8, window, true, "constant", true, true, true), {x});
  show_gradients("stft parts",
                 torch::view_as_real(torch::stft(x, 10, 5, 10, torch::ones({10}, torch::kDouble),
                                                 false, true, true)),
                 {x});
  show_gradients("stft both sides", torch::stft(x, 8, 3, 8, window, false, false, true), {x});
  const auto back = torch::istft(spectra(), 16, 4, 8, window);
  show_gradients("istft", back, {x});
  const auto z = numbers({9, 6});
  show_gradients("istft of one", torch::istft(z, 16, 4, 16, torch::hann_window(16, torch::kDouble)),
                 {z});
  show("istft length",
       torch::istft(z, 16, 4, 16, torch::hann_window(16, torch::kDouble), true, true, true, 20));
  show_error("n_fft", [&] {
    torch::stft(x, 60, 4, 60, torch::ones({60}, torch::kDouble), false, true, true);
  });
  show_error("window", [&] { torch::stft(x, 16, 4, 16, window, false, true, true); });
  show_error("hop", [&] { torch::stft(x, 16, 0, 8, window, false, true, true); });
  show_error("frequencies", [&] { torch::istft(z, 12, 4, 12); });
}
