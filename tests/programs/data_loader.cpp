// Batches come from a loader with two workers, shuffled, with a ragged last one.
#include <vector>

#include "tests/programs/program.h"

namespace groove::programs {
namespace {

class Numbers : public data::datasets::Dataset<Numbers> {
 public:
  data::Example<> get(std::size_t index) override {
    const auto i = static_cast<std::int64_t>(index);
    std::vector<float> row;
    for (std::int64_t k = 0; k < 6; ++k)
      row.push_back(static_cast<float>((i * (k + 3)) % 11) * 0.2f - 1.0f);
    return {groove::tensor(row), groove::tensor(i % 3, groove::kLong)};
  }
  std::optional<std::size_t> size() const override { return 50; }
};

void run() {
  auto loader = data::make_data_loader<data::samplers::RandomSampler>(
      Numbers().map(data::transforms::Stack<>()), data::DataLoaderOptions(8).workers(2));
  Mlp net(6, 12, 3);
  optim::Adam optimizer(net->parameters(), optim::AdamOptions(1e-2));
  for (int epoch = 0; epoch < 14; ++epoch) {
    if (epoch == 5) steady();
    double sum = 0;
    for (auto& batch : *loader) {
      optimizer.zero_grad();
      auto loss = nn::functional::cross_entropy(net(batch.data), batch.target);
      loss.backward();
      optimizer.step();
      sum += loss.item<double>();
    }
    print("sum", sum);
  }
  print_state(net->parameters());
}

[[maybe_unused]] const bool registered = add({"data_loader", run});

}  // namespace
}  // namespace groove::programs
