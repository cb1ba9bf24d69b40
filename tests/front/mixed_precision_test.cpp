// Autocast: which operators convert what, that every module runs, gradients. The scaler of losses
// against the rules of Python's torch.amp.GradScaler.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>

#include "groove/groove.h"

namespace groove {
namespace {

TEST(Autocast, ConvertsTheOperandsOfProducts) {
  const Tensor x = randn({3, 4}), y = randn({4, 5}), weight = randn({5, 4}), bias = randn({5});
  const auto short_of = [](const Tensor& value) { return value.to(kBFloat16); };
  Tensor product, line, batch;
  {
    const amp::Autocast autocast;
    product = x.mm(y);
    line = linear(x, weight, bias);
    batch = matmul(x.unsqueeze(0), y);
    EXPECT_EQ((product + 1).scalar_type(), kBFloat16);
    EXPECT_EQ((product + x.mm(y).to(kFloat)).scalar_type(), kFloat);
  }
  EXPECT_TRUE(equal(product, short_of(x).mm(short_of(y))));
  EXPECT_TRUE(equal(line, linear(short_of(x), short_of(weight), short_of(bias))));
  EXPECT_TRUE(equal(batch[0], product));
  EXPECT_EQ(x.mm(y).scalar_type(), kFloat);
}

TEST(Autocast, LeavesWhatIsNotMeant) {
  const amp::Autocast autocast;
  const Tensor wide = randn({3, 3}, kDouble), whole = ones({3, 3}, kLong);
  EXPECT_EQ(wide.mm(wide).scalar_type(), kDouble);
  EXPECT_EQ(whole.mm(whole).scalar_type(), kLong);
  EXPECT_EQ((randn({3}) * 2).scalar_type(), kFloat);
  {
    const amp::Autocast off(false);
    EXPECT_EQ(randn({3, 3}).mm(randn({3, 3})).scalar_type(), kFloat);
  }
  EXPECT_EQ(randn({3, 3}).mm(randn({3, 3})).scalar_type(), kBFloat16);
}

TEST(Autocast, LossesAndNormsAreComputedInFloat) {
  const Tensor x = randn({6, 4}).to(kBFloat16), y = randn({6, 4}).to(kBFloat16);
  const Tensor classes = randint(4, {6}).to(kLong);
  const amp::Autocast autocast;
  EXPECT_TRUE(equal(mse_loss(x, y), mse_loss(x.to(kFloat), y.to(kFloat))));
  EXPECT_TRUE(equal(nn::functional::cross_entropy(x, classes),
                    nn::functional::cross_entropy(x.to(kFloat), classes)));
  EXPECT_EQ(nn::LayerNorm(nn::LayerNormOptions({4}))->forward(x).scalar_type(), kFloat);
  EXPECT_EQ(nn::BatchNorm1d(4)->forward(x).scalar_type(), kFloat);
  EXPECT_EQ(x.prod().scalar_type(), kFloat);
}

// bfloat16 has eight bits.
template <typename Forward>
void expect_about_the_same(const char* name, const Forward& forward) {
  SCOPED_TRACE(name);
  const Tensor expected = forward();
  const amp::Autocast autocast;
  const Tensor found = forward();
  const double error = (found.to(kFloat) - expected).abs().max().template item<double>();
  EXPECT_LT(error, 0.05 * (1 + expected.abs().max().template item<double>()));
}

TEST(Autocast, EveryKindOfLayerRuns) {
  const Tensor image = randn({2, 4, 8, 8}), line = randn({2, 4, 9}), rows = randn({5, 2, 8});
  const Tensor body = randn({1, 2, 4, 4, 4});
  nn::Sequential network(nn::Conv2d(nn::Conv2dOptions(4, 6, 3).padding(1)), nn::BatchNorm2d(6),
                         nn::ReLU(), nn::MaxPool2d(2), nn::Conv2d(nn::Conv2dOptions(6, 8, 3)),
                         nn::GroupNorm(nn::GroupNormOptions(2, 8)), nn::PReLU(), nn::Flatten(),
                         nn::Linear(32, 10), nn::Tanh(), nn::Linear(10, 3));
  network->eval();
  expect_about_the_same("network", [&] { return network->forward(image); });
  nn::Conv1d conv1(nn::Conv1dOptions(4, 3, 2));
  expect_about_the_same("Conv1d", [&] { return conv1->forward(line); });
  nn::Conv3d conv3(nn::Conv3dOptions(2, 3, 2));
  expect_about_the_same("Conv3d", [&] { return conv3->forward(body); });
  nn::ConvTranspose2d back(nn::ConvTranspose2dOptions(4, 3, 2));
  expect_about_the_same("ConvTranspose2d", [&] { return back->forward(image); });
  nn::InstanceNorm2d instance(nn::InstanceNorm2dOptions(4).affine(true));
  expect_about_the_same("InstanceNorm2d",
                        [&] { return instance->forward(nn::functional::relu(image)); });
  nn::LSTM lstm(nn::LSTMOptions(8, 6).num_layers(2).bidirectional(true));
  expect_about_the_same("LSTM", [&] { return std::get<0>(lstm->forward(rows)); });
  nn::GRU gru(nn::GRUOptions(8, 6));
  expect_about_the_same("GRU", [&] { return std::get<0>(gru->forward(rows)); });
  nn::RNN rnn(nn::RNNOptions(8, 6));
  expect_about_the_same("RNN", [&] { return std::get<0>(rnn->forward(rows)); });
  nn::LSTMCell lstm_cell(8, 6);
  expect_about_the_same("LSTMCell", [&] { return std::get<0>(lstm_cell->forward(rows[0])); });
  nn::GRUCell gru_cell(8, 6);
  expect_about_the_same("GRUCell", [&] { return gru_cell->forward(rows[0]); });
  nn::MultiheadAttention attention(nn::MultiheadAttentionOptions(8, 2));
  expect_about_the_same("MultiheadAttention",
                        [&] { return std::get<0>(attention->forward(rows, rows, rows)); });
  nn::TransformerEncoderLayer encoder(
      nn::TransformerEncoderLayerOptions(8, 2).dim_feedforward(16).dropout(0));
  expect_about_the_same("TransformerEncoderLayer", [&] { return encoder->forward(rows); });
  nn::Bilinear bilinear(nn::BilinearOptions(8, 8, 3));
  expect_about_the_same("Bilinear", [&] { return bilinear->forward(rows[0], rows[1]); });
  nn::Embedding embedding(7, 8);
  nn::Linear head(8, 4);
  expect_about_the_same("Embedding", [&] {
    return head->forward(embedding->forward(arange(6, TensorOptions(kLong))));
  });
}

// What a backward computes in was decided by the forward.
TEST(Autocast, BackwardInsideIsAsOutside) {
  const Tensor x = randn({8, 6}), y = randn({8, 2});
  nn::Sequential net(nn::Linear(6, 16), nn::GELU(), nn::LayerNorm(nn::LayerNormOptions({16})),
                     nn::Linear(16, 2));
  std::vector<Tensor> gradients[2];
  for (const bool is_inside : {false, true}) {
    net->zero_grad();
    Tensor loss;
    {
      const amp::Autocast autocast;
      loss = mse_loss(net->forward(x), y);
      if (is_inside) loss.backward();
    }
    if (!is_inside) loss.backward();
    EXPECT_EQ(loss.scalar_type(), kFloat);
    for (const Tensor& parameter : net->parameters()) {
      EXPECT_EQ(parameter.grad().scalar_type(), kFloat);
      gradients[is_inside].push_back(parameter.grad().clone());
    }
  }
  for (std::size_t i = 0; i < gradients[0].size(); ++i)
    EXPECT_TRUE(equal(gradients[0][i], gradients[1][i])) << i;
}

TEST(Autocast, SaysWhichDtypesItTakes) {
  EXPECT_THROW(amp::Autocast(true, kDouble), Error);
  EXPECT_FALSE(amp::is_autocast_enabled());
  const amp::Autocast half(true, kHalf);
  EXPECT_EQ(randn({2, 2}).mm(randn({2, 2})).scalar_type(), kHalf);
}

Tensor loss_of(const Tensor& weight, const Tensor& x) { return (x.mm(weight) - 1).square().mean(); }

// Powers of two change no bits.
TEST(GradScaler, TrainsAsWithoutIt) {
  const Tensor x = randn({8, 4});
  const Tensor start = randn({4, 3});
  Tensor trained[2];
  for (const bool is_scaled : {false, true}) {
    const Tensor weight = start.clone().requires_grad_();
    optim::Adam adam({weight}, optim::AdamOptions(0.01));
    amp::GradScaler scaler(amp::GradScalerOptions().growth_interval(4).enabled(is_scaled));
    for (int i = 0; i < 20; ++i) {
      adam.zero_grad();
      scaler.scale(loss_of(weight, x)).backward();
      EXPECT_TRUE(scaler.step(adam));
      scaler.update();
    }
    EXPECT_EQ(scaler.get_scale(), is_scaled ? 65536.0 * 32 : 1);
    trained[is_scaled] = weight.detach();
  }
  EXPECT_TRUE(equal(trained[0], trained[1]));
}

TEST(GradScaler, LeavesOutStepsThatAreNotFinite) {
  const Tensor weight = ones({2}).requires_grad_(), before = weight.detach().clone();
  optim::SGD sgd({weight}, optim::SGDOptions(0.5));
  amp::GradScaler scaler(amp::GradScalerOptions().init_scale(8).growth_interval(2));
  const auto step = [&](double slope) {
    sgd.zero_grad();
    scaler.scale((weight * slope).sum()).backward();
    const bool has_stepped = scaler.step(sgd);
    scaler.update();
    return has_stepped;
  };
  EXPECT_TRUE(step(1));
  EXPECT_FALSE(step(std::numeric_limits<double>::infinity()));
  EXPECT_EQ(scaler.get_scale(), 4);
  EXPECT_TRUE(equal(weight.detach(), before - 0.5));
  EXPECT_FALSE(step(NAN));
  EXPECT_EQ(scaler.get_scale(), 2);
  EXPECT_TRUE(step(1));
  EXPECT_EQ(scaler.get_scale(), 2);
  EXPECT_TRUE(step(1));
  EXPECT_EQ(scaler.get_scale(), 4);
  EXPECT_TRUE(equal(weight.detach(), before - 1.5));
}

TEST(GradScaler, UnscalesBeforeGradientsAreClipped) {
  const Tensor weight = ones({4}).requires_grad_();
  optim::SGD sgd({weight}, optim::SGDOptions(1.0));
  amp::GradScaler scaler;
  scaler.scale((weight * 3).sum()).backward();
  scaler.unscale_(sgd);
  EXPECT_TRUE(equal(weight.grad(), full({4}, 3.0)));
  EXPECT_THROW(scaler.unscale_(sgd), Error);
  nn::utils::clip_grad_norm_({weight}, 1.0);
  EXPECT_TRUE(scaler.step(sgd));
  EXPECT_THROW(scaler.step(sgd), Error);
  EXPECT_THROW(scaler.unscale_(sgd), Error);
  EXPECT_NEAR(weight[0].item<double>(), 0.5, 1e-6);
  scaler.update();
  EXPECT_THROW(scaler.update(), Error);
  scaler.update(16.0);
  EXPECT_EQ(scaler.get_scale(), 16);
}

TEST(GradScaler, RefusesWhatCannotBe) {
  using Options = amp::GradScalerOptions;
  EXPECT_THROW(amp::GradScaler(Options().init_scale(0)), Error);
  EXPECT_THROW(amp::GradScaler(Options().growth_factor(1)), Error);
  EXPECT_THROW(amp::GradScaler(Options().backoff_factor(1)), Error);
  EXPECT_THROW(amp::GradScaler(Options().growth_interval(0)), Error);
  amp::GradScaler scaler;
  optim::SGD nothing({ones({2}).requires_grad_()}, optim::SGDOptions(1.0));
  EXPECT_THROW(scaler.step(nothing), Error);
  EXPECT_THROW(scaler.update(-1.0), Error);
}

TEST(GradScaler, IsSavedAndLoaded) {
  amp::GradScaler scaler(amp::GradScalerOptions().init_scale(32));
  const Tensor weight = ones({2}).requires_grad_();
  optim::SGD sgd({weight}, optim::SGDOptions(0.5));
  scaler.scale(weight.sum()).backward();
  scaler.step(sgd);
  scaler.update();
  serialize::OutputArchive saved;
  scaler.save(saved);
  std::stringstream bytes;
  saved.save_to(bytes);
  serialize::InputArchive found;
  found.load_from(bytes);
  amp::GradScaler other(amp::GradScalerOptions().growth_interval(2));
  other.load(found);
  EXPECT_EQ(other.get_scale(), 32);
  scaler.update(32.0);
  sgd.zero_grad();
  other.scale(weight.sum()).backward();
  other.step(sgd);
  other.update();
  EXPECT_EQ(other.get_scale(), 64);  // the second step in a row
}

}  // namespace
}  // namespace groove
