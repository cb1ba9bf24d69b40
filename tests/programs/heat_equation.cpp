// Explicit steps of the heat equation on a grid, writing the interior in place through slices.
#include "tests/programs/program.h"

namespace groove::programs {
namespace {

void run() {
  NoGradGuard no_grad;
  auto u = groove::zeros({24, 24});
  u.slice(0, 8, 16).slice(1, 8, 16).fill_(1.0);
  using S = indexing::Slice;
  for (int step = 0; step < 480; ++step) {
    if (step == 280) steady();
    auto middle = u.index({S(1, -1), S(1, -1)});
    auto sum = u.index({S(0, -2), S(1, -1)}) + u.index({S(2, indexing::None), S(1, -1)}) +
               u.index({S(1, -1), S(0, -2)}) + u.index({S(1, -1), S(2, indexing::None)});
    middle.add_((sum - 4 * middle) * 0.2);
    u[0].fill_(0.1);
    if (step % 40 == 39) print("heat", u.sum().item<double>());
  }
  print("u", u);
}

[[maybe_unused]] const bool registered = add({"heat_equation", run});

}  // namespace
}  // namespace groove::programs
