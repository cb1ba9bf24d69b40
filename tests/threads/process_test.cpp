// fork(), exit(), exceptions and lack of memory in the middle of compiled loops. Children answer by
// their exit status; one that hangs is killed and counts as failed.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <stdexcept>

#include "groove/jit.h"
#include "groove/memory.h"
#include "tests/threads/threads.h"
#include "tracer/tell/report.h"
#include "tracer/tell/testing.h"
#include "tracer/watch/segment_profile.h"

namespace groove::testing {
namespace {

namespace tt = tracer::testing;

class Process : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    tt::set_hot(1);
    tt::set_synchronous(GetParam());
    jit::set_mode(jit::Mode::kAuto);
    tt::forget_everything();
  }
  void TearDown() override { tt::forget_everything(); }
};

// Steps of a training loop, one after the other, so that things can happen in between.
struct Training {
  Training() : optimizer(net->parameters(), optim::SGDOptions(0.05).momentum(0.9)) {
    set_numbers(net->parameters(), 21);
  }
  void step() {
    optimizer.zero_grad();
    loss = nn::functional::mse_loss(net(x), y);
    loss.backward();
    optimizer.step();
  }
  Bits bits() const {
    Bits all;
    append_bits(all, loss);
    for (const Tensor& parameter : net->parameters()) append_bits(all, parameter);
    return all;
  }
  Net net{5, 7, 2};
  optim::SGD optimizer;
  Tensor x = numbers({4, 5}, 1), y = numbers({4, 2}, 2), loss;
};

Bits trained(int steps) {
  const jit::EagerGuard guard;
  Training training;
  for (int i = 0; i < steps; ++i) training.step();
  return training.bits();
}

