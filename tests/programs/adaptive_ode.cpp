// An adaptive Runge-Kutta solver (Bogacki-Shampine 3(2)): every step is accepted or refused by the
// value of its error estimate.
#include <cmath>

#include "tests/programs/program.h"

namespace groove::programs {
namespace {

Tensor field(const Tensor& y, const Tensor& rates) {
  auto turned = groove::matmul(rates, y);
  return groove::tanh(turned) - 0.1 * y;
}

void run() {
  NoGradGuard no_grad;
  const auto rates = groove::randn({24, 24}) * 0.8;
  auto y = groove::randn({24, 4});
  double t = 0, h = 0.05;
  int accepted = 0, refused = 0;
  for (int step = 0; step < 160; ++step) {
    if (step == 60) steady();
    auto k1 = field(y, rates);
    auto k2 = field(y + k1 * (0.5 * h), rates);
    auto k3 = field(y + k2 * (0.75 * h), rates);
    auto next = y + (k1 * (2.0 / 9) + k2 * (1.0 / 3) + k3 * (4.0 / 9)) * h;
    auto k4 = field(next, rates);
    auto error = (k1 * (-5.0 / 72) + k2 * (1.0 / 12) + k3 * (1.0 / 9) - k4 * 0.125) * h;
    const double size = error.abs().amax().item<double>() / 1e-4;
    if (size <= 1) {
      t += h;
      y = next;
      ++accepted;
    } else {
      ++refused;
    }
    h *= std::min(3.0, std::max(0.3, 0.9 * std::cbrt(1.0 / (size + 1e-12))));
  }
  print("t", t);
  print("accepted", accepted);
  print("refused", refused);
  print("y", y);
}

[[maybe_unused]] const bool registered = add({"adaptive_ode", run});

}  // namespace
}  // namespace groove::programs
