// Recurrent networks and their cells, with LibTorch's parameter names and gate orders.
#pragma once

#include <optional>
#include <tuple>

#include "groove/nn/holder.h"
#include "groove/nn/options.h"

namespace groove::nn {

// The nonlinearity of a plain recurrent network.
class RecurrentNonlinearity {
 public:
  constexpr RecurrentNonlinearity(enumtype::kTanh) : is_tanh(true) {}
  constexpr RecurrentNonlinearity(enumtype::kReLU) : is_tanh(false) {}
  bool is_tanh;
};

struct RNNCellOptions {
  RNNCellOptions(std::int64_t input_size, std::int64_t hidden_size)
      : input_size_(input_size), hidden_size_(hidden_size) {}
  GROOVE_ARG(std::int64_t, input_size);
  GROOVE_ARG(std::int64_t, hidden_size);
  GROOVE_ARG(bool, bias) = true;
  GROOVE_ARG(RecurrentNonlinearity, nonlinearity) = kTanh;
};
struct LSTMCellOptions {
  LSTMCellOptions(std::int64_t input_size, std::int64_t hidden_size)
      : input_size_(input_size), hidden_size_(hidden_size) {}
  GROOVE_ARG(std::int64_t, input_size);
  GROOVE_ARG(std::int64_t, hidden_size);
  GROOVE_ARG(bool, bias) = true;
};
using GRUCellOptions = LSTMCellOptions;

struct LSTMOptions {
  LSTMOptions(std::int64_t input_size, std::int64_t hidden_size)
      : input_size_(input_size), hidden_size_(hidden_size) {}
  GROOVE_ARG(std::int64_t, input_size);
  GROOVE_ARG(std::int64_t, hidden_size);
  GROOVE_ARG(std::int64_t, num_layers) = 1;
  GROOVE_ARG(bool, bias) = true;
  /// Input and output are [N, T, …] instead of [T, N, …].
  GROOVE_ARG(bool, batch_first) = false;
  /// Of every layer's output but the last one's, in training.
  GROOVE_ARG(double, dropout) = 0.0;
  GROOVE_ARG(bool, bidirectional) = false;
  /// Not built: anything but 0 throws groove::Error.
  GROOVE_ARG(std::int64_t, proj_size) = 0;
};
using GRUOptions = LSTMOptions;
struct RNNOptions {
  RNNOptions(std::int64_t input_size, std::int64_t hidden_size)
      : input_size_(input_size), hidden_size_(hidden_size) {}
  GROOVE_ARG(std::int64_t, input_size);
  GROOVE_ARG(std::int64_t, hidden_size);
  GROOVE_ARG(std::int64_t, num_layers) = 1;
  GROOVE_ARG(RecurrentNonlinearity, nonlinearity) = kTanh;
  GROOVE_ARG(bool, bias) = true;
  GROOVE_ARG(bool, batch_first) = false;
  GROOVE_ARG(double, dropout) = 0.0;
  GROOVE_ARG(bool, bidirectional) = false;
};

namespace detail {

// Parameters of one layer and direction, or of a cell: w_ih [G H, I], w_hh [G H, H], biases [G H]
// or undefined, all initially uniform within 1 / sqrt(H).
struct RecurrentWeights {
  Tensor w_ih, w_hh, b_ih, b_hh;
};

class RecurrentCell : public Module {
 public:
  void reset_parameters();
  Tensor weight_ih, weight_hh, bias_ih, bias_hh;

 protected:
  RecurrentCell(const char* kind, std::int64_t input_size, std::int64_t hidden_size, bool has_bias,
                std::int64_t gates);
  /// Throws groove::Error unless input is [N, I] and the state, if any, [N, H].
  void check(const Tensor& input, const Tensor& state) const;
  Tensor state_or_zeros(const Tensor& input, const Tensor& state) const;
  void print(std::ostream& stream) const;

 private:
  const char* kind_;
  std::int64_t input_size_, hidden_size_;
  bool has_bias_;
};

class Recurrent : public Module {
 public:
  using OpensCallScope = void;
  void reset_parameters();
  /// w_ih, w_hh, b_ih, b_hh of each layer and direction in turn.
  std::vector<Tensor> all_weights() const;
  void flatten_parameters() {}

