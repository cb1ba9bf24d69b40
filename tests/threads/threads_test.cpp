// Several user threads, each with loops of its own that run compiled: every result has the bits
// that the same work has on one thread in eager mode.
#include "tests/threads/threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <map>
#include <string>

#include "groove/jit.h"
#include "src/core/graph.h"
#include "tracer/cache/compiler.h"
#include "tracer/tell/testing.h"

namespace groove::testing {
namespace {

namespace tt = tracer::testing;

// Sanitizers and a busy machine make these slow; the work is small, the interleavings are many.
constexpr int kSteps = 60;

class Threads : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    tt::set_hot(1);
    tt::set_synchronous(GetParam());
    jit::set_mode(jit::Mode::kAuto);
    tt::forget_everything();
  }
  void TearDown() override {
    jit::set_mode(jit::Mode::kAuto);
    tt::forget_everything();
  }
  // What `work` gives on this thread in eager mode.
  template <typename Work>
  static Bits eagerly(const Work& work) {
    const jit::EagerGuard guard;
    return work();
  }
};

Bits train(int seed, int steps) {
  Net net(5, 7, 2);
  set_numbers(net->parameters(), seed);
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.05).momentum(0.9));
  const Tensor x = numbers({4, 5}, seed + 100), y = numbers({4, 2}, seed + 200);
  Bits bits;
  for (int step = 0; step < steps; ++step) {
    optimizer.zero_grad();
    Tensor loss = nn::functional::mse_loss(net(x), y);
    loss.backward();
    optimizer.step();
    if (step % 7 == 0) append_bits(bits, loss);
  }
  for (const Tensor& parameter : net->parameters()) append_bits(bits, parameter);
  return bits;
}

TEST_P(Threads, TrainModelsOfTheirOwn) {
  constexpr int kThreads = 4;
  std::vector<Bits> expected, actual(kThreads);
  for (int i = 0; i < kThreads; ++i)
    expected.push_back(eagerly([&] { return train(10 * i, kSteps); }));
  run_threads(kThreads, [&](int i) {
    actual[static_cast<std::size_t>(i)] = train(10 * i, kSteps);
  });
  EXPECT_EQ(actual, expected);
  jit::synchronize();
  if (GetParam()) {
    // All but the first steps, were each alone; threads wait for each other's compilation.
    EXPECT_GT(jit::summary().hits, static_cast<std::uint64_t>(kThreads) * kSteps / 3)
        << jit::explain();
  }
}

// Counts how often each recorded graph is compiled.
class CountingCompiler final : public Compiler {
 public:
  explicit CountingCompiler(Compiler& compiler) : compiler_(compiler) {}
  std::shared_ptr<Executable> compile(Graph graph) override {
    {
      const std::lock_guard lock(mutex_);
      ++counts_[print(graph)];
    }
    return compiler_.compile(std::move(graph));
  }
  // Of these only the last used are kept, as memory allows; others are made again.
  std::shared_ptr<Executable> compile_for_many_sizes(Graph graph) override {
    return compiler_.compile_for_many_sizes(std::move(graph));
  }
  const std::map<std::string, int>& counts() const { return counts_; }

 private:
  Compiler& compiler_;
  std::mutex mutex_;
  std::map<std::string, int> counts_;
};

