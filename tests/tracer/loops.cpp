#include "tests/tracer/loops.h"

#include <groove/groove.h>

#include <cstring>

#include "tests/tracer/loop_log.h"

namespace groove::testing {

namespace {

struct NetImpl : nn::Module {
  NetImpl(int inputs, int hidden, int outputs) {
    first = register_module("first", nn::Linear(inputs, hidden));
    second = register_module("second", nn::Linear(hidden, outputs));
  }
  Tensor forward(const Tensor& x) { return second(groove::relu(first(x))); }
  nn::Linear first{nullptr}, second{nullptr};
};
GROOVE_MODULE(Net);

void log_all(Log& log, const std::vector<Tensor>& parameters) {
  for (const Tensor& parameter : parameters) log.parameter(parameter);
  log.tensor(groove::rand({2}));  // the random state
}

void log_state(Log& log, const optim::Optimizer& optimizer, const std::vector<Tensor>& parameters) {
  for (const Tensor& parameter : parameters) {
    const auto found = optimizer.state().find(parameter.unsafeGetTensorImpl());
    if (found == optimizer.state().end()) continue;
    if (const auto* adam = dynamic_cast<const optim::AdamParamState*>(found->second.get())) {
      log.integer(adam->step());
      log.tensor(adam->exp_avg());
      log.tensor(adam->exp_avg_sq());
    }
    if (const auto* sgd = dynamic_cast<const optim::SGDParamState*>(found->second.get()))
      log.tensor(sgd->momentum_buffer());
  }
}

Tensor labels(int step, int count, int classes) {
  std::vector<std::int64_t> values;
  for (int i = 0; i < count; ++i) values.push_back((step * 7 + i * 3) % classes);
  return groove::tensor(values);
}

void plain_step(int steps, Log& log) {
  Net net(6, 8, 3);
  optim::Adam optimizer(net->parameters(), optim::AdamOptions(1e-2));
  for (int step = 0; step < steps; ++step) {
    auto x = groove::randn({5, 6});
    optimizer.zero_grad();
    auto loss = nn::functional::cross_entropy(net(x), labels(step, 5, 3));
    loss.backward();
    optimizer.step();
    log.number(loss.item<double>());
  }
  log_state(log, optimizer, net->parameters());
  log_all(log, net->parameters());
}

void loss_before_backward(int steps, Log& log) {
  Net net(4, 5, 2);
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.1).momentum(0.9).nesterov(true));
  for (int step = 0; step < steps; ++step) {
    auto loss = net(groove::randn({3, 4})).pow(2).mean();
    log.number(loss.item<double>());
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
  log_state(log, optimizer, net->parameters());
  log_all(log, net->parameters());
}

void loss_between(int steps, Log& log) {
  Net net(4, 5, 2);
  optim::AdamW optimizer(net->parameters(), optim::AdamWOptions(1e-2).weight_decay(0.1));
  for (int step = 0; step < steps; ++step) {
    optimizer.zero_grad();
    auto out = net(groove::randn({3, 4}));
    auto loss = out.sigmoid().sub(0.3).square().mean();
    loss.backward();
    log.number(loss.item<double>());
    log.number(out.sum().item<double>());
    optimizer.step();
  }
  log_all(log, net->parameters());
}

void pointer_written(int steps, Log& log) {
  Net net(4, 5, 2);
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.05));
  auto input = groove::zeros({3, 4});
  float* memory = input.data_ptr<float>();
  for (int step = 0; step < steps; ++step) {
    for (int i = 0; i < 12; ++i) memory[i] = static_cast<float>((step * 5 + i) % 7) * 0.25f - 0.5f;
    optimizer.zero_grad();
    auto loss = net(input).tanh().mean();
    loss.backward();
    optimizer.step();
    log.number(loss.item<double>());
  }
  log_all(log, net->parameters());
}

void pointer_between_ops(int steps, Log& log) {
  auto weight = groove::ones({4}).requires_grad_();
  auto input = groove::zeros({4});
  for (int step = 0; step < steps; ++step) {
    input.data_ptr<float>()[step % 4] = static_cast<float>(step);
    auto first = weight * input;
    input.data_ptr<float>()[(step + 1) % 4] = -1.0f;
    auto loss = (first + weight.exp() * input).sum();
    loss.backward();
    {
      NoGradGuard no_grad;
      weight -= weight.grad() * 0.01;
      weight.mutable_grad() = Tensor();
    }
    log.number(loss.item<double>());
  }
  log_all(log, {weight});
}

