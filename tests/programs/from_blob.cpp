// A batch over memory of the program's own that is overwritten right after it was used.
#include <cstring>
#include <vector>

#include "tests/programs/program.h"

namespace groove::programs {
namespace {

void run() {
  Mlp net(4, 8, 2);
  optim::Adam optimizer(net->parameters(), optim::AdamOptions(1e-2));
  std::vector<float> row(12);
  for (int step = 0; step < 70; ++step) {
    if (step == 20) steady();
    for (std::size_t i = 0; i < 12; ++i)
      row[i] = 0.1f * static_cast<float>((static_cast<std::size_t>(step) + i) % 5);
    auto x = groove::from_blob(row.data(), {3, 4});
    if (step % 2 == 0) x = x.clone();
    optimizer.zero_grad();
    auto out = net(x);
    auto loss = out.abs().sum();
    loss.backward();
    std::memset(row.data(), 0x7f, row.size() * sizeof(float));
    optimizer.step();
    print("loss", loss.item<double>());
  }
  print_state(net->parameters());
}

[[maybe_unused]] const bool registered = add({"from_blob", run});

}  // namespace
}  // namespace groove::programs