TEST_P(Threads, ShareWeightsAndCode) {
  constexpr int kThreads = 16, kCalls = 10'000, kShapes = 50;
  Compiler& plain = *registered_compiler();
  CountingCompiler counting(plain);
  register_compiler(counting);
  Net net(6, 9, 3);
  set_numbers(net->parameters(), 3);
  // With gradients on: every call builds a tape over the shared weights.
  const auto infer = [&](const Tensor& x) { return net(x).softmax(1); };
  std::vector<Tensor> inputs;
  std::vector<Bits> expected(kShapes);
  {
    const jit::EagerGuard guard;
    for (int shape = 0; shape < kShapes; ++shape) {
      inputs.push_back(numbers({1 + shape, 6}, shape));
      append_bits(expected[static_cast<std::size_t>(shape)], infer(inputs.back()));
    }
  }
  std::atomic<int> wrong{0};
  run_threads(kThreads, [&](int thread) {
    for (int call = 0; call < kCalls; ++call) {
      const auto shape = static_cast<std::size_t>((call / 40 + thread) % kShapes);
      Bits bits;
      append_bits(bits, infer(inputs[shape]));
      if (bits != expected[shape]) ++wrong;
    }
  });
  jit::synchronize();
  register_compiler(plain);
  EXPECT_EQ(wrong.load(), 0);
  // While the compiler is busy on another thread calls go on eagerly: how many depends on the
  // machine.
  EXPECT_GT(jit::summary().hits,
            GetParam() ? static_cast<std::uint64_t>(kThreads) * kCalls / 2 : std::uint64_t{0})
      << jit::explain();
  for (const auto& [graph, count] : counting.counts()) EXPECT_EQ(count, 1) << graph;
  if (HasFailure()) ADD_FAILURE() << jit::explain();
}

TEST_P(Threads, HandResultsThroughAQueue) {
  const auto produce = [](int step, const Tensor& w) {
    return (numbers({8}, step) * w).exp() + 1;
  };
  const auto consume = [](const Tensor& y, Tensor& sum) { sum = sum * 0.5 + y.sqrt(); };
  const Tensor w = numbers({8}, 77);
  const Bits expected = eagerly([&] {
    Tensor sum = groove::zeros({8});
    Bits bits;
    for (int step = 0; step < kSteps * 4; ++step) {
      consume(produce(step, w), sum);
      if (step % 5 == 0) append_bits(bits, sum);
    }
    return bits;
  });
  Queue<Tensor> queue;
  Bits bits;
  std::thread producer([&] {
    for (int step = 0; step < kSteps * 4; ++step) queue.push(produce(step, w));
  });
  std::thread consumer([&] {
    Tensor sum = groove::zeros({8});
    for (int step = 0; step < kSteps * 4; ++step) {
      consume(queue.pop(), sum);
      if (step % 5 == 0) append_bits(bits, sum);
    }
  });
  producer.join();
  consumer.join();
  EXPECT_EQ(bits, expected);
}

// Each owes the other something nearly always.
TEST_P(Threads, TouchEachOthersPendingResults) {
  const auto step = [](const Tensor& own, const Tensor& other) {
    return (own * 0.5 + other * 0.25).sin() + own;
  };
  const Bits expected = eagerly([&] {
    Tensor a = numbers({16}, 1), b = numbers({16}, 2);
    for (int i = 0; i < kSteps * 4; ++i) {
      Tensor next_a = step(a, b), next_b = step(b, a);
      a = next_a;
      b = next_b;
    }
    Bits bits;
    append_bits(bits, a);
    append_bits(bits, b);
    return bits;
  });
  Queue<Tensor> to_a, to_b;
  Tensor last_a, last_b;
  const auto run = [&](int seed, Queue<Tensor>& from, Queue<Tensor>& to, Tensor& last) {
    Tensor own = numbers({16}, seed);
    for (int i = 0; i < kSteps * 4; ++i) {
      to.push(own);
      own = step(own, from.pop());
    }
    last = own;
  };
  std::thread a([&] { run(1, to_a, to_b, last_a); });
  std::thread b([&] { run(2, to_b, to_a, last_b); });
  a.join();
  b.join();
  Bits bits;
  append_bits(bits, last_a);
  append_bits(bits, last_b);
  EXPECT_EQ(bits, expected);
}