void foreign_memory(int steps, Log& log) {
  Net net(4, 5, 2);
  optim::Adam optimizer(net->parameters(), optim::AdamOptions(1e-2));
  for (int step = 0; step < steps; ++step) {
    Tensor x;
    {
      std::vector<float> row(8);
      for (int i = 0; i < 8; ++i)
        row[static_cast<std::size_t>(i)] = 0.1f * static_cast<float>((step + i) % 5);
      x = groove::from_blob(row.data(), {2, 4}).clone();
      std::memset(row.data(), 0x7f, row.size() * sizeof(float));
    }
    optimizer.zero_grad();
    auto loss = net(x).abs().sum();
    loss.backward();
    optimizer.step();
    log.number(loss.item<double>());
  }
  log_all(log, net->parameters());
}

void slice_writes(int steps, Log& log) {
  auto state = groove::zeros({4, 3});
  auto weight = groove::full({3}, 0.5).requires_grad_();
  optim::SGD optimizer({weight}, optim::SGDOptions(0.1));
  for (int step = 0; step < steps; ++step) {
    auto row = groove::rand({3});
    state[1] = row;
    state.narrow(0, 2, 2).mul_(0.5);
    state.slice(1, 0, 3, 2) += 0.25;
    optimizer.zero_grad();
    auto loss = (state * weight).sum();
    loss.backward();
    optimizer.step();
    log.number(loss.item<double>());
  }
  log.tensor(state);
  log_all(log, {weight});
}

void moving_slice_write(int steps, Log& log) {
  auto history = groove::zeros({6, 2});
  auto weight = groove::ones({2}).requires_grad_();
  optim::SGD optimizer({weight}, optim::SGDOptions(0.1));
  for (int step = 0; step < steps; ++step) {
    optimizer.zero_grad();
    auto out = weight * groove::rand({2});
    history[step % 6] = out.detach();
    auto loss = (out.sum() + history.mean()).square();
    loss.backward();
    optimizer.step();
    log.number(loss.item<double>());
  }
  log.tensor(history);
  log_all(log, {weight});
}

void alternating_optimizers(int steps, Log& log) {
  Net maker(2, 4, 3), judge(3, 4, 1);
  optim::Adam maker_optimizer(maker->parameters(), optim::AdamOptions(1e-2));
  optim::Adam judge_optimizer(judge->parameters(), optim::AdamOptions(2e-2));
  for (int step = 0; step < steps; ++step) {
    auto fake = maker(groove::randn({4, 2}));
    judge_optimizer.zero_grad();
    auto judge_loss = (judge(fake.detach()) + 1).square().mean() +
                      (judge(groove::rand({4, 3})) - 1).square().mean();
    judge_loss.backward();
    judge_optimizer.step();
    maker_optimizer.zero_grad();
    auto maker_loss = (judge(fake) - 1).square().mean();
    maker_loss.backward();
    maker_optimizer.step();
    log.number(judge_loss.item<double>() + maker_loss.item<double>());
  }
  log_all(log, maker->parameters());
  log_all(log, judge->parameters());
}

void kept_tensors(int steps, Log& log) {
  Net net(4, 5, 2);
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.1));
  std::vector<Tensor> kept;
  for (int step = 0; step < steps; ++step) {
    optimizer.zero_grad();
    auto hidden = groove::relu(net->first(groove::rand({3, 4})));
    if (step % 3 == 2) kept.push_back(hidden.detach());
    auto loss = net->second(hidden).mean();
    loss.backward();
    if (step % 4 == 1) kept.push_back(net->first->weight.grad());
    optimizer.step();
    log.number(loss.item<double>());
  }
  for (const Tensor& tensor : kept) log.tensor(tensor);
  log_all(log, net->parameters());
}

// A handle is kept in some iterations without any call that would tell the tracer.
void kept_handle(int steps, Log& log) {
  Net net(4, 5, 2);
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.1));
  std::vector<Tensor> kept;
  for (int step = 0; step < steps; ++step) {
    optimizer.zero_grad();
    Tensor loss;
    {
      auto hidden = groove::relu(net->first(groove::rand({3, 4})));
      loss = net->second(hidden).mean();
      if (step % 5 == 4) kept.push_back(hidden);
    }
    loss.backward();
    optimizer.step();
    log.number(loss.item<double>());
  }
  for (const Tensor& tensor : kept) log.tensor(tensor);
  log_all(log, net->parameters());
}