 protected:
  struct Options {
    const char* kind;
    std::int64_t input_size, hidden_size, num_layers, gates;
    bool has_bias, batch_first, bidirectional;
    double dropout;
  };
  explicit Recurrent(const Options& options);
  // One time step: input and states [N, …] to the new states; states[0] is also the output.
  using Step = std::vector<Tensor> (*)(const Tensor& input, const std::vector<Tensor>& states,
                                       const RecurrentWeights& weights);
  /// `states` is empty (zeros) or `count` tensors [layers * directions, N, H]; gives the output
  /// and the last states.
  std::tuple<Tensor, std::vector<Tensor>> run(const Tensor& input, std::vector<Tensor> states,
                                              std::size_t count, Step step) const;
  void print(std::ostream& stream) const;

 private:
  std::int64_t directions() const { return options_.bidirectional ? 2 : 1; }
  Options options_;
  std::vector<RecurrentWeights> weights_;
};

}  // namespace detail

/// h' = tanh (or relu) of w_ih x + b_ih + w_hh h + b_hh
class RNNCellImpl : public detail::RecurrentCell {
 public:
  using OpensCallScope = void;
  RNNCellImpl(std::int64_t input_size, std::int64_t hidden_size)
      : RNNCellImpl(RNNCellOptions(input_size, hidden_size)) {}
  explicit RNNCellImpl(const RNNCellOptions& options);
  Tensor forward(const Tensor& input, const Tensor& hx = {}, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  RNNCellOptions options;
};
GROOVE_MODULE(RNNCell);

/// Gives (h, c).
class LSTMCellImpl : public detail::RecurrentCell {
 public:
  using OpensCallScope = void;
  LSTMCellImpl(std::int64_t input_size, std::int64_t hidden_size)
      : LSTMCellImpl(LSTMCellOptions(input_size, hidden_size)) {}
  explicit LSTMCellImpl(const LSTMCellOptions& options);
  std::tuple<Tensor, Tensor> forward(
      const Tensor& input, std::optional<std::tuple<Tensor, Tensor>> hx_opt = std::nullopt,
      Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  LSTMCellOptions options;
};
GROOVE_MODULE(LSTMCell);

class GRUCellImpl : public detail::RecurrentCell {
 public:
  using OpensCallScope = void;
  GRUCellImpl(std::int64_t input_size, std::int64_t hidden_size)
      : GRUCellImpl(GRUCellOptions(input_size, hidden_size)) {}
  explicit GRUCellImpl(const GRUCellOptions& options);
  Tensor forward(const Tensor& input, const Tensor& hx = {}, Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  GRUCellOptions options;
};
GROOVE_MODULE(GRUCell);

/// input [T, N, I] ([N, T, I] with batch_first) -> (output [T, N, D H], h [L D, N, H]), D being 2
/// where bidirectional. Without hx the states begin as zeros.
class RNNImpl : public detail::Recurrent {
 public:
  RNNImpl(std::int64_t input_size, std::int64_t hidden_size)
      : RNNImpl(RNNOptions(input_size, hidden_size)) {}
  explicit RNNImpl(const RNNOptions& options);
  std::tuple<Tensor, Tensor> forward(const Tensor& input, Tensor hx = {},
                                     Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  RNNOptions options;
};
GROOVE_MODULE(RNN);

/// As RNN; gives (output, (h, c)).
class LSTMImpl : public detail::Recurrent {
 public:
  LSTMImpl(std::int64_t input_size, std::int64_t hidden_size)
      : LSTMImpl(LSTMOptions(input_size, hidden_size)) {}
  explicit LSTMImpl(const LSTMOptions& options);
  std::tuple<Tensor, std::tuple<Tensor, Tensor>> forward(
      const Tensor& input, std::optional<std::tuple<Tensor, Tensor>> hx_opt = std::nullopt,
      Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  LSTMOptions options;
};
GROOVE_MODULE(LSTM);

class GRUImpl : public detail::Recurrent {
 public:
  GRUImpl(std::int64_t input_size, std::int64_t hidden_size)
      : GRUImpl(GRUOptions(input_size, hidden_size)) {}
  explicit GRUImpl(const GRUOptions& options);
  std::tuple<Tensor, Tensor> forward(const Tensor& input, Tensor hx = {},
                                     Site site = Site::current());
  void pretty_print(std::ostream& stream) const override;
  GRUOptions options;
};
GROOVE_MODULE(GRU);

}  // namespace groove::nn
