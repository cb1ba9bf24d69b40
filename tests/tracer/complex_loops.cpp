// Loops over complex numbers: spectra of signals, complex parameters, writes through their views.
#include <groove/groove.h>

#include "tests/tracer/loop_log.h"
#include "tests/tracer/loops.h"

namespace groove::testing {
namespace {

void complex_parameter(Log& log, const Tensor& value) {
  log.tensor(view_as_real(value));
  log.tensor(value.grad().defined() ? view_as_real(value.grad()) : Tensor());
  log.integer(value.is_leaf());
}

// A filter is learned by the spectrum of what it gives.
void spectral_loss(int steps, Log& log) {
  auto weight = (groove::randn({8, 16}) * 0.3).requires_grad_();
  groove::optim::Adam optimizer({weight}, groove::optim::AdamOptions(0.02));
  const Tensor window = groove::hann_window(16);
  for (int step = 0; step < steps; ++step) {
    const Tensor signal = groove::randn({4, 8}).mm(weight);
    const Tensor spectrum = groove::fft::rfft(signal * window);
    const Tensor loss = (spectrum.abs() - 1).square().mean() + groove::angle(spectrum).cos().mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    log.number(loss.item<double>());
  }
  log.parameter(weight);
}

// The weights themselves are complex, and so are the layers.
void complex_network(int steps, Log& log) {
  auto first = groove::randn({6, 5}, kComplexFloat).mul_(0.3).requires_grad_();
  auto second = groove::randn({5, 3}, kComplexFloat).mul_(0.3).requires_grad_();
  groove::optim::SGD optimizer({first, second}, groove::optim::SGDOptions(0.05).momentum(0.9));
  for (int step = 0; step < steps; ++step) {
    const Tensor x = groove::randn({4, 6}, kComplexFloat);
    const Tensor hidden = groove::tanh(x.mm(first));
    const Tensor loss = hidden.mm(second).sub(x.slice(1, 0, 3)).abs().square().mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    log.number(loss.item<double>());
    if (step % 10 == 9) complex_parameter(log, first);
  }
  complex_parameter(log, second);
}

// Parts of a state are written through views and in place; now and then it is looked at.
void state_in_place(int steps, Log& log) {
  Tensor state = groove::randn({3, 4}, kComplexFloat);
  const Tensor turn = groove::polar(groove::ones({4}), groove::arange(4, kFloat) * 0.1);
  for (int step = 0; step < steps; ++step) {
    state.mul_(turn);
    state[step % 3].add_(0.5);
    groove::imag(state).mul_(0.99);
    state.select(1, 0) = groove::conj(state.select(1, 3));
    const Tensor energy = (state * state.conj()).sum();
    log.number(groove::real(energy).item<double>());
    if (step % 7 == 6) log.number(state[1][2].item<std::complex<float>>().imag());
  }
  log.tensor(view_as_real(state));
}

// Convolution by way of spectra, there and back, of a length that changes.
void through_spectra(int steps, Log& log) {
  auto kernel = (groove::randn({5}) * 0.3).requires_grad_();
  for (int step = 0; step < steps; ++step) {
    const std::int64_t length = 16 + 8 * (step / 20 % 2);
    const Tensor signal = groove::randn({2, length});
    const Tensor product = groove::fft::rfft(signal) * groove::fft::rfft(kernel, length);
    const Tensor loss = groove::fft::irfft(product, length).square().mean();
    loss.backward();
    {
      NoGradGuard guard;
      kernel.sub_(kernel.grad() * 0.01);
      kernel.mutable_grad().zero_();
    }
    log.number(loss.item<double>());
  }
  log.parameter(kernel);
}

}  // namespace

const std::vector<Loop>& complex_loops() {
  static const std::vector<Loop> all = {
      {"spectral_loss", spectral_loss},
      {"complex_network", complex_network},
      {"state_in_place", state_in_place},
      {"through_spectra", through_spectra},
  };
  return all;
}

}  // namespace groove::testing
