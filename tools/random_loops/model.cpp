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

namespace {

struct OptimizerKind {
  const char* name;
  optim::Optimizer* (*make)(OptimizerPlace& place, const std::vector<Tensor>& parameters,
                            double rate);
};

template <typename Kind, typename Options>
optim::Optimizer* put(OptimizerPlace& place, const std::vector<Tensor>& parameters,
                      const Options& options) {
  return &place.own.emplace<Kind>(parameters, options);
}

using Given = const std::vector<Tensor>&;
using Place = OptimizerPlace&;
constexpr OptimizerKind kOptimizerKinds[] = {
    {"SGD", [](Place p, Given w, double r) { return put<optim::SGD>(p, w, optim::SGDOptions(r)); }},
    {"SGD with momentum",
     [](Place p, Given w, double r) {
       return put<optim::SGD>(p, w, optim::SGDOptions(r).momentum(0.9).nesterov(r > 0.01));
     }},
    {"Adam",
     [](Place p, Given w, double r) { return put<optim::Adam>(p, w, optim::AdamOptions(r)); }},
    {"Adam amsgrad",
     [](Place p, Given w, double r) {
       return put<optim::Adam>(p, w, optim::AdamOptions(r).amsgrad(true));
     }},
    {"AdamW",
     [](Place p, Given w, double r) { return put<optim::AdamW>(p, w, optim::AdamWOptions(r)); }},
    {"RMSprop", [](Place p, Given w,
                   double r) { return put<optim::RMSprop>(p, w, optim::RMSpropOptions(r)); }},
    {"RMSprop centered",
     [](Place p, Given w, double r) {
       return put<optim::RMSprop>(p, w, optim::RMSpropOptions(r).momentum(0.5).centered(true));
     }},
    {"Adagrad", [](Place p, Given w,
                   double r) { return put<optim::Adagrad>(p, w, optim::AdagradOptions(r)); }},
    {"NAdam",
     [](Place p, Given w, double r) { return put<optim::NAdam>(p, w, optim::NAdamOptions(r)); }},
    {"RAdam",
     [](Place p, Given w, double r) { return put<optim::RAdam>(p, w, optim::RAdamOptions(r)); }},
    {"Adamax",
     [](Place p, Given w, double r) { return put<optim::Adamax>(p, w, optim::AdamaxOptions(r)); }},
    {"Adadelta",
     [](Place p, Given w, double r) {
       return put<optim::Adadelta>(p, w, optim::AdadeltaOptions(10 * r));
     }},
    {"ASGD",
     [](Place p, Given w, double r) { return put<optim::ASGD>(p, w, optim::ASGDOptions(r)); }},
    {"Rprop",
     [](Place p, Given w, double r) { return put<optim::Rprop>(p, w, optim::RpropOptions(r)); }},
    {"Lion",
     [](Place p, Given w, double r) { return put<optim::Lion>(p, w, optim::LionOptions(r)); }},
};
static_assert(std::size(kOptimizerKinds) == OptimizerPlace::kKinds);

}  // namespace

void OptimizerPlace::make(int kind, const std::vector<Tensor>& parameters, double rate) {
  current = nullptr;
  current = kOptimizerKinds[kind % kKinds].make(*this, parameters, rate);
}

const char* OptimizerPlace::name(int kind) { return kOptimizerKinds[kind % kKinds].name; }

}  // namespace groove::random_loops
