// Tensors, views, random numbers and gradients of static objects.
#include "parts.h"

groove::Tensor table = groove::zeros({4});
static groove::Tensor view = table.slice(0, 1, 3);
static const bool is_written = (view.add_(2), true);
groove::Tensor drawn = (groove::manual_seed(7), groove::randn({3, 2}));
thread_local groove::Tensor local = groove::ones({3}) * 2;

namespace {

struct Gradient {
  groove::Tensor x = groove::full({2}, 3.0f, groove::requires_grad());
  Gradient() {
    (x * x).sum().backward();
    check(is_written && x.grad().sum().item<float>() == 12, "a gradient before main()");
  }
  ~Gradient() {
    x.mutable_grad().zero_();
    (x * x * x).sum().backward();
    check(x.grad().sum().item<float>() == 54, "a gradient after main()");
    check((table + 1).sum().item<float>() == 8, "a static tensor after main()");
  }
} gradient;

}  // namespace
