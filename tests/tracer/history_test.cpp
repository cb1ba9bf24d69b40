// Histories across the ends of compiled runs: what is freed, how long they may grow, who may look
// at them, and that their backward runs compiled.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <thread>

#include "groove/groove.h"
#include "groove/jit.h"
#include "groove/memory.h"
#include "src/core/autograd_meta.h"
#include "tests/tracer/at_once.h"
#include "tracer/tell/testing.h"

namespace groove::testing {
namespace {

namespace tt = tracer::testing;

class Histories : public CompiledAtOnce {
 protected:
  static std::vector<double> numbers_of(const Tensor& tensor) {
    const Tensor dense = tensor.detach().to(kDouble).contiguous();
    const double* const data = dense.const_data_ptr<double>();
    return {data, data + dense.numel()};
  }
  // The loop gives numbers: those of eager mode, and some of its iterations ran compiled.
  template <typename Loop>
  static void expect_as_eager(const Loop& loop) {
    jit::set_mode(jit::Mode::kEager);
    manual_seed(5);
    const std::vector<double> expected = loop();
    jit::set_mode(jit::Mode::kAuto);
    tt::forget_everything();
    manual_seed(5);
    EXPECT_EQ(loop(), expected);
    EXPECT_GT(jit::summary().hits, 0u) << jit::explain();
  }
  // The same in each run of a loop.
  static void begin_afresh(const std::vector<Tensor>& parameters) {
    const NoGradGuard no_grad;
    for (const Tensor& each : parameters) {
      each.copy_(groove::ones(each.sizes()) * 0.1);
      each.mutable_grad() = Tensor();
    }
  }
  static void append(std::vector<double>& numbers, const std::vector<Tensor>& tensors) {
    for (const Tensor& each : tensors)
      for (const double number : numbers_of(each)) numbers.push_back(number);
  }
  // Of the operators since `before`.
  static void expect_mostly_compiled(const jit::Summary& before) {
    const jit::Summary after = jit::summary();
    const auto compiled = static_cast<double>(after.ops_compiled - before.ops_compiled);
    const auto eager = static_cast<double>(after.ops_eager - before.ops_eager);
    EXPECT_GT(compiled, 0.9 * (compiled + eager)) << jit::explain();
  }
};

// One cell of a recurrent net; the host read after each makes it a stretch of its own.
Tensor cell(const Tensor& state, const Tensor& weight, double& read) {
  Tensor next = groove::tanh(state.mm(weight) + 0.125);
  read += next.sum().item<double>();
  return next;
}

// What comes after a compiled stretch has later places on the tape than all of it, so that its
// contributions are summed first; in another order 1e8 - 1e8 would take the others with it.
TEST_F(Histories, EagerNodesComeAfterThoseOfACompiledRun) {
  const Tensor x = (groove::arange(8).to(kFloat) * 0.3).requires_grad_();
  expect_as_eager([&] {
    std::vector<double> numbers;
    for (int i = 0; i < 20; ++i) {
      x.mutable_grad() = Tensor();
      const Tensor y = (x * 1.5 + x * x).tanh() + x * (0.1 * i);
      numbers.push_back(y.sum().item<double>());
      const jit::EagerGuard eager;
      const Tensor large = x * 1e8, opposite = x * -1e8;
      (y.sum() + large.sum() + opposite.sum()).backward();
      append(numbers, {x.grad()});
    }
    return numbers;
  });
}

TEST_F(Histories, BackwardOfCellsRunsCompiled) {
  const Tensor weight = groove::randn({4, 4}).mul_(0.3).requires_grad_();
  double read = 0;
  const auto episode = [&](int length) {
    Tensor state = groove::ones({2, 4});
    for (int t = 0; t < length; ++t) state = cell(state, weight, read);
    state.sum().backward();
  };
  for (int i = 0; i < 60; ++i) episode(8 + i % 5);
  const jit::Summary before = jit::summary();
  for (int i = 0; i < 40; ++i) episode(8 + i % 5);
  expect_mostly_compiled(before);
}

// Two networks that learn from one another: what the first backward has used up, and the program
// still holds, lies in one segment with a history that the second one goes on with.
TEST_F(Histories, WhatIsUsedUpBesideAHistoryDoesNotKeepItFromRunningCompiled) {
  const Tensor maker = groove::randn({4, 4}).mul_(0.3).requires_grad_();
  const Tensor judge = groove::randn({4, 1}).mul_(0.3).requires_grad_();
  const Tensor noise = groove::randn({8, 4}), real = groove::randn({8, 4});
  optim::SGD making({maker}, optim::SGDOptions(0.05)), judging({judge}, optim::SGDOptions(0.05));
  jit::Summary before;
  const auto train = [&](int steps) {
    std::vector<double> numbers;
    for (int i = 0; i < steps; ++i) {
      if (i == 60) before = jit::summary();
      judging.zero_grad();
      Tensor fake = noise;
      for (int layer = 0; layer < 6; ++layer) fake = groove::tanh(fake.mm(maker));
      const Tensor of_fake = fake.detach().mm(judge), of_real = real.mm(judge);
      const Tensor wrong = of_fake.square().mean(), missed = (1 - of_real).square().mean();
      const Tensor judged = wrong + missed;
      judged.backward();
      judging.step();
      making.zero_grad();
      const Tensor loss = fake.mm(judge).square().mean();
      loss.backward();
      making.step();
      if (i % 7 == 6) numbers.push_back(judged.item<double>() + loss.item<double>());
    }
    return numbers;
  };
  expect_as_eager([&] {
    {
      const NoGradGuard no_grad;
      maker.copy_(groove::ones({4, 4}) * 0.1);
      judge.copy_(groove::ones({4, 1}) * 0.2);
    }
    std::vector<double> numbers = train(120);
    append(numbers, {maker, judge});
    return numbers;
  });
  expect_mostly_compiled(before);
}

// Actor and critic: the graph of the first loss is kept, and the parameters that it has saved are
// written by a step, before the second backward goes on with another result of that segment.
TEST_F(Histories, WhatIsWrittenBesideAHistoryDoesNotKeepItFromRunningCompiled) {
  const Tensor value = groove::randn({4, 4}).requires_grad_();
  const Tensor target = groove::randn({4, 4}).requires_grad_();
  const Tensor critic = groove::randn({4, 4}).requires_grad_();
  const Tensor state = groove::randn({8, 4}), action = groove::randn({8, 4});
  jit::Summary before;
  expect_as_eager([&] {
    begin_afresh({value, target, critic});
    optim::SGD valuing({value}, optim::SGDOptions(0.05));
    optim::SGD judging({critic}, optim::SGDOptions(0.05));
    std::vector<double> numbers;
    for (int i = 0; i < 120; ++i) {
      if (i == 60) before = jit::summary();
      const Tensor now = groove::tanh(state.mm(value)), next = groove::tanh(action.mm(target));
      valuing.zero_grad();
      const Tensor loss = (now.mm(value) - 1).square().mean();
      loss.backward({}, true);
      valuing.step();
      judging.zero_grad();
      const Tensor wrong = (groove::tanh(action.mm(critic)) - next).square().mean();
      if (i % 7 == 6) numbers.push_back(wrong.item<double>());
      wrong.backward();
      judging.step();
    }
    append(numbers, {value, critic, target.grad()});
    return numbers;
  });
  expect_mostly_compiled(before);
}

// A view that was written before the compiled stretch reads it derives its history there: a node of
// its own among those of the stretch, on a way that they do not go.
TEST_F(Histories, HistoriesOfViewsAmongThoseOfARunDoNotKeepItFromRunningCompiled) {
  const Tensor actor = groove::randn({4, 4}).requires_grad_();
  const Tensor target = groove::randn({4, 1}).requires_grad_();
  const Tensor critic = groove::randn({4, 1}).requires_grad_();
  const Tensor state = groove::randn({8, 4}), action = groove::randn({8, 4});
  const Tensor is_last = groove::arange(8).remainder(3) == 0;
  jit::Summary before;
  expect_as_eager([&] {
    begin_afresh({actor, target, critic});
    optim::SGD acting({actor}, optim::SGDOptions(0.05));
    optim::SGD judging({critic}, optim::SGDOptions(0.05));
    std::vector<double> numbers;
    for (int i = 0; i < 120; ++i) {
      if (i == 60) before = jit::summary();
      const Tensor next = groove::tanh(state).mm(target).view(-1);
      next.masked_fill_(is_last, 0.0);
      acting.zero_grad();
      (groove::tanh(state.mm(actor)) - 1).square().mean().backward({}, true);
      acting.step();
      judging.zero_grad();
      const Tensor now = groove::tanh(action.mm(critic)).view(-1);
      const Tensor wrong = (now - (1 + 0.9 * next)).square().mean();
      if (i % 7 == 6) numbers.push_back(wrong.item<double>());
      wrong.backward();
      judging.step();
    }
    append(numbers, {actor, critic, target.grad()});
    return numbers;
  });
  expect_mostly_compiled(before);
}

// Such a node that adds to what they add to, between two that would take its part with them.
TEST_F(Histories, HistoriesOfViewsAmongThoseOfARunAddInTapeOrder) {
  const Tensor x = (groove::arange(8).to(kFloat) * 0.3).requires_grad_();
  double read = 0;
  expect_as_eager([&] {
    std::vector<double> numbers;
    for (int i = 0; i < 20; ++i) {
      x.mutable_grad() = Tensor();
      const Tensor hidden = x * 1.5, flat = hidden.view({2, 4});
      flat.mul_(0.5);
      for (int look = 0; look < 1 + i % 3; ++look) read += hidden.sum().item<double>();
      const Tensor large = hidden * 1e8, part = flat.tanh(), opposite = hidden * -1e8;
      const Tensor loss = large.sum() + part.sum() + opposite.sum();
      numbers.push_back(loss.item<double>());
      loss.backward();
      append(numbers, {x.grad()});
    }
    return numbers;
  });
}

// Programs of backwards share the budget of all: they go, and come again when there is room.
TEST_F(Histories, BackwardProgramsAreInTheBudget) {
  const Tensor weight = groove::randn({4, 4}).mul_(0.3).requires_grad_();
  double read = 0;
  const auto episodes = [&](int count) {
    const jit::Summary before = jit::summary();
    for (int i = 0; i < count; ++i) {
      Tensor state = groove::ones({2, 4});
      for (int t = 0; t < 8; ++t) state = cell(state, weight, read);
      state.sum().backward();
    }
    const jit::Summary after = jit::summary();
    const double compiled = static_cast<double>(after.ops_compiled - before.ops_compiled);
    return compiled / (compiled + static_cast<double>(after.ops_eager - before.ops_eager));
  };
  episodes(40);
  EXPECT_GT(episodes(10), 0.9);
  tt::set_cache_bytes(1);
  const Tensor other = groove::ones({3});
  for (int i = 0; i < 6; ++i) read += (other * 3).exp().sum().item<double>();  // takes all the room
  EXPECT_EQ(jit::explain().find("its backward: 1 programs"), std::string::npos) << jit::explain();
  tt::set_cache_bytes(0);
  episodes(40);
  EXPECT_GT(episodes(10), 0.9) << jit::explain();
}

TEST_F(Histories, DroppedOnesFreeTheirMemory) {
  const Tensor weight = groove::randn({64, 64}).mul_(0.1).requires_grad_();
  double read = 0;
  const auto episode = [&] {
    Tensor state = groove::ones({64, 64});
    for (int t = 0; t < 10; ++t) state = cell(state, weight, read);
  };
  for (int i = 0; i < 10; ++i) episode();
  const std::size_t before = memory::statistics().allocated;
  for (int i = 0; i < 50; ++i) episode();
  EXPECT_LE(memory::statistics().allocated, before + 64 * 64 * 4);
  EXPECT_GT(jit::summary().hits, 50u) << jit::explain();
}

TEST_F(Histories, LongChainsAreWalkedAndFreedOnASmallStack) {
  std::thread([] {
    const Tensor weight = groove::full({2}, 0.999).requires_grad_();
    Tensor state = groove::ones({2});
    double read = 0;
    for (int i = 0; i < 100'000; ++i) {
      state = state * weight;
      if (i % 1000 == 999) read += state[0].item<double>();
    }
    EXPECT_GT(read, 0);
    state.sum().backward();
    EXPECT_TRUE(weight.grad().defined());
    Tensor other = groove::ones({2});
    for (int i = 0; i < 100'000; ++i) other = other * weight;
  }).join();
}

TEST_F(Histories, GradientsOfChosenTensors) {
  expect_as_eager([] {
    const Tensor a = groove::randn({3}).requires_grad_(), b = groove::randn({3}).requires_grad_();
    std::vector<double> numbers;
    for (int i = 0; i < 8; ++i) {
      const Tensor product = a * b;
      const Tensor sum = (product.exp() + a).sum();
      numbers.push_back(sum.item<double>());
      const auto first = autograd::grad({sum}, {b}, {}, true);
      const auto inner = autograd::grad({sum}, {product}, {}, true);
      const auto both = autograd::grad({sum}, {a, b});
      for (const Tensor& gradient : {first[0], inner[0], both[0], both[1]})
        append(numbers, {gradient});
    }
    return numbers;
  });
}

// Two losses of one run, the second followed after the first one's tape is gone.
TEST_F(Histories, PartsUsedUpStayUsedUp) {
  expect_as_eager([] {
    const Tensor a = groove::randn({3}).requires_grad_(), b = groove::randn({3}).requires_grad_();
    std::vector<double> numbers;
    for (int i = 0; i < 8; ++i) {
      const Tensor trunk = a.exp();
      const Tensor one = (trunk * 2.0).sum(), two = (trunk * b).sum(), three = b.exp().sum();
      numbers.push_back((one + two + three).item<double>());
      one.backward();
      three.backward();
      try {
        two.backward();
        numbers.push_back(0);
      } catch (const Error&) {
        numbers.push_back(1);
      }
      append(numbers, {a.grad(), b.grad()});
      b.mutable_grad() = Tensor();
      a.mutable_grad() = Tensor();
    }
    return numbers;
  });
}

// What a used-up history led to is known still: a gradient of it is an error, one past it is none.
TEST_F(Histories, UsedUpOnesLeadToTheirLeaves) {
  expect_as_eager([] {
    const Tensor a = groove::randn({3}).requires_grad_(), b = groove::randn({3}).requires_grad_();
    std::vector<Tensor> kept;
    std::vector<double> numbers;
    for (int i = 0; i < 8; ++i) {
      const Tensor loss = a.square().sum();
      loss.backward();
      numbers.push_back(loss.item<double>());
      kept.push_back(loss);
    }
    const jit::EagerGuard guard;
    for (const Tensor& loss : kept) {
      append(numbers, {autograd::grad({loss + b.sum()}, {b})[0]});
      try {
        autograd::grad({loss + b.sum()}, {a});
      } catch (const Error& error) {
        numbers.push_back(static_cast<double>(std::hash<std::string>()(error.what())));
      }
    }
    return numbers;
  });
}

// A view whose base was written in place after it was made is a view of what was written.
TEST_F(Histories, ViewsOfWrittenResults) {
  expect_as_eager([] {
    const Tensor weight = groove::randn({2, 3}).requires_grad_();
    std::vector<Tensor> kept;
    std::vector<double> numbers;
    for (int i = 0; i < 8; ++i) {
      Tensor base = weight * 1.5;
      const Tensor row = base.select(0, 1);
      base.mul_(2.0);
      numbers.push_back(base.sum().item<double>());
      kept.push_back(row);
    }
    const jit::EagerGuard guard;
    for (const Tensor& row : kept) {
      (row * 3.0).sum().backward();
      append(numbers, {weight.grad()});
    }
    return numbers;
  });
}

// An input written in place is saved by its own history, which must not keep it alive.
TEST_F(Histories, WrittenInputsAreFreed) {
  const Tensor weight = groove::randn({64, 64}).mul_(0.1).requires_grad_();
  double read = 0;
  const auto episode = [&] {
    Tensor state = groove::ones({64, 64});
    for (int t = 0; t < 10; ++t) {
      state.add_(weight);
      state.tanh_();
      read += state.sum().item<double>();
    }
  };
  for (int i = 0; i < 10; ++i) episode();
  const std::size_t before = memory::statistics().allocated;
  for (int i = 0; i < 50; ++i) episode();
  EXPECT_LE(memory::statistics().allocated, before + 64 * 64 * 4);
  EXPECT_GT(jit::summary().hits, 50u) << jit::explain();
}

TEST_F(Histories, AnotherThreadMayFollowThem) {
  expect_as_eager([] {
    const Tensor weight = groove::randn({3}).requires_grad_();
    std::vector<double> numbers;
    for (int i = 0; i < 10; ++i) {
      const Tensor loss = (weight * groove::randn({3})).exp().sum();
      numbers.push_back(loss.item<double>());
      std::thread([&] { loss.backward(); }).join();
      append(numbers, {weight.grad()});
    }
    return numbers;
  });
}

// The same name and place among its producer's outputs as eager mode has.
TEST_F(Histories, ShowTheRealNodes) {
  const Tensor weight = groove::randn({3}).requires_grad_();
  for (int i = 0; i < 12; ++i) {
    const Tensor hidden = (weight * groove::randn({3}) + 0.5).exp();
    const Tensor loss = hidden.sum();
    EXPECT_GT(loss.item<double>(), 0);
    EXPECT_EQ(loss.grad_fn()->name(), "SumBackward0");
    EXPECT_EQ(hidden.grad_fn()->name(), "ExpBackward0");
    EXPECT_FALSE(loss.is_leaf());
  }
  EXPECT_GT(jit::summary().hits, 0u) << jit::explain();
}

// Numbers of the forward run are numbers of the backward program, too.
TEST_F(Histories, NumbersThatChangeEveryTime) {
  expect_as_eager([] {
    const Tensor weight = groove::randn({3}).requires_grad_();
    std::vector<double> numbers;
    for (int i = 0; i < 12; ++i) {
      const Tensor loss = (weight * (0.5 + i)).pow(2.0).sub(weight, 0.25 * i).sum();
      numbers.push_back(loss.item<double>());
      loss.backward();
      append(numbers, {weight.grad()});
    }
    return numbers;
  });
}

// A backward that records is done on the nodes themselves.
TEST_F(Histories, SecondDerivatives) {
  expect_as_eager([] {
    const Tensor weight = groove::randn({3}).requires_grad_();
    std::vector<double> numbers;
    for (int i = 0; i < 8; ++i) {
      const Tensor start = groove::randn({3}).requires_grad_();
      const Tensor loss = (weight * start).tanh().sum();
      numbers.push_back(loss.item<double>());
      const Tensor first = autograd::grad({loss}, {start}, {}, true, true)[0];
      first.square().sum().backward();
      append(numbers, {weight.grad(), start.grad()});
    }
    return numbers;
  });
}

}  // namespace
}  // namespace groove::testing
