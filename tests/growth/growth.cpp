// Does a long run grow? Loops run compiled for many iterations after warm-up: resident memory, the
// number of mappings and of threads must stay. And a chain of many ops is recorded on the tape and
// freed on a small stack.
#include <groove/groove.h>
#include <pthread.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <thread>

#include "groove/jit.h"
#include "tracer/tell/testing.h"

namespace {

using groove::Tensor;

struct Footprint {
  long kilobytes = 0, mappings = 0, threads = 0;
};

Footprint footprint() {
  Footprint now;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("VmRSS:", 0) == 0) now.kilobytes = std::atol(line.c_str() + 6);
    if (line.rfind("Threads:", 0) == 0) now.threads = std::atol(line.c_str() + 8);
  }
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) ++now.mappings;
  return now;
}

int failures = 0;

bool has_grown(const Footprint& before, const Footprint& after) {
  return after.kilobytes - before.kilobytes >= 1024 || after.mappings > before.mappings ||
         after.threads > before.threads;
}

// Code for a path of the loop may be published late, since the compiler runs when nobody else
// wants the processor. A loop therefore has a few turns, and one of them must add nothing; what
// grows for ever adds something in each.
void expect_no_growth(const char* what, long iterations, const std::function<void(long)>& step) {
  const long warm_up = iterations / 4 + 200;
  for (long i = 0; i < 2 * warm_up; ++i) {
    step(i % warm_up);
    if (i == warm_up) groove::jit::synchronize();
  }
  const int most_turns = 5;
  bool grows = true;
  for (int turn = 1; grows && turn <= most_turns; ++turn) {
    const Footprint before = footprint();
    for (long i = 0; i < iterations; ++i) step(i);
    groove::jit::synchronize();
    const Footprint after = footprint();
    grows = has_grown(before, after);
    const char* outcome = !grows ? "" : turn < most_turns ? "  again" : "  GROWS";
    std::printf("%-22s %9ld iterations: %+ld KiB, %+ld mappings, %+ld threads%s\n", what,
                iterations, after.kilobytes - before.kilobytes, after.mappings - before.mappings,
                after.threads - before.threads, outcome);
    std::fflush(stdout);
  }
  failures += grows ? 1 : 0;
}

void loops(long iterations) {
  groove::nn::Linear layer(8, 8);
  groove::optim::Adam optimizer(layer->parameters(), groove::optim::AdamOptions(1e-4));
  const Tensor x = groove::randn({4, 8});
  expect_no_growth("training", iterations, [&](long) {
    optimizer.zero_grad();
    layer(x).square().mean().backward();
    optimizer.step();
  });
  Tensor state = groove::zeros({16});
  expect_no_growth("without a cut", iterations,
                   [&](long) { state = (state * 0.5 + 0.25).tanh() - 0.125; });
  double sum = 0;
  expect_no_growth("branches on values", iterations, [&](long i) {
    Tensor y = state * static_cast<double>(i % 7);
    const double seen = y.sum().item<double>();
    if (i % 3 == 0)
      y = y.exp() * 0.5;
    else if (i % 5 == 0)
      y = groove::relu(y);
    sum += seen + y.sum().item<double>();
  });
  expect_no_growth("views and writes", iterations, [&](long i) {
    state.narrow(0, i % 8, 4).mul_(0.75);
    state.view({4, 4}).select(0, i % 4).add_(0.01);
  });
  expect_no_growth("raw pointers", iterations, [&](long i) {
    state.data_ptr<float>()[i % 16] = 0.5f;
    sum += (state * 2).sum().item<double>();
  });
  expect_no_growth("exceptions", iterations / 10, [&](long i) {
    try {
      Tensor y = state * 2;
      if (i % 2 == 0) y = y + groove::ones({3});
      state = y * 0.25;
    } catch (const groove::Error&) {
      state = state * 0.5;
    }
  });
  const auto short_thread = [](long) {
    std::thread([] {
      Tensor own = groove::zeros({16});
      for (int i = 0; i < 50; ++i) own = (own * 0.5 + 0.25).tanh() - 0.125;
    }).join();
  };
  expect_no_growth("threads", iterations / 1000 + 20, short_thread);
  groove::tracer::testing::set_check(1);
  expect_no_growth("checked threads", iterations / 1000 + 20, short_thread);
  groove::tracer::testing::set_check(-1);
  if (sum == 0.5) std::puts("");
}

// On a thread with a stack of 256 KiB.
void chain(long ops) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 256 << 10);
  pthread_t thread;
  pthread_create(
      &thread, &attributes,
      [](void* given) -> void* {
        const long count = *static_cast<long*>(given);
        Tensor x = groove::ones({1}).requires_grad_();
        {
          Tensor y = x;
          for (long i = 0; i < count; ++i) y = y + 1;
        }
        {
          Tensor y = x;
          for (long i = 0; i < count; ++i) y = y + 1;
          y.backward();
        }
        if (x.grad().item<float>() != 1.0f) {
          std::puts("the gradient of the chain is wrong");
          ++failures;
        }
        return nullptr;
      },
      &ops);
  pthread_join(thread, nullptr);
  std::printf("a chain of %ld ops is recorded, walked and freed\n", ops);
  std::fflush(stdout);
}

}  // namespace

int main(int count, char** words) {
  if (count != 3) {
    std::puts("usage: growth <iterations> <ops of the chain>");
    return 2;
  }
  const long iterations = std::atol(words[1]), ops = std::atol(words[2]);
  {
    const groove::jit::EagerGuard guard;
    chain(ops);
  }
  chain(ops);
  loops(iterations);
  return failures == 0 ? 0 : 1;
}