// The child's exit status; -1 when it had to be killed or died of a signal.
int status_of(pid_t child) {
  for (int turn = 0; turn < 12'000; ++turn) {
    int status = 0;
    if (waitpid(child, &status, WNOHANG) == child)
      return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    usleep(10'000);
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  return -1;
}

int in_child(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    int status = 9;
    try {
      status = body();
    } catch (...) {
    }
    _exit(status);
  }
  return status_of(child);
}

TEST_P(Process, AChildGoesOnWithTheLoop) {
  const Bits expected = trained(40);
  Training training;
  for (int i = 0; i < 20; ++i) training.step();
  EXPECT_EQ(in_child([&] {
              for (int i = 0; i < 20; ++i) training.step();
              // A loop that it finds by itself, too.
              Tensor a = numbers({9}, 3);
              for (int i = 0; i < 40; ++i) a = (a * 1.5).tanh() + 0.25;
              const Bits bits = training.bits();
              jit::synchronize();
              return bits == expected ? 0 : 1;
            }),
            0);
  for (int i = 0; i < 20; ++i) training.step();
  EXPECT_EQ(training.bits(), expected);
}

// With an iteration half matched, and other threads in the midst of theirs.
TEST_P(Process, AChildMayBeginAnywhere) {
  std::atomic<bool> is_over{false};
  std::vector<std::thread> others;
  for (int thread = 0; thread < 2; ++thread)
    others.emplace_back([&, thread] {
      Tensor a = numbers({50}, thread);
      for (int i = 0; !is_over; ++i) {
        a = (a * 1.25).tanh() + 0.125;
        // New shapes, so that something is always being compiled.
        if (i % 20 == 0) a = numbers({50 + i / 20 % 200}, thread);
      }
    });
  Tensor x = numbers({6}, 1);
  const auto first = [](const Tensor& from) { return from * 1.5; };
  const auto second = [](const Tensor& from) { return from.tanh() + 0.5; };
  for (int i = 0; i < 30; ++i) x = second(first(x));
  int failed = 0;
  for (int child = 0; child < 10; ++child) {
    Tensor half = first(x);
    failed += in_child([&] {
                Tensor a = second(half);
                for (int i = 0; i < 30; ++i) a = second(first(a));
                Bits actual, expected;
                append_bits(actual, a);
                {
                  const jit::EagerGuard guard;
                  Tensor b = second(first(x));
                  for (int i = 0; i < 30; ++i) b = second(first(b));
                  append_bits(expected, b);
                }
                return actual == expected ? 0 : 1;
              }) != 0;
    x = second(half);
  }
  is_over = true;
  for (std::thread& other : others) other.join();
  EXPECT_EQ(failed, 0);
}

// While other threads write down, and tell, what became of their loops.
TEST_P(Process, AChildMayAskWhatBecameOfLoops) {
  Tensor total = groove::zeros({});
  for (int turn = 0; turn < 4; ++turn)
    for (int size = 3; size < 12; ++size)
      total = total + (numbers({size, size + 1}, size) * 1.5).tanh().sum();
  tracer::SegmentProfile profile;
  std::atomic<bool> is_over{false};
  std::vector<std::function<void()>> works = {
      [] { jit::explain(); },
      [] { jit::summary(); },
      [&] { profile.exits(); },
      [&] { profile.note_exit(0, 1, 2, tracer::Reason::kHostRead, {}, 1000, 1000); },
      [] { tracer::forget_gone(); },
  };
  std::vector<std::thread> others;
  for (const std::function<void()>& work : works)
    others.emplace_back([&is_over, &work] {
      while (!is_over) work();
    });
  bool is_whole = true;
  for (int child = 0; child < 30 && is_whole; ++child) {
    usleep(2000);
    is_whole = in_child([&] {
                 for (const std::function<void()>& work : works) work();
                 return 0;
               }) == 0;
  }
  is_over = true;
  for (std::thread& other : others) other.join();
  EXPECT_TRUE(is_whole);
}

TEST_P(Process, ExitsWhileThingsAreGoingOn) {
  for (const bool is_pending : {false, true}) {
    EXPECT_EQ(in_child([&]() -> int {
                tt::set_synchronous(false);
                std::thread([] {
                  Tensor a = numbers({40}, 1);
                  for (;;) a = (a * 1.25).tanh() + 0.125;
                }).detach();
                Training training;
                for (int i = 0; i < 25; ++i) training.step();
                if (is_pending) training.optimizer.zero_grad();
                std::exit(0);
              }),
              0)
        << is_pending;
  }
}

struct UserError : std::runtime_error {
  UserError() : std::runtime_error("the program's own") {}
};

TEST_P(Process, ExceptionsBetweenOpsChangeNothing) {
  const auto work = [] {
    Tensor x = numbers({8}, 5), kept = groove::zeros({8});
    Bits bits;
    for (int i = 0; i < 80; ++i) {
      try {
        Tensor a = x * 1.5;
        if (i % 13 == 7) throw UserError();
        Tensor b = a.sin();
        kept = kept * 0.5 + b;
        if (i % 17 == 9) throw UserError();
        x = b + 0.25;
      } catch (const UserError&) {
        append_bits(bits, kept);
      }
    }
    append_bits(bits, x);
    append_bits(bits, kept);
    return bits;
  };
  Bits expected;
  {
    const jit::EagerGuard guard;
    expected = work();
  }
  EXPECT_EQ(work(), expected);
}

TEST_P(Process, ExceptionsFromHooksChangeNothing) {
  const auto work = [] {
    Tensor w = numbers({6}, 3).requires_grad_();
    int calls = 0;
    w.register_hook([&calls](const Tensor& grad) {
      if (++calls % 11 == 0) throw UserError();
      return grad;
    });
    Bits bits;
    for (int i = 0; i < 60; ++i) {
      try {
        Tensor loss = (w * numbers({6}, i % 3)).tanh().sum();
        loss.backward();
      } catch (const UserError&) {
        bits.push_back(static_cast<std::uint32_t>(i));
      }
      const NoGradGuard guard;
      if (w.grad().defined()) {
        w.sub_(w.grad() * 0.1);
        w.mutable_grad().zero_();
      }
    }
    append_bits(bits, w);
    return bits;
  };
  Bits expected;
  {
    const jit::EagerGuard guard;
    expected = work();
  }
  EXPECT_EQ(work(), expected);
}

// A limit that nothing new fits under, now and then.
TEST_P(Process, LackOfMemoryLeavesEverythingWhole) {
  constexpr std::int64_t kSize = 1 << 17;
  const auto work = [](bool is_limited) {
    Tensor x = numbers({kSize}, 4);
    std::vector<Tensor> kept;
    Bits bits;
    for (int i = 0; i < 40; ++i) {
      // More results live each time, and for a while none may.
      if (is_limited) {
        memory::empty_cache();
        memory::set_limit(i % 9 == 5 ? memory::statistics().reserved : 0);
      }
      for (bool is_done = false; !is_done;) {
        try {
          Tensor y = x * 0.75, z = y.abs() + 0.125;
          bits.push_back(std::bit_cast<std::uint32_t>(z.sum().item<float>()));
          x = z;
          kept.push_back(y);
          is_done = true;
        } catch (const Error&) {
          if (!is_limited) throw;
          memory::set_limit(0);
        }
      }
    }
    memory::set_limit(0);
    append_bits(bits, x);
    return bits;
  };
  Bits expected;
  {
    const jit::EagerGuard guard;
    expected = work(false);
  }
  EXPECT_EQ(work(true), expected);
}

INSTANTIATE_TEST_SUITE_P(Compiled, Process, ::testing::Bool(), [](const auto& info) {
  return std::string(info.param ? "AtOnce" : "InTheBackground");
});

}  // namespace
}  // namespace groove::testing