// The consumer writes in place what the producer goes on reading only after it has it back.
TEST_P(Threads, PassOneTensorToAndFro) {
  const Bits expected = eagerly([&] {
    Tensor x = numbers({12}, 5);
    for (int i = 0; i < kSteps * 2; ++i) {
      x.mul_(0.75).add_(0.125);
      x.sub_(0.0625).mul_(1.25);
    }
    Bits bits;
    append_bits(bits, x);
    return bits;
  });
  Queue<Tensor> there, back;
  Bits bits;
  std::thread first([&] {
    Tensor x = numbers({12}, 5);
    for (int i = 0; i < kSteps * 2; ++i) {
      x.mul_(0.75).add_(0.125);
      there.push(x);
      x = back.pop();
    }
    append_bits(bits, x);
  });
  std::thread second([&] {
    for (int i = 0; i < kSteps * 2; ++i) {
      Tensor x = there.pop();
      x.sub_(0.0625).mul_(1.25);
      back.push(x);
    }
  });
  first.join();
  second.join();
  EXPECT_EQ(bits, expected);
}

TEST_P(Threads, LetOthersDropAndKeepResults) {
  Queue<Tensor> queue;
  std::thread producer([&] {
    Tensor x = numbers({32}, 9);
    for (int i = 0; i < kSteps * 4; ++i) {
      Tensor y = x * 2, z = y + 1;
      queue.push(y);
      queue.push(z);
      x = z * 0.5;
    }
    queue.push(x);
  });
  std::vector<Tensor> kept;
  for (int i = 0; i < kSteps * 8; ++i) {
    Tensor given = queue.pop();
    if (i % 16 == 3) kept.push_back(given);
  }
  kept.push_back(queue.pop());
  producer.join();
  Bits bits;
  for (const Tensor& tensor : kept) append_bits(bits, tensor);
  const Bits expected = eagerly([&] {
    Tensor x = numbers({32}, 9);
    Bits all;
    for (int i = 0; i < kSteps * 4; ++i) {
      Tensor y = x * 2, z = y + 1;
      if (i * 2 % 16 == 3) append_bits(all, y);
      if ((i * 2 + 1) % 16 == 3) append_bits(all, z);
      x = z * 0.5;
    }
    append_bits(all, x);
    return all;
  });
  EXPECT_EQ(bits, expected);
}

TEST_P(Threads, EndWithWorkPending) {
  for (int round = 0; round < 8; ++round) {
    Tensor result;
    const auto work = [] {
      Tensor x = numbers({10}, 4);
      for (int i = 0; i < 20; ++i) x = (x * 1.5).tanh() - 0.25;
      return x;
    };
    std::thread([&] { result = work(); }).join();
    Bits bits;
    append_bits(bits, result);
    EXPECT_EQ(bits, eagerly([&] {
                Bits all;
                append_bits(all, work());
                return all;
              }));
  }
}

// Gradients made on workers, used by an optimizer on this thread.
TEST_P(Threads, ComputeGradientsForOneOptimizer) {
  constexpr int kWorkers = 3;
  const auto work = [](bool is_parallel) {
    Net net(5, 6, 2);
    set_numbers(net->parameters(), 8);
    optim::Adam optimizer(net->parameters(), optim::AdamOptions(1e-2));
    std::vector<Net> replicas;
    for (int i = 0; i < kWorkers; ++i) replicas.emplace_back(5, 6, 2);
    const auto gradients = [&](int worker, int step) {
      Net& replica = replicas[static_cast<std::size_t>(worker)];
      {
        const NoGradGuard guard;
        for (std::size_t i = 0; i < net->parameters().size(); ++i)
          replica->parameters()[i].copy_(net->parameters()[i]);
      }
      replica->zero_grad();
      replica(numbers({3, 5}, worker + step % 4)).pow(2).mean().backward();
    };
    for (int step = 0; step < kSteps; ++step) {
      if (is_parallel)
        run_threads(kWorkers, [&](int worker) { gradients(worker, step); });
      else
        for (int worker = 0; worker < kWorkers; ++worker) gradients(worker, step);
      optimizer.zero_grad();
      for (std::size_t i = 0; i < net->parameters().size(); ++i) {
        Tensor sum = replicas[0]->parameters()[i].grad();
        for (int worker = 1; worker < kWorkers; ++worker)
          sum = sum + replicas[static_cast<std::size_t>(worker)]->parameters()[i].grad();
        net->parameters()[i].mutable_grad() = sum;
      }
      optimizer.step();
    }
    Bits bits;
    for (const Tensor& parameter : net->parameters()) append_bits(bits, parameter);
    return bits;
  };
  const Bits expected = eagerly([&] { return work(false); });
  EXPECT_EQ(work(true), expected);
}

