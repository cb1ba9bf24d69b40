// What a loader needs to fetch batches: the surroundings of one fetch, worker threads, and its
// position as part of an archive. Without the threads' headers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "groove/detail/owned.h"

namespace groove::serialize {
class InputArchive;  // groove/serialize.h
class OutputArchive;
}  // namespace groove::serialize

namespace groove::data {

/// What a worker of a loader has thrown.
struct WorkerException : std::exception {
  explicit WorkerException(std::exception_ptr original);
  const char* what() const noexcept override { return message.c_str(); }
  std::exception_ptr original_exception;
  std::string message;
};

namespace detail {

/// One draw, from which the draws of all batches of an epoch are keyed.
std::uint64_t draw_epoch_key();

// While a batch is fetched: nothing is traced, and draws depend on the epoch's key and the batch's
// number alone, whichever thread fetches it.
class FetchScope {
 public:
  FetchScope(std::uint64_t epoch_key, std::uint64_t batch);
  ~FetchScope();
  FetchScope(const FetchScope&) = delete;
  FetchScope& operator=(const FetchScope&) = delete;

 private:
  struct State;
  groove::detail::Owned<State> state_;
};

// Threads that run jobs ahead of the consumer.
class Prefetcher {
 public:
  using Job = std::function<std::shared_ptr<void>(std::size_t worker)>;

  /// With `is_ordered` results come in the order of their jobs. A timeout is in milliseconds.
  Prefetcher(std::size_t workers, bool is_ordered, std::optional<std::int64_t> timeout);
  /// Waits for the jobs that run; those that wait are dropped.
  ~Prefetcher();
  void push(Job job);
  /// Jobs whose results were not popped.
  std::size_t pending() const;
  /// Waits for a result; throws what its job threw as a WorkerException, or groove::Error after the
  /// timeout.
  std::shared_ptr<void> pop();

 private:
  struct State;
  groove::detail::Owned<State> state_;
};

// Where a loader is in an epoch.
struct Position {
  bool is_in_epoch = false;
  std::uint64_t key = 0;
  std::size_t delivered = 0;  // batches handed to the consumer
  std::size_t batch_size = 0;
  void save(serialize::OutputArchive& archive) const;
  /// Throws groove::Error when the batch size is another.
  void load(serialize::InputArchive& archive);
};
void save_sampler(serialize::OutputArchive& archive,
                  const std::function<void(serialize::OutputArchive&)>& save);
void load_sampler(serialize::InputArchive& archive,
                  const std::function<void(serialize::InputArchive&)>& load);
[[noreturn]] void throw_past_the_end(std::size_t delivered);
[[noreturn]] void throw_in_flight();
[[noreturn]] void throw_no_size();

}  // namespace detail
}  // namespace groove::data