// Gradients are undefined when an iteration begins, and dropped at its end.
void zero_grad_at_end(int steps, Log& log) {
  Net net(4, 5, 2);
  const std::vector<Tensor> parameters = net->parameters();
  for (int step = 0; step < steps; ++step) {
    auto loss = net(groove::randn({3, 4})).square().mean();
    loss.backward();
    {
      NoGradGuard no_grad;
      for (Tensor parameter : parameters) parameter.sub_(parameter.grad() * 0.1);
    }
    net->zero_grad();
    log.number(loss.item<double>());
  }
  log_all(log, parameters);
}

// Memory that is usually steady changes between two uses in one iteration.
void pointer_changes_between_uses(int steps, Log& log) {
  auto weight = groove::ones({4}).requires_grad_();
  optim::SGD optimizer({weight}, optim::SGDOptions(0.1));
  auto input = groove::ones({4});
  float* memory = input.data_ptr<float>();
  for (int step = 0; step < steps; ++step) {
    optimizer.zero_grad();
    auto first = weight * input;
    if (step % 4 == 3) memory[step % 3] += 0.5f;
    auto loss = (first + weight.exp() * input).sum();
    loss.backward();
    optimizer.step();
    log.number(loss.item<double>());
  }
  log_all(log, {weight});
}

void exceptions(int steps, Log& log) {
  Net net(4, 5, 3);
  optim::Adam optimizer(net->parameters(), optim::AdamOptions(1e-2));
  for (int step = 0; step < steps; ++step) {
    try {
      optimizer.zero_grad();
      auto out = net(groove::randn({2, 4}));
      if (step % 4 == 3) out = out + groove::ones({7});
      const Tensor target = step % 5 == 4 ? labels(step, 2, 3) + 3 : labels(step, 2, 3);
      auto loss = nn::functional::cross_entropy(out, target);
      loss.backward();
      optimizer.step();
      log.number(loss.item<double>());
    } catch (const Error& error) {
      log.text += error.what();
      log.text += "\n";
    }
  }
  log_all(log, net->parameters());
}

void branch_on_loss(int steps, Log& log) {
  Net net(4, 5, 2);
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.1));
  for (int step = 0; step < steps; ++step) {
    auto loss = (net(groove::randn({3, 4})) - 0.2).square().mean();
    if (loss.item<double>() > 0.4) loss = loss * 0.5;
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    log.number(loss.item<double>());
  }
  log_all(log, net->parameters());
}

void accumulation(int steps, Log& log) {
  Net net(4, 5, 2);
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.1));
  auto total = groove::zeros({});
  for (int step = 0; step < steps; ++step) {
    for (int part = 0; part < 3; ++part) {
      auto loss = net(groove::randn({3, 4})).square().mean() / 3;
      loss.backward();
      total += loss.detach();
    }
    optimizer.step();
    optimizer.zero_grad();
  }
  log.number(total.item<double>());
  log_all(log, net->parameters());
}

void learning_rate_by_hand(int steps, Log& log) {
  Net net(4, 5, 2);
  optim::Adam optimizer(net->parameters(), optim::AdamOptions(1e-2));
  for (int step = 0; step < steps; ++step) {
    static_cast<optim::AdamOptions&>(optimizer.param_groups()[0].options()).lr(1e-2 / (1 + step));
    optimizer.zero_grad();
    auto loss = net(groove::randn({3, 4}) * (0.1 * step)).square().mean();
    loss.backward();
    optimizer.step();
    log.number(loss.item<double>());
  }
  log_all(log, net->parameters());
}

void evaluation_inside(int steps, Log& log) {
  Net net(4, 5, 2);
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.1));
  const auto test = groove::rand({6, 4});
  for (int step = 0; step < steps; ++step) {
    optimizer.zero_grad();
    auto loss = net(groove::randn({3, 4})).square().mean();
    loss.backward();
    optimizer.step();
    if (step % 3 == 0) {
      NoGradGuard no_grad;
      net->eval();
      log.number(net(test).argmax(1).sum().item<double>());
      net->train();
    }
    log.number(loss.item<double>());
  }
  log_all(log, net->parameters());
}

void inference(int steps, Log& log) {
  Net net(4, 5, 2);
  NoGradGuard no_grad;
  double correct = 0;
  for (int step = 0; step < steps; ++step) {
    auto out = net(groove::randn({3, 4}));
    correct += out.argmax(1).eq(labels(step, 3, 2)).sum().item<double>();
    log.number(correct);
  }
}

void simulation(int steps, Log& log) {
  auto position = groove::ones({3}), velocity = groove::zeros({3});
  for (int step = 0; step < steps * 3; ++step) {
    velocity = velocity - position * 0.1;
    position = position + velocity * 0.1;
  }
  log.tensor(position);
  log.tensor(velocity);
}

