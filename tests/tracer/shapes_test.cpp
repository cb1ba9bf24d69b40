// Loops whose sizes are never the same: byte for byte what eager mode gives, and compiled.
#include <groove/groove.h>
#include <gtest/gtest.h>

#include <atomic>
#include <bit>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "groove/jit.h"
#include "tests/tracer/at_once.h"
#include "tests/tracer/loop_log.h"
#include "tracer/cache/compiler.h"
#include "tracer/cache/registry.h"
#include "tracer/cache/symbolic_table.h"
#include "tracer/tell/testing.h"
#include "tracer/thread/beside.h"

namespace groove::testing {
namespace {

namespace tt = tracer::testing;

// Lengths that follow from the step, far apart and seldom twice.
class Lengths {
 public:
  explicit Lengths(std::int64_t most, std::uint64_t seed = 1) : most_(most), state_(seed) {}
  std::int64_t next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return 1 + static_cast<std::int64_t>((state_ >> 33) % static_cast<std::uint64_t>(most_));
  }

 private:
  std::int64_t most_;
  std::uint64_t state_;
};

struct ShapeLoop {
  const char* name;
  void (*run)(int steps, Log& log);
  int least_share = 95;  // percent of the operators of steady steps that must have run compiled
  std::uint64_t most_segments = 40;
};

// What ran compiled, from the middle of a loop to its end. What is written to the log does not
// count.
class Share {
 public:
  void begin() { before_ = jit::summary(); }
  void end() { after_ = jit::summary(); }
  double percent() const {
    const auto compiled = static_cast<double>(after_.ops_compiled - before_.ops_compiled);
    const auto eager = static_cast<double>(after_.ops_eager - before_.ops_eager);
    return 100 * compiled / (compiled + eager);
  }

