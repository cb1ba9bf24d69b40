// Threads that hand work to each other: what one has computed but not run yet is computed from what
// was there when it was called, whatever another writes afterwards.
#include <gtest/gtest.h>

#include <bit>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <sstream>
#include <thread>
#include <utility>

#include "groove/jit.h"
#include "tests/threads/threads.h"
#include "tracer/tell/testing.h"

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

TEST_P(Hazards, AnotherThreadLoadsTheOptimizer) {
  expect_eager_bits([] {
    const Tensor weight = numbers({3, 3}, 1).requires_grad_(), x = numbers({3, 3}, 2);
    optim::RMSprop optimizer({weight}, 0.02);
    Tensor loss;
    const auto step = [&] {
      optimizer.step();
      loss = (weight * x).sin().sum();
      return weight.detach();
    };
    return in_turns(step, [&](int) {
      optimizer.zero_grad();
      loss.backward();
      std::stringstream file;
      groove::save(optimizer, file);
      groove::load(optimizer, file);
    });
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

// ---- a program of two threads, one at a time ----

// Calls given work on a second thread, and waits for it.
class SecondThread {
 public:
  SecondThread()
      : thread_([this] {
          for (;;) {
            turns_.wait_for(1);
            if (!work_) return;
            try {
              work_();
            } catch (...) {
              error_ = std::current_exception();
            }
            turns_.give_to(0);
          }
        }) {}
  ~SecondThread() {
    work_ = nullptr;
    turns_.give_to(1);
    thread_.join();
  }
  void operator()(std::function<void()> work) {
    work_ = std::move(work);
    turns_.give_to(1);
    turns_.wait_for(0);
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }

 private:
  Turns turns_;
  std::function<void()> work_;
  std::exception_ptr error_;
  std::thread thread_;
};

void append_version(Bits& bits, const Tensor& value) {
  bits.push_back(static_cast<std::uint32_t>(value._version()));
}

struct Leaf {
  Tensor p = numbers({4, 4}, 1).requires_grad_();
  Tensor x = numbers({4, 4}, 2), y = numbers({4, 4}, 3);
  optim::SGD optimizer{{p}, optim::SGDOptions(0.05).momentum(0.9)};

  void step(const Tensor& loss, Bits& bits) {
    loss.backward();
    append_bits(bits, p.grad());
    optimizer.step();
    optimizer.zero_grad();
  }
};

// The second thread builds upon a result whose history the first one's run gives it at its end.
TEST_P(Hazards, TwoThreadsBuildOneGraph) {
  expect_eager_bits([] {
    SecondThread second;
    Leaf leaf;
    Bits bits;
    for (int step = 0; step < kSteps; ++step) {
      Tensor loss = groove::zeros({});
      loss = loss + leaf.p.mm(leaf.x.detach()).relu().square().mean();
      second([&] { loss = loss + (leaf.p - leaf.y).square().mean(); });
      leaf.step(loss, bits);
    }
    return bits;
  });
}

// The same where the value is there before, since the program has looked at it in mid-run.
TEST_P(Hazards, TwoThreadsBuildOneGraphOnWhatWasLookedAt) {
  expect_eager_bits([] {
    SecondThread second;
    Leaf leaf;
    Bits bits;
    for (int step = 0; step < kSteps; ++step) {
      const Tensor h = leaf.p.mm(leaf.x).tanh().sum();
      bits.push_back(std::bit_cast<std::uint32_t>(h.item<float>()));
      const Tensor other = (leaf.p * leaf.y).sum();
      Tensor loss;
      second([&] { loss = h.square() * 0.1; });
      leaf.step(loss + other, bits);
    }
    return bits;
  });
}

// A new thread each time goes through what the two have built.
TEST_P(Hazards, ANewThreadCallsBackward) {
  expect_eager_bits([] {
    SecondThread second;
    Leaf leaf;
    optim::Adam optimizer({leaf.p}, 0.05);
    Bits bits;
    for (int step = 0; step < kSteps; ++step) {
      Tensor loss = groove::zeros({});
      second([&] { loss = loss + (leaf.p * leaf.x.detach()).sin().sum(); });
      loss = loss + (leaf.p * leaf.x.detach()).sin().sum();
      if (step % 5 == 0) optimizer.zero_grad();
      std::thread([&] { loss.backward(); }).join();
      append_bits(bits, leaf.p.grad());
      if (step % 2 == 0) optimizer.step();
    }
    return bits;
  });
}

// The flag is that of the words that come: what the first thread owes had the one before.
TEST_P(Hazards, TheOtherThreadSetsAFlag) {
  expect_eager_bits([] {
    SecondThread second;
    Leaf leaf;
    Bits bits;
    for (int step = 0; step < kSteps; ++step) {
      Tensor loss = groove::zeros({});
      loss = loss + (leaf.p * leaf.x.detach()).sin().sum();
      second([&] { leaf.p.requires_grad_(step % 2 == 1); });
      if (step % 7 == 0 && loss.requires_grad()) loss.backward();
      bits.push_back(loss.requires_grad());
      append_bits(bits, loss);
      if (leaf.p.grad().defined()) append_bits(bits, leaf.p.grad());
    }
    return bits;
  });
}

// So are the hooks.
TEST_P(Hazards, TheOtherThreadHangsAHook) {
  expect_eager_bits([] {
    SecondThread second;
    Leaf leaf;
    Bits bits;
    unsigned hook = 0;
    for (int step = 0; step < kSteps; ++step) {
      const Tensor loss = (leaf.p * leaf.x.detach()).sin().sum();
      if (step % 9 == 6)
        second([&] { hook = leaf.p.register_hook([](const Tensor& g) { return g * 0.5; }); });
      if (step % 9 == 8) second([&] { leaf.p.remove_hook(hook); });
      leaf.step(loss, bits);
      append_bits(bits, leaf.p);
    }
    return bits;
  });
}

// A thread that has handed over ends: what its run owes is made, or made again, while the main
// thread looks at it.
TEST_P(Hazards, AThreadEndsBesideTheStep) {
  expect_eager_bits([] {
    Leaf leaf;
    Bits bits;
    for (int round = 0; round < 25; ++round) {
      Turns turns;
      std::thread other([&] {
        for (int step = 0; step < 12; ++step) {
          turns.wait_for(1);
          append_bits(bits, leaf.y.sum());
          (leaf.p - leaf.x).square().mean().backward();
          turns.give_to(0);
        }
      });
      for (int step = 0; step < 12; ++step) {
        leaf.optimizer.zero_grad();
        turns.give_to(1);
        turns.wait_for(0);
        bits.push_back(leaf.p.grad().defined());
        leaf.optimizer.step();
        append_version(bits, leaf.p);
      }
      append_bits(bits, leaf.p);
      append_bits(bits, leaf.p.grad());
      other.join();
    }
    return bits;
  });
}

// A module is made anew on another thread, while a result of the old one is pending there.
TEST_P(Hazards, AnotherThreadMakesTheModuleAnew) {
  expect_eager_bits([] {
    SecondThread second;
    Bits bits;
    Tensor x = numbers({4, 4}, 1), y = numbers({4, 4}, 2);
    const auto make = [] {
      nn::Sequential net(nn::Linear(4, 4), nn::Tanh(), nn::Linear(4, 4));
      set_numbers(net->parameters(), 3);
      return net;
    };
    nn::Sequential net = make();
    for (int step = 0; step < kSteps; ++step) {
      append_bits(bits, x.mean());
      const Tensor hidden = net->forward(x);
      second([&] { net = make(); });
      std::thread([&] { y = x.clamp(-1, 0.8).relu() - y.sigmoid(); }).join();
      if (step % 5 == 4) append_bits(bits, hidden);
    }
    append_bits(bits, y);
    return bits;
  });
}

// What the second thread writes is no part of what the first has recorded.
TEST_P(Hazards, TheOtherThreadWritesAResultInPlace) {
  expect_eager_bits([] {
    SecondThread second;
    Bits bits;
    Tensor x = numbers({4, 4}, 1);
    const Tensor start = numbers({4, 4}, 2);
    for (int step = 0; step < kSteps; ++step) {
      Tensor v = (start * 0.9 + x * 0.1).tanh();
      v.clamp_(-3, 3);
      if (step % 5 < 3) second([&] { v.tanh_(), v.add_(0.25); });
      x = v * 0.5 + start;
      append_version(bits, v);
      append_bits(bits, v);
      append_bits(bits, x);
    }
    return bits;
  });
}

// It looks first: the value is there, while the run that made it is not over.
TEST_P(Hazards, TheOtherThreadLooksAndThenWrites) {
  expect_eager_bits([] {
    SecondThread second;
    Bits bits;
    const Tensor start = numbers({4, 4}, 2);
    for (int step = 0; step < kSteps; ++step) {
      Tensor v = (start * (1 + step % 7 * 0.1)).tanh();
      second([&] {
        append_bits(bits, v.sum());
        bits.push_back(std::bit_cast<std::uint32_t>(v[0][0].item<float>()));
        if (step % 3 < 2) v.mul_(2);
      });
      const Tensor z = v * 3 + start;
      if (step % 7 == 6) append_bits(bits, start.exp());
      append_bits(bits, z);
      append_version(bits, v);
    }
    return bits;
  });
}

// A write that the first thread owes counts before the second one's backward looks at what it
// needs.
TEST_P(Hazards, AWriteIsCountedBeforeTheOtherThreadsBackward) {
  expect_eager_bits([] {
    SecondThread second;
    Bits bits;
    const Tensor p = numbers({4, 4}, 1).requires_grad_();
    Tensor w = numbers({4, 4}, 2);
    for (int step = 0; step < kSteps; ++step) {
      const Tensor loss = (p * w).sum();
      append_bits(bits, loss);
      if (step % 4 != 3) w.add_(0.125).mul_(0.75);
      bool is_refused = false;
      second([&] {
        try {
          loss.backward();
        } catch (const Error&) {
          is_refused = true;
        }
      });
      EXPECT_EQ(is_refused, step % 4 != 3) << step;
      bits.push_back(is_refused);
      append_version(bits, w);
      if (p.grad().defined()) append_bits(bits, p.grad());
    }
    return bits;
  });
}

INSTANTIATE_TEST_SUITE_P(Compilation, Hazards, ::testing::Bool(), [](const auto& info) {
  return info.param ? "synchronous" : "background";
});

}  // namespace
}  // namespace groove::testing
