// Models and optimizers of drawn programs.
#include "tools/random_loops/machine.h"

namespace groove::random_loops {

Model::Model(int kind, int size) : kind(kind), size(size) {
  const std::int64_t n = size;
  switch (kind % kKinds) {
    case kMlp:
      layers = nn::Sequential(nn::Linear(n, 2 * n), nn::Tanh(), nn::Linear(2 * n, n));
      tree = layers.ptr();
      break;
    case kLstm:
      lstm = nn::LSTMCell(n, n);
      tree = lstm.ptr();
      break;
    case kGru:
      gru = nn::GRUCell(n, n);
      tree = gru.ptr();
      break;
    case kEmbedding:
      embedding = nn::Embedding(2 * n, n);
      tree = embedding.ptr();
      break;
    case kConvolution:
      layers = nn::Sequential(nn::Conv2d(nn::Conv2dOptions(1, 2, 3).padding(1)), nn::ReLU(),
                              nn::Conv2d(nn::Conv2dOptions(2, 1, 1)));
      tree = layers.ptr();
      break;
    case kNorms:
      layers = nn::Sequential(nn::Linear(n, n), nn::LayerNorm(nn::LayerNormOptions({n})),
                              nn::BatchNorm1d(n), nn::Dropout(0.2));
      tree = layers.ptr();
      break;
  }
}

Tensor Model::forward(const Tensor& x, int iteration, const Site& site) {
  const std::int64_t n = size;
  switch (kind % kKinds) {
    case kLstm: {
      if (!hidden.defined()) {
        hidden = groove::zeros({n, n}, {}, site);
        cell = groove::zeros({n, n}, {}, site);
      }
      std::tie(hidden, cell) =
          lstm(x, std::make_tuple(hidden.detach(site), cell.detach(site)), site);
      return hidden;
    }
    case kGru:
      hidden =
          gru(x, hidden.defined() ? hidden.detach(site) : groove::zeros({n, n}, {}, site), site);
      return hidden;
    case kEmbedding: {
      std::vector<std::int64_t> words;
      for (std::int64_t row = 0; row < n; ++row) words.push_back((row * 3 + iteration) % (2 * n));
      return embedding(groove::tensor(words, {}, site), site).add(x, 1, site);
    }
    case kConvolution:
      return layers->forward(x.reshape({1, 1, n, n}, site), site).reshape({n, n}, site);
    default:
      return layers->forward(x, site);
  }
}

std::vector<Tensor> Model::parameters() const { return tree->parameters(); }

void OptimizerPlace::make(int kind, const std::vector<Tensor>& parameters, double rate) {
  current = nullptr;
  switch (kind % kKinds) {
    case 0:
      current = &sgd.emplace(parameters, optim::SGDOptions(rate));
      break;
    case 1:
      current =
          &sgd.emplace(parameters, optim::SGDOptions(rate).momentum(0.9).nesterov(rate > 0.01));
      break;
    case 2:
      current = &adam.emplace(parameters, optim::AdamOptions(rate));
      break;
    case 3:
      current = &adam.emplace(parameters, optim::AdamOptions(rate).amsgrad(true));
      break;
    case 4:
      current = &adamw.emplace(parameters, optim::AdamWOptions(rate));
      break;
    case 5:
      current = &rmsprop.emplace(parameters, optim::RMSpropOptions(rate));
      break;
    case 6:
      current =
          &rmsprop.emplace(parameters, optim::RMSpropOptions(rate).momentum(0.5).centered(true));
      break;
    default:
      current = &adagrad.emplace(parameters, optim::AdagradOptions(rate));
      break;
  }
}

}  // namespace groove::random_loops
