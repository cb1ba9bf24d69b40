// A first program, as one writes it for LibTorch; bench/program/run builds it with both libraries.
#include <torch/torch.h>

#include <iostream>

struct Net : torch::nn::Module {
  Net() {
    fc1 = register_module("fc1", torch::nn::Linear(2, 32));
    fc2 = register_module("fc2", torch::nn::Linear(32, 2));
  }
  torch::Tensor forward(const torch::Tensor& x) { return fc2(torch::relu(fc1(x))); }
  torch::nn::Linear fc1{nullptr}, fc2{nullptr};
};

int main() {
  torch::manual_seed(1);
  auto points = torch::rand({512, 2}) * 2 - 1;
  auto inside = (points * points).sum(1).lt(0.5).to(torch::kLong);
  Net model;
  torch::optim::Adam optimizer(model.parameters(), torch::optim::AdamOptions(1e-2));
  for (int step = 1; step <= 500; ++step) {
    optimizer.zero_grad();
    auto loss = torch::nn::functional::cross_entropy(model.forward(points), inside);
    loss.backward();
    optimizer.step();
  }
  torch::NoGradGuard no_grad;
  auto guess = model.forward(points).argmax(1);
  std::cout << "right: " << guess.eq(inside).sum().item<int64_t>() << " of 512\n";
}
