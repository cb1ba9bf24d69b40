// Model and optimizer are saved and loaded in the middle; the loop goes on as if nothing happened.
#include "tests/programs/program.h"

namespace groove::programs {
namespace {

void run() {
  const std::string model_file = scratch_file("model.pt"), state_file = scratch_file("state.pt");
  Mlp net(4, 8, 2);
  auto optimizer = std::make_unique<optim::Adam>(net->parameters(), optim::AdamOptions(1e-2));
  for (int step = 0; step < 260; ++step) {
    if (step == 20) steady();
    if (step % 60 == 59) {
      groove::save(net, model_file);
      groove::save(*optimizer, state_file);
      Mlp fresh(4, 8, 2);
      optimizer = std::make_unique<optim::Adam>(fresh->parameters(), optim::AdamOptions(1e-2));
      groove::load(fresh, model_file);
      groove::load(*optimizer, state_file);
      net = fresh;
    }
    optimizer->zero_grad();
    auto loss = nn::functional::cross_entropy(net(groove::rand({3, 4})), labels(step, 3, 2));
    loss.backward();
    optimizer->step();
    if (step % 10 == 0) print("loss", loss.item<double>());
  }
  print_state(net->parameters());
}

[[maybe_unused]] const bool registered = add({"checkpoint", run});

}  // namespace
}  // namespace groove::programs
