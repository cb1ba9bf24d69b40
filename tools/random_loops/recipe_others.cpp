// Drawn programs that learn something else than pairs, with networks of few rows; how data come in
// and what stands around the step is as drawn.
#include <cmath>

#include "tools/random_loops/recipe_loop.h"

namespace groove::random_loops {
namespace {

void append(std::vector<Tensor>& to, const std::vector<Tensor>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

}  // namespace

void train_autoencoder(Loop& loop) {
  const Recipe& recipe = loop.recipe;
  const std::int64_t columns = std::max(recipe.inputs, 4), code_size = 2 + recipe.outputs;
  Network encoder(recipe, columns, 2 * code_size, recipe.body);
  Network decoder(recipe, code_size, columns, recipe.body);
  std::vector<Tensor> trained = encoder->parameters();
  append(trained, decoder->parameters());
  loop.make_optimizer(trained, 0.003);
  Source source(recipe, columns);
  while (loop.next()) {
    try {
      const auto x = groove::sigmoid(source.next(loop.step, loop.rows()).x);
      loop.may_throw(x);
      const auto parts = encoder(x).chunk(2, 1);
      const auto mean = parts[0], log_variance = parts[1];
      const auto code = mean + groove::randn_like(mean) * groove::exp(log_variance * 0.5);
      const auto again = groove::sigmoid(decoder(code));
      const auto match = nn::functional::binary_cross_entropy(again, x);
      const auto spread = -0.5 * (1 + log_variance - mean.pow(2) - log_variance.exp()).mean();
      const auto loss = match + 0.1 * spread;
      loop.update(loss);
      loop.read(loss);
      if (recipe.control == Control::kEvaluation && loop.is_time()) {
        const NoGradGuard no_grad;
        const auto sample = groove::sigmoid(decoder(groove::randn({4, code_size})));
        std::fprintf(loop.log, "%d: sample %a\n", loop.step, sample.mean().item<double>());
      }
    } catch (const std::exception& error) {
      loop.caught(error);
    }
  }
}

void train_pair(Loop& loop) {
  const Recipe& recipe = loop.recipe;
  const std::int64_t columns = std::max(recipe.inputs, 2), noise = 4;
  Network generator(recipe, noise, columns, recipe.body);
  Network judge(recipe, columns, 1, recipe.body);
  loop.make_optimizer(generator->parameters(), 0.002);
  OptimizerPlace judging;
  judging.make(recipe.optimizer, judge->parameters(), 0.002);
  Source source(recipe, columns);
  while (loop.next()) {
    try {
      const auto real = source.next(loop.step, loop.rows()).x;
      loop.may_throw(real);
      judging.now().zero_grad();
      const auto fake = generator(groove::randn({real.size(0), noise}));
      const auto of_real = judge(real), of_fake = judge(fake.detach());
      const auto real_loss =
          groove::binary_cross_entropy_with_logits(of_real, groove::ones_like(of_real));
      const auto fake_loss =
          groove::binary_cross_entropy_with_logits(of_fake, groove::zeros_like(of_fake));
      const auto judge_loss = real_loss + fake_loss;
      judge_loss.backward();
      judging.now().step();
      const auto verdict = judge(fake);
      const auto loss =
          groove::binary_cross_entropy_with_logits(verdict, groove::ones_like(verdict));
      loop.update(loss);
      loop.read(loss);
      if (loop.is_time())
        std::fprintf(loop.log, "%d: judge %a\n", loop.step, judge_loss.item<double>());
    } catch (const std::exception& error) {
      loop.caught(error);
    }
  }
  for (const Tensor& parameter : judge->parameters()) loop.parameters.push_back(parameter);
}

// A recurrent network over sequences, as a cell in a loop or as a module.
void train_sequences(Loop& loop) {
  const Recipe& recipe = loop.recipe;
  const std::int64_t features = std::min(recipe.inputs, 16), width = recipe.width,
                     longest = 3 + recipe.every % 10, batch = std::min(recipe.batch, 32);
  const int kind = static_cast<int>(recipe.seed % 4);
  nn::LSTMCell lstm_cell(features, width);
  nn::GRUCell gru_cell(features, width);
  nn::LSTM lstm(nn::LSTMOptions(features, width).batch_first(true));
  nn::GRU gru(nn::GRUOptions(features, width).batch_first(true));
  nn::Linear head(width, recipe.outputs);
  std::vector<Tensor> trained = kind == 0   ? lstm_cell->parameters()
                                : kind == 1 ? gru_cell->parameters()
                                : kind == 2 ? lstm->parameters()
                                            : gru->parameters();
  append(trained, head->parameters());
  loop.make_optimizer(trained, 0.005);
  Source source(recipe, features * longest);
  const bool varies = recipe.control == Control::kRaggedBatches;
  while (loop.next()) {
    try {
      const Batch drawn = source.next(loop.step, batch);
      loop.may_throw(drawn.x);
      const std::int64_t rows = drawn.x.size(0),
                         length = varies ? 2 + loop.random.below(static_cast<int>(longest) - 1)
                                         : longest;
      const auto x = drawn.x.view({rows, longest, features}).narrow(1, 0, length);
      Tensor hidden;
      if (kind == 0) {
        auto h = groove::zeros({rows, width}), c = groove::zeros({rows, width});
        for (std::int64_t t = 0; t < length; ++t)
          std::tie(h, c) = lstm_cell(x.select(1, t), std::make_tuple(h, c));
        hidden = h;
      } else if (kind == 1) {
        auto h = groove::zeros({rows, width});
        for (std::int64_t t = 0; t < length; ++t) h = gru_cell(x.select(1, t), h);
        hidden = h;
      } else if (kind == 2) {
        hidden = std::get<0>(lstm(x)).select(1, length - 1);
      } else {
        hidden = std::get<0>(gru(x)).select(1, length - 1);
      }
      const auto out = head(hidden);
      const auto loss = recipe.is_classifier ? nn::functional::cross_entropy(out, drawn.y)
                                             : groove::mse_loss(out, drawn.y);
      loop.update(loss);
      loop.read(loss);
    } catch (const std::exception& error) {
      loop.caught(error);
    }
  }
}

// Next tokens, by attention over those before; now and then some are drawn from the model.
void train_text(Loop& loop) {
  const Recipe& recipe = loop.recipe;
  const std::int64_t tokens = 20, width = std::min(recipe.width, 64), length = 8,
                     batch = std::min(recipe.batch, 16);
  nn::Embedding embedding(tokens, width), places(length, width);
  nn::Linear query(width, width), key(width, width), value(width, width), head(width, tokens);
  nn::LayerNorm norm(nn::LayerNormOptions({width}));
  std::vector<Tensor> trained = embedding->parameters();
  for (const auto& more : {places->parameters(), query->parameters(), key->parameters(),
                           value->parameters(), norm->parameters(), head->parameters()})
    append(trained, more);
  loop.make_optimizer(trained, 0.003);
  const auto hides = groove::triu(groove::ones({length, length}), 1).to(groove::kBool);
  const double scale = std::sqrt(static_cast<double>(width));
  const auto forward = [&](const Tensor& ids) {
    auto x = embedding(ids) + places(groove::arange(length, groove::kLong));
    auto weights = groove::matmul(query(x), key(x).transpose(1, 2)) / scale;
    weights = groove::softmax(weights.masked_fill(hides, -1e9), 2);
    return head(norm(x + groove::matmul(weights, value(x))));
  };
  while (loop.next()) {
    std::vector<std::int64_t> text;
    for (std::int64_t at = 0; at < batch * (length + 1); ++at)
      text.push_back((at * at + loop.step * 7) % tokens);
    const auto all = groove::tensor(text, groove::kLong).view({batch, length + 1});
    const auto ids = all.narrow(1, 0, length).contiguous();
    const auto next = all.narrow(1, 1, length).contiguous();
    const auto out = forward(ids);
    const auto loss = nn::functional::cross_entropy(out.view({-1, tokens}), next.view({-1}));
    loop.update(loss);
    loop.read(loss);
    if (recipe.control != Control::kEvaluation || !loop.is_time()) continue;
    const NoGradGuard no_grad;
    auto written = groove::zeros({1, length}, groove::kLong);
    for (std::int64_t at = 0; at + 1 < length; ++at) {
      const auto chosen = forward(written).select(1, at).argmax(1);
      written[0][at + 1] = chosen.item<std::int64_t>();
    }
    std::fprintf(loop.log, "%d: wrote %lld\n", loop.step,
                 static_cast<long long>(written.sum().item<std::int64_t>()));
  }
}

void train_q_values(Loop& loop) {
  const Recipe& recipe = loop.recipe;
  const std::int64_t capacity = 128, batch = std::min(recipe.batch, 32);
  Network online(recipe, 4, 2, Body::kMlp), target(recipe, 4, 2, Body::kMlp);
  loop.make_optimizer(online->parameters(), 0.002);
  const auto copy = [&] {
    const NoGradGuard no_grad;
    const auto from = online->parameters(), to = target->parameters();
    for (std::size_t at = 0; at < to.size(); ++at) to[at].copy_(from[at]);
  };
  copy();
  auto states = groove::zeros({capacity, 4}), nexts = groove::zeros({capacity, 4});
  auto actions = groove::zeros({capacity}, groove::kLong);
  auto rewards = groove::zeros({capacity});
  std::vector<float> state = {0.1f, 0, 0.05f, 0};
  while (loop.next()) {
    const std::int64_t place = loop.step % capacity;
    const auto seen = groove::tensor(state).unsqueeze(0);
    std::int64_t action = loop.random.below(2);
    if (!loop.random.one_in(5)) {
      const NoGradGuard no_grad;
      online->eval();
      action = online(seen).argmax(1).item<std::int64_t>();
      online->train();
    }
    for (std::size_t at = 0; at < 4; ++at)
      state[at] = 0.9f * state[at] + 0.1f * std::sin(static_cast<float>(at) + state[(at + 1) % 4]) +
                  (action == 0 ? -0.05f : 0.05f);
    const bool is_over = std::abs(state[0]) > 0.6f;
    if (is_over) state = {0.1f, 0, 0.05f, 0};
    states[place] = seen.squeeze(0);
    nexts[place] = groove::tensor(state);
    actions[place] = action;
    rewards[place] = is_over ? -1.0 : 0.1;
    if (loop.step < batch) continue;
    const auto rows = groove::randint(std::min<std::int64_t>(loop.step + 1, capacity), {batch});
    Tensor wanted;
    {
      const NoGradGuard no_grad;
      const auto best = std::get<0>(target(nexts.index_select(0, rows)).max(1));
      wanted = rewards.index_select(0, rows) + 0.95 * best;
    }
    const auto values = online(states.index_select(0, rows))
                            .gather(1, actions.index_select(0, rows).unsqueeze(1))
                            .squeeze(1);
    const auto loss = groove::mse_loss(values, wanted);
    loop.update(loss);
    loop.read(loss);
    if (loop.is_time()) copy();
  }
}

void train_episodes(Loop& loop) {
  const Recipe& recipe = loop.recipe;
  Network policy(recipe, 2, 2, Body::kSequential);
  loop.make_optimizer(policy->parameters(), 0.01);
  while (loop.next()) {
    std::vector<Tensor> log_probabilities;
    std::vector<double> rewards;
    double position = 0, velocity = 0.1;
    for (int t = 0; t < 20 && position > -1 && position < 1; ++t) {
      const auto state =
          groove::tensor({position, velocity}).to(groove::kFloat).unsqueeze(0).repeat({2, 1});
      const auto log_probability = groove::log_softmax(policy(state), 1).narrow(0, 0, 1);
      const auto action = log_probability.detach().exp().multinomial(1);
      log_probabilities.push_back(log_probability.gather(1, action).squeeze());
      velocity += action.item<std::int64_t>() == 0 ? -0.1 : 0.1;
      position += velocity;
      rewards.push_back(1.0 - position * position);
    }
    double value = 0;
    auto loss = groove::zeros({});
    for (std::size_t t = rewards.size(); t-- > 0;) {
      value = rewards[t] + 0.95 * value;
      loss = loss - log_probabilities[t] * value;
    }
    loop.update(loss);
    loop.read(loss);
  }
}

// The state of a network at rest, to a tolerance; then a step towards what it should be.
void train_solver(Loop& loop) {
  const Recipe& recipe = loop.recipe;
  const std::int64_t columns = recipe.inputs, width = std::min(recipe.width, 32);
  nn::Linear in(columns, width), within(width, width), out(width, recipe.outputs);
  std::vector<Tensor> trained = in->parameters();
  append(trained, within->parameters());
  append(trained, out->parameters());
  loop.make_optimizer(trained, 0.003);
  Recipe regression = recipe;
  regression.is_classifier = false;
  Source source(regression, columns);
  while (loop.next()) {
    try {
      const Batch drawn = source.next(loop.step, loop.rows());
      loop.may_throw(drawn.x);
      const auto pushed = in(drawn.x);
      auto state = groove::zeros_like(pushed);
      int turns = 0;
      {
        const NoGradGuard no_grad;
        for (; turns < 40; ++turns) {
          const auto next = groove::tanh(within(state) * 0.5 + pushed);
          const double moved = (next - state).abs().max().item<double>();
          state = next;
          if (moved < 1e-2) break;
        }
      }
      state = groove::tanh(within(state) * 0.5 + pushed);  // with a gradient
      const auto loss = groove::mse_loss(out(state), drawn.y);
      loop.update(loss);
      loop.read(loss);
      if (loop.is_time()) std::fprintf(loop.log, "%d: %d turns\n", loop.step, turns);
    } catch (const std::exception& error) {
      loop.caught(error);
    }
  }
}

// Rows go to the expert that a gate chooses, so sizes differ from step to step.
void train_experts(Loop& loop) {
  const Recipe& recipe = loop.recipe;
  const std::int64_t columns = std::max(recipe.inputs, 2);
  constexpr std::int64_t kExperts = 3;
  Recipe plain = recipe;
  plain.normalisation = 0;
  nn::Linear gate(columns, kExperts);
  std::vector<Network> experts;
  std::vector<Tensor> trained = gate->parameters();
  for (std::int64_t expert = 0; expert < kExperts; ++expert) {
    experts.emplace_back(plain, columns, recipe.outputs, Body::kMlp);
    append(trained, experts.back()->parameters());
  }
  loop.make_optimizer(trained, 0.005);
  plain.is_classifier = false;
  Source source(plain, columns);
  while (loop.next()) {
    try {
      const Batch drawn = source.next(loop.step, loop.rows());
      loop.may_throw(drawn.x);
      const auto weights = groove::softmax(gate(drawn.x), 1);
      const auto chosen = weights.argmax(1);
      auto out = groove::zeros({drawn.x.size(0), recipe.outputs});
      for (std::int64_t expert = 0; expert < kExperts; ++expert) {
        const auto rows = chosen.eq(expert).nonzero().squeeze(1);
        if (rows.size(0) == 0) continue;
        const auto weight = weights.index_select(0, rows).narrow(1, expert, 1);
        const auto made = experts[static_cast<std::size_t>(expert)](drawn.x.index_select(0, rows));
        out = out.index_add(0, rows, made * weight);
      }
      const auto loss = groove::mse_loss(out, drawn.y);
      loop.update(loss);
      loop.read(loss);
    } catch (const std::exception& error) {
      loop.caught(error);
    }
  }
}

}  // namespace groove::random_loops
