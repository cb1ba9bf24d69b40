#include "groove/nn/recurrent.h"

#include <algorithm>
#include <cmath>
#include <ostream>

#include "groove/control_flow.h"
#include "groove/detail/call_scope.h"
#include "groove/detail/gates.h"
#include "groove/nn/functional.h"
#include "groove/nn/init.h"
#include "groove/ops/contractions.h"
#include "groove/ops/creation.h"
#include "groove/ops/index.h"
#include "groove/ops/math.h"
#include "groove/ops/views.h"
#include "src/core/check.h"
#include "src/core/small_vector.h"
#include "src/nn/printed.h"

namespace groove::nn {

using utils::rnn::PackedSequence;

namespace {

void check_sizes(const std::string& kind, std::int64_t input_size, std::int64_t hidden_size) {
  GROOVE_CHECK(input_size >= 0 && hidden_size > 0,
               "{}: input_size {} must not be negative and hidden_size {} must "
               "be positive",
               kind, input_size, hidden_size);
}

void fill_uniform(const Tensor& tensor, std::int64_t hidden_size) {
  const double bound = 1 / std::sqrt(static_cast<double>(hidden_size));
  if (tensor.defined()) init::uniform_(tensor, -bound, bound);
}

Tensor input_gates(const Tensor& input, const detail::RecurrentWeights& w) {
  return linear(input, w.w_ih, w.b_ih);
}
Tensor hidden_gates(const Tensor& h, const detail::RecurrentWeights& w) {
  return linear(h, w.w_hh, w.b_hh);
}

Tensor plain_step(const Tensor& from_input, const Tensor& state, const detail::RecurrentWeights& w,
                  bool is_tanh) {
  // In the state's dtype, whatever autocast makes of the products.
  const Tensor sum = add(from_input, hidden_gates(state, w)).to(state.scalar_type());
  return is_tanh ? groove::tanh(sum) : groove::relu(sum);
}

// One layer in one direction: the last states, and the outputs of all steps. It is one scan, which
// takes as many steps as there are.
template <typename Step>
std::vector<Tensor> scanned(Step step, const Tensor& gates, const std::vector<Tensor>& first,
                            const detail::RecurrentWeights& weights, bool is_reverse) {
  const auto body = [&](const std::vector<Tensor>& given) {
    std::vector<Tensor> next =
        step(given.back(), std::vector<Tensor>(given.begin(), given.end() - 1), weights);
    next.push_back(next[0]);
    return next;
  };
  return groove::detail::run_scan(body, first, {gates}, {.reverse = is_reverse}, Site::current());
}

// The same of packed sequences, whose later steps have fewer rows: those of the sequences that
// still go on.
template <typename Step>
std::vector<Tensor> stepped(Step step, const Tensor& gates, const std::vector<std::int64_t>& rows,
                            const std::vector<Tensor>& first,
                            const detail::RecurrentWeights& weights, bool is_reverse) {
  const std::vector<Tensor> sequence = split_with_sizes(gates, rows, 0);
  const std::size_t count = first.size();
  std::vector<Tensor> current = first;
  std::vector<std::vector<Tensor>> ended(count);  // of sequences, the shortest first
  std::vector<Tensor> output(sequence.size());
  for (std::size_t t = 0; t < sequence.size(); ++t) {
    const std::size_t place = is_reverse ? sequence.size() - 1 - t : t;
    const std::int64_t now = rows[place];
    for (std::size_t i = 0; i < count; ++i) {
      const std::int64_t known = is_reverse && t == 0 ? 0 : current[i].size(0);
      if (now < known) ended[i].push_back(narrow(current[i], 0, now, known - now));
      if (now < known || known == 0)
        current[i] = now == current[i].size(0) ? current[i] : narrow(current[i], 0, 0, now);
      else if (now > known)
        current[i] = cat({current[i], narrow(first[i], 0, known, now - known)}, 0);
    }
    current = step(sequence[place], current, weights);
    output[place] = current[0];
  }
  std::vector<Tensor> results;
  for (std::size_t i = 0; i < count; ++i) {
    ended[i].push_back(current[i]);
    std::reverse(ended[i].begin(), ended[i].end());
    results.push_back(ended[i].size() == 1 ? current[i] : cat(ended[i], 0));
  }
  results.push_back(cat(output, 0));
  return results;
}

}  // namespace

namespace detail {

RecurrentCell::RecurrentCell(const char* kind, std::int64_t input_size, std::int64_t hidden_size,
                             bool has_bias, std::int64_t gates)
    : kind_(kind),
      input_size_(input_size),
      hidden_size_(hidden_size),
      has_bias_(has_bias),
      gates_(gates) {
  reset();
}

void RecurrentCell::reset() {
  check_sizes(kind_, input_size_, hidden_size_);
  const std::int64_t rows = gates_ * hidden_size_;
  weight_ih = register_parameter("weight_ih", empty({rows, input_size_}));
  weight_hh = register_parameter("weight_hh", empty({rows, hidden_size_}));
  bias_ih = register_parameter("bias_ih", has_bias_ ? empty({rows}) : Tensor(), has_bias_);
  bias_hh = register_parameter("bias_hh", has_bias_ ? empty({rows}) : Tensor(), has_bias_);
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
  if (!has_bias_) stream << ", bias=" << text(false);
}

Recurrent::Recurrent(const RNNOptionsBase& options) : options_base(options) { reset(); }
Recurrent::Recurrent(const RNNOptionsBase& options, std::vector<RecurrentWeights> weights)
    : options_base(options), weights_(std::move(weights)) {}

std::int64_t Recurrent::output_size() const {
  return options_base.proj_size() > 0 ? options_base.proj_size() : options_base.hidden_size();
}

void Recurrent::reset() {
  const RNNOptionsBase& options = options_base;
  check_sizes(options.kind(), options.input_size(), options.hidden_size());
  GROOVE_CHECK(options.num_layers() > 0, "{}: num_layers is {}; it must be positive",
               options.kind(), options.num_layers());
  GROOVE_CHECK(options.dropout() >= 0 && options.dropout() <= 1,
               "{}: dropout is {}; a probability lies between 0 and 1", options.kind(),
               options.dropout());
  GROOVE_CHECK(options.proj_size() >= 0 && options.proj_size() < options.hidden_size(),
               "{}: proj_size is {}; it must be smaller than hidden_size, {}, or 0 for none",
               options.kind(), options.proj_size(), options.hidden_size());
  const std::int64_t rows = options.gates() * options.hidden_size();
  weights_.clear();
  for (std::int64_t layer = 0; layer < options.num_layers(); ++layer) {
    for (std::int64_t direction = 0; direction < directions(); ++direction) {
      const std::int64_t width = layer == 0 ? options.input_size() : output_size() * directions();
      const std::string ending = "_l" + std::to_string(layer) + (direction ? "_reverse" : "");
      RecurrentWeights w;
      w.w_ih = register_parameter("weight_ih" + ending, empty({rows, width}));
      w.w_hh = register_parameter("weight_hh" + ending, empty({rows, output_size()}));
      if (options.bias()) {
        w.b_ih = register_parameter("bias_ih" + ending, empty({rows}));
        w.b_hh = register_parameter("bias_hh" + ending, empty({rows}));
      }
      if (options.proj_size() > 0)
        w.w_hr =
            register_parameter("weight_hr" + ending, empty({output_size(), options.hidden_size()}));
      weights_.push_back(std::move(w));
    }
  }
  reset_parameters();
}

void Recurrent::reset_parameters() {
  for (const Tensor& parameter : all_weights()) fill_uniform(parameter, options_base.hidden_size());
}

std::vector<Tensor> Recurrent::all_weights() const {
  std::vector<Tensor> result;
  for (const RecurrentWeights& w : weights_)
    for (const Tensor& parameter : {w.w_ih, w.w_hh, w.b_ih, w.b_hh, w.w_hr})
      if (parameter.defined()) result.push_back(parameter);
  return result;
}

// What the input adds to the gates does not wait for the step before: it is one product for all.
template <typename RunDirection>
std::tuple<Tensor, std::vector<Tensor>> Recurrent::run_layers(
    Tensor data, const std::vector<Tensor>& states, const RunDirection& run_direction) const {
  const RNNOptionsBase& options = options_base;
  std::vector<std::vector<Tensor>> last(states.size());
  for (std::int64_t layer = 0; layer < options.num_layers(); ++layer) {
    std::vector<Tensor> outputs;  // by direction
    for (std::int64_t direction = 0; direction < directions(); ++direction) {
      const std::int64_t at = layer * directions() + direction;
      const RecurrentWeights& weights = weights_[static_cast<std::size_t>(at)];
      std::vector<Tensor> first;
      for (const Tensor& state : states) first.push_back(select(state, 0, at));
      std::vector<Tensor> results =
          run_direction(input_gates(data, weights), first, weights, direction == 1);
      outputs.push_back(std::move(results.back()));
      for (std::size_t i = 0; i < last.size(); ++i) last[i].push_back(std::move(results[i]));
    }
    data = directions() == 1 ? outputs[0] : cat(outputs, -1);
    if (options.dropout() > 0 && is_training() && layer + 1 < options.num_layers())
      data = dropout(data, options.dropout(), true);
  }
  std::vector<Tensor> ends;
  for (const std::vector<Tensor>& of_state : last) ends.push_back(stack(of_state, 0));
  return {std::move(data), std::move(ends)};
}

std::tuple<Tensor, std::vector<Tensor>> Recurrent::run(const Tensor& given,
                                                       std::vector<Tensor> states,
                                                       std::size_t count, Step step) const {
  const RNNOptionsBase& options = options_base;
  GROOVE_CHECK(given.dim() == 3 && given.size(2) == options.input_size(),
               "{}: the input has shape {}; it must be {} with {} features", options.kind(),
               to_string(given.sizes()), options.batch_first() ? "[N, T, I]" : "[T, N, I]",
               options.input_size());
  const Tensor input = options.batch_first() ? transpose(given, 0, 1) : given;
  GROOVE_CHECK(input.size(0) > 0, "{}: the input has no time steps", options.kind());
  auto [output, last] = run_layers(
      input, states_or_zeros(std::move(states), count, input, input.size(1)),
      [step](const Tensor& gates, const std::vector<Tensor>& first, const RecurrentWeights& weights,
             bool is_reverse) { return scanned(step, gates, first, weights, is_reverse); });
  return {options.batch_first() ? transpose(output, 0, 1) : output, std::move(last)};
}

std::tuple<PackedSequence, std::vector<Tensor>> Recurrent::run(const PackedSequence& input,
                                                               std::vector<Tensor> states,
                                                               std::size_t count, Step step) const {
  GROOVE_CHECK(input.data().dim() == 2 && input.data().size(1) == options_base.input_size(),
               "{}: the packed data have shape {}; they must have {} features", options_base.kind(),
               to_string(input.data().sizes()), options_base.input_size());
  const Tensor& sizes = input.batch_sizes();
  const std::int64_t* const size = sizes.const_data_ptr<std::int64_t>();
  const std::vector<std::int64_t> each(size, size + sizes.numel());
  const Tensor &sorted = input.sorted_indices(), &unsorted = input.unsorted_indices();
  for (Tensor& state : states)
    if (sorted.defined()) state = index_select(state, 1, sorted);
  auto [output, last] =
      run_layers(input.data(), states_or_zeros(std::move(states), count, input.data(), each[0]),
                 [step, &each](const Tensor& gates, const std::vector<Tensor>& first,
                               const RecurrentWeights& weights, bool is_reverse) {
                   return stepped(step, gates, each, first, weights, is_reverse);
                 });
  for (Tensor& state : last)
    if (unsorted.defined()) state = index_select(state, 1, unsorted);
  return {PackedSequence(std::move(output), sizes, sorted, unsorted), std::move(last)};
}

std::vector<Tensor> Recurrent::states_or_zeros(std::vector<Tensor> states, std::size_t count,
                                               const Tensor& input, std::int64_t batch) const {
  const std::int64_t layers = options_base.num_layers() * directions();
  const std::int64_t widths[] = {output_size(), options_base.hidden_size()};
  if (states.empty())
    for (std::size_t i = 0; i < count; ++i)
      states.push_back(i > 0 && widths[i] == widths[0]
                           ? states[0]
                           : zeros({layers, batch, widths[i]}, input.options()));
  for (std::size_t i = 0; i < count; ++i)
    GROOVE_CHECK(states[i].sizes() == IntArrayRef({layers, batch, widths[i]}),
                 "{}: the state has shape {}; it must be [{}, {}, {}]", options_base.kind(),
                 to_string(states[i].sizes()), layers, batch, widths[i]);
  return states;
}

void Recurrent::pretty_print(std::ostream& stream) const {
  const RNNOptionsBase& options = options_base;
  stream << "torch::nn::" << options.kind() << "(input_size=" << options.input_size()
         << ", hidden_size=" << options.hidden_size() << ", num_layers=" << options.num_layers()
         << ", bias=" << text(options.bias()) << ", batch_first=" << text(options.batch_first())
         << ", dropout=" << options.dropout()
         << ", bidirectional=" << text(options.bidirectional());
  if (options.proj_size() > 0) stream << ", proj_size=" << options.proj_size();
  stream << ")";
}

}  // namespace detail

// ---- cells ----

RNNCellImpl::RNNCellImpl(const RNNCellOptions& options_)
    : Cloneable("RNNCell", options_.input_size(), options_.hidden_size(), options_.bias(), 1),
      options(options_) {}
Tensor RNNCellImpl::forward(const Tensor& input, const Tensor& hx, Site site) {
  const groove::detail::CallScope scope(site, __func__);
  const detail::RecurrentWeights w{weight_ih, weight_hh, bias_ih, bias_hh};
  const Tensor state = state_or_zeros(input, hx);
  return plain_step(input_gates(input, w), state, w, options.nonlinearity().is_tanh);
}
void RNNCellImpl::pretty_print(std::ostream& stream) const {
  print(stream);
  stream << (options.nonlinearity().is_tanh ? ")" : ", nonlinearity=kReLU)");
}

LSTMCellImpl::LSTMCellImpl(const LSTMCellOptions& options_)
    : Cloneable("LSTMCell", options_.input_size(), options_.hidden_size(), options_.bias(), 4),
      options(options_) {}
std::tuple<Tensor, Tensor> LSTMCellImpl::forward(const Tensor& input,
                                                 std::optional<std::tuple<Tensor, Tensor>> hx_opt,
                                                 Site site) {
  const groove::detail::CallScope scope(site, __func__);
  const auto [h, c] = hx_opt.value_or(std::tuple<Tensor, Tensor>());
  const Tensor states[] = {state_or_zeros(input, h), state_or_zeros(input, c)};
  return lstm_cell(input, states, weight_ih, weight_hh, bias_ih, bias_hh);
}
void LSTMCellImpl::pretty_print(std::ostream& stream) const {
  print(stream);
  stream << ")";
}

GRUCellImpl::GRUCellImpl(const GRUCellOptions& options_)
    : Cloneable("GRUCell", options_.input_size(), options_.hidden_size(), options_.bias(), 3),
      options(options_) {}
Tensor GRUCellImpl::forward(const Tensor& input, const Tensor& hx, Site site) {
  const groove::detail::CallScope scope(site, __func__);
  return gru_cell(input, state_or_zeros(input, hx), weight_ih, weight_hh, bias_ih, bias_hh);
}
void GRUCellImpl::pretty_print(std::ostream& stream) const {
  print(stream);
  stream << ")";
}

// ---- layers over time ----

namespace {

std::vector<Tensor> tanh_step(const Tensor& x, const std::vector<Tensor>& states,
                              const detail::RecurrentWeights& w) {
  return {plain_step(x, states[0], w, true)};
}
std::vector<Tensor> relu_step(const Tensor& x, const std::vector<Tensor>& states,
                              const detail::RecurrentWeights& w) {
  return {plain_step(x, states[0], w, false)};
}
std::vector<Tensor> lstm_step(const Tensor& x, const std::vector<Tensor>& states,
                              const detail::RecurrentWeights& w) {
  auto [h, c] = groove::detail::lstm_after_products(x, hidden_gates(states[0], w), states[1],
                                                    Site::current());
  if (w.w_hr.defined()) h = linear(h, w.w_hr);
  return {std::move(h), std::move(c)};
}
std::vector<Tensor> gru_step(const Tensor& x, const std::vector<Tensor>& states,
                             const detail::RecurrentWeights& w) {
  return {groove::detail::gru_after_products(x, hidden_gates(states[0], w), states[0],
                                             Site::current())};
}

std::vector<Tensor> listed(const Tensor& hx) {
  return hx.defined() ? std::vector<Tensor>{hx} : std::vector<Tensor>();
}
std::vector<Tensor> listed(const std::optional<std::tuple<Tensor, Tensor>>& hx) {
  if (!hx) return {};
  return {std::get<0>(*hx), std::get<1>(*hx)};
}

// Layers over parameters that the caller holds.
class GivenLayers final : public detail::Recurrent {
 public:
  GivenLayers(const detail::RNNOptionsBase& options, std::vector<detail::RecurrentWeights> weights)
      : Recurrent(options, std::move(weights)) {}
  using Recurrent::run;
  using Recurrent::Step;
};

struct LayerFlags {
  bool has_biases;
  std::int64_t num_layers;
  double dropout;
  bool train, bidirectional, batch_first;
};

// The output and the last states.
std::vector<Tensor> run_given(const char* op, Arg input, TensorList hx, TensorList params,
                              std::int64_t gates, const LayerFlags& flags, GivenLayers::Step step) {
  const groove::detail::CallScope scope(input.site);
  const std::int64_t pairs = flags.num_layers * (flags.bidirectional ? 2 : 1);
  GROOVE_CHECK(pairs > 0 && params.size() % static_cast<std::size_t>(pairs) == 0,
               "{}: {} parameters for {} layers and directions", op, params.size(), pairs);
  const std::size_t each = params.size() / static_cast<std::size_t>(pairs);
  const std::size_t plain = flags.has_biases ? 4 : 2;
  GROOVE_CHECK(each == plain || (gates == 4 && each == plain + 1),
               "{}: {} parameters for {} layers and directions; each takes {}", op, params.size(),
               pairs, plain);
  std::vector<detail::RecurrentWeights> weights;
  for (std::size_t at = 0; at < params.size(); at += each) {
    detail::RecurrentWeights w{.w_ih = params[at], .w_hh = params[at + 1], .b_ih = {}, .b_hh = {}};
    GROOVE_CHECK(w.w_ih.dim() == 2 && w.w_hh.dim() == 2 && w.w_ih.size(0) == w.w_hh.size(0) &&
                     w.w_ih.size(0) % gates == 0,
                 "{}: weights {} and {} are not those of {} gates", op, to_string(w.w_ih.sizes()),
                 to_string(w.w_hh.sizes()), gates);
    if (flags.has_biases) {
      w.b_ih = params[at + 2];
      w.b_hh = params[at + 3];
    }
    if (each > plain) w.w_hr = params[at + plain];
    weights.push_back(std::move(w));
  }
  const detail::RecurrentWeights& first = weights[0];
  const LSTMOptions options = LSTMOptions(first.w_ih.size(1), first.w_ih.size(0) / gates)
                                  .num_layers(flags.num_layers)
                                  .bias(flags.has_biases)
                                  .batch_first(flags.batch_first)
                                  .dropout(flags.dropout)
                                  .bidirectional(flags.bidirectional)
                                  .proj_size(first.w_hr.defined() ? first.w_hr.size(0) : 0);
  GivenLayers layers(detail::RNNOptionsBase(op, gates, options), std::move(weights));
  layers.train(flags.train);
  auto [output, last] =
      layers.run(*input.tensor, std::vector<Tensor>(hx.begin(), hx.end()), hx.size(), step);
  last.insert(last.begin(), std::move(output));
  return std::move(last);
}

}  // namespace

RNNImpl::RNNImpl(const RNNOptions& options_)
    : Cloneable(detail::RNNOptionsBase("RNN", 1, options_)), options(options_) {}
std::tuple<Tensor, Tensor> RNNImpl::forward(const Tensor& input, Tensor hx, Site site) {
  const groove::detail::CallScope scope(site);
  auto [output, last] =
      run(input, listed(hx), 1, options.nonlinearity().is_tanh ? tanh_step : relu_step);
  return {std::move(output), std::move(last[0])};
}
std::tuple<PackedSequence, Tensor> RNNImpl::forward_with_packed_input(const PackedSequence& input,
                                                                      Tensor hx, Site site) {
  const groove::detail::CallScope scope(site);
  auto [output, last] =
      run(input, listed(hx), 1, options.nonlinearity().is_tanh ? tanh_step : relu_step);
  return {std::move(output), std::move(last[0])};
}

LSTMImpl::LSTMImpl(const LSTMOptions& options_)
    : Cloneable(detail::RNNOptionsBase("LSTM", 4, options_)), options(options_) {}
std::tuple<Tensor, std::tuple<Tensor, Tensor>> LSTMImpl::forward(
    const Tensor& input, std::optional<std::tuple<Tensor, Tensor>> hx_opt, Site site) {
  const groove::detail::CallScope scope(site);
  auto [output, last] = run(input, listed(hx_opt), 2, lstm_step);
  return {std::move(output), {std::move(last[0]), std::move(last[1])}};
}
std::tuple<PackedSequence, std::tuple<Tensor, Tensor>> LSTMImpl::forward_with_packed_input(
    const PackedSequence& input, std::optional<std::tuple<Tensor, Tensor>> hx_opt, Site site) {
  const groove::detail::CallScope scope(site);
  auto [output, last] = run(input, listed(hx_opt), 2, lstm_step);
  return {std::move(output), {std::move(last[0]), std::move(last[1])}};
}

GRUImpl::GRUImpl(const GRUOptions& options_)
    : Cloneable(detail::RNNOptionsBase("GRU", 3, options_)), options(options_) {}
std::tuple<Tensor, Tensor> GRUImpl::forward(const Tensor& input, Tensor hx, Site site) {
  const groove::detail::CallScope scope(site);
  auto [output, last] = run(input, listed(hx), 1, gru_step);
  return {std::move(output), std::move(last[0])};
}
std::tuple<PackedSequence, Tensor> GRUImpl::forward_with_packed_input(const PackedSequence& input,
                                                                      Tensor hx, Site site) {
  const groove::detail::CallScope scope(site);
  auto [output, last] = run(input, listed(hx), 1, gru_step);
  return {std::move(output), std::move(last[0])};
}

template class Cloneable<RNNCellImpl, detail::RecurrentCell>;
template class Cloneable<LSTMCellImpl, detail::RecurrentCell>;
template class Cloneable<GRUCellImpl, detail::RecurrentCell>;
template class Cloneable<RNNImpl, detail::Recurrent>;
template class Cloneable<LSTMImpl, detail::Recurrent>;
template class Cloneable<GRUImpl, detail::Recurrent>;

}  // namespace groove::nn