 private:
  jit::Summary before_, after_;
};
Share share;

// The steps of a loop; tells the share when a third is over, and at the end.
template <typename Step>
void repeat(int steps, const Step& step) {
  for (int i = 0; i < steps; ++i) {
    if (i == steps / 3) share.begin();
    step();
  }
  share.end();
}

void forward(int steps, Log& log) {
  const InferenceMode guard;
  Tensor w = groove::randn({16, 24}), b = groove::randn({24});
  Lengths lengths(300);
  std::vector<Tensor> kept;
  repeat(steps, [&] {
    const std::int64_t t = lengths.next();
    Tensor x = groove::randn({t, 16});
    Tensor h = groove::relu(groove::matmul(x, w) + b);
    Tensor y = h.sum(0) / h.size(0);
    Tensor z = (h * 2).exp().sum(1).log();
    log.number(y.sum().item<double>());
    kept.push_back(z);
  });
  for (const Tensor& z : kept) log.tensor(z);
}

void training(int steps, Log& log) {
  nn::Linear first(12, 20), second(20, 5);
  std::vector<Tensor> parameters = first->parameters();
  for (const Tensor& p : second->parameters()) parameters.push_back(p);
  optim::Adam optimizer(parameters, optim::AdamOptions(1e-2));
  Lengths lengths(300);
  repeat(steps, [&] {
    const std::int64_t t = lengths.next();
    Tensor x = groove::randn({t, 12});
    Tensor y = groove::randn({t, 5});
    optimizer.zero_grad();
    Tensor loss = nn::functional::mse_loss(second->forward(first->forward(x).relu()), y);
    loss.backward();
    optimizer.step();
    log.number(loss.item<double>());
  });
  log.parameters(parameters);
}

// Draws, whatever they leave over of four elements at once.
void draws(int steps, Log& log) {
  const InferenceMode guard;
  Lengths lengths(300);
  std::vector<Tensor> kept;
  repeat(steps, [&] {
    const std::int64_t t = lengths.next();
    Tensor x = groove::rand({t, 3}) + groove::randn({t, 3}, TensorOptions(kDouble));
    Tensor y = groove::dropout(x, 0.3, true) * groove::randint(1, 9, {t, 1}, kLong);
    log.number(y.sum().item<double>());
    kept.push_back(y);
  });
  for (const Tensor& y : kept) log.tensor(y);
}

// Two sizes, one of which is shown by a later call only, and plain integers that follow from both.
void two_sizes(int steps, Log& log) {
  const InferenceMode guard;
  Tensor w = groove::randn({8, 8});
  Lengths lengths(40), counts(9, 5);
  repeat(steps, [&] {
    const std::int64_t t = 1 + lengths.next(), n = 1 + counts.next();
    Tensor x = groove::randn({n, t, 8}), bias = groove::randn({t});
    Tensor h = groove::matmul(x, w).view({n, t, 2, 4}).transpose(1, 2);
    Tensor scores = groove::matmul(h, h.transpose(2, 3)) + bias;
    Tensor out = groove::matmul(groove::softmax(scores, -1), h).transpose(1, 2).reshape({n * t, 8});
    log.number(out.square().sum().item<double>());
  });
}

// At first one size is by chance the number of elements that the backward of a mean divides by.
void sizes_that_coincide(int steps, Log& log) {
  Tensor weight = groove::rand({4}).requires_grad_();
  optim::SGD optimizer({weight}, optim::SGDOptions(0.01));
  Lengths lengths(50), others(50, 5);
  int step = 0;
  repeat(steps, [&] {
    const std::int64_t rows = 1 + lengths.next();
    const std::int64_t other = step++ < 30 ? 4 * rows : 1 + others.next();
    Tensor noise = groove::randn({other});
    Tensor x = groove::randn({rows, 4});
    optimizer.zero_grad();
    nn::functional::mse_loss(x * weight, x.square()).backward();
    optimizer.step();
    log.number(noise.sum().item<double>());
  });
  log.parameters({weight});
}

// Each sentence of a step is a run of its own; one loss and one backward for what they left.
void histories(int steps, Log& log) {
  nn::Embedding words(30, 16);
  nn::Linear wide(16, 24), narrow(24, 16), head(16, 3);
  std::vector<Tensor> parameters = words->parameters();
  for (const nn::Linear& layer : {wide, narrow, head})
    for (const Tensor& p : layer->parameters()) parameters.push_back(p);
  optim::AdamW optimizer(parameters, optim::AdamWOptions(1e-2));
  Lengths lengths(60);
  repeat(steps, [&] {
    std::vector<Tensor> outputs;
    for (int sentence = 0; sentence < 3; ++sentence) {
      const Tensor ids = groove::randint(0, 30, {2 + lengths.next()}, TensorOptions(kLong));
      Tensor h = words->forward(ids.unsqueeze(0));
      h = h + narrow->forward(groove::gelu(wide->forward(h)));
      outputs.push_back(head->forward(h.mean(1)));
      log.number(outputs.back().sum().item<double>());
    }
    optimizer.zero_grad();
    nn::functional::cross_entropy(groove::cat(outputs, 0), groove::arange(3)).backward();
    optimizer.step();
  });
  log.parameters(parameters);
}

// Writes through views lie on the way back, and every third step asks for second derivatives.
void written_histories(int steps, Log& log) {
  const Tensor weight = groove::rand({6}).requires_grad_();
  Lengths lengths(60);
  int step = 0;
  repeat(steps, [&] {
    std::vector<Tensor> parts;
    for (std::int64_t part = 2 + lengths.next() % 5; part > 0; --part) {
      const std::int64_t rows = 3 + lengths.next();
      Tensor y = groove::randn({rows, 6}) * weight;
      y.narrow(0, 1, rows - 1).mul_(weight.exp());
      y.select(1, 2).add_(y.select(1, 3).detach());
      y = y.transpose(0, 1).reshape({2, 3 * rows}).tanh().mean(1);
      log.number(y.sum().item<double>());
      parts.push_back(y);
    }
    const Tensor sum = groove::stack(parts).sum(0);
    const bool is_twice = step++ % 3 == 0;
    Tensor gradient = autograd::grad({sum.square().sum()}, {weight}, {}, std::nullopt, is_twice)[0];
    if (is_twice) gradient = autograd::grad({gradient.square().sum()}, {weight})[0];
    log.tensor(gradient);
    const NoGradGuard no_grad;
    weight.sub_(gradient.clamp(-1, 1) * 1e-3);
  });
  log.parameters({weight});
}

// Rows by their values, gradients of three losses, which are read one by one, for an optimizer
// step.
void accumulated_masks(int steps, Log& log) {
  nn::Linear first(5, 8), second(8, 2);
  std::vector<Tensor> parameters = first->parameters();
  for (const Tensor& p : second->parameters()) parameters.push_back(p);
  optim::SGD optimizer(parameters, optim::SGDOptions(0.05));
  int part = 0;
  repeat(steps, [&] {
    const Tensor all = groove::randn({12, 5});
    const Tensor x = all.index({all.select(1, 0) > 0});
    const Tensor y = second->forward(first->forward(x).relu());
    const Tensor loss = nn::functional::mse_loss(y, x.narrow(1, 0, 2).sin());
    if (part == 0) optimizer.zero_grad();
    (loss / 3).backward();
    part = (part + 1) % 3;
    if (part == 0) optimizer.step();
    log.number(loss.item<double>());
  });
  log.parameters(parameters);
}

// Rows that a mask leaves, a cell in a loop and a step by hand.
void sequences_by_hand(int steps, Log& log) {
  nn::LSTMCell cell(8, 8);
  nn::Linear head(8, 1);
  std::vector<Tensor> parameters = cell->parameters();
  for (const Tensor& p : head->parameters()) parameters.push_back(p);
  repeat(steps, [&] {
    const Tensor drawn = groove::randn({64, 24});
    const Tensor x = drawn.index({drawn.select(1, 0) > 0});
    const Tensor y = (x.sum(1, true) * 0.5).sin().expand({x.size(0), 1}).contiguous();
    const Tensor series = x.view({x.size(0), 3, 8});
    Tensor h = groove::zeros({x.size(0), 8}), c = groove::zeros({x.size(0), 8});
    for (int t = 0; t < 3; ++t) std::tie(h, c) = cell(series.select(1, t), std::make_tuple(h, c));
    nn::functional::mse_loss(head(h), y).backward();
    const NoGradGuard no_grad;
    for (const Tensor& p : parameters) p.sub_(p.grad() * 0.01);
    for (const Tensor& p : parameters) p.mutable_grad().zero_();
  });
  log.parameters(parameters);
}

// After a size was shown, a leaf that the run has already by another name: its gradient is a sum.
void leaves_that_are_one(int steps, Log& log) {
  const Tensor p = groove::randn({4, 4}).requires_grad_(),
               q = groove::randn({4, 4}).requires_grad_();
  Lengths lengths(40);
  int step = 0;
  repeat(steps, [&] {
    Tensor loss = (p * 0.3).tanh().sum();
    const Tensor x = groove::randn({1 + lengths.next(), 4});
    loss = loss + x.mm(step++ % 7 == 3 ? p : q).tanh().square().mean();
    log.tensor(autograd::grad({loss}, {p})[0]);
  });
  log.parameters({p, q});
}

// A batch of samples of many lengths, and a mask that picks some of all rows; 1 now and then.
void collated(int steps, Log& log) {
  nn::Linear layer(6, 5);
  optim::Adam optimizer(layer->parameters(), optim::AdamOptions(1e-2));
  Lengths lengths(9);
  repeat(steps, [&] {
    std::vector<Tensor> pieces;
    for (int i = 0; i < 4; ++i) pieces.push_back(groove::randn({lengths.next(), 6}));
    const Tensor rows = groove::cat(pieces);
    const Tensor picked = layer->forward(rows).index({rows.select(1, 0) > 0});
    optimizer.zero_grad();
    Tensor loss =
        picked.square().sum() / rows.size(0) + nn::functional::mse_loss(picked, picked * 0.5);
    loss.backward();
    optimizer.step();
    log.number(loss.item<double>());
  });
  log.parameters(layer->parameters());
}

const ShapeLoop kLoops[] = {{"forward", forward},
                            {"collated", collated, 70},
                            {"training", training},
                            {"draws", draws},
                            {"two_sizes", two_sizes},
                            {"sizes_that_coincide", sizes_that_coincide, 85},
                            {"accumulated_masks", accumulated_masks, 90},
                            {"sequences_by_hand", sequences_by_hand, 95, 4},
                            {"leaves_that_are_one", leaves_that_are_one, 50},
                            {"histories", histories, 90, 14},
                            {"written_histories", written_histories, 30, 24}};

std::string run_once(const ShapeLoop& loop, int steps) {
  Log log;
  groove::manual_seed(7);
  loop.run(steps, log);
  return log.text;
}

class Shapes : public ::testing::TestWithParam<ShapeLoop> {
 protected:
  void SetUp() override {
    tt::set_synchronous(true);
    tt::set_hot(2);
    jit::set_mode(jit::Mode::kEager);
    expected_ = run_once(GetParam(), kSteps);
    jit::set_mode(jit::Mode::kAuto);
    tt::forget_everything();
  }
  void TearDown() override {
    tt::force_exit_at(-1);
    tt::forget_everything();
  }
  static constexpr int kSteps = 360;
  std::string expected_;
};

TEST_P(Shapes, RunCompiledWithTheSameBits) {
  EXPECT_TRUE(run_once(GetParam(), kSteps) == expected_) << jit::explain();
  EXPECT_GE(share.percent(), GetParam().least_share) << jit::explain();
  EXPECT_LE(jit::summary().segments, GetParam().most_segments) << jit::explain();
}

INSTANTIATE_TEST_SUITE_P(All, Shapes, ::testing::ValuesIn(kLoops),
                         [](const auto& info) { return std::string(info.param.name); });

class NewSizes : public CompiledAtOnce {};

// Counts what is compiled.
class Counting final : public Compiler {
 public:
  Counting() : own_(*registered_compiler()) { register_compiler(*this); }
  ~Counting() override { register_compiler(own_); }
  Counting(const Counting&) = delete;
  Counting& operator=(const Counting&) = delete;
  std::shared_ptr<Executable> compile(Graph graph) override {
    ++programs;
    ++of_one_size;
    return own_.compile(std::move(graph));
  }
  std::shared_ptr<Executable> compile_fully(Graph graph) override {
    ++programs;
    return own_.compile_fully(std::move(graph));
  }
  std::shared_ptr<Executable> compile_for_many_sizes(Graph graph) override {
    ++programs;
    return own_.compile_for_many_sizes(std::move(graph));
  }
  std::shared_ptr<Executable> compile_for_any_size(Graph graph, const Executable* like) override {
    ++programs;
    return own_.compile_for_any_size(std::move(graph), like);
  }
  std::atomic<int> programs = 0, of_one_size = 0;

