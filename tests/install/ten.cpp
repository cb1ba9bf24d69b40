// Uses an operator, a gradient and a layer: all of them reach the library through registrations.
#include <groove/groove.h>

int main() {
  auto x = groove::ones({2, 3}).requires_grad_();
  groove::nn::Linear layer(3, 1);
  groove::relu(layer(x) + 10.0).sum().backward();
  auto expected = layer->weight.detach().expand({2, 3});
  return groove::sub(x.grad(), expected).abs().max().item<float>() == 0.0f ? 0 : 1;
}
