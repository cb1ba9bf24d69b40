// torch::data::detail: what programs with data loaders of their own make them of. Groove's loaders
// have parts of their own.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "groove/error.h"

namespace torch::data::detail {

/// A queue for several threads; pop() waits for an element.
template <typename T>
class Queue {
 public:
  void push(T value) {
    {
      const std::lock_guard lock(mutex_);
      values_.push_back(std::move(value));
    }
    is_there_.notify_one();
  }
  /// groove::Error when `timeout` passes before there is an element.
  T pop(std::optional<std::chrono::milliseconds> timeout = std::nullopt) {
    std::unique_lock lock(mutex_);
    const auto has_value = [this] { return !values_.empty(); };
    if (!timeout)
      is_there_.wait(lock, has_value);
    else if (!is_there_.wait_for(lock, *timeout, has_value))
      throw groove::Error("Timeout in DataLoader queue while waiting for next batch (timeout was " +
                          std::to_string(timeout->count()) + " ms)");
    T value = std::move(values_.front());
    values_.pop_front();
    return value;
  }
  /// How many elements it drops.
  std::size_t clear() {
    const std::lock_guard lock(mutex_);
    const std::size_t count = values_.size();
    values_.clear();
    return count;
  }

 private:
  std::deque<T> values_;
  std::mutex mutex_;
  std::condition_variable is_there_;
};

/// Jobs to workers and their results back, with the number of those under way.
template <typename Job, typename Result>
class DataShuttle {
 public:
  void push_job(Job job) {
    new_jobs_.push(std::move(job));
    ++in_flight_jobs_;
  }
  void push_result(Result result) { results_.push(std::move(result)); }
  Job pop_job() { return new_jobs_.pop(); }
  /// Nothing when no job is under way.
  std::optional<Result> pop_result(
      std::optional<std::chrono::milliseconds> timeout = std::nullopt) {
    if (in_flight_jobs_ == 0) return std::nullopt;
    Result result = results_.pop(timeout);
    --in_flight_jobs_;
    return result;
  }
  /// Drops jobs that nobody has begun, and waits for the others.
  void drain() {
    in_flight_jobs_ -= new_jobs_.clear();
    while (in_flight_jobs_ > 0) {
      results_.pop();
      --in_flight_jobs_;
    }
  }
  std::size_t in_flight_jobs() const noexcept { return in_flight_jobs_; }

 private:
  Queue<Job> new_jobs_;
  Queue<Result> results_;
  std::size_t in_flight_jobs_ = 0;
};

/// In which order results are handed on: as they come, or by their `sequence_number`.
namespace sequencers {

template <typename Result>
struct Sequencer {
  virtual ~Sequencer() = default;
  template <typename Next>
  std::optional<Result> next(Next next_result) {
    return take([&]() -> std::optional<Result> { return next_result(); });
  }

 protected:
  using ResultProducer = std::function<std::optional<Result>()>;
  virtual std::optional<Result> take(const ResultProducer& next_result) = 0;
};

template <typename Result>
struct NoSequencer final : Sequencer<Result> {
 private:
  using typename Sequencer<Result>::ResultProducer;
  std::optional<Result> take(const ResultProducer& next_result) override { return next_result(); }
};

template <typename Result>
struct OrderedSequencer final : Sequencer<Result> {
  /// With at most so many jobs under way.
  explicit OrderedSequencer(std::size_t max_jobs) : buffer_(max_jobs) {}
  std::size_t next_sequence_number_ = 0;
  std::vector<std::optional<Result>> buffer_;

 private:
  using typename Sequencer<Result>::ResultProducer;
  std::optional<Result> take(const ResultProducer& next_result) override {
    for (;;) {
      std::optional<Result>& kept = at(next_sequence_number_);
      if (kept) {
        ++next_sequence_number_;
        return std::exchange(kept, std::nullopt);
      }
      std::optional<Result> result = next_result();
      if (!result) return std::nullopt;
      if (result->sequence_number == next_sequence_number_) {
        ++next_sequence_number_;
        return result;
      }
      at(result->sequence_number) = std::move(result);
    }
  }
  std::optional<Result>& at(std::size_t sequence_number) {
    return buffer_.at(sequence_number % buffer_.size());
  }
};

}  // namespace sequencers
}  // namespace torch::data::detail
