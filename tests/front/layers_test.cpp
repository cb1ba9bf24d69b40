// Layers, activations, losses and gradient clipping against torch's results (known_answers.h).
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "front_files.h"
#include "groove/autograd.h"
#include "groove/factories.h"
#include "groove/nn.h"
#include "groove/ops/contractions.h"
#include "groove/ops/creation.h"
#include "groove/ops/math.h"
#include "groove/ops/reductions.h"
#include "groove/ops/views.h"
#include "known_answers.h"

namespace groove {
namespace {

namespace F = nn::functional;

// The numbers that the reference program used: number k of tensor j.
Tensor filled(IntArrayRef sizes, std::int64_t j) {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  std::vector<double> values;
  for (std::int64_t k = 0; k < count; ++k)
    values.push_back(static_cast<double>((k * 7 + 3 * j) % 11 - 5) / 10);
  return tensor(values, kDouble).reshape(sizes);
}

template <typename Holder>
Holder prepared(Holder module) {
  module->to(kDouble);
  const NoGradGuard no_grad;
  std::int64_t j = 0;
  for (const Tensor& parameter : module->parameters())
    Tensor(parameter).copy_(filled(parameter.sizes(), j++));
  return module;
}

void expect(const std::vector<double>& known, const std::vector<Tensor>& results) {
  std::size_t at = 0;
  for (const Tensor& result : results) {
    const Tensor flat = result.detach().to(kDouble).reshape({-1}).clone();
    for (std::int64_t i = 0; i < flat.numel(); ++i, ++at) {
      ASSERT_LT(at, known.size());
      EXPECT_NEAR(flat[i].item<double>(), known[at], 1e-7) << "number " << at;
    }
  }
  EXPECT_EQ(at, known.size());
}

std::vector<Tensor> gradient_sums(const nn::Module& module) {
  std::vector<Tensor> sums;
  for (const Tensor& parameter : module.parameters()) sums.push_back(parameter.grad().abs().sum());
  return sums;
}

const Tensor& sequence() {
  static const Tensor& x = *new Tensor(filled({3, 2, 3}, 20));
  return x;
}

TEST(Recurrent, Rnn) {
  nn::RNN rnn =
      prepared(nn::RNN(nn::RNNOptions(3, 2).nonlinearity(kReLU).num_layers(2).bidirectional(true)));
  EXPECT_EQ(rnn->named_parameters().keys()[5], "weight_hh_l0_reverse");
  auto [out, h] = rnn->forward(sequence());
  (out.square().sum() + h.sum()).backward();
  expect(known::kRnnOut, {out});
  expect(known::kRnnH, {h});
  expect(known::kRnnGrads, gradient_sums(*rnn));
}

TEST(Recurrent, Lstm) {
  nn::LSTM lstm = prepared(nn::LSTM(nn::LSTMOptions(3, 2).num_layers(2).bidirectional(true)));
  auto [out, state] = lstm(sequence());
  auto [h, c] = state;
  (out.square().sum() + h.sum() + c.sum()).backward();
  expect(known::kLstmOut, {out});
  expect(known::kLstmH, {h, c});
  expect(known::kLstmGrads, gradient_sums(*lstm));
}

TEST(Recurrent, LstmBatchFirstFromAState) {
  nn::LSTM lstm = prepared(nn::LSTM(nn::LSTMOptions(3, 2).batch_first(true).bias(false)));
  EXPECT_EQ(lstm->parameters().size(), 2u);
  const auto [out, state] =
      lstm->forward(sequence(), std::tuple(filled({1, 3, 2}, 21), filled({1, 3, 2}, 22)));
  expect(known::kLstmBatchFirstOut, {out, std::get<0>(state), std::get<1>(state)});
}

TEST(Recurrent, Gru) {
  nn::GRU gru = prepared(nn::GRU(nn::GRUOptions(3, 2).num_layers(2).bidirectional(true)));
  auto [out, h] = gru(sequence());
  (out.square().sum() + h.sum()).backward();
  expect(known::kGruOut, {out});
  expect(known::kGruH, {h});
  expect(known::kGruGrads, gradient_sums(*gru));
}

TEST(Recurrent, Cells) {
  const Tensor x = sequence()[0];
  nn::RNNCell rnn = prepared(nn::RNNCell(3, 2));
  expect(known::kRnncell, {rnn(x, filled({2, 2}, 5)), rnn(x)});
  nn::GRUCell gru = prepared(nn::GRUCell(3, 2));
  expect(known::kGrucell, {gru(x, filled({2, 2}, 5)), gru(x)});
  nn::LSTMCell lstm = prepared(nn::LSTMCell(3, 2));
  const auto [h, c] = lstm(x, std::tuple(filled({2, 2}, 5), filled({2, 2}, 6)));
  expect(known::kLstmcell, {h, c});
}

TEST(Recurrent, InitialRangeDropoutAndErrors) {
  nn::GRU gru(nn::GRUOptions(3, 4).num_layers(2).dropout(0.5));
  for (const Tensor& parameter : gru->parameters())
    EXPECT_LE(parameter.abs().max().item<float>(), 0.5f);
  const Tensor x = rand({5, 2, 3});
  const auto run = [&] { return std::get<0>(gru->forward(x)).detach(); };
  EXPECT_FALSE(same_bits(run(), run()));
  gru->eval();
  EXPECT_TRUE(same_bits(run(), run()));
  EXPECT_THROW(gru->forward(rand({5, 2, 4})), Error);
  EXPECT_THROW(gru->forward(rand({5, 3})), Error);
  EXPECT_THROW(gru->forward(x, zeros({1, 2, 4})), Error);
  EXPECT_THROW(nn::LSTMCell(3, 4)->forward(rand({2, 5})), Error);
  std::stringstream text;
  text << gru;
  EXPECT_EQ(text.str(),
            "torch::nn::GRU(input_size=3, hidden_size=4, num_layers=2, bias=true, "
            "batch_first=false, dropout=0.5, bidirectional=false)");
}

TEST(Layers, LayerNorm) {
  nn::LayerNorm norm = prepared(nn::LayerNorm(nn::LayerNormOptions({2, 3})));
  const Tensor y = norm(sequence());
  y.square().sum().backward();
  expect(known::kLayernorm, {y});
  expect(known::kLayernormGrads, gradient_sums(*norm));
  EXPECT_TRUE(
      nn::LayerNorm(nn::LayerNormOptions({2}).elementwise_affine(false))->parameters().empty());
}

TEST(Layers, Embedding) {
  nn::Embedding table = prepared(nn::Embedding(nn::EmbeddingOptions(5, 2).padding_idx(-2)));
  const Tensor y = table(tensor({{0, 3}, {4, 0}}));
  y.square().sum().backward();
  expect(known::kEmbedding, {y});
  expect(known::kEmbeddingGrad, {table->weight.grad()});
  nn::Embedding fresh(nn::EmbeddingOptions(4, 3).padding_idx(1));
  EXPECT_EQ(fresh->weight[1].abs().sum().item<float>(), 0);
  EXPECT_NE(fresh->weight[2].abs().sum().item<float>(), 0);
  const Tensor rows = rand({4, 3});
  auto frozen = nn::Embedding::from_pretrained(rows);
  EXPECT_FALSE(frozen->weight.requires_grad());
  EXPECT_TRUE(same_bits(frozen(tensor({2}))[0], rows[2]));
  EXPECT_THROW(nn::Embedding(nn::EmbeddingOptions(4, 3).padding_idx(4)), Error);
  EXPECT_THROW(fresh(tensor({4})), Error);
}

TEST(Layers, Activations) {
  const Tensor z = filled({2, 4}, 3) * 4;
  expect(known::kGelu, {nn::GELU()(z)});
  expect(known::kGeluTanh, {F::gelu(z, F::GELUFuncOptions().approximate("tanh"))});
  expect(known::kSilu, {nn::SiLU()(z)});
  expect(known::kMish, {nn::Mish()(z)});
  expect(known::kLeaky, {nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(0.3))(z)});
  expect(known::kElu, {F::elu(z, F::ELUFuncOptions().alpha(0.7))});
  expect(known::kSoftplus, {nn::Softplus(nn::SoftplusOptions().beta(2).threshold(1))(z)});
  expect(known::kHardtanh, {nn::Hardtanh(nn::HardtanhOptions().min_val(-0.5).max_val(0.75))(z)});
  expect(known::kRelu6, {nn::ReLU6()(z * 5)});
  expect(known::kPrelu, {F::prelu(z, tensor({.1, .2, .3, .4}, kDouble))});
  expect(known::kGlu, {nn::GLU(1)(z)});
  const Tensor placed = z.clone();
  F::leaky_relu(placed, F::LeakyReLUFuncOptions().negative_slope(0.3).inplace(true));
  expect(known::kLeaky, {placed});
}

// What backward needs of an input that is overwritten is kept.
TEST(Layers, ActivationsInPlaceHaveTheSameGradients) {
  const auto gradient = [](auto module) {
    Tensor x = filled({3, 4}, 7).detach().requires_grad_();
    Tensor y = module(x * 9);
    (y * y).sum().backward();
    return Tensors{y.detach(), x.grad()};
  };
  const auto compare = [&](auto plain, auto placed) {
    const Tensors expected = gradient(plain), got = gradient(placed);
    for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_TRUE(got[i].equal(expected[i]));
  };
  compare(nn::LeakyReLU(), nn::LeakyReLU(nn::LeakyReLUOptions().inplace(true)));
  compare(nn::ELU(), nn::ELU(nn::ELUOptions().inplace(true)));
  compare(nn::Hardtanh(), nn::Hardtanh(nn::HardtanhOptions().inplace(true)));
  compare(nn::ReLU6(), nn::ReLU6(true));
  compare(nn::ReLU(), nn::ReLU(true));
}

TEST(Layers, Losses) {
  const Tensor a = filled({2, 3}, 1).abs() + 0.05, b = filled({2, 3}, 2).abs() + 0.1;
  const Tensor l = filled({2, 3}, 4) * 3, t = (filled({2, 3}, 5) > 0).to(kDouble);
  const Tensor log_l = l.log_softmax(1), log_b = b.log_softmax(1);
  expect(
      known::kLosses,
      {nn::L1Loss()(l, b), nn::SmoothL1Loss(nn::SmoothL1LossOptions().beta(0.5))(l, b),
       nn::HuberLoss(nn::HuberLossOptions().delta(0.5))(l, b), nn::BCELoss()(a, t),
       F::binary_cross_entropy(a, t, F::BinaryCrossEntropyFuncOptions().weight(b).reduction(kSum)),
       nn::BCEWithLogitsLoss(
           nn::BCEWithLogitsLossOptions().pos_weight(tensor({1., 2., 3.}, kDouble)))(l, t),
       nn::KLDivLoss(nn::KLDivLossOptions().reduction(kBatchMean))(log_l, b),
       F::kl_div(log_l, log_b, F::KLDivFuncOptions().reduction(kSum).log_target(true))});
}

TEST(Layers, VectorsAndPadding) {
  const Tensor a = filled({2, 3}, 1).abs() + 0.05, b = filled({2, 3}, 2).abs() + 0.1;
  const Tensor l = filled({2, 3}, 4) * 3;
  expect(known::kNormalize, {F::normalize(l)});
  expect(known::kNormalize1, {F::normalize(l, F::NormalizeFuncOptions().p(1).dim(0))});
  expect(known::kCosine, {F::cosine_similarity(l, b, F::CosineSimilarityFuncOptions().dim(1))});
  expect(known::kPad, {F::pad(a, F::PadFuncOptions({1, 0, 0, 1}).value(2.5))});
}

TEST(Init, Orthogonal) {
  for (const auto& sizes : {std::vector<std::int64_t>{4, 7}, {7, 4}, {5, 5}, {6, 2, 2}}) {
    const Tensor w = nn::init::orthogonal_(empty(sizes, kDouble), 2).reshape({sizes[0], -1});
    const Tensor gram = sizes[0] < w.size(1) ? w.matmul(w.t()) : w.t().matmul(w);
    EXPECT_TRUE(gram.allclose(eye(gram.size(0), kDouble) * 4, 1e-6, 1e-6));
  }
  EXPECT_THROW(nn::init::orthogonal_(empty({3})), Error);
}

std::vector<Tensor> with_gradients() {
  std::vector<Tensor> parameters = {zeros({2, 3}, kDouble).requires_grad_(),
                                    zeros({3}, kDouble).requires_grad_(),
                                    zeros({4}, kDouble).requires_grad_()};
  parameters[0].mutable_grad() = filled({2, 3}, 1) * 4;
  parameters[1].mutable_grad() = filled({3}, 2) * 4;
  return parameters;  // the third has none
}

TEST(Clip, NormOfGradients) {
  const double inf = std::numeric_limits<double>::infinity();
  const std::pair<double, const std::vector<double>*> cases[] = {
      {2.0, &known::kClipNorm2}, {1.0, &known::kClipNorm1}, {inf, &known::kClipNormInf}};
  for (const auto& [order, answers] : cases) {
    const auto parameters = with_gradients();
    const double norm = nn::utils::clip_grad_norm_(parameters, 1.5, order);
    expect(*answers, {tensor(norm, kDouble), parameters[0].grad(), parameters[1].grad()});
  }
  const auto parameters = with_gradients();
  const Tensor before = parameters[0].grad().clone();
  EXPECT_NEAR(nn::utils::clip_grad_norm_(parameters, 100), known::kClipNorm2[0], 1e-7);
  EXPECT_TRUE(same_bits(before, parameters[0].grad()));
  EXPECT_EQ(nn::utils::clip_grad_norm_(parameters[2], 1), 0);
  parameters[1].mutable_grad() = full({3}, inf, kDouble);
  EXPECT_THROW(nn::utils::clip_grad_norm_(parameters, 1, 2, true), Error);
  EXPECT_TRUE(same_bits(before, parameters[0].grad()));
}

TEST(Clip, ValuesAndVectors) {
  const auto parameters = with_gradients();
  nn::utils::clip_grad_value_(parameters, 0.5);
  EXPECT_EQ(parameters[0].grad().abs().max().item<double>(), 0.5);
  const Tensor vector = nn::utils::parameters_to_vector(parameters);
  EXPECT_EQ(vector.sizes(), IntArrayRef({13}));
  nn::utils::vector_to_parameters(arange(13, kDouble), parameters);
  EXPECT_EQ(parameters[1][2].item<double>(), 8);
  EXPECT_TRUE(parameters[1].requires_grad());
  EXPECT_THROW(nn::utils::vector_to_parameters(arange(12, kDouble), parameters), Error);
}

struct CopiedImpl : nn::Cloneable<CopiedImpl> {
  explicit CopiedImpl(std::int64_t width) : width(width) { reset(); }
  void reset() override {
    layer = register_module("layer", nn::Linear(2, width));
    extra = register_parameter("extra", ones({width}));
    count = register_buffer("count", zeros({1}));
  }
  Tensor forward(const Tensor& x) { return layer(x) * extra; }
  std::int64_t width;
  nn::Linear layer{nullptr};
  Tensor extra, count;
};

TEST(Cloneable, ADeepCopy) {
  CopiedImpl original(3);
  original.eval();
  original.count.fill_(4);
  const auto copy = std::dynamic_pointer_cast<CopiedImpl>(original.clone());
  ASSERT_TRUE(copy);
  EXPECT_EQ(copy->width, 3);
  EXPECT_FALSE(copy->is_training());
  EXPECT_EQ(copy->count.item<float>(), 4);
  const Tensor x = rand({5, 2});
  EXPECT_TRUE(same_bits(original.forward(x).detach(), copy->forward(x).detach()));
  {
    const NoGradGuard no_grad;
    copy->layer->weight.zero_();
  }
  EXPECT_NE(original.layer->weight.abs().sum().item<float>(), 0);
  EXPECT_TRUE(copy->layer->weight.requires_grad());
  EXPECT_EQ(copy->parameters().size(), 3u);
}

TEST(Containers, LayersInASequential) {
  nn::Sequential net(nn::Linear(3, 4), nn::GELU(), nn::LayerNorm(nn::LayerNormOptions({4})),
                     nn::LeakyReLU(), nn::Functional(groove::relu), nn::PReLU());
  EXPECT_EQ(net->forward(rand({2, 3})).sizes(), IntArrayRef({2, 4}));
  nn::AnyModule lstm(nn::LSTM(3, 4));
  const auto result = lstm.forward<std::tuple<Tensor, std::tuple<Tensor, Tensor>>>(rand({5, 2, 3}));
  EXPECT_EQ(std::get<0>(result).sizes(), IntArrayRef({5, 2, 4}));
}

}  // namespace
}  // namespace groove