namespace groove {

std::tuple<Tensor, Tensor, Tensor> lstm(Arg input, TensorList hx, TensorList params,
                                        bool has_biases, std::int64_t num_layers, double dropout,
                                        bool train, bool bidirectional, bool batch_first) {
  GROOVE_CHECK(hx.size() == 2, "lstm: {} first states; there must be h and c", hx.size());
  std::vector<Tensor> results = nn::run_given(
      "lstm", input, hx, params, 4,
      {has_biases, num_layers, dropout, train, bidirectional, batch_first}, nn::lstm_step);
  return {std::move(results[0]), std::move(results[1]), std::move(results[2])};
}
std::tuple<Tensor, Tensor> gru(Arg input, const Tensor& hx, TensorList params, bool has_biases,
                               std::int64_t num_layers, double dropout, bool train,
                               bool bidirectional, bool batch_first) {
  std::vector<Tensor> results = nn::run_given(
      "gru", input, hx, params, 3,
      {has_biases, num_layers, dropout, train, bidirectional, batch_first}, nn::gru_step);
  return {std::move(results[0]), std::move(results[1])};
}
std::tuple<Tensor, Tensor> rnn_tanh(Arg input, const Tensor& hx, TensorList params, bool has_biases,
                                    std::int64_t num_layers, double dropout, bool train,
                                    bool bidirectional, bool batch_first) {
  std::vector<Tensor> results = nn::run_given(
      "rnn_tanh", input, hx, params, 1,
      {has_biases, num_layers, dropout, train, bidirectional, batch_first}, nn::tanh_step);
  return {std::move(results[0]), std::move(results[1])};
}
std::tuple<Tensor, Tensor> rnn_relu(Arg input, const Tensor& hx, TensorList params, bool has_biases,
                                    std::int64_t num_layers, double dropout, bool train,
                                    bool bidirectional, bool batch_first) {
  std::vector<Tensor> results = nn::run_given(
      "rnn_relu", input, hx, params, 1,
      {has_biases, num_layers, dropout, train, bidirectional, batch_first}, nn::relu_step);
  return {std::move(results[0]), std::move(results[1])};
}

}  // namespace groove
