// Threads that hand work to each other: what one has computed but not run yet is computed from what
// was there when it was called, whatever another writes afterwards.
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <thread>

#include "groove/jit.h"
#include "tests/threads/threads.h"
#include "tracer/testing.h"

namespace groove::testing {
namespace {

namespace tt = tracer::testing;

constexpr int kSteps = 80;

class Hazards : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    tt::set_hot(1);
    tt::set_synchronous(GetParam());
    tt::forget_everything();
  }
  void TearDown() override {
    jit::set_mode(jit::Mode::kAuto);
    tt::forget_everything();
  }
  template <typename Work>
  void expect_eager_bits(const Work& work) {
    jit::set_mode(jit::Mode::kEager);
    const Bits expected = work();
    jit::set_mode(jit::Mode::kAuto);
    EXPECT_EQ(work(), expected) << jit::explain();
    if (GetParam()) {
      EXPECT_GT(jit::summary().hits + jit::summary().leaves, 0u) << jit::explain();
    }
  }
};

// Whose turn it is, of two threads.
class Turns {
 public:
  void wait_for(int mine) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return turn_ == mine; });
  }
  void give_to(int other) {
    {
      const std::lock_guard lock(mutex_);
      turn_ = other;
    }
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int turn_ = 0;
};

// The main thread computes, the other changes what was computed from, the main thread looks.
template <typename Compute, typename Change>
Bits in_turns(const Compute& compute, const Change& change) {
  Turns turns;
  Bits bits;
  std::thread other([&] {
    for (int step = 0; step < kSteps; ++step) {
      turns.wait_for(1);
      change(step);
      turns.give_to(0);
    }
  });
  for (int step = 0; step < kSteps; ++step) {
    turns.wait_for(0);
    const Tensor result = compute();
    turns.give_to(1);
    turns.wait_for(0);
    append_bits(bits, result);
  }
  other.join();
  return bits;
}

// Worth compiling.
Tensor computed_from(const Tensor& x) {
  const Tensor a = x * 2 + 1, b = (a * x).tanh(), c = b.sigmoid() + a * 0.5;
  return (c * c + b).exp() - x;
}

TEST_P(Hazards, AnotherThreadAddsInPlace) {
  expect_eager_bits([] {
    const Tensor x = numbers({4}, 1);
    return in_turns([&] { return computed_from(x); }, [&](int) { x.mul_(0.99); });
  });
}

TEST_P(Hazards, AnotherThreadWritesThroughAView) {
  expect_eager_bits([] {
    const Tensor x = numbers({4, 3}, 1);
    const Tensor row = x[1];
    return in_turns([&] { return computed_from(x).sum(0); }, [&](int) { row.mul_(1.01); });
  });
}

TEST_P(Hazards, AnotherThreadFillsABuffer) {
  expect_eager_bits([] {
    const Tensor buffer = numbers({8}, 1), weight = numbers({8}, 2);
    return in_turns([&] { return (computed_from(buffer) * weight).tanh().sum(); },
                    [&](int step) { buffer.copy_(numbers({8}, step + 10)); });
  });
}

TEST_P(Hazards, AnotherThreadWritesThroughAPointer) {
  expect_eager_bits([] {
    const Tensor x = numbers({4}, 1);
    return in_turns(
        [&] { return computed_from(x); },
        [&](int step) { x.data_ptr<float>()[step % 4] = static_cast<float>(step % 5); });
  });
}

TEST_P(Hazards, AnotherThreadResizes) {
  expect_eager_bits([] {
    const Tensor x = numbers({4}, 1);
    return in_turns([&] { return computed_from(x).sum(); },
                    [&](int step) { x.resize_({4 + step % 3 * 100}).fill_(step % 5 * 0.1); });
  });
}

TEST_P(Hazards, AnotherThreadTrains) {
  expect_eager_bits([] {
    Net net(5, 7, 2);
    set_numbers(net->parameters(), 3);
    optim::Adam optimizer(net->parameters(), 0.05);
    const Tensor x = numbers({4, 5}, 1), y = numbers({4, 2}, 2);
    return in_turns(
        [&] {
          const NoGradGuard guard;
          return net(x).sum();
        },
        [&](int) {
          optimizer.zero_grad();
          nn::functional::mse_loss(net(x), y).backward();
          optimizer.step();
        });
  });
}

INSTANTIATE_TEST_SUITE_P(Compilation, Hazards, ::testing::Bool(), [](const auto& info) {
  return info.param ? "synchronous" : "background";
});

}  // namespace
}  // namespace groove::testing
