// Runge-Kutta with fixed steps: no gradient, no host read, no optimizer, no cut of any kind.
#include "tests/programs/program.h"

namespace groove::programs {
namespace {

void run() {
  NoGradGuard no_grad;
  auto x = groove::ones({32}), v = groove::zeros({32});
  const auto stiffness = groove::linspace(0.5, 2.0, 32);
  const double h = 0.02;
  const auto force = [&](const Tensor& at) { return -stiffness * groove::sin(at); };
  for (int step = 0; step < 200; ++step) {
    if (step == 60) steady();
    auto a1 = force(x);
    auto x2 = x + 0.5 * h * v, v2 = v + 0.5 * h * a1;
    auto a2 = force(x2);
    auto x3 = x + 0.5 * h * v2, v3 = v + 0.5 * h * a2;
    auto a3 = force(x3);
    auto x4 = x + h * v3, v4 = v + h * a3;
    auto a4 = force(x4);
    x = x + (h / 6) * (v + 2 * v2 + 2 * v3 + v4);
    v = v + (h / 6) * (a1 + 2 * a2 + 2 * a3 + a4);
  }
  print("x", x);
  print("v", v);
}

[[maybe_unused]] const bool registered = add({"fixed_ode", run});

}  // namespace
}  // namespace groove::programs
