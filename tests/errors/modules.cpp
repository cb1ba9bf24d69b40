// Mistakes with modules, losses, optimizers, data and files.
#include "groove/serialize.h"
#include "tests/errors/mistakes.h"

namespace groove::errors {
namespace {

namespace F = nn::functional;

Tensor images() { return ones({2, 3, 8, 8}); }
Tensor scores() { return ones({4, 5}); }

// ---- modules ----
MISTAKE("linear", ({"[2, 3]", "4"}), nn::Linear fc(4, 2); fc(ones({2, 3})));
MISTAKE("linear", ({"[2, 3]", "4"}), nn::Linear fc(4, 2); fc->forward(ones({2, 3})));
MISTAKE("linear", ({"Long", "Float"}), nn::Linear fc(4, 2); fc(ones({2, 4}, kLong)));
MISTAKE("linear", ({"[2, 3]", "4"}), nn::Sequential net(nn::ReLU(), nn::Linear(4, 2));
        net->forward(ones({2, 3})));
MISTAKE("linear", ({"[2, 3]", "4"}),
        nn::Sequential net(nn::Linear(4, 2), nn::ReLU());
        net(ones({2, 3})));
MISTAKE("conv2d", ({"3", "4"}), nn::Conv2d conv(4, 8, 3); conv(images()));
MISTAKE("conv2d", ({"[3, 8]"}), nn::Conv2d conv(3, 8, 3); conv(ones({3, 8})));
MISTAKE("", ({"channels", "groups"}), nn::Conv2d conv(nn::Conv2dOptions(3, 8, 3).groups(2)));
MISTAKE("Dropout", ({"1.5"}), nn::Dropout drop(1.5); drop(scores()));
MISTAKE("batch_norm", ({"4", "3"}), nn::BatchNorm2d norm(4); norm(images()));
MISTAKE("layer_norm", ({"[4, 5]", "[4]"}), nn::LayerNorm n(nn::LayerNormOptions({4})); n(scores()));
MISTAKE("embedding", ({"Float"}), nn::Embedding table(4, 2); table(ones({3})));
MISTAKE("embedding", ({"4"}), nn::Embedding table(4, 2); table(tensor({1, 4})));
MISTAKE("max_pool2d", ({"[4, 5]"}), F::max_pool2d(scores(), F::MaxPool2dFuncOptions(2)));
MISTAKE("", ({"LSTM", "[2, 3, 8, 8]"}), nn::LSTM lstm(3, 4); lstm(images()));
MISTAKE("", ({"Parameter 'w'", "already"}), nn::Module m;
        m.register_parameter("w", scores()); m.register_parameter("w", scores()));
MISTAKE("", ({"'a.b'", "dot"}), nn::Module m; m.register_module("a.b", nn::ReLU()));
MISTAKE("", ({"empty Sequential"}), nn::Sequential net; net->forward(scores()));
MISTAKE("at", ({"3"}), nn::Sequential net{nn::ReLU()}; net->at<nn::ReLUImpl>(3));
// ---- losses ----
MISTAKE("cross_entropy", ({"Float", "Long"}), F::cross_entropy(scores(), ones({4})));
MISTAKE("cross_entropy", ({"[4, 5]", "[3]"}), F::cross_entropy(scores(), ones({3}, kLong)));
MISTAKE("cross_entropy", ({"5"}), F::cross_entropy(scores(), full({4}, 5)));
MISTAKE("nll_loss", ({"Float", "Long"}), F::nll_loss(scores(), ones({4})));
MISTAKE("mse_loss", ({"[4, 5]", "[3]"}), F::mse_loss(scores(), ones({3})));
MISTAKE("binary_cross_entropy", ({"[4, 5]", "[4]"}), F::binary_cross_entropy(scores(), ones({4})));
// ---- optimizers ----
MISTAKE("SGD", ({"lr", "-1"}), optim::SGD sgd({scores().requires_grad_()}, optim::SGDOptions(-1)));
MISTAKE("Adam", ({"betas", "2"}),
        optim::Adam adam({scores().requires_grad_()}, optim::AdamOptions().betas({2, 0.9})));
MISTAKE("", ({"leaf"}), Tensor x = scores().requires_grad_();
        optim::SGD sgd({x * 2}, optim::SGDOptions(0.1)));
// ---- files ----
MISTAKE("load", ({"/nowhere/at/all.pt"}), nn::Linear fc(4, 2); load(fc, "/nowhere/at/all.pt"));
MISTAKE("save", ({"/nowhere/at/all.pt"}), nn::Linear fc(4, 2); save(fc, "/nowhere/at/all.pt"));
}  // namespace
}  // namespace groove::errors
