// Recurrent layers, attention, transforms, and the steps of optimizers.
#include "cases.h"

namespace F = torch::nn::functional;
using torch::Tensor;

void sequences(Measure& measure, std::int64_t N, std::int64_t T, std::int64_t D) {
  const Tensor image = parameter({N, D / 4, T, T});
  Tensor sx = parameter({T, N, D});
  auto lstm = torch::nn::LSTM(D, D);
  auto gru = torch::nn::GRU(D, D);
  auto rnn = torch::nn::RNN(D, D);
  auto bi = torch::nn::LSTM(torch::nn::LSTMOptions(D, D).bidirectional(true).num_layers(2));
  auto cell = torch::nn::LSTMCell(D, D);
  Tensor cx = parameter({N, D});
  auto mha = torch::nn::MultiheadAttention(D, 4);
  auto enc = torch::nn::TransformerEncoderLayer(
      torch::nn::TransformerEncoderLayerOptions(D, 4).dim_feedforward(D * 4));
  auto emb = torch::nn::Embedding(1000, D);
  Tensor tok = torch::randint(0, 1000, {N, T});
  auto eb = torch::nn::EmbeddingBag(1000, D);
  auto lin = torch::nn::Linear(D, D);
  auto bil = torch::nn::Bilinear(D, D, D);
  Tensor lp = torch::randn({T, N, 20}).log_softmax(2).requires_grad_();
  Tensor tl = torch::full({N}, T / 4, torch::kLong);
  Tensor tg = torch::randint(1, 20, {N, T / 4});
  Tensor il = torch::full({N}, T, torch::kLong);
  measure.both("lstm", {sx}, [&] { return std::get<0>(lstm(sx)); });
  measure.both("gru", {sx}, [&] { return std::get<0>(gru(sx)); });
  measure.both("rnn", {sx}, [&] { return std::get<0>(rnn(sx)); });
  measure.both("bilstm2", {sx}, [&] { return std::get<0>(bi(sx)); });
  measure.both("lstm cell", {cx}, [&] { return std::get<0>(cell(cx)); });
  measure.both("mha", {sx}, [&] { return std::get<0>(mha(sx, sx, sx)); });
  measure.both("encoder", {sx}, [&] { return enc(sx); });
  measure.both("sdpa", {image},
               [&] { return torch::scaled_dot_product_attention(image, image, image); });
  measure.both("embedding nn", {emb->weight}, [&] { return emb(tok); });
  measure.both("embedding_bag", {eb->weight}, [&] { return eb(tok); });
  measure.both("linear", {cx}, [&] { return lin(cx); });
  measure.both("bilinear nn", {cx}, [&] { return bil(cx, cx); });
  measure.both("ctc", {lp}, [&] { return torch::ctc_loss(lp, tg, il, tl); });
  measure.forward("stft", [&] {
    return torch::view_as_real(torch::stft(torch::randn({2, 4096 * N}), 256, 128, 256,
                                           torch::hann_window(256), false, true, true));
  });
  measure.forward("fft", [&] { return torch::abs(torch::fft::fft(torch::randn({N, 1024}))); });
  measure.forward("fft2", [&] { return torch::abs(torch::fft::fft2(image)); });
}

namespace {

template <typename Optimizer, typename Options>
void step_of(Measure& measure, const char* name, std::int64_t rows, const Options& options) {
  std::vector<Tensor> weights;
  for (int i = 0; i < 10; ++i) {
    weights.push_back(parameter({rows, rows / 2}));
    weights.back().mutable_grad() = torch::randn_like(weights.back());
  }
  Optimizer optimizer(weights, options);
  measure.alone(name, [&] {
    optimizer.step();
    return weights[0].detach();
  });
}

}  // namespace

void steps(Measure& measure, std::int64_t rows) {
  const double rate = 1e-9;  // weights stay what they are
  step_of<torch::optim::SGD>(measure, "SGD", rows, torch::optim::SGDOptions(rate));
  step_of<torch::optim::SGD>(measure, "SGD with momentum", rows,
                             torch::optim::SGDOptions(rate).momentum(0.9));
  step_of<torch::optim::Adam>(measure, "Adam", rows, torch::optim::AdamOptions(rate));
  step_of<torch::optim::AdamW>(measure, "AdamW", rows, torch::optim::AdamWOptions(rate));
  step_of<torch::optim::RMSprop>(measure, "RMSprop", rows, torch::optim::RMSpropOptions(rate));
  step_of<torch::optim::Adagrad>(measure, "Adagrad", rows, torch::optim::AdagradOptions(rate));
}
