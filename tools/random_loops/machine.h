// Runs a drawn program through the public API, and writes down all that it can see.
#pragma once

#include <groove/groove.h>

#include <cstdio>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <variant>
#include <vector>

#include "tools/random_loops/program.h"

namespace groove::random_loops {

/// Bits of all elements; every NaN counts as the same.
std::uint64_t hash_of(const Tensor& tensor, const Site& site);

// A model of one of several kinds, from a square matrix to one of that size.
struct Model {
  enum Kind : std::uint8_t { kMlp, kLstm, kGru, kEmbedding, kConvolution, kNorms };
  static constexpr int kKinds = 6;
  Model(int kind, int size);
  Tensor forward(const Tensor& x, int iteration, const Site& site);
  std::vector<Tensor> parameters() const;
  int kind, size;
  std::shared_ptr<nn::Module> tree;
  nn::Sequential layers{nullptr};
  nn::LSTMCell lstm{nullptr};
  nn::GRUCell gru{nullptr};
  nn::Embedding embedding{nullptr};
  Tensor hidden, cell;
};

// Optimizers that are made again lie where the ones before them lay, as a program's local
// variables do.
struct OptimizerPlace {
  static constexpr int kKinds = 15;
  static const char* name(int kind);
  void make(int kind, const std::vector<Tensor>& parameters, double rate);
  optim::Optimizer& now() { return *current; }
  std::variant<std::monostate, optim::SGD, optim::Adam, optim::AdamW, optim::RMSprop,
               optim::Adagrad, optim::NAdam, optim::RAdam, optim::Adamax, optim::Adadelta,
               optim::ASGD, optim::Rprop, optim::Lion>
      own;
  optim::Optimizer* current = nullptr;
};

struct Hook {
  Tensor tensor;
  unsigned position;
};

struct Machine {
  Machine(const Program& program, std::FILE* log);
  /// The program from its first line to its last.
  void run();
  void step(const Statement& statement, int iteration);
  bool holds(const Statement& statement, int iteration);
  void begin_iteration(int iteration);
  /// Everything that a program can see of its tensors and its memory.
  void dump(int iteration);
  void run_on_two_threads();

  const Program& program;
  std::FILE* log;
  const std::int64_t n;
  std::vector<Tensor> values;              // v…, w…, b…
  std::vector<Tensor> histories;           // h…
  std::vector<Tensor> parameters;          // p…
  Tensor leaves[2];                        // of no optimizer
  std::vector<std::vector<float>> memory;  // under b…, and one for a parameter
  std::vector<Tensor> wide, whole;         // d…, z…: float64, int64
  std::vector<Tensor> complexes;           // c…, where a statement is about them
  Tensor base;                             // a flat buffer that views lie in
  Tensor loss;
  std::vector<std::unique_ptr<Model>> models;
  std::vector<OptimizerPlace> optimizers{kOptimizers};
  std::vector<Hook> hooks;
  std::deque<Tensor> kept;
  std::deque<Tensor> past;  // with their histories
  std::deque<Tensor> pool;  // some of which are taken
  Tensor pointed;           // whose memory `pointer` points to …
  Tensor pointed_memory;    // … and which set_data() must not free
  float* pointer = nullptr;
  Tensor large;
  float* large_pointer = nullptr;
  std::vector<Tensor> saved;  // copies of the parameters
  Tensor total;               // of losses
  std::optional<RandomState> random;
  std::int64_t hook_calls = 0;
  std::int64_t errors = 0;
};

// One statement in one iteration, with the letters of its rule bound.
struct Step {
  Step(Machine& machine, const Statement& statement, int iteration);
  /// The place of the next call of this statement.
  Site at();
  void add_loss(const Tensor& more);
  void show(const char* what, double value);
  void show(const Tensor& tensor);

  Machine& m;
  const Statement& s;
  Tensor &a, &b, &c, &w, &k, &p, &q, &h, &g;
  const Tensor& r;
  optim::Optimizer& opt;
  Model& net;
  const std::int64_t n, j, size;
  const double x;
  const int i;

 private:
  int calls_ = 0;
};

}  // namespace groove::random_loops
