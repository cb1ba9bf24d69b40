// What LibTorch programs build on beside operators: nodes of the tape that they define, and modules
// as they are printed.
#include "cases.h"

using namespace agreement;
using torch::Tensor;
using torch::autograd::variable_list;

namespace {

// y = x * w * factor, x of [rows, n], w of [n].
struct Scaled : torch::autograd::Node {
  explicit Scaled(double factor) : factor(factor) {}
  variable_list apply(variable_list&& gradients) override {
    const Tensor x = saved_x.unpack(), w = saved_w.unpack();
    variable_list result(2);
    if (task_should_compute_output(0)) result[0] = gradients[0] * w * factor;
    if (task_should_compute_output(1)) result[1] = (gradients[0] * x).sum(0) * factor;
    return result;
  }
  void release_variables() override {
    saved_x.reset_data();
    saved_w.reset_data();
  }
  std::string name() const override { return "Scaled"; }
  double factor;
  torch::autograd::SavedVariable saved_x, saved_w;
};

Tensor scaled(const Tensor& x, const Tensor& w, double factor) {
  const auto node = c10::make_intrusive<Scaled>(factor);
  node->set_next_edges(torch::autograd::collect_next_edges(x, w));
  node->saved_x = torch::autograd::SavedVariable(x, false);
  node->saved_w = torch::autograd::SavedVariable(w, false);
  Tensor result;
  {
    const torch::NoGradGuard no_grad;
    result = x * w * factor;
  }
  torch::autograd::create_gradient_edge(result, node);
  return result;
}

struct Nothing : torch::autograd::Node {
  variable_list apply(variable_list&&) override { return {}; }
};

// What is printed, and a truth behind it on the same stream.
template <typename Value>
void show_printed(const std::string& name, const Value& value) {
  std::ostringstream text;
  text << value << '|' << true;
  show(name, text.str());
}
int shown_modules = 0;
template <typename Module>
void show_module(const Module& module) {
  std::ostringstream text;
  text << module << true;
  const std::string printed = text.str();
  show(std::to_string(++shown_modules) + ' ' + printed.substr(0, printed.find('(')), printed);
}

}  // namespace

CASE(own_nodes) {
  const Tensor x = leaf({2, 3}), w = leaf({3}, 1);
  show_gradients("leaves", scaled(x, w, 2), {x, w});
  show_gradients("in the middle", scaled((x * 3).exp(), w.cos(), 0.5).pow(2), {x, w});
  show_gradients("one leaf", scaled(filled({2, 3}), w, 2), {w});
  const Tensor y = scaled(x, w, 2);
  show("name", y.grad_fn()->name());
  show("edges", static_cast<double>(y.grad_fn()->num_outputs()));
  show("results", static_cast<double>(y.grad_fn()->num_inputs()));
  show("in front", y.grad_fn()->next_edge(1).function->name());
  show("behind", y.exp().grad_fn()->next_edge(0).function->name());
  y.sum().backward();
  show_error("again", [&] { y.sum().backward(); });
  const Tensor z = scaled(x, w, 2);
  {
    const torch::NoGradGuard no_grad;
    w.add_(1);
  }
  show_error("overwritten", [&] { z.sum().backward(); });
  show_error("too few", [&] {
    const auto node = c10::make_intrusive<Nothing>();
    node->set_next_edges(torch::autograd::collect_next_edges(x));
    Tensor result = x.detach() + 1;
    torch::autograd::create_gradient_edge(result, node);
    result.sum().backward();
  });
}

CASE(printed_modules) {
  using namespace torch::nn;
  show_module(Linear(2, 3));
  show_module(Conv1d(1, 1, 1));
  show_module(Conv2d(Conv2dOptions(1, 2, 3).bias(false)));
  show_module(ConvTranspose2d(1, 2, 3));
  show_module(ConvTranspose2d(ConvTranspose2dOptions(1, 2, 3).bias(false)));
  show_module(BatchNorm2d(2));
  show_module(InstanceNorm2d(2));
  show_module(LayerNorm(LayerNormOptions({2})));
  show_module(GroupNorm(1, 2));
  show_module(LocalResponseNorm(2));
  show_module(CrossMapLRN2d(2));
  show_module(ReLU());
  show_module(ReLU(true));
  show_module(ReLU6());
  show_module(LeakyReLU());
  show_module(LeakyReLU(LeakyReLUOptions().inplace(true)));
  show_module(ELU());
  show_module(ELU(ELUOptions().inplace(true)));
  show_module(SELU());
  show_module(CELU());
  show_module(GELU());
  show_module(Softplus());
  show_module(Softshrink());
  show_module(Hardshrink());
  show_module(Hardtanh());
  show_module(Threshold(1, 2));
  show_module(Threshold(ThresholdOptions(1, 2).inplace(true)));
  show_module(PReLU());
  show_module(RReLU());
  show_module(Softmax(1));
  show_module(Dropout(0.5));
  show_module(Dropout2d(0.5));
  show_module(AlphaDropout(0.5));
  show_module(MaxPool2d(2));
  show_module(AvgPool2d(2));
  show_module(AdaptiveAvgPool2d(2));
  show_module(MaxUnpool2d(2));
  show_module(LPPool1d(2, 2));
  show_module(Embedding(2, 3));
  show_module(EmbeddingBag(2, 3));
  show_module(LSTM(2, 3));
  show_module(LSTMCell(2, 3));
  show_module(RNNCell(RNNCellOptions(2, 3).bias(false)));
  show_module(Flatten());
  show_module(Upsample(UpsampleOptions().size(std::vector<std::int64_t>{2})));
  show_module(Fold(FoldOptions(2, 2)));
  show_module(ReflectionPad2d(1));
  show_module(ConstantPad2d(1, 3.5));
  show_module(CosineSimilarity());
  show_module(PairwiseDistance());
  show_module(MSELoss());
  show_module(CrossEntropyLoss());
  show_module(SmoothL1Loss());
  show_module(HuberLoss());
  show_module(TripletMarginLoss());
  show_module(TripletMarginWithDistanceLoss());
  show_module(Bilinear(1, 2, 3));
  show_module(MultiheadAttention(4, 2));
  show_module(TransformerEncoderLayer(4, 2));
  show_module(Sequential(Linear(1, 1), ReLU()));
  show_module(Sequential(ReLU(), GELU()));
}

CASE(printed_types) {
  const Tensor x = filled({2});
  show_printed("options", torch::TensorOptions());
  show_printed("options of a tensor", x.options());
  show_printed("options asked for", torch::dtype(torch::kLong).requires_grad(true));
  show_printed("slice", torch::indexing::Slice(1, 2));
  show_printed("truth as index", torch::indexing::TensorIndex(true));
  show_printed("number as index", torch::indexing::TensorIndex(1));
  show_printed("scalar", torch::Scalar(true));
  show_printed("truths", torch::tensor({true}));
  show_printed("half", c10::Half(1.5F));
  show_printed("bfloat16", c10::BFloat16(-2.0F));
  show_printed("device", torch::Device("cuda:1"));
  show_printed("kind of device", torch::kMPS);
  show_printed("its name", c10::DeviceTypeName(torch::kXPU));
  show_printed("dtype", torch::kFloat);
  show_printed("type of a tensor", x.dtype());
  show_printed("sizes", x.sizes());
  show("has a layout", x.options().has_layout() ? "yes" : "no");
}
