// A variational autoencoder: random draws inside the gradient, two terms in the loss.
#include "tests/programs/program.h"

namespace groove::programs {
namespace {

void run() {
  nn::Sequential encoder(nn::Linear(12, 16), nn::Tanh(), nn::Linear(16, 8));
  nn::Sequential decoder(nn::Linear(4, 16), nn::Tanh(), nn::Linear(16, 12));
  std::vector<Tensor> parameters = encoder->parameters();
  for (const Tensor& each : decoder->parameters()) parameters.push_back(each);
  optim::Adam optimizer(parameters, optim::AdamOptions(3e-3));
  const auto data = groove::rand({64, 12});
  for (int step = 0; step < 60; ++step) {
    if (step == 20) steady();
    auto x = data.index_select(0, groove::randint(64, {8}));
    auto parts = encoder->forward(x).chunk(2, 1);
    auto mean = parts[0], log_variance = parts[1];
    auto code = mean + groove::randn_like(mean) * groove::exp(log_variance * 0.5);
    auto again = groove::sigmoid(decoder->forward(code));
    auto match = nn::functional::mse_loss(
        again, x, nn::functional::MSELossFuncOptions().reduction(groove::kSum));
    auto spread = -0.5 * (1 + log_variance - mean.square() - log_variance.exp()).sum();
    auto loss = (match + spread) / 8.0;
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    if (step % 10 == 0) {
      print("match", match.item<double>());
      print("spread", spread.item<double>());
    }
  }
  print_state(parameters);
}

[[maybe_unused]] const bool registered = add({"vae", run});

}  // namespace
}  // namespace groove::programs
