// The ways in which programs bring data into a loop, most of them through memory that they fill.
#include <groove/groove.h>

#include <array>

#include "tests/tracer/loop_log.h"
#include "tests/tracer/loops.h"

namespace groove::testing {
namespace {

constexpr int kRows = 3, kColumns = 2, kCount = kRows * kColumns;

// Numbers that differ in each step.
float drawn(int step, int i) { return static_cast<float>((step * 31 + i * 17) % 23) / 23 - 0.5f; }

void fill(float* memory, int step) {
  for (int i = 0; i < kCount; ++i) memory[i] = drawn(step, i);
}

// A network of two layers on what `bring(step)` gives.
template <typename Bring>
void train(int steps, Log& log, const Bring& bring) {
  nn::Sequential net(nn::Linear(kColumns, 4), nn::ReLU(), nn::Linear(4, 1));
  optim::SGD optimizer(net->parameters(), 0.05);
  for (int step = 0; step < steps; ++step) {
    const Tensor x = bring(step), y = x.sum(1, true);
    optimizer.zero_grad();
    auto loss = nn::functional::mse_loss(net->forward(x), y);
    loss.backward();
    optimizer.step();
    log.number(loss.item<double>());
    log.tensor(x);
    log.parameters(net->parameters());
  }
}

void pointers_into_empty(int steps, Log& log) {
  train(steps, log, [](int step) {
    auto x = groove::empty({kRows, kColumns});
    fill(x.data_ptr<float>(), step);
    return x;
  });
}

void pointers_into_zeros(int steps, Log& log) {
  train(steps, log, [](int step) {
    auto x = groove::zeros({kRows, kColumns});
    x.data_ptr<float>()[step % kCount] = 1;
    return x;
  });
}

void accessors(int steps, Log& log) {
  train(steps, log, [](int step) {
    auto x = groove::zeros({kRows, kColumns});
    auto rows = x.accessor<float, 2>();
    for (int i = 0; i < kRows; ++i)
      for (int j = 0; j < kColumns; ++j) rows[i][j] = drawn(step, i * kColumns + j);
    return x;
  });
}

// The pointer is of a view, and what is used is the whole.
void pointers_into_views(int steps, Log& log) {
  train(steps, log, [](int step) {
    auto x = groove::ones({kRows, kColumns}) * 0.5;
    x[1].data_ptr<float>()[step % kColumns] = drawn(step, 0);
    return x;
  });
}

// Written by Groove, by the program, and by Groove again.
void writes_from_both_sides(int steps, Log& log) {
  train(steps, log, [](int step) {
    auto x = groove::zeros({kRows, kColumns});
    x.add_(0.25);
    fill(x.data_ptr<float>(), step);
    x.mul_(0.5);
    x.data_ptr<float>()[0] = 1;
    return x + 0.125;
  });
}

void results_changed_by_hand(int steps, Log& log) {
  auto state = groove::randn({8});
  for (int step = 0; step < steps; ++step) {
    auto next = (state * 0.5).tanh() + 0.25;
    next.data_ptr<float>()[step % 8] = drawn(step, 1);
    state = next * 0.75 - 0.125;
    log.tensor(next);
    log.tensor(state);
  }
}

// The pointer of the last step's tensor is looked through, and written through, in the next.
void pointers_that_are_kept(int steps, Log& log) {
  Tensor kept;
  float* memory = nullptr;
  train(steps, log, [&](int step) {
    if (memory) memory[0] += 0.5f;
    auto x = groove::zeros({kRows, kColumns});
    if (memory) x.add_(kept);
    kept = x;
    memory = x.data_ptr<float>();
    memory[step % kCount] = drawn(step, 2);
    return x * 0.5;
  });
}

void blobs(int steps, Log& log) {
  std::array<float, kCount> memory;
  train(steps, log, [&](int step) {
    fill(memory.data(), step);
    return groove::from_blob(memory.data(), {kRows, kColumns});
  });
}

void copies_of_blobs(int steps, Log& log) {
  std::array<float, kCount> memory;
  train(steps, log, [&](int step) {
    fill(memory.data(), step);
    return groove::from_blob(memory.data(), {kRows, kColumns}).clone();
  });
}

void tensors_of_vectors(int steps, Log& log) {
  train(steps, log, [](int step) {
    std::vector<float> values(kCount);
    fill(values.data(), step);
    return groove::tensor(values).view({kRows, kColumns});
  });
}

void rows_written_one_by_one(int steps, Log& log) {
  train(steps, log, [](int step) {
    auto x = groove::zeros({kRows, kColumns});
    for (int i = 0; i < kRows; ++i) x[i] = groove::full({kColumns}, drawn(step, i));
    return x;
  });
}

void elements_written_one_by_one(int steps, Log& log) {
  train(steps, log, [](int step) {
    auto x = groove::zeros({kRows, kColumns});
    for (int i = 0; i < kRows; ++i)
      for (int j = 0; j < kColumns; ++j) x[i][j] = drawn(step, i * kColumns + j);
    return x;
  });
}

void stacks_of_rows(int steps, Log& log) {
  train(steps, log, [](int step) {
    std::vector<Tensor> rows;
    for (int i = 0; i < kRows; ++i) rows.push_back(groove::full({kColumns}, drawn(step, i)));
    return groove::stack(rows);
  });
}

void masks_of_draws(int steps, Log& log) {
  train(steps, log, [](int) {
    const auto x = groove::randn({kRows, kColumns});
    return x.masked_fill(x > 0.3, 0.5);
  });
}

// Results that no operator uses: the program may do with their memory what it likes.
void pointers_into_results(int steps, Log& log) {
  nn::Linear net(kColumns, 4);
  std::vector<Tensor> kept;
  for (int step = 0; step < steps; ++step) {
    const NoGradGuard no_grad;
    const Tensor x = groove::full({kRows, kColumns}, drawn(step, 0));
    const Tensor y = (net->forward(x) * 2).view({-1});
    float* const outputs = y.data_ptr<float>();
    log.number(outputs[0]);
    outputs[step % kRows] = drawn(step, 1);
    const Tensor labels = groove::zeros({kRows}, kLong);
    labels.data_ptr<std::int64_t>()[step % kRows] = step;
    net->weight.sub_(x.mean() * 0.125);
    log.number(net->weight.sum().item<double>());
    log.tensor(labels);
    if (step % 8 == 0) kept.push_back(y);
  }
  for (const Tensor& y : kept) log.tensor(y);
}

// Elements of a parameter are looked at before the step that writes it.
void elements_read_before_a_step(int steps, Log& log) {
  nn::Linear net(kColumns, 2);
  optim::SGD optimizer(net->parameters(), 0.05);
  for (int step = 0; step < steps; ++step) {
    for (const Tensor& parameter : net->parameters()) {
      const NoGradGuard no_grad;
      log.number(parameter.view({-1})[0].item<double>());
      log.number(parameter.view({-1})[1].item<double>());
    }
    const Tensor x = groove::full({kRows, kColumns}, drawn(step, 0));
    optimizer.zero_grad();
    net->forward(x).square().sum().backward();
    optimizer.step();
  }
  log.parameters(net->parameters());
}

// ---- some of many ----

std::vector<Tensor> buffer_of(int count) {
  std::vector<Tensor> all;
  for (int i = 0; i < count; ++i) all.push_back(groove::randn({kColumns}));
  return all;
}

// In some steps one of them is there twice, and never the same ones.
std::vector<Tensor> sample(const std::vector<Tensor>& buffer, int step) {
  std::vector<Tensor> some;
  for (int k = 0; k < kRows + 2; ++k)
    some.push_back(buffer[static_cast<std::size_t>(step * 7 + k * k * 3) % buffer.size()]);
  return some;
}

void samples_of_a_buffer(int steps, Log& log) {
  const std::vector<Tensor> buffer = buffer_of(11);
  train(steps, log, [&](int step) { return groove::stack(sample(buffer, step)); });
}

void samples_of_what_was_made(int steps, Log& log) {
  std::vector<Tensor> buffer = buffer_of(11);
  auto state = groove::randn({kColumns});
  train(steps, log, [&](int step) {
    state = state * 0.9 + groove::randn({kColumns}) * 0.1;
    buffer[static_cast<std::size_t>(step) % buffer.size()] = state;
    return groove::stack(sample(buffer, step));
  });
}

void samples_of_what_is_written(int steps, Log& log) {
  std::vector<Tensor> buffer = buffer_of(11);
  train(steps, log, [&](int step) {
    const Tensor x = groove::stack(sample(buffer, step));
    buffer[static_cast<std::size_t>(step * 5) % buffer.size()].mul_(0.9);
    return x + buffer[0];
  });
}

// From generators of the program's own, beside what the process draws; one of them goes back to its
// seed now and then.
void draws_of_generators(int steps, Log& log) {
  const Generator noise(7), order(8);
  const std::vector<Tensor> buffer = buffer_of(4);
  train(steps, log, [&](int step) {
    if (step % 9 == 0) order.set_current_seed(8);
    const Tensor rows = groove::stack(buffer);
    const Tensor chosen = rows.index_select(0, groove::randperm(4, order));
    Tensor more = groove::empty({4, kColumns});
    more.normal_(0, 0.1, noise);
    return chosen + more + groove::rand({4, kColumns}, noise) * groove::randn({4, kColumns});
  });
}

// The tape keeps each of them for the gradient of the weight.
void samples_that_a_backward_needs(int steps, Log& log) {
  const std::vector<Tensor> buffer = buffer_of(11);
  auto weight = groove::randn({kColumns}).requires_grad_();
  optim::SGD optimizer({weight}, 0.05);
  for (int step = 0; step < steps; ++step) {
    auto loss = groove::zeros({});
    for (const Tensor& each : sample(buffer, step)) loss = loss + (each * weight).sin().sum();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    log.number(loss.item<double>());
    log.tensor(weight);
  }
}

}  // namespace

const std::vector<Loop>& data_loops() {
  static const std::vector<Loop> all{
      {"pointers_into_empty", pointers_into_empty},
      {"pointers_into_zeros", pointers_into_zeros},
      {"accessors", accessors},
      {"pointers_into_views", pointers_into_views},
      {"writes_from_both_sides", writes_from_both_sides},
      {"results_changed_by_hand", results_changed_by_hand},
      {"pointers_that_are_kept", pointers_that_are_kept},
      {"blobs", blobs},
      {"copies_of_blobs", copies_of_blobs},
      {"tensors_of_vectors", tensors_of_vectors},
      {"rows_written_one_by_one", rows_written_one_by_one},
      {"elements_written_one_by_one", elements_written_one_by_one},
      {"stacks_of_rows", stacks_of_rows},
      {"masks_of_draws", masks_of_draws},
      {"pointers_into_results", pointers_into_results},
      {"elements_read_before_a_step", elements_read_before_a_step},
      {"samples_of_a_buffer", samples_of_a_buffer},
      {"samples_of_what_was_made", samples_of_what_was_made},
      {"samples_of_what_is_written", samples_of_what_is_written},
      {"draws_of_generators", draws_of_generators},
      {"samples_that_a_backward_needs", samples_that_a_backward_needs},
  };
  return all;
}

}  // namespace groove::testing
