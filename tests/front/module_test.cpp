// Modules as users of LibTorch write them.
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "groove/autograd.h"
#include "groove/factories.h"
#include "groove/nn.h"
#include "groove/ops/creation.h"
#include "groove/ops/math.h"
#include "groove/ops/reductions.h"
#include "groove/ops/views.h"
#include "groove/random.h"

namespace groove {
namespace {

namespace F = nn::functional;

struct BlockImpl : nn::Module {
  BlockImpl(int in, int out)
      : fc(register_module("fc", nn::Linear(nn::LinearOptions(in, out).bias(false)))),
        norm(register_parameter("scale", ones({out}))) {
    register_buffer("count", zeros({}, kLong));
  }
  Tensor forward(Tensor x) { return relu(fc(x)) * norm; }
  nn::Linear fc;
  Tensor norm;
};
GROOVE_MODULE(Block);

struct Net : nn::Module {
  Net() {
    block = register_module("block", Block(4, 8));
    head = register_module("head", nn::Linear(8, 3));
    drop = register_module("drop", nn::Dropout(0.5));
  }
  Tensor forward(Tensor x, double scale = 1) { return drop(head->forward(block(x))) * scale; }
  Block block = nullptr;
  nn::Linear head{nullptr};
  nn::Dropout drop{nullptr};
};

TEST(Module, ByValueWithNamedParameters) {
  Net net;
  std::vector<std::string> names;
  for (const auto& item : net.named_parameters()) {
    names.push_back(item.key());
    EXPECT_TRUE(item.value().requires_grad());
  }
  EXPECT_EQ(names, (std::vector<std::string>{"block.scale", "block.fc.weight", "head.weight",
                                             "head.bias"}));
  EXPECT_EQ(net.parameters().size(), 4u);
  EXPECT_EQ(net.named_buffers().keys(), (std::vector<std::string>{"block.count"}));
  EXPECT_EQ(net.children().size(), 3u);
  EXPECT_EQ(net.modules(false).size(), 4u);
  EXPECT_EQ(net.named_modules("", false).keys()[1], "block.fc");
  // No shared_ptr holds it, so none can be given.
  EXPECT_THROW(net.modules(), Error);
  EXPECT_THROW(net.named_modules(), Error);
  auto params = net.named_parameters();
  EXPECT_TRUE(params["head.bias"].is_same(net.head->bias));
  EXPECT_EQ(params.find("missing"), nullptr);
  EXPECT_TRUE(params.contains("head.weight"));
  EXPECT_THROW(params["missing"], Error);
  EXPECT_TRUE(net.forward(ones({2, 4})).requires_grad());
}

TEST(Module, HoldersShareAndMayBeEmpty) {
  Block a(2, 3);
  Block b = a;
  EXPECT_EQ(a.ptr(), b.ptr());
  Block empty = nullptr;
  EXPECT_FALSE(empty);
  EXPECT_THROW(empty->parameters(), Error);
  std::shared_ptr<nn::Module> base = a;
  EXPECT_EQ(base.get(), a.get());
  EXPECT_NE(base->as<BlockImpl>(), nullptr);
  EXPECT_NE(base->as<Block>(), nullptr);
  EXPECT_EQ(base->as<nn::Linear>(), nullptr);
  auto shared = std::make_shared<Net>();
  EXPECT_EQ(shared->modules()[0], shared);
}

TEST(Module, TrainEvalApplyZeroGrad) {
  Net net;
  net.eval();
  EXPECT_FALSE(net.drop->is_training());
  EXPECT_FALSE(net.block->fc->is_training());
  net.train();
  EXPECT_TRUE(net.drop->is_training());
  net.apply([](nn::Module& m) {
    if (auto* linear = m.as<nn::Linear>()) nn::init::constant_(linear->weight, 0.5);
  });
  EXPECT_EQ(net.head->weight[0][0].item<float>(), 0.5f);
  net.eval();
  net.forward(ones({1, 4})).sum().backward();
  EXPECT_TRUE(net.head->bias.grad().defined());
  net.zero_grad(false);
  EXPECT_EQ(net.head->bias.grad()[0].item<float>(), 0);
  net.zero_grad();
  EXPECT_FALSE(net.head->bias.grad().defined());
}

TEST(Module, ToConvertsInPlace) {
  Net net;
  const Tensor weight = net.head->weight;
  net.to(kCPU);
  net.to(Device(kCPU), kFloat64);
  EXPECT_EQ(weight.scalar_type(), kDouble);
  EXPECT_TRUE(weight.requires_grad());
  EXPECT_EQ(net.buffers()[0].scalar_type(), kLong);
  EXPECT_THROW(net.to(kLong), Error);
}

TEST(Module, Printing) {
  Net net;
  std::ostringstream out;
  out << net;
  EXPECT_NE(out.str().find("Net(\n  (block): "), std::string::npos) << out.str();
  EXPECT_NE(
      out.str().find("    (fc): torch::nn::Linear(in_features=4, out_features=8, bias=false)\n"),
      std::string::npos)
      << out.str();
  EXPECT_NE(out.str().find("  (drop): torch::nn::Dropout(p=0.5, inplace=false)\n)"),
            std::string::npos)
      << out.str();
}

TEST(Module, RegistrationErrors) {
  struct Bad : nn::Module {};
  Bad bad;
  bad.register_buffer("b", ones({1}));
  EXPECT_THROW(bad.register_buffer("b", ones({1})), Error);
  EXPECT_THROW(bad.register_parameter("a.b", ones({1})), Error);
  EXPECT_THROW(bad.register_parameter("n", ones({1}, kLong)), Error);
  EXPECT_FALSE(bad.register_parameter("frozen", ones({1}), false).requires_grad());
}

TEST(Module, TiedParametersAppearOnce) {
  struct Tied : nn::Module {};
  nn::Linear shared(2, 2);
  Tied tied;
  tied.register_module("a", shared);
  tied.register_module("b", shared);
  EXPECT_EQ(tied.parameters().size(), 2u);
  EXPECT_EQ(tied.named_parameters().size(), 4u);
}

TEST(Linear, InitialisedAsLibTorchDoes) {
  manual_seed(0);
  nn::Linear fc(100, 50);
  for (const Tensor& t : {fc->weight, fc->bias}) {
    const double most = max(abs(t)).item<double>();
    EXPECT_LE(most, 0.1);
    EXPECT_GT(most, 0.08);
  }
}

TEST(Sequential, AnyModules) {
  nn::Sequential seq(nn::Linear(4, 6), nn::ReLU(), Block(6, 5));
  seq->push_back(nn::Functional(groove::tanh));
  seq->push_back(nn::Functional(F::log_softmax, F::LogSoftmaxFuncOptions(1), Site::current()));
  seq->push_back("last", nn::Identity());
  const Tensor x = ones({2, 4});
  EXPECT_EQ(seq->forward(x).sizes(), IntArrayRef({2, 5}));
  EXPECT_EQ(seq(x).sizes(), IntArrayRef({2, 5}));
  EXPECT_EQ(seq->size(), 6u);
  EXPECT_EQ(seq->parameters().size(), 4u);
  EXPECT_EQ(seq->named_children().keys().back(), "last");
  EXPECT_EQ(seq->at<nn::LinearImpl>(0).options.in_features(), 4);
  int linear = 0;
  for (auto& module : *seq) linear += module.ptr()->as<nn::Linear>() != nullptr;
  EXPECT_EQ(linear, 1);
  nn::Sequential named({{"a", nn::Linear(1, 2)}, {"b", nn::Tanh()}});
  EXPECT_EQ(named->named_parameters().keys()[0], "a.weight");
  EXPECT_THROW(nn::Sequential()->forward(x), Error);
}

TEST(ModuleList, HoldsModules) {
  nn::ModuleList list(nn::Linear(1, 2), nn::ReLU());
  list->push_back(nn::Linear(2, 3));
  Tensor x = ones({1, 1});
  for (const auto& module : *list) {
    if (auto* fc = module->as<nn::Linear>())
      x = fc->forward(x);
    else
      x = relu(x);
  }
  EXPECT_EQ(x.size(1), 3);
  EXPECT_EQ(list->parameters().size(), 4u);
}

TEST(Losses, AgreeWithTheirFormulas) {
  const Tensor logits = tensor({{1., 2., 3.}, {0., 0., 0.}}), target = tensor({2, 0});
  const double expected =
      (std::log(std::exp(1.) + std::exp(2.) + std::exp(3.)) - 3 + std::log(3.)) / 2;
  EXPECT_NEAR(nn::CrossEntropyLoss()(logits, target).item<double>(), expected, 1e-6);
  EXPECT_NEAR(
      F::cross_entropy(logits, target, F::CrossEntropyFuncOptions().reduction(kSum)).item<double>(),
      2 * expected, 1e-6);
  EXPECT_NEAR(F::nll_loss(F::log_softmax(logits, 1), target).item<double>(), expected, 1e-6);
  nn::MSELoss mse(nn::MSELossOptions().reduction(kNone));
  EXPECT_EQ(mse(logits, zeros({2, 3}))[0][2].item<float>(), 9);
  // A tenth of the target is spread over all classes.
  const double spread = -F::log_softmax(logits, 1).mean().item<double>();
  EXPECT_NEAR(F::cross_entropy(logits, target, F::CrossEntropyFuncOptions().label_smoothing(0.1))
                  .item<double>(),
              0.9 * expected + 0.1 * spread, 1e-6);
}

TEST(Dropout, OnlyInTraining) {
  manual_seed(1);
  nn::Dropout drop(nn::DropoutOptions(0.25));
  const Tensor x = ones({1000});
  EXPECT_NEAR(drop(x).mean().item<double>(), 1, 0.1);
  EXPECT_GT(eq(drop(x), 0).sum().item<int>(), 100);
  drop->eval();
  EXPECT_EQ(drop(x).sum().item<double>(), 1000);
  EXPECT_THROW(nn::Dropout(1.5), Error);
}

TEST(Init, FillsWithoutTape) {
  Tensor w = empty({4, 5}).requires_grad_();
  nn::init::xavier_uniform_(w);
  EXPECT_LE(max(abs(w)).item<double>(), std::sqrt(6.0 / 9));
  nn::init::kaiming_normal_(w, 0, kFanOut, kReLU);
  nn::init::normal_(w, 1, 0.1);
  nn::init::zeros_(w);
  EXPECT_EQ(w.sum().item<double>(), 0);
  EXPECT_TRUE(w.is_leaf());
  EXPECT_THROW(nn::init::xavier_uniform_(empty({3})), Error);
}

}  // namespace
}  // namespace groove
