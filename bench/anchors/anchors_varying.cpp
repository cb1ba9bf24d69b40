// Loops whose iterations differ. A14: a training loop over an LSTMCell, sequences of 5 to 20 steps,
// batch 8, 32 channels, Adam; a step is a sequence. A15: REINFORCE on the cart and pole, a policy
// 4-32-2; a step is an episode of at most 64 moves with its update. A16: an adaptive Runge-Kutta
// 3(2) through a net 4-32-4, batch 16; a step is one trial, accepted or refused by its error.
#include <torch/torch.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "anchors_models.h"

namespace {

namespace nn = torch::nn;

// The same lengths and starts with each library.
class Dice {
 public:
  int64_t below(int64_t n) { return static_cast<int64_t>(uniform() * static_cast<double>(n)); }
  double uniform() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(state_ >> 11) * 0x1p-53;
  }

 private:
  uint64_t state_ = 1;
};

std::vector<torch::Tensor> joined(std::vector<torch::Tensor> a,
                                  const std::vector<torch::Tensor>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

class Sequences : public Anchor {
 public:
  Sequences()
      : cell_(kSize, kSize),
        head_(kSize, kClasses),
        optimizer_(joined(cell_->parameters(), head_->parameters()),
                   torch::optim::AdamOptions(1e-3)) {
    for (int64_t length = 5; length <= 20; ++length) {
      sequences_.push_back(torch::randn({length, kBatch, kSize}));
      targets_.push_back(torch::randint(kClasses, {kBatch}, torch::kInt64));
    }
  }

  double run(int64_t steps) override {
    torch::Tensor loss;
    for (int64_t step = 0; step < steps; ++step) {
      const auto which = static_cast<size_t>(dice_.below(16));
      const torch::Tensor& sequence = sequences_[which];
      auto h = torch::zeros({kBatch, kSize}), c = torch::zeros({kBatch, kSize});
      for (int64_t t = 0; t < sequence.size(0); ++t) {
        std::tie(h, c) = cell_->forward(sequence[t], std::make_tuple(h, c));
      }
      optimizer_.zero_grad();
      loss = nn::functional::cross_entropy(head_->forward(h), targets_[which]);
      loss.backward();
      optimizer_.step();
    }
    for (auto& parameter : cell_->parameters()) parameter.view({-1})[0].item<float>();
    return loss.item<float>();
  }

 private:
  static constexpr int64_t kSize = 32, kBatch = 8, kClasses = 4;
  nn::LSTMCell cell_;
  nn::Linear head_;
  torch::optim::Adam optimizer_;
  std::vector<torch::Tensor> sequences_, targets_;
  Dice dice_;
};

class Episodes : public Anchor {
 public:
  Episodes()
      : first_(4, 32),
        second_(32, 2),
        optimizer_(joined(first_->parameters(), second_->parameters()),
                   torch::optim::AdamOptions(1e-3)) {}

  double run(int64_t steps) override {
    double reward = 0;
    for (int64_t step = 0; step < steps; ++step) reward = episode();
    for (auto& parameter : first_->parameters()) parameter.view({-1})[0].item<float>();
    return reward;
  }

 private:
  using State = std::array<float, 4>;  // of cart and pole: position, speed, angle, its speed

  // Barto, Sutton, Anderson 1983; Euler steps of 0.02 s.
  static bool moves(State& s, bool is_right) {
    const float force = is_right ? 10.0f : -10.0f, sine = std::sin(s[2]), cosine = std::cos(s[2]);
    const float push = (force + 0.05f * s[3] * s[3] * sine) / 1.1f;
    const float turn =
        (9.8f * sine - cosine * push) / (0.5f * (4.0f / 3 - 0.1f * cosine * cosine / 1.1f));
    const float speed = push - 0.05f * turn * cosine / 1.1f;
    s = {s[0] + 0.02f * s[1], s[1] + 0.02f * speed, s[2] + 0.02f * s[3], s[3] + 0.02f * turn};
    return std::abs(s[0]) < 2.4f && std::abs(s[2]) < 0.2095f;
  }

  double episode() {
    State state;
    for (float& each : state) each = static_cast<float>(0.1 * dice_.uniform() - 0.05);
    std::vector<torch::Tensor> chosen;
    for (bool goes_on = true; goes_on && chosen.size() < 64;) {
      auto input = torch::tensor(std::vector<float>(state.begin(), state.end())).view({1, 4});
      auto scores = torch::log_softmax(second_->forward(torch::relu(first_->forward(input))), 1);
      auto action = scores.detach().exp().multinomial(1);
      chosen.push_back(scores.gather(1, action).squeeze());
      goes_on = moves(state, action.item<int64_t>() == 1);
    }
    double value = 0;
    auto loss = torch::zeros({});
    for (size_t t = chosen.size(); t-- > 0;) {
      value = 1 + 0.99 * value;
      loss = loss - chosen[t] * value;
    }
    optimizer_.zero_grad();
    loss.backward();
    optimizer_.step();
    return value;
  }

  nn::Linear first_, second_;
  torch::optim::Adam optimizer_;
  Dice dice_;
};

class Solver : public Anchor {
 public:
  Solver() : first_(4, 32), second_(32, 4), y_(torch::randn({16, 4})) {}

  double run(int64_t steps) override {
    torch::NoGradGuard no_grad;
    double size = 0;
    for (int64_t step = 0; step < steps; ++step) {
      auto k1 = field(y_);
      auto k2 = field(y_ + k1 * (0.5 * h_));
      auto k3 = field(y_ + k2 * (0.75 * h_));
      auto next = y_ + (k1 * (2.0 / 9) + k2 * (1.0 / 3) + k3 * (4.0 / 9)) * h_;
      auto k4 = field(next);
      auto error = (k1 * (-5.0 / 72) + k2 * (1.0 / 12) + k3 * (1.0 / 9) - k4 * 0.125) * h_;
      size = error.abs().amax().item<double>() / 1e-5;
      if (size <= 1) y_ = next;
      const double factor = 0.9 * std::cbrt(1 / (size + 1e-12));
      // Now and then it asks for too much, so that trials are refused for ever.
      h_ *= trials_++ % 5 == 4 ? 2.0 : std::clamp(factor, 0.3, 3.0);
      h_ = std::min(h_, 0.5);
    }
    return y_.sum().item<double>();
  }

 private:
  torch::Tensor field(const torch::Tensor& y) {
    return second_->forward(torch::tanh(first_->forward(y))) - torch::sin(y);
  }

  nn::Linear first_, second_;
  torch::Tensor y_;
  double h_ = 0.05;
  int64_t trials_ = 0;
};

}  // namespace

AnchorPtr make_varying(const std::string& name) {
  if (name == "A14") return std::make_unique<Sequences>();
  if (name == "A15") return std::make_unique<Episodes>();
  if (name == "A16") return std::make_unique<Solver>();
  return nullptr;
}