// A graph made here and walked there.
TEST_P(Threads, CallBackwardOnAnotherThread) {
  const auto forward = [](const Tensor& w, int step) {
    return ((numbers({6}, step) * w).tanh() * w).sum();
  };
  const auto work = [&](const std::function<void(const Tensor&)>& backward) {
    Tensor w = numbers({6}, 31).requires_grad_();
    for (int step = 0; step < kSteps; ++step) {
      Tensor loss = forward(w, step % 3);
      backward(loss);
      const NoGradGuard guard;
      w.sub_(w.grad() * 0.125);
      w.mutable_grad().zero_();
    }
    Bits bits;
    append_bits(bits, w);
    return bits;
  };
  const Bits expected = eagerly([&] { return work([](const Tensor& loss) { loss.backward(); }); });
  Queue<std::optional<Tensor>> there;
  Queue<int> back;
  std::thread other([&] {
    while (const std::optional<Tensor> loss = there.pop()) {
      loss->backward();
      back.push(0);
    }
  });
  const Bits actual = work([&](const Tensor& loss) {
    there.push(loss);
    back.pop();
  });
  there.push(std::nullopt);
  other.join();
  EXPECT_EQ(actual, expected);
}

#if !defined(__SANITIZE_THREAD__)  // the race is the program's own
TEST_P(Threads, UpdateSharedWeightsWithoutALock) {
  Net net(5, 6, 2);
  set_numbers(net->parameters(), 12);
  run_threads(4, [&](int thread) {
    for (int step = 0; step < kSteps * 4; ++step) {
      try {
        const Tensor loss = net(numbers({3, 5}, thread + step % 5)).pow(2).mean();
        const std::vector<Tensor> parameters = net->parameters();
        const std::vector<Tensor> gradients = autograd::grad({loss}, parameters);
        const NoGradGuard guard;
        for (std::size_t i = 0; i < parameters.size(); ++i) {
          Tensor target = parameters[i];
          target.sub_(gradients[i] * 0.01);
        }
      } catch (const Error&) {
        // "modified by an inplace operation": eager mode says so as well
      }
    }
  });
  for (const Tensor& parameter : net->parameters())
    EXPECT_TRUE(groove::isfinite(parameter).all().item<bool>());
}
#endif

TEST_P(Threads, GoOnWhenAnotherSwitchesTracingOff) {
  std::atomic<bool> is_over{false};
  std::thread switcher([&] {
    for (int i = 0; !is_over; ++i) {
      jit::set_mode(i % 2 ? jit::Mode::kAuto : jit::Mode::kEager);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  const auto work = [] {
    Tensor x = numbers({10}, 6), sum = groove::zeros({10});
    for (int i = 0; i < kSteps * 20; ++i) {
      Tensor y = x * 1.25;
      x.add_(0.5).mul_(0.5);  // after y has read it
      sum = sum * 0.5 + y;
    }
    Bits bits;
    append_bits(bits, x);
    append_bits(bits, sum);
    return bits;
  };
  const Bits actual = work();
  is_over = true;
  switcher.join();
  EXPECT_EQ(actual, eagerly(work));
}

INSTANTIATE_TEST_SUITE_P(Compiled, Threads, ::testing::Bool(), [](const auto& info) {
  return std::string(info.param ? "AtOnce" : "InTheBackground");
});

}  // namespace
}  // namespace groove::testing
