#include "groove/nn/recurrent.h"

#include <cmath>
#include <ostream>

#include "groove/detail/call_scope.h"
#include "groove/nn/functional.h"
#include "groove/nn/init.h"
#include "groove/ops/contractions.h"
#include "groove/ops/creation.h"
#include "groove/ops/math.h"
#include "groove/ops/views.h"
#include "src/core/check.h"
#include "src/core/small_vector.h"

namespace groove::nn {
namespace {

void check_sizes(const char* kind, std::int64_t input_size, std::int64_t hidden_size) {
  GROOVE_CHECK(input_size >= 0 && hidden_size > 0,
               "{}: input_size {} must not be negative and hidden_size {} must "
               "be positive",
               kind, input_size, hidden_size);
}

void fill_uniform(const Tensor& tensor, std::int64_t hidden_size) {
  const double bound = 1 / std::sqrt(static_cast<double>(hidden_size));
  if (tensor.defined()) init::uniform_(tensor, -bound, bound);
}

Tensor plain_step(const Tensor& input, const Tensor& state, const detail::RecurrentWeights& w,
                  bool is_tanh) {
  const Tensor sum = add(linear(input, w.w_ih, w.b_ih), linear(state, w.w_hh, w.b_hh));
  return is_tanh ? groove::tanh(sum) : groove::relu(sum);
}

}  // namespace

namespace detail {

RecurrentCell::RecurrentCell(const char* kind, std::int64_t input_size, std::int64_t hidden_size,
                             bool has_bias, std::int64_t gates)
    : kind_(kind), input_size_(input_size), hidden_size_(hidden_size), has_bias_(has_bias) {
  check_sizes(kind, input_size, hidden_size);
  const std::int64_t rows = gates * hidden_size;
  weight_ih = register_parameter("weight_ih", empty({rows, input_size}));
  weight_hh = register_parameter("weight_hh", empty({rows, hidden_size}));
  bias_ih = register_parameter("bias_ih", has_bias ? empty({rows}) : Tensor(), has_bias);
  bias_hh = register_parameter("bias_hh", has_bias ? empty({rows}) : Tensor(), has_bias);
  reset_parameters();
}

void RecurrentCell::reset_parameters() {
  for (const Tensor& parameter : {weight_ih, weight_hh, bias_ih, bias_hh})
    fill_uniform(parameter, hidden_size_);
}

void RecurrentCell::check(const Tensor& input, const Tensor& state) const {
  GROOVE_CHECK(input.dim() == 2 && input.size(1) == input_size_,
               "{}: the input has shape {}; it must be [N, {}]", kind_, to_string(input.sizes()),
               input_size_);
  GROOVE_CHECK(!state.defined() || (state.dim() == 2 && state.size(0) == input.size(0) &&
                                    state.size(1) == hidden_size_),
               "{}: the state has shape {}; it must be [{}, {}]", kind_, to_string(state.sizes()),
               input.size(0), hidden_size_);
}

Tensor RecurrentCell::state_or_zeros(const Tensor& input, const Tensor& state) const {
  check(input, state);
  return state.defined() ? state : zeros({input.size(0), hidden_size_}, input.options());
}

void RecurrentCell::print(std::ostream& stream) const {
  stream << "torch::nn::" << kind_ << "(" << input_size_ << ", " << hidden_size_;
  if (!has_bias_) stream << ", bias=false";
}

Recurrent::Recurrent(const Options& options) : options_(options) {
  check_sizes(options.kind, options.input_size, options.hidden_size);
  GROOVE_CHECK(options.num_layers > 0, "{}: num_layers is {}; it must be positive", options.kind,
               options.num_layers);
  GROOVE_CHECK(options.dropout >= 0 && options.dropout <= 1,
               "{}: dropout is {}; a probability lies between 0 and 1", options.kind,
               options.dropout);
  const std::int64_t rows = options.gates * options.hidden_size;
  for (std::int64_t layer = 0; layer < options.num_layers; ++layer) {
    for (std::int64_t direction = 0; direction < directions(); ++direction) {
      const std::int64_t width =
          layer == 0 ? options.input_size : options.hidden_size * directions();
      const std::string ending = "_l" + std::to_string(layer) + (direction ? "_reverse" : "");
      RecurrentWeights w;
      w.w_ih = register_parameter("weight_ih" + ending, empty({rows, width}));
      w.w_hh = register_parameter("weight_hh" + ending, empty({rows, options.hidden_size}));
      if (options.has_bias) {
        w.b_ih = register_parameter("bias_ih" + ending, empty({rows}));
        w.b_hh = register_parameter("bias_hh" + ending, empty({rows}));
      }
      weights_.push_back(std::move(w));
    }
  }
  reset_parameters();
}

void Recurrent::reset_parameters() {
  for (const Tensor& parameter : all_weights()) fill_uniform(parameter, options_.hidden_size);
}

std::vector<Tensor> Recurrent::all_weights() const {
  std::vector<Tensor> result;
  for (const RecurrentWeights& w : weights_)
    for (const Tensor& parameter : {w.w_ih, w.w_hh, w.b_ih, w.b_hh})
      if (parameter.defined()) result.push_back(parameter);
  return result;
}

std::tuple<Tensor, std::vector<Tensor>> Recurrent::run(const Tensor& given,
                                                       std::vector<Tensor> states,
                                                       std::size_t count, Step step) const {
  GROOVE_CHECK(given.dim() == 3 && given.size(2) == options_.input_size,
               "{}: the input has shape {}; it must be {} with {} features", options_.kind,
               to_string(given.sizes()), options_.batch_first ? "[N, T, I]" : "[T, N, I]",
               options_.input_size);
  const Tensor input = options_.batch_first ? transpose(given, 0, 1) : given;
  const std::int64_t steps = input.size(0), batch = input.size(1);
  GROOVE_CHECK(steps > 0, "{}: the input has no time steps", options_.kind);
  const std::int64_t layers = options_.num_layers * directions();
  if (states.empty())
    states.assign(count, zeros({layers, batch, options_.hidden_size}, input.options()));
  for (const Tensor& state : states)
    GROOVE_CHECK(state.sizes() == IntArrayRef({layers, batch, options_.hidden_size}),
                 "{}: the state has shape {}; it must be [{}, {}, {}]", options_.kind,
                 to_string(state.sizes()), layers, batch, options_.hidden_size);

  std::vector<Tensor> sequence = unbind(input, 0);
  std::vector<std::vector<Tensor>> last(count);
  for (std::int64_t layer = 0; layer < options_.num_layers; ++layer) {
    std::vector<std::vector<Tensor>> outputs;  // by direction
    for (std::int64_t direction = 0; direction < directions(); ++direction) {
      const std::int64_t at = layer * directions() + direction;
      std::vector<Tensor> current;
      for (const Tensor& state : states) current.push_back(select(state, 0, at));
      std::vector<Tensor> output(sequence.size());
      for (std::int64_t t = 0; t < steps; ++t) {
        const auto place = static_cast<std::size_t>(direction ? steps - 1 - t : t);
        current = step(sequence[place], current, weights_[static_cast<std::size_t>(at)]);
        output[place] = current[0];
      }
      for (std::size_t i = 0; i < count; ++i) last[i].push_back(current[i]);
      outputs.push_back(std::move(output));
    }
    for (std::size_t t = 0; t < sequence.size(); ++t)
      sequence[t] = directions() == 1 ? outputs[0][t] : cat({outputs[0][t], outputs[1][t]}, -1);
    if (options_.dropout > 0 && is_training() && layer + 1 < options_.num_layers)
      sequence = unbind(dropout(stack(sequence, 0), options_.dropout, true), 0);
  }
  std::vector<Tensor> ends;
  for (const std::vector<Tensor>& of_state : last) ends.push_back(stack(of_state, 0));
  return {stack(sequence, options_.batch_first ? 1 : 0), std::move(ends)};
}

void Recurrent::print(std::ostream& stream) const {
  stream << "torch::nn::" << options_.kind << "(input_size=" << options_.input_size
         << ", hidden_size=" << options_.hidden_size << ", num_layers=" << options_.num_layers
         << ", bias=" << (options_.has_bias ? "true" : "false")
         << ", batch_first=" << (options_.batch_first ? "true" : "false")
         << ", dropout=" << options_.dropout
         << ", bidirectional=" << (options_.bidirectional ? "true" : "false") << ")";
}

}  // namespace detail

// ---- cells ----

RNNCellImpl::RNNCellImpl(const RNNCellOptions& options_)
    : RecurrentCell("RNNCell", options_.input_size(), options_.hidden_size(), options_.bias(), 1),
      options(options_) {}
Tensor RNNCellImpl::forward(const Tensor& input, const Tensor& hx, Site site) {
  const groove::detail::CallScope scope(site);
  return plain_step(input, state_or_zeros(input, hx), {weight_ih, weight_hh, bias_ih, bias_hh},
                    options.nonlinearity().is_tanh);
}
void RNNCellImpl::pretty_print(std::ostream& stream) const {
  print(stream);
  stream << (options.nonlinearity().is_tanh ? ")" : ", nonlinearity=kReLU)");
}

LSTMCellImpl::LSTMCellImpl(const LSTMCellOptions& options_)
    : RecurrentCell("LSTMCell", options_.input_size(), options_.hidden_size(), options_.bias(), 4),
      options(options_) {}
std::tuple<Tensor, Tensor> LSTMCellImpl::forward(const Tensor& input,
                                                 std::optional<std::tuple<Tensor, Tensor>> hx_opt,
                                                 Site site) {
  const groove::detail::CallScope scope(site);
  const auto [h, c] = hx_opt.value_or(std::tuple<Tensor, Tensor>());
  const Tensor states[] = {state_or_zeros(input, h), state_or_zeros(input, c)};
  return lstm_cell(input, states, weight_ih, weight_hh, bias_ih, bias_hh);
}
void LSTMCellImpl::pretty_print(std::ostream& stream) const {
  print(stream);
  stream << ")";
}

GRUCellImpl::GRUCellImpl(const GRUCellOptions& options_)
    : RecurrentCell("GRUCell", options_.input_size(), options_.hidden_size(), options_.bias(), 3),
      options(options_) {}
Tensor GRUCellImpl::forward(const Tensor& input, const Tensor& hx, Site site) {
  const groove::detail::CallScope scope(site);
  return gru_cell(input, state_or_zeros(input, hx), weight_ih, weight_hh, bias_ih, bias_hh);
}
void GRUCellImpl::pretty_print(std::ostream& stream) const {
  print(stream);
  stream << ")";
}

// ---- layers over time ----

RNNImpl::RNNImpl(const RNNOptions& options_)
    : Recurrent({"RNN", options_.input_size(), options_.hidden_size(), options_.num_layers(), 1,
                 options_.bias(), options_.batch_first(), options_.bidirectional(),
                 options_.dropout()}),
      options(options_) {}
std::tuple<Tensor, Tensor> RNNImpl::forward(const Tensor& input, Tensor hx, Site site) {
  const groove::detail::CallScope scope(site);
  const Step of_tanh = [](const Tensor& x, const std::vector<Tensor>& states,
                          const detail::RecurrentWeights& w) {
    return std::vector<Tensor>{plain_step(x, states[0], w, true)};
  };
  const Step of_relu = [](const Tensor& x, const std::vector<Tensor>& states,
                          const detail::RecurrentWeights& w) {
    return std::vector<Tensor>{plain_step(x, states[0], w, false)};
  };
  auto [output, last] = run(input, hx.defined() ? std::vector<Tensor>{hx} : std::vector<Tensor>(),
                            1, options.nonlinearity().is_tanh ? of_tanh : of_relu);
  return {std::move(output), std::move(last[0])};
}
void RNNImpl::pretty_print(std::ostream& stream) const { print(stream); }

LSTMImpl::LSTMImpl(const LSTMOptions& options_)
    : Recurrent({"LSTM", options_.input_size(), options_.hidden_size(), options_.num_layers(), 4,
                 options_.bias(), options_.batch_first(), options_.bidirectional(),
                 options_.dropout()}),
      options(options_) {
  GROOVE_CHECK(options.proj_size() == 0,
               "LSTM: proj_size is not built; put a Linear behind the LSTM");
}
std::tuple<Tensor, std::tuple<Tensor, Tensor>> LSTMImpl::forward(
    const Tensor& input, std::optional<std::tuple<Tensor, Tensor>> hx_opt, Site site) {
  const groove::detail::CallScope scope(site);
  std::vector<Tensor> states;
  if (hx_opt) states = {std::get<0>(*hx_opt), std::get<1>(*hx_opt)};
  auto [output, last] = run(
      input, std::move(states), 2,
      [](const Tensor& x, const std::vector<Tensor>& current, const detail::RecurrentWeights& w) {
        auto [h, c] = lstm_cell(x, current, w.w_ih, w.w_hh, w.b_ih, w.b_hh);
        return std::vector<Tensor>{std::move(h), std::move(c)};
      });
  return {std::move(output), {std::move(last[0]), std::move(last[1])}};
}
void LSTMImpl::pretty_print(std::ostream& stream) const { print(stream); }

GRUImpl::GRUImpl(const GRUOptions& options_)
    : Recurrent({"GRU", options_.input_size(), options_.hidden_size(), options_.num_layers(), 3,
                 options_.bias(), options_.batch_first(), options_.bidirectional(),
                 options_.dropout()}),
      options(options_) {
  GROOVE_CHECK(options.proj_size() == 0, "GRU: there is no proj_size");
}
std::tuple<Tensor, Tensor> GRUImpl::forward(const Tensor& input, Tensor hx, Site site) {
  const groove::detail::CallScope scope(site);
  auto [output, last] = run(
      input, hx.defined() ? std::vector<Tensor>{hx} : std::vector<Tensor>(), 1,
      [](const Tensor& x, const std::vector<Tensor>& current, const detail::RecurrentWeights& w) {
        return std::vector<Tensor>{gru_cell(x, current[0], w.w_ih, w.w_hh, w.b_ih, w.b_hh)};
      });
  return {std::move(output), std::move(last[0])};
}
void GRUImpl::pretty_print(std::ostream& stream) const { print(stream); }

}  // namespace groove::nn
