// An index beyond the table is an error at its line; caught, the loop goes on.
#include <cstring>
#include <string>

#include "tests/programs/program.h"

namespace groove::programs {
namespace {

void run() {
  nn::Embedding table(10, 6);
  nn::Linear head(6, 3);
  std::vector<Tensor> parameters = table->parameters();
  for (const Tensor& each : head->parameters()) parameters.push_back(each);
  optim::Adam optimizer(parameters, optim::AdamOptions(1e-2));
  for (int step = 0; step < 160; ++step) {
    if (step == 60) steady();
    try {
      optimizer.zero_grad();
      auto tokens = labels(step, 5, 10) + (step % 11 == 10 ? 3 : 0);
      auto target = labels(step, 5, 3) + (step % 13 == 12 ? 1 : 0);
      auto loss = nn::functional::cross_entropy(head(table(tokens)), target);
      loss.backward();
      optimizer.step();
      print("loss", loss.item<double>());
    } catch (const Error& error) {
      print(std::string(error.what(), std::strcspn(error.what(), "\n")));
    }
  }
  print_state(parameters);
}

[[maybe_unused]] const bool registered = add({"index_errors", run});

}  // namespace
}  // namespace groove::programs
