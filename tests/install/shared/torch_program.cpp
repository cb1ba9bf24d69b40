#include <torch/torch.h>

int main() {
  torch::Tensor x = torch::full({4}, 2.0);
  return at::mul(x, x).sum().item<double>() == 16.0 ? 0 : 1;
}
