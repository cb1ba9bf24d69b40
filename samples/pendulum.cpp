// Learns the damping and the length of a pendulum from a few seconds of its swings, through a
// solver that chooses its own step sizes: the solver is a while_loop, the observations a scan over
// it, and gradients flow through both.
#include <groove/groove.h>

#include <cmath>
#include <cstdio>

#include "sample_options.h"

using groove::Tensor;

// How angle and speed ([2, n], one column a pendulum) change.
static Tensor swing(const Tensor& state, const Tensor& damping, const Tensor& length) {
  const Tensor angle = state[0], speed = state[1];
  return groove::stack({speed, -(9.81 / length) * angle.sin() - damping * speed});
}

// From one observation to the next, `span` seconds later, by Heun's method; a step whose two
// estimates differ too much is done again with half the size.
static Tensor integrate(const Tensor& start, double span, const Tensor& damping,
                        const Tensor& length) {
  const double tolerance = 1e-3;
  const auto [time, step, end] =
      groove::while_loop([&](const Tensor& t, const Tensor&, const Tensor&) { return t < span; },
                         [&](const Tensor& t, const Tensor& size, const Tensor& state) {
                           const Tensor h = groove::minimum(size, span - t);
                           const Tensor k1 = swing(state, damping, length);
                           const Tensor k2 = swing(state + h * k1, damping, length);
                           const Tensor next = state + h * 0.5 * (k1 + k2);
                           const Tensor error = (h * 0.5 * (k2 - k1)).detach().abs().max();
                           const Tensor is_good = error < tolerance;
                           return std::tuple{groove::where(is_good, t + h, t),
                                             groove::where(is_good, size * 1.3, size * 0.5),
                                             groove::where(is_good, next, state)};
                         },
                         std::tuple{groove::zeros({}), groove::full({}, 0.05), start});
  return end;
}

// The states at `times` moments that are `span` seconds apart: [times, 2, n].
static Tensor observe(const Tensor& start, std::int64_t times, double span, const Tensor& damping,
                      const Tensor& length) {
  const auto [last, seen] = groove::scan(
      [&](const Tensor& state, const std::tuple<>&) {
        const Tensor next = integrate(state, span, damping, length);
        return std::pair{next, next};
      },
      start, std::tuple<>(), {.length = times});
  return seen;
}

int main(int argc, char** argv) {
  SampleOptions defaults;
  defaults.steps = 300;
  defaults.batch = 8;
  const auto options = parse_options(
      argc, argv, "Learns a pendulum's damping and length through an adaptive solver.", defaults);
  try {
    groove::manual_seed(options.seed);
    constexpr std::int64_t kTimes = 6;
    constexpr double kSpan = 0.25;
    const Tensor damping = groove::full({}, 0.4), length = groove::full({}, 1.3);
    // Their logarithms are learned, since both are positive.
    const Tensor log_damping = groove::full({}, -3.0).requires_grad_();
    const Tensor log_length = groove::zeros({}).requires_grad_();
    groove::optim::Adam optimizer({log_damping, log_length}, groove::optim::AdamOptions(0.03));

    Progress progress(options.steps, options.bits);
    for (std::int64_t step = 1; step <= options.steps; ++step) {
      const Tensor start = groove::rand({2, options.batch}) * 2.0 - 1.0;
      Tensor seen;
      {
        groove::NoGradGuard no_grad;
        seen = observe(start, kTimes, kSpan, damping, length);
        seen = seen + 0.01 * groove::randn({kTimes, 2, options.batch});
      }
      optimizer.zero_grad();
      const Tensor guess = observe(start, kTimes, kSpan, log_damping.exp(), log_length.exp());
      const Tensor loss = groove::mse_loss(guess, seen);
      loss.backward();
      optimizer.step();

      if (progress.wants(step)) progress.show(step, loss.item<float>());
      progress.count();
    }
    progress.finish();
    std::printf("damping %.3f (0.4), length %.3f (1.3)\n", std::exp(log_damping.item<float>()),
                std::exp(log_length.item<float>()));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "pendulum: %s\n", error.what());
    return 1;
  }
}
