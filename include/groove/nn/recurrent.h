// Recurrent networks and their cells, with LibTorch's parameter names and gate orders.
#pragma once

#include <optional>
#include <tuple>

#include "groove/nn/cloneable.h"
#include "groove/nn/holder.h"
#include "groove/nn/options.h"
#include "groove/nn/packed_sequence.h"

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
  /// Where positive, h is a learned projection to that many features (Sak et al. 2014).
  GROOVE_ARG(std::int64_t, proj_size) = 0;
};
struct GRUOptions {
  GRUOptions(std::int64_t input_size, std::int64_t hidden_size)
      : input_size_(input_size), hidden_size_(hidden_size) {}
  GROOVE_ARG(std::int64_t, input_size);
  GROOVE_ARG(std::int64_t, hidden_size);
  GROOVE_ARG(std::int64_t, num_layers) = 1;
  GROOVE_ARG(bool, bias) = true;
  GROOVE_ARG(bool, batch_first) = false;
  GROOVE_ARG(double, dropout) = 0.0;
  GROOVE_ARG(bool, bidirectional) = false;
};
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
// or undefined, w_hr [P, H] where there is a projection, all initially uniform within 1 / sqrt(H).
struct RecurrentWeights {
  Tensor w_ih, w_hh, b_ih, b_hh, w_hr = {};
};

class RecurrentCell : public Resettable {
 public:
  void reset() override;
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
  std::int64_t gates_;
};

// What the options of RNN, LSTM and GRU have in common.
struct RNNOptionsBase {
  GROOVE_ARG(std::string, kind);
  GROOVE_ARG(std::int64_t, gates) = 1;
  GROOVE_ARG(std::int64_t, input_size) = 0;
  GROOVE_ARG(std::int64_t, hidden_size) = 0;
  GROOVE_ARG(std::int64_t, num_layers) = 1;
  GROOVE_ARG(bool, bias) = true;
  GROOVE_ARG(bool, batch_first) = false;
  GROOVE_ARG(double, dropout) = 0.0;
  GROOVE_ARG(bool, bidirectional) = false;
  GROOVE_ARG(std::int64_t, proj_size) = 0;

 public:
  template <typename Options>
  RNNOptionsBase(const char* kind, std::int64_t gates, const Options& options)
      : kind_(kind),
        gates_(gates),
        input_size_(options.input_size()),
        hidden_size_(options.hidden_size()),
        num_layers_(options.num_layers()),
        bias_(options.bias()),
        batch_first_(options.batch_first()),
        dropout_(options.dropout()),
        bidirectional_(options.bidirectional()) {
    if constexpr (requires { options.proj_size(); }) proj_size_ = options.proj_size();
  }
};

class Recurrent : public Resettable {
 public:
  using OpensCallScope = void;
  void reset() override;
  void reset_parameters();
  /// w_ih, w_hh, b_ih, b_hh, w_hr, those that there are, of each layer and direction in turn.
  std::vector<Tensor> all_weights() const;
  void flatten_parameters() {}
  void pretty_print(std::ostream& stream) const override;
  RNNOptionsBase options_base;

 protected:
  explicit Recurrent(const RNNOptionsBase& options);
  /// Without parameters of its own: over these, one of each layer and direction in turn.
  Recurrent(const RNNOptionsBase& options, std::vector<RecurrentWeights> weights);
  // One time step: what the input adds to the gates, [N, G H], and states [N, …] to the new states;
  // states[0] is also the output.
  using Step = std::vector<Tensor> (*)(const Tensor& input, const std::vector<Tensor>& states,
                                       const RecurrentWeights& weights);
  /// `states` is empty (zeros) or `count` tensors [layers * directions, N, H], the first one with
  /// the projection's size where there is one; gives the output and the last states.
  std::tuple<Tensor, std::vector<Tensor>> run(const Tensor& input, std::vector<Tensor> states,
                                              std::size_t count, Step step) const;
  std::tuple<utils::rnn::PackedSequence, std::vector<Tensor>> run(
      const utils::rnn::PackedSequence& input, std::vector<Tensor> states, std::size_t count,
      Step step) const;

 private:
  std::int64_t directions() const { return options_base.bidirectional() ? 2 : 1; }
  std::vector<Tensor> states_or_zeros(std::vector<Tensor> states, std::size_t count,
                                      const Tensor& input, std::int64_t batch) const;
  /// `run_direction` is given the input's part of the gates of all steps, first states, weights,
  /// and whether it goes backwards; it gives the last states and then the outputs.
  template <typename RunDirection>
  std::tuple<Tensor, std::vector<Tensor>> run_layers(Tensor data, const std::vector<Tensor>& states,
                                                     const RunDirection& run_direction) const;
  /// Features of a direction's output.
  std::int64_t output_size() const;
  std::vector<RecurrentWeights> weights_;
};

}  // namespace detail