 private:
  Compiler& own_;
};

// Sizes that come for the first time run compiled, and nothing is made for them.
template <typename Net>
void expect_nothing_is_compiled(const Net& make_net, const std::vector<std::int64_t>& example) {
  constexpr int kKnown = 30, kSteps = 57;
  Counting counting;
  int known = 0;
  jit::Summary before, after;
  const auto train = [&](bool is_eager) {
    Log log;
    jit::set_mode(is_eager ? jit::Mode::kEager : jit::Mode::kAuto);
    manual_seed(3);
    nn::Sequential net = make_net();
    optim::Adam optimizer(net->parameters(), optim::AdamOptions(0.01));
    for (int step = 0; step < kSteps; ++step) {
      if (step == kKnown) {
        known = counting.programs;
        before = jit::summary();
      }
      // Even sizes, then odd ones.
      std::vector<std::int64_t> sizes = example;
      sizes.insert(sizes.begin(), std::int64_t{8} + (step < kKnown ? step * 11 % 28 * 2
                                                                   : (step - kKnown) * 2 + 1));
      const auto x = groove::randn(sizes);
      const auto y = groove::randint(3, {sizes[0]}, kLong);
      optimizer.zero_grad();
      const auto loss = nn::functional::cross_entropy(net->forward(x), y);
      loss.backward();
      optimizer.step();
      log.number(loss.item<double>());
    }
    after = jit::summary();
    log.parameters(net->parameters());
    return log.text;
  };
  const std::string expected = train(true);
  EXPECT_TRUE(train(false) == expected);
  EXPECT_EQ(counting.programs, known);
  EXPECT_EQ(after.ops_eager, before.ops_eager);
  EXPECT_GT(after.ops_compiled, before.ops_compiled);
}

TEST_F(NewSizes, CompileNothing) {
  const auto net = [] {
    return nn::Sequential(nn::Linear(6, 12), nn::Tanh(), nn::LayerNorm(nn::LayerNormOptions({12})),
                          nn::Linear(12, 3));
  };
  expect_nothing_is_compiled(net, {6});
}

// A mean over 16 rows divides by a power of two, one over 17 does not.
TEST_F(NewSizes, CompileNothingForMeansOverThem) {
  const auto net = [] {
    return nn::Sequential(nn::Linear(6, 12), nn::BatchNorm1d(12), nn::ReLU(), nn::Linear(12, 3));
  };
  expect_nothing_is_compiled(net, {6});
}

TEST_F(NewSizes, CompileNothingForConvolutions) {
  const auto net = [] {
    return nn::Sequential(nn::Conv2d(nn::Conv2dOptions(1, 4, 3).padding(1)), nn::Sigmoid(),
                          nn::MaxPool2d(2), nn::Conv2d(nn::Conv2dOptions(4, 6, 3)), nn::ReLU(),
                          nn::Flatten(), nn::Linear(24, 3));
  };
  expect_nothing_is_compiled(net, {1, 8, 8});
}

// A step by hand.
void learn(const Tensor& x, const Tensor& w, double rate) {
  groove::mm(x, w).tanh().square().mean().backward();
  const NoGradGuard no_grad;
  w.sub_(w.grad() * rate);
  w.mutable_grad().zero_();
}

// Of two sizes each is recorded once, as only a third one would tell what follows from it; where
// none comes, each gets a program.
TEST(SizesByValue, AreNotRecordedAgainForThem) {
  tt::set_synchronous(true);
  tt::set_hot(2);
  jit::set_mode(jit::Mode::kAuto);
  tt::forget_everything();
  const Tensor w = groove::randn({6, 3}).requires_grad_();
  const auto train = [&](std::int64_t rows) { learn(groove::full({rows, 6}, 0.5), w, 0.1); };
  const auto either = [](int step) { return 0x9e3779b97f4a7c15u >> step % 64 & 1 ? 12 : 15; };
  for (int step = 0; step < 40; ++step) train(15);
  for (int step = 0; step < 8; ++step) train(either(step));
  const std::uint64_t at_two = tt::recordings();
  for (int step = 8; step < 64; ++step) train(either(step));
  EXPECT_LE(tt::recordings(), at_two + 4);
  const jit::Summary before = jit::summary();
  for (int step = 0; step < 64; ++step) train(either(step));
  const jit::Summary after = jit::summary();
  EXPECT_EQ(after.ops_eager, before.ops_eager) << jit::explain();
  tt::forget_everything();
}

// Where sizes follow from values, a program for those of the moment would hardly ever run.
TEST(SizesByValue, GetNoProgramForOneOfThem) {
  tt::set_synchronous(false);
  jit::set_mode(jit::Mode::kAuto);
  tt::forget_everything();
  Counting counting;
  const Tensor rows = groove::arange(600), x = groove::randn({600, 6});
  const Tensor w = groove::randn({6, 3}).requires_grad_();
  for (int step = 0; step < 500; ++step) learn(x.index({rows < 40 + step * 37 % 97}), w, 0.1);
  tracer::wait_for_compiler();
  EXPECT_EQ(counting.of_one_size, 0) << jit::explain();
  tt::forget_everything();
}

// Where a pointer cuts the loop in two, the second half begins at its first call or is not
// recorded: not one call further on each time that its sizes are waited for.
TEST(SizesByValue, LeaveTheHalvesOfACutLoopWhole) {
  tt::set_synchronous(false);
  jit::set_mode(jit::Mode::kAuto);
  tt::forget_everything();
  const Tensor values = groove::rand({200}), images = groove::rand({8, 6});
  const Tensor w = groove::randn({6, 3}).requires_grad_();
  double read = 0;
  for (int step = 0; step < 1500; ++step) {
    const Tensor boxes = groove::rand({1 + step % 3, 4}) * 8;
    read += boxes.accessor<float, 2>()[0][0];
    const Tensor scores = groove::mm(images, w).tanh().sigmoid().mean(0);
    const Tensor kept = (values > 0.2 + 0.01 * (step * 37 % 61)).nonzero().squeeze(1);
    const Tensor taken = values.index({kept}).sum() + boxes.sum();
    (scores.sum() * taken).backward();
    const NoGradGuard no_grad;
    w.sub_(w.grad() * 1e-6);
    w.mutable_grad().zero_();
  }
  EXPECT_GT(read, 0);
  for (const tracer::SegmentPtr& segment : tracer::all_segments())
    EXPECT_FALSE(segment->calls.front().op == find_op("tanh") ||
                 segment->calls.front().op == find_op("sigmoid"))
        << jit::explain();
  tt::forget_everything();
}

// Recordings that differ in what any number may stand for are of the same sizes, however many come.
TEST(SizesByValue, WhatMayBeAnyNumberIsNoSize) {
  tt::set_synchronous(true);
  jit::set_mode(jit::Mode::kAuto);
  tt::forget_everything();
  const Tensor x = groove::randn({6, 5});
  const Tensor w = groove::randn({5, 3}).requires_grad_();
  for (int step = 0; step < 40; ++step) learn(x, w, 0.1 / (1 + step));
  int free_numbers = 0;
  for (const tracer::SegmentPtr& segment : tracer::all_segments())
    for (int time = 0; time < 5; ++time) {
      for (tracer::SizeNumber& number : tracer::size_numbers(*segment).numbers) {
        if (!number.may_be_anything) continue;
        number.set(std::bit_cast<std::int64_t>(0.5 + time));
        ++free_numbers;
      }
      EXPECT_EQ(tracer::add_sample(segment), tracer::Sample::kFixed) << time;
    }
  EXPECT_GT(free_numbers, 0);
  tt::forget_everything();
}

}  // namespace
}  // namespace groove::testing