void dropout(int steps, Log& log) {
  Net net(4, 16, 2);
  nn::Dropout drop(0.3);
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.1));
  for (int step = 0; step < steps; ++step) {
    optimizer.zero_grad();
    auto loss = net->second(drop(groove::relu(net->first(groove::randn({3, 4}))))).square().mean();
    loss.backward();
    optimizer.step();
    log.number(loss.item<double>());
  }
  log_all(log, net->parameters());
}

// The loops of the samples, on fewer digits and with a smaller network.
void digits_sample(int steps, Log& log) {
  auto digits =
      data::datasets::MNIST(GROOVE_SOURCE_DIR "/samples/data", data::datasets::MNIST::Mode::kTest)
          .map(data::transforms::Normalize<>(0.1307, 0.3081))
          .map(data::transforms::Stack<>());
  auto loader = data::make_data_loader<data::samplers::RandomSampler>(
      std::move(digits), data::DataLoaderOptions(8).drop_last(true));
  Net net(784, 16, 10);
  optim::Adam optimizer(net->parameters(), optim::AdamOptions(1e-3));
  int step = 0;
  for (auto& batch : *loader) {
    optimizer.zero_grad();
    auto output = net(batch.data.view({batch.data.size(0), 784}));
    auto loss = nn::functional::cross_entropy(output, batch.target);
    loss.backward();
    optimizer.step();
    if (step % 3 == 0) log.number(loss.item<double>());
    if (++step == steps) break;
  }
  log_state(log, optimizer, net->parameters());
  log_all(log, net->parameters());
}

void regression_sample(int steps, Log& log) {
  nn::Linear fc1(1, 8), fc2(8, 1);
  std::vector<Tensor> parameters = fc1->parameters();
  for (const Tensor& parameter : fc2->parameters()) parameters.push_back(parameter);
  optim::SGD optimizer(parameters, optim::SGDOptions(0.02).momentum(0.9));
  for (int step = 0; step < steps; ++step) {
    auto x = groove::rand({16, 1}) * 4.0 - 2.0;
    auto y = groove::sin(3.0 * x) + 0.5 * x + 0.1 * groove::randn({16, 1});
    optimizer.zero_grad();
    auto loss = groove::mse_loss(fc2(groove::tanh(fc1(x))), y);
    loss.backward();
    optimizer.step();
    log.number(loss.item<double>());
  }
  log_state(log, optimizer, parameters);
  log_all(log, parameters);
}

void ragged_tail(int steps, Log& log) {
  Net net(4, 5, 2);
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.1));
  for (int step = 0; step < steps; ++step) {
    optimizer.zero_grad();
    auto loss = net(groove::randn({step % 4 == 3 ? 2 : 3, 4})).square().mean();
    loss.backward();
    optimizer.step();
    log.number(loss.item<double>());
  }
  log_all(log, net->parameters());
}

// Results whose shape depends on values act like item(): what is pending runs there.
void selects_by_value(int steps, Log& log) {
  Net net(4, 5, 2);
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.1));
  for (int step = 0; step < steps; ++step) {
    auto x = groove::randn({6, 4});
    auto mask = groove::arange(6).remainder(step % 5 == 4 ? 3 : 2).eq(0);
    optimizer.zero_grad();
    auto out = net(x * 2);
    auto loss = out.masked_select(mask.unsqueeze(1)).square().mean();
    loss.backward();
    optimizer.step();
    log.number(loss.item<double>());
    log.tensor(groove::nonzero(mask));
  }
  log_all(log, net->parameters());
}

void masked_loss(int steps, Log& log) {
  Net net(4, 5, 2);
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.1));
  for (int step = 0; step < steps; ++step) {
    auto x = groove::rand({6, 4}) + 0.5;
    auto hard = net(x).detach().slice(1, 0, 1).squeeze(1) < 1e9;  // pending when it is read
    optimizer.zero_grad();
    auto rows = hard.nonzero().squeeze(1);
    auto loss = net(x.index_select(0, rows)).square().mean() + net(x.index({hard})).mean();
    loss.backward();
    optimizer.step();
    log.number(loss.item<double>());
  }
  log_all(log, net->parameters());
}

