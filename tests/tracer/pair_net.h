// The small net that loops about odd backwards train.
#pragma once

#include <groove/groove.h>

namespace groove::testing {

struct PairImpl : nn::Module {
  PairImpl(int inputs, int hidden, int outputs) {
    first = register_module("first", nn::Linear(inputs, hidden));
    second = register_module("second", nn::Linear(hidden, outputs));
  }
  Tensor forward(const Tensor& x) { return second(groove::tanh(first(x))); }
  nn::Linear first{nullptr}, second{nullptr};
};
GROOVE_MODULE(Pair);

inline Tensor loss_of(Pair& net, int step) {
  return (net(groove::randn({3, 4})) - 0.1 * (step % 3)).square().mean();
}

}  // namespace groove::testing
