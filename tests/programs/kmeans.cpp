// Lloyd's algorithm with centres moved by index_add, until no point changes its cluster.
#include "tests/programs/program.h"

namespace groove::programs {
namespace {

void run() {
  NoGradGuard no_grad;
  int rounds = 0;
  for (int start = 0; start < 8; ++start) {
    if (start == 3) steady();
    const auto points = groove::randn({120, 3});
    auto centres = points.narrow(0, 0, 5).clone();
    auto before = groove::full({120}, -1, groove::kLong);
    for (int round = 0; round < 40; ++round, ++rounds) {
      auto distances = (points.unsqueeze(1) - centres.unsqueeze(0)).square().sum(2);
      auto nearest = distances.argmin(1);
      auto sums = groove::zeros({5, 3}).index_add_(0, nearest, points);
      auto counts = groove::zeros({5}).index_add_(0, nearest, groove::ones({120}));
      centres = groove::where((counts > 0).unsqueeze(1), sums / counts.clamp_min(1).unsqueeze(1),
                              centres);
      const auto changed = nearest.ne(before).sum().item<std::int64_t>();
      before = nearest;
      if (changed == 0) break;
    }
    print("centres", centres);
  }
  print("rounds", rounds);
}

[[maybe_unused]] const bool registered = add({"kmeans", run});

}  // namespace
}  // namespace groove::programs