// A table that is read by index and multiplied with, and what moves elements around.
void tied_language(int steps, Log& log) {
  auto table = groove::randn({9, 8}).requires_grad_();
  optim::Adam optimizer({table}, optim::AdamOptions(1e-2));
  for (int step = 0; step < steps; ++step) {
    auto tokens = groove::randint(0, 9, {2, 6});
    optimizer.zero_grad();
    auto x = groove::embedding(table, tokens, 0).roll({1}, {1}).flip({2});
    auto scores = groove::bmm(x, x.transpose(1, 2)).tril() + groove::eye(6);
    auto [best, places] = scores.topk(3, 2);
    auto mixed = groove::bmm(scores.scatter(2, places, best.square()), x);
    auto parts = groove::pad(mixed, {1, 0}, "reflect").slice(2, 0, 8).split(4, 2);
    auto joined = groove::cat({std::get<0>(parts[0].sort(1)), parts[1]}, 2);
    auto logits = groove::linear(joined.view({12, 8}), table);
    auto diagonal = scores.diagonal(0, 1, 2).mean();
    auto loss = nn::functional::cross_entropy(logits, tokens.flatten()) + diagonal;
    loss.backward();
    optimizer.step();
    log.number(loss.item<double>());
  }
  log_all(log, {table});
}

void samples_text(int steps, Log& log) {
  auto table = groove::randn({7, 5});
  auto out = groove::randn({7, 5});
  auto token = groove::zeros({1}, groove::kLong);
  for (int step = 0; step < steps; ++step) {
    auto logits = groove::linear(groove::embedding(table, token), out);
    auto [best, places] = logits.topk(4);
    token = places.gather(1, groove::softmax(best, 1).multinomial(1)).squeeze(1);
    log.tensor(token);
  }
}

// A generator against a judge, as in DCGAN.
void adversaries(int steps, Log& log) {
  using nn::Conv2dOptions, nn::ConvTranspose2dOptions;
  nn::Sequential maker(nn::ConvTranspose2d(ConvTranspose2dOptions(3, 4, 3).bias(false)),
                       nn::BatchNorm2d(4), nn::ReLU(),
                       nn::ConvTranspose2d(ConvTranspose2dOptions(4, 1, 4).stride(2).padding(1)));
  nn::Sequential judge(nn::Conv2d(Conv2dOptions(1, 2, 4).stride(2)), nn::Flatten(),
                       nn::Linear(8, 1), nn::Sigmoid());
  optim::Adam makes(maker->parameters(), optim::AdamOptions(1e-2));
  optim::Adam judges(judge->parameters(), optim::AdamOptions(1e-2));
  for (int step = 0; step < steps; ++step) {
    judge->zero_grad();
    auto images = groove::tanh(maker->forward(groove::randn({2, 3, 1, 1})));
    auto fake = judge->forward(images.detach());
    groove::binary_cross_entropy(fake, groove::zeros_like(fake)).backward();
    judges.step();
    maker->zero_grad();
    auto loss = groove::binary_cross_entropy(judge->forward(images), groove::ones_like(fake));
    loss.backward();
    makes.step();
    log.number(loss.item<double>());
  }
  log.parameters(maker->parameters());
}

}  // namespace

const std::vector<Loop>& loops() {
  static const std::vector<Loop> all = {
      {"plain_step", plain_step},
      {"loss_before_backward", loss_before_backward},
      {"loss_between", loss_between},
      {"pointer_written", pointer_written},
      {"pointer_between_ops", pointer_between_ops, false},
      {"foreign_memory", foreign_memory},
      {"slice_writes", slice_writes},
      {"moving_slice_write", moving_slice_write, false},
      {"alternating_optimizers", alternating_optimizers, false},
      {"kept_tensors", kept_tensors},
      {"kept_handle", kept_handle},
      {"zero_grad_at_end", zero_grad_at_end},
      {"pointer_changes_between_uses", pointer_changes_between_uses},
      {"exceptions", exceptions},
      {"branch_on_loss", branch_on_loss, false},
      {"accumulation", accumulation},
      {"learning_rate_by_hand", learning_rate_by_hand},
      {"evaluation_inside", evaluation_inside},
      {"inference", inference},
      {"simulation", simulation},
      {"dropout", dropout},
      {"ragged_tail", ragged_tail},
      {"selects_by_value", selects_by_value},
      {"masked_loss", masked_loss},
      {"tied_language", tied_language},
      {"samples_text", samples_text},
      {"adversaries", adversaries},
      {"digits_sample", digits_sample},
      {"regression_sample", regression_sample},
  };
  return all;
}

std::string run_loop(const Loop& loop, int steps) {
  manual_seed(7);
  Log log;
  loop.run(steps, log);
  return log.text;
}

}  // namespace groove::testing
