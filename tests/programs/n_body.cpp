// Bodies that attract each other; leapfrog with positions and velocities changed in place.
#include "tests/programs/program.h"

namespace groove::programs {
namespace {

void run() {
  NoGradGuard no_grad;
  auto position = groove::randn({16, 3}), velocity = groove::randn({16, 3}) * 0.1;
  const auto mass = groove::rand({16}) + 0.5;
  const auto forces = [&] {
    auto apart = position.unsqueeze(0) - position.unsqueeze(1);
    auto inverse = (apart.square().sum(2) + 0.01).pow(-1.5);
    return (apart * (inverse * mass.unsqueeze(0)).unsqueeze(2)).sum(1);
  };
  auto acceleration = forces();
  for (int step = 0; step < 300; ++step) {
    if (step == 120) steady();
    velocity.add_(acceleration, 0.005);
    position.add_(velocity, 0.01);
    acceleration = forces();
    velocity.add_(acceleration, 0.005);
    if (step % 30 == 29) {
      auto energy = 0.5 * (mass * velocity.square().sum(1)).sum();
      print("energy", energy.item<double>());
    }
  }
  print("position", position);
  print("velocity", velocity);
}

[[maybe_unused]] const bool registered = add({"n_body", run});

}  // namespace
}  // namespace groove::programs
