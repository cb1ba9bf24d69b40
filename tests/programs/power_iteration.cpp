// The largest eigenvalue, read every tenth round to see whether it has settled.
#include <cmath>

#include "tests/programs/program.h"

namespace groove::programs {
namespace {

void run() {
  NoGradGuard no_grad;
  for (int trial = 0; trial < 10; ++trial) {
    if (trial == 4) steady();
    auto a = groove::rand({32, 32});
    a = a + a.t();
    auto v = groove::ones({32});
    double last = 0;
    int round = 0;
    for (; round < 200; ++round) {
      auto w = groove::mv(a, v);
      v = w / w.norm();
      if (round % 10 != 9) continue;
      const double value = groove::dot(v, groove::mv(a, v)).item<double>();
      if (std::abs(value - last) < 1e-5) break;
      last = value;
    }
    print("value", last);
    print("rounds", round);
  }
}

[[maybe_unused]] const bool registered = add({"power_iteration", run});

}  // namespace
}  // namespace groove::programs
