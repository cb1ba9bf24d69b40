// A1 to A3: multilayer perceptrons of three sizes with ReLU, cross entropy and Adam; and the
// anchors by name.
#include "anchors_models.h"

#include <torch/torch.h>

#include <stdexcept>
#include <vector>

namespace {

struct Shape {
  const char* name;
  int64_t inputs, hidden, outputs, batch;
};
constexpr Shape kShapes[] = {
    {"A1", 4, 32, 4, 32}, {"A2", 784, 128, 10, 64}, {"A3", 784, 512, 10, 128}};

struct Net : torch::nn::Module {
  explicit Net(const Shape& shape) {
    fc1 = register_module("fc1", torch::nn::Linear(shape.inputs, shape.hidden));
    fc2 = register_module("fc2", torch::nn::Linear(shape.hidden, shape.hidden));
    fc3 = register_module("fc3", torch::nn::Linear(shape.hidden, shape.outputs));
  }

  torch::Tensor forward(torch::Tensor x) {
    x = torch::relu(fc1->forward(x));
    x = torch::relu(fc2->forward(x));
    return fc3->forward(x);
  }

  torch::nn::Linear fc1{nullptr}, fc2{nullptr}, fc3{nullptr};
};

class Perceptron : public Anchor {
 public:
  explicit Perceptron(const Shape& shape)
      : net_(shape), optimizer_(net_.parameters(), torch::optim::AdamOptions(1e-3)) {
    for (int i = 0; i < kBatches; ++i) {
      inputs_.push_back(torch::randn({shape.batch, shape.inputs}));
      targets_.push_back(torch::randint(shape.outputs, {shape.batch}, torch::kInt64));
    }
  }

  double run(int64_t steps) override {
    torch::Tensor loss;
    for (int64_t step = 0; step < steps; ++step) {
      const auto& input = inputs_[step % kBatches];
      const auto& target = targets_[step % kBatches];
      optimizer_.zero_grad();
      loss = torch::nn::functional::cross_entropy(net_.forward(input), target);
      loss.backward();
      optimizer_.step();
    }
    // Work that was put off must be done inside the measured time.
    torch::NoGradGuard no_grad;
    for (auto& parameter : net_.parameters()) parameter.view({-1})[0].item<float>();
    return loss.item<float>();
  }

 private:
  static constexpr int kBatches = 4;  // so that nothing can be taken for a constant

  Net net_;
  torch::optim::Adam optimizer_;
  std::vector<torch::Tensor> inputs_, targets_;
};

}  // namespace

AnchorPtr make_perceptron(const std::string& name) {
  for (const Shape& shape : kShapes) {
    if (name == shape.name) return std::make_unique<Perceptron>(shape);
  }
  return nullptr;
}

AnchorPtr make_anchor(const std::string& name) {
  torch::manual_seed(1);
  for (auto* make : {make_perceptron, make_convolutional, make_recurrent, make_transformer,
                     make_operators, make_varying}) {
    if (AnchorPtr anchor = make(name)) return anchor;
  }
  throw std::invalid_argument("unknown anchor " + name);
}

void use_threads(int threads) { torch::set_num_threads(threads); }
