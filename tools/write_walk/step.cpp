// The page shows the lines between the two marks.
#include "step.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "groove/groove.h"

namespace nn = groove::nn;

namespace walk {

double train(std::int64_t steps) {
  using Clock = std::chrono::steady_clock;
  groove::manual_seed(1);
  const auto x = groove::randn({32, 4});
  const auto target = groove::randint(0, 3, {32}, groove::kLong);
  nn::Linear hidden(4, 16), out(16, 3);
  auto parameters = hidden->parameters();
  for (const auto& parameter : out->parameters()) parameters.push_back(parameter);
  groove::optim::SGD optimizer(parameters, 0.1);
  std::vector<double> times;
  [[maybe_unused]] float last_loss = 0;
  for (std::int64_t step = 0; step < steps; ++step) {
    const auto begin = Clock::now();
    // [ the step
    optimizer.zero_grad();
    auto logits = out(groove::relu(hidden(x)));
    auto loss = groove::nn::functional::cross_entropy(logits, target);
    loss.backward();
    optimizer.step();
    last_loss = loss.item<float>();
    // the step ]
    times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
  }
  std::vector<double> last(times.end() - static_cast<std::ptrdiff_t>(times.size() / 2),
                           times.end());
  std::nth_element(last.begin(), last.begin() + static_cast<std::ptrdiff_t>(last.size() / 2),
                   last.end());
  return last[last.size() / 2];
}

}  // namespace walk
