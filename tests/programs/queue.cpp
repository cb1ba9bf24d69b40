// One thread makes batches with tensor operations and hands them, still uncomputed, through a
// queue.
#include <condition_variable>
#include <mutex>
#include <queue>
#include <thread>

#include "tests/programs/program.h"

namespace groove::programs {
namespace {

class Queue {
 public:
  void push(Tensor tensor) {
    const std::lock_guard lock(mutex_);
    tensors_.push(std::move(tensor));
    changed_.notify_one();
  }
  Tensor pop() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !tensors_.empty(); });
    Tensor first = std::move(tensors_.front());
    tensors_.pop();
    return first;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::queue<Tensor> tensors_;
};

void run() {
  constexpr int kSteps = 120;
  Queue queue;
  std::thread maker([&queue] {
    auto state = groove::linspace(0, 1, 12).view({3, 4});
    for (int step = 0; step < kSteps; ++step) {
      state = groove::sin(state * 1.7 + 0.3);
      queue.push(state.clone());
    }
  });
  Mlp net(4, 8, 2);
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.1));
  for (int step = 0; step < kSteps; ++step) {
    if (step == 40) steady();
    auto x = queue.pop();
    optimizer.zero_grad();
    auto loss = net(x).square().mean();
    loss.backward();
    optimizer.step();
    print("loss", loss.item<double>());
  }
  maker.join();
  print_state(net->parameters());
}

[[maybe_unused]] const bool registered = add({"queue", run});

}  // namespace
}  // namespace groove::programs