/// h' = tanh (or relu) of w_ih x + b_ih + w_hh h + b_hh
class RNNCellImpl : public Cloneable<RNNCellImpl, detail::RecurrentCell> {
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
extern template class Cloneable<RNNCellImpl, detail::RecurrentCell>;

/// Gives (h, c).
class LSTMCellImpl : public Cloneable<LSTMCellImpl, detail::RecurrentCell> {
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
extern template class Cloneable<LSTMCellImpl, detail::RecurrentCell>;

class GRUCellImpl : public Cloneable<GRUCellImpl, detail::RecurrentCell> {
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
extern template class Cloneable<GRUCellImpl, detail::RecurrentCell>;

/// input [T, N, I] ([N, T, I] with batch_first) -> (output [T, N, D H], h [L D, N, H]), D being 2
/// where bidirectional. Without hx the states begin as zeros.
class RNNImpl : public Cloneable<RNNImpl, detail::Recurrent> {
 public:
  RNNImpl(std::int64_t input_size, std::int64_t hidden_size)
      : RNNImpl(RNNOptions(input_size, hidden_size)) {}
  explicit RNNImpl(const RNNOptions& options);
  std::tuple<Tensor, Tensor> forward(const Tensor& input, Tensor hx = {},
                                     Site site = Site::current());
  std::tuple<utils::rnn::PackedSequence, Tensor> forward_with_packed_input(
      const utils::rnn::PackedSequence& packed_input, Tensor hx = {}, Site site = Site::current());
  RNNOptions options;
};
GROOVE_MODULE(RNN);
extern template class Cloneable<RNNImpl, detail::Recurrent>;

/// As RNN; gives (output, (h, c)).
class LSTMImpl : public Cloneable<LSTMImpl, detail::Recurrent> {
 public:
  LSTMImpl(std::int64_t input_size, std::int64_t hidden_size)
      : LSTMImpl(LSTMOptions(input_size, hidden_size)) {}
  explicit LSTMImpl(const LSTMOptions& options);
  std::tuple<Tensor, std::tuple<Tensor, Tensor>> forward(
      const Tensor& input, std::optional<std::tuple<Tensor, Tensor>> hx_opt = std::nullopt,
      Site site = Site::current());
  std::tuple<utils::rnn::PackedSequence, std::tuple<Tensor, Tensor>> forward_with_packed_input(
      const utils::rnn::PackedSequence& packed_input,
      std::optional<std::tuple<Tensor, Tensor>> hx_opt = std::nullopt, Site site = Site::current());
  LSTMOptions options;
};
GROOVE_MODULE(LSTM);
extern template class Cloneable<LSTMImpl, detail::Recurrent>;

class GRUImpl : public Cloneable<GRUImpl, detail::Recurrent> {
 public:
  GRUImpl(std::int64_t input_size, std::int64_t hidden_size)
      : GRUImpl(GRUOptions(input_size, hidden_size)) {}
  explicit GRUImpl(const GRUOptions& options);
  std::tuple<Tensor, Tensor> forward(const Tensor& input, Tensor hx = {},
                                     Site site = Site::current());
  std::tuple<utils::rnn::PackedSequence, Tensor> forward_with_packed_input(
      const utils::rnn::PackedSequence& packed_input, Tensor hx = {}, Site site = Site::current());
  GRUOptions options;
};
GROOVE_MODULE(GRU);
extern template class Cloneable<GRUImpl, detail::Recurrent>;

}  // namespace groove::nn

namespace groove {

/// The layers as functions: `params` are w_ih, w_hh and, with biases, b_ih, b_hh (and w_hr with a
/// projection) of each layer and direction in turn, `hx` the first states [layers * directions, N,
/// H], of an LSTM h and c. Gives the output and the last states.
std::tuple<Tensor, Tensor, Tensor> lstm(Arg input, TensorList hx, TensorList params,
                                        bool has_biases, std::int64_t num_layers, double dropout,
                                        bool train, bool bidirectional, bool batch_first);
std::tuple<Tensor, Tensor> gru(Arg input, const Tensor& hx, TensorList params, bool has_biases,
                               std::int64_t num_layers, double dropout, bool train,
                               bool bidirectional, bool batch_first);
std::tuple<Tensor, Tensor> rnn_tanh(Arg input, const Tensor& hx, TensorList params, bool has_biases,
                                    std::int64_t num_layers, double dropout, bool train,
                                    bool bidirectional, bool batch_first);
std::tuple<Tensor, Tensor> rnn_relu(Arg input, const Tensor& hx, TensorList params, bool has_biases,
                                    std::int64_t num_layers, double dropout, bool train,
                                    bool bidirectional, bool batch_first);

}  // namespace groove
