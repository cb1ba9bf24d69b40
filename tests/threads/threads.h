// What the tests of several threads share: a small model, a queue, and results as bits.
#pragma once

#include <groove/groove.h>

#include <bit>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace groove::testing {

struct NetImpl : nn::Module {
  NetImpl(int inputs, int hidden, int outputs) {
    first = register_module("first", nn::Linear(inputs, hidden));
    second = register_module("second", nn::Linear(hidden, outputs));
  }
  Tensor forward(const Tensor& x) { return second(groove::tanh(first(x))); }
  nn::Linear first{nullptr}, second{nullptr};
};
GROOVE_MODULE(Net);

using Bits = std::vector<std::uint32_t>;

inline void append_bits(Bits& bits, const Tensor& value) {
  const Tensor dense = value.detach().contiguous();
  for (std::int64_t i = 0; i < dense.numel(); ++i)
    bits.push_back(std::bit_cast<std::uint32_t>(dense.const_data_ptr<float>()[i]));
}

/// The same numbers on every thread, without the generator that all threads share.
inline Tensor numbers(IntArrayRef sizes, int seed) {
  Tensor result = groove::empty(sizes);
  float* const data = result.data_ptr<float>();
  std::uint32_t state = 2654435761u * static_cast<std::uint32_t>(seed + 1);
  for (std::int64_t i = 0; i < result.numel(); ++i) {
    state = state * 1664525u + 1013904223u;
    data[i] = static_cast<float>(state >> 8) / 8388608.0f - 1.0f;
  }
  return result.clone();
}

inline void set_numbers(const std::vector<Tensor>& parameters, int seed) {
  const NoGradGuard guard;
  for (const Tensor& parameter : parameters) {
    Tensor target = parameter;
    target.copy_(numbers(parameter.sizes(), seed++) * 0.5);
  }
}

// Passes values from thread to thread, in order.
template <typename T>
class Queue {
 public:
  explicit Queue(std::size_t most = 4) : most_(most) {}
  void push(T value) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return values_.size() < most_; });
    values_.push_back(std::move(value));
    changed_.notify_all();
  }
  T pop() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !values_.empty(); });
    T value = std::move(values_.front());
    values_.pop_front();
    changed_.notify_all();
    return value;
  }

 private:
  const std::size_t most_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<T> values_;
};

/// Runs them side by side to the end.
inline void run_threads(int count, const std::function<void(int)>& body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back(body, i);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace groove::testing
