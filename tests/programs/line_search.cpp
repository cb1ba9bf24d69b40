// A closure is evaluated until the loss has fallen enough, as LBFGS does.
#include "tests/programs/program.h"

namespace groove::programs {
namespace {

void run() {
  auto x = groove::full({12}, 2.0).requires_grad_();
  const auto scale = groove::linspace(0.2, 3.0, 12);
  const auto closure = [&] {
    x.mutable_grad() = Tensor();
    auto loss = (scale * (x - 0.5).square()).sum() + (x * 0.3).cos().sum();
    loss.backward();
    return loss;
  };
  int evaluations = 0;
  for (int step = 0; step < 80; ++step) {
    if (step == 30) steady();
    auto loss = closure();
    const double before = loss.item<double>();
    auto direction = x.grad().neg();
    const double slope = -(direction * direction).sum().item<double>();
    double rate = step % 7 == 0 ? 2.0 : 0.5;
    auto origin = x.detach().clone();
    for (int search = 0; search < 8; ++search) {
      {
        NoGradGuard no_grad;
        x.copy_(origin + direction * rate);
      }
      ++evaluations;
      if (closure().item<double>() <= before + 1e-4 * rate * slope) break;
      rate *= 0.5;
    }
    if (step % 10 == 0) print("before", before);
    if (before < 1e-3) break;
    if (step % 20 == 19) {
      NoGradGuard no_grad;
      x.add_(groove::rand({12}) - 0.5);
    }
  }
  print("evaluations", evaluations);
  print_state({x});
}

[[maybe_unused]] const bool registered = add({"line_search", run});

}  // namespace
}  // namespace groove::programs
