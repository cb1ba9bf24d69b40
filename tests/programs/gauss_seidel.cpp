// A solver that writes one row after the other in place, until the residual is small.
#include "tests/programs/program.h"

namespace groove::programs {
namespace {

void run() {
  NoGradGuard no_grad;
  for (int system = 0; system < 5; ++system) {
    if (system == 2) steady();
    auto a = groove::rand({8, 8}) + groove::eye(8) * 10;
    auto b = groove::rand({8});
    auto x = groove::zeros({8});
    int sweeps = 0;
    for (; sweeps < 20; ++sweeps) {
      for (int i = 0; i < 8; ++i) {
        auto rest = groove::dot(a[i], x) - a[i][i] * x[i];
        x[i] = (b[i] - rest) / a[i][i];
      }
      if ((groove::mv(a, x) - b).abs().amax().item<double>() < 1e-6) break;
    }
    print("sweeps", sweeps);
    print("x", x);
  }
}

[[maybe_unused]] const bool registered = add({"gauss_seidel", run});

}  // namespace
}  // namespace groove::programs
