// A9: a chain of elementwise operators on 4,194,304 floats; A11: one small operator; A12:
// Adam alone over 10 M parameters in 100 tensors; A13: softmax and layer norm over 4096 rows of
// 1024; A17: scaled dot-product attention. Each result is read before the next step, so none can be
// left out.
#include <torch/torch.h>

#include <functional>
#include <vector>

#include "anchors_models.h"

namespace {

// A step, and the tensor it leaves.
class Repeated : public Anchor {
 public:
  explicit Repeated(std::function<torch::Tensor()> step) : step_(std::move(step)) {}

  double run(int64_t steps) override {
    double last = 0;
    for (int64_t step = 0; step < steps; ++step) {
      auto result = step_();
      torch::NoGradGuard no_grad;
      last = result.view({-1})[0].item<float>();
    }
    return last;
  }

 private:
  std::function<torch::Tensor()> step_;
};

AnchorPtr chain() {
  auto a = torch::randn({4194304}), b = torch::randn({4194304});
  return std::make_unique<Repeated>([a, b] { return torch::gelu(a * 2 + b) * b; });
}

AnchorPtr small_operator(bool has_gradient) {
  auto x = torch::randn({8, 8}), y = torch::randn({8, 8});
  if (has_gradient) x.requires_grad_();
  return std::make_unique<Repeated>([x, y] { return x + y; });
}

AnchorPtr rows(bool is_softmax, bool has_backward) {
  auto x = torch::randn({4096, 1024}), cotangent = torch::randn({4096, 1024});
  auto weight = torch::ones({1024}), bias = torch::zeros({1024});
  if (has_backward) {
    for (auto* leaf : {&x, &weight, &bias}) leaf->requires_grad_();
  }
  return std::make_unique<Repeated>([=] {
    auto y = is_softmax ? torch::softmax(x, 1) : torch::layer_norm(x, {1024}, weight, bias);
    if (!has_backward) return y;
    for (auto* leaf : {&x, &weight, &bias}) leaf->mutable_grad() = torch::Tensor();
    y.backward(cotangent);
    return x.grad();
  });
}

AnchorPtr attention(int64_t length, int64_t width, int64_t batch, bool has_backward) {
  const auto make = [&] { return torch::randn({batch, 8, length, width}); };
  auto q = make(), k = make(), v = make(), cotangent = make();
  if (has_backward) {
    for (auto* leaf : {&q, &k, &v}) leaf->requires_grad_();
  }
  return std::make_unique<Repeated>([=] {
    auto y = torch::scaled_dot_product_attention(q, k, v);
    if (!has_backward) return y;
    for (auto* leaf : {&q, &k, &v}) leaf->mutable_grad() = torch::Tensor();
    y.backward(cotangent);
    return q.grad() + k.grad() + v.grad();
  });
}

class AdamAlone : public Anchor {
 public:
  AdamAlone() : parameters_(make()), optimizer_(parameters_, torch::optim::AdamOptions(1e-3)) {}

  double run(int64_t steps) override {
    for (int64_t step = 0; step < steps; ++step) optimizer_.step();
    torch::NoGradGuard no_grad;
    double last = 0;
    for (auto& parameter : parameters_) last = parameter[0].item<float>();
    return last;
  }

 private:
  static std::vector<torch::Tensor> make() {
    std::vector<torch::Tensor> parameters;
    for (int i = 0; i < 100; ++i) {
      parameters.push_back(torch::randn({100000}).requires_grad_());
      parameters.back().mutable_grad() = torch::randn({100000});
    }
    return parameters;
  }

  std::vector<torch::Tensor> parameters_;
  torch::optim::Adam optimizer_;
};

}  // namespace

AnchorPtr make_operators(const std::string& name) {
  if (name == "A9") return chain();
  if (name == "A11") return small_operator(false);
  if (name == "A11g") return small_operator(true);
  if (name == "A12") return std::make_unique<AdamAlone>();
  if (name == "A13s") return rows(true, false);
  if (name == "A13sb") return rows(true, true);
  if (name == "A13l") return rows(false, false);
  if (name == "A13lb") return rows(false, true);
  if (name == "A17s") return attention(64, 32, 8, false);
  if (name == "A17sb") return attention(64, 32, 8, true);
  if (name == "A17m") return attention(256, 64, 2, false);
  if (name == "A17mb") return attention(256, 64, 2, true);
  if (name == "A17l") return attention(1024, 64, 1, false);
  if (name == "A17lb") return attention(1024, 64, 1, true);
  return nullptr;
}
