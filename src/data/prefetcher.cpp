#include "groove/data/prefetcher.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "groove/data/iterator.h"
#include "groove/detail/untraced.h"
#include "groove/serialize.h"
#include "src/core/check.h"
#include "src/core/generator.h"
#include "src/core/trace.h"

namespace groove::data {

WorkerException::WorkerException(std::exception_ptr original)
    : original_exception(std::move(original)),
      message("Caught exception in DataLoader worker thread.") {
  try {
    std::rethrow_exception(original_exception);
  } catch (const std::exception& error) {
    message += std::string(" Original message: ") + error.what();
  } catch (...) {
  }
}

namespace detail {
namespace {

std::uint64_t mixed(std::uint64_t key, std::uint64_t value) {
  std::uint64_t z = key + 0x9E3779B97F4A7C15u * (value + 1);  // splitmix64
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

}  // namespace

std::uint64_t draw_epoch_key() {
  const Draw draw = draw_next();
  return mixed(draw.seed, draw.number);
}

struct FetchScope::State {
  explicit State(std::uint64_t key) : draws(key) {}
  groove::detail::UntracedScope untraced;
  DrawScope draws;
};
FetchScope::FetchScope(std::uint64_t epoch_key, std::uint64_t batch)
    : state_(std::make_unique<State>(mixed(epoch_key, batch))) {}
FetchScope::~FetchScope() = default;

struct Prefetcher::State {
  struct Result {
    std::shared_ptr<void> value;
    std::exception_ptr error;
  };
  mutable std::mutex mutex;
  std::condition_variable has_job, has_result;
  std::deque<std::pair<std::size_t, Job>> jobs;  // with their numbers
  std::map<std::size_t, Result> results;
  std::size_t next_number = 0, next_result = 0;
  std::size_t pending = 0;
  bool is_ordered = true, is_ending = false;
  std::optional<std::int64_t> timeout;
  std::vector<std::thread> threads;

  void work(std::size_t worker) {
    name_thread("groove loader");
    std::unique_lock lock(mutex);
    for (;;) {
      has_job.wait(lock, [&] { return is_ending || !jobs.empty(); });
      if (is_ending) return;
      auto [number, job] = std::move(jobs.front());
      jobs.pop_front();
      lock.unlock();
      Result result;
      try {
        result.value = job(worker);
      } catch (...) {
        result.error = std::current_exception();
      }
      job = nullptr;  // what it holds goes before anyone is told that it has ended
      lock.lock();
      results.emplace(number, std::move(result));
      has_result.notify_one();
    }
  }
  ~State() {
    {
      const std::lock_guard lock(mutex);
      is_ending = true;
    }
    has_job.notify_all();
    for (std::thread& thread : threads) thread.join();
  }
  bool is_ready() const {
    return !results.empty() && (!is_ordered || results.begin()->first == next_result);
  }
};

Prefetcher::Prefetcher(std::size_t workers, bool is_ordered, std::optional<std::int64_t> timeout)
    : state_(std::make_unique<State>()) {
  state_->is_ordered = is_ordered;
  state_->timeout = timeout;
  for (std::size_t i = 0; i < workers; ++i)
    state_->threads.emplace_back([state = state_.get(), i] { state->work(i); });
}

Prefetcher::~Prefetcher() = default;

void Prefetcher::push(Job job) {
  {
    const std::lock_guard lock(state_->mutex);
    state_->jobs.emplace_back(state_->next_number++, std::move(job));
    ++state_->pending;
  }
  state_->has_job.notify_one();
}

std::size_t Prefetcher::pending() const {
  const std::lock_guard lock(state_->mutex);
  return state_->pending;
}

std::shared_ptr<void> Prefetcher::pop() {
  State& state = *state_;
  std::unique_lock lock(state.mutex);
  const auto is_ready = [&] { return state.is_ready(); };
  if (!state.timeout) {
    state.has_result.wait(lock, is_ready);
  } else {
    const std::chrono::milliseconds most(*state.timeout);
    GROOVE_CHECK(state.has_result.wait_for(lock, most, is_ready),
                 "DataLoader: Timeout: no batch came within {} ms", *state.timeout);
  }
  State::Result result = std::move(state.results.begin()->second);
  state.results.erase(state.results.begin());
  ++state.next_result;
  --state.pending;
  lock.unlock();
  if (result.error) throw WorkerException(std::move(result.error));
  return std::move(result.value);
}

void Position::save(serialize::OutputArchive& archive) const {
  archive.write("is_in_epoch", IValue(is_in_epoch));
  archive.write("key", IValue(static_cast<std::int64_t>(key)));
  archive.write("delivered", IValue(delivered));
  archive.write("batch_size", IValue(batch_size));
}

void Position::load(serialize::InputArchive& archive) {
  IValue in_epoch, epoch_key, count, size;
  archive.read("is_in_epoch", in_epoch);
  archive.read("key", epoch_key);
  archive.read("delivered", count);
  archive.read("batch_size", size);
  GROOVE_CHECK(size.toInt() == static_cast<std::int64_t>(batch_size),
               "DataLoader: the archive is of a loader with batch_size {}, this one's is {}",
               size.toInt(), batch_size);
  GROOVE_CHECK(count.toInt() >= 0, "DataLoader: the archive says that {} batches were delivered",
               count.toInt());
  is_in_epoch = in_epoch.toBool();
  key = static_cast<std::uint64_t>(epoch_key.toInt());
  delivered = static_cast<std::size_t>(count.toInt());
}

void save_sampler(serialize::OutputArchive& archive,
                  const std::function<void(serialize::OutputArchive&)>& save) {
  serialize::OutputArchive nested;
  save(nested);
  archive.write("sampler", nested);
}

void load_sampler(serialize::InputArchive& archive,
                  const std::function<void(serialize::InputArchive&)>& load) {
  serialize::InputArchive nested;
  archive.read("sampler", nested);
  load(nested);
}

void throw_past_the_end(std::size_t delivered) {
  throw_error(
      fmt::format("DataLoader: the archive says that {} batches were delivered, but the "
                  "sampler has fewer",
                  delivered));
}

void throw_in_flight() {
  throw_error(
      "DataLoader: Attempted to get a new DataLoader iterator while another iterator is not yet "
      "exhausted; finish that pass, or join() the loader");
}
void throw_no_size() {
  throw_error(
      "make_data_loader: Expected the dataset to be sized in order to construct the Sampler; give "
      "a sampler");
}
void throw_iterator_at_end(const char* action) {
  throw_error(fmt::format("DataLoader: Attempted to {} iterator {}past the end", action,
                          std::string_view(action) == "dereference" ? "that was " : ""));
}
void throw_sentinel(const char* acting) {
  throw_error(fmt::format("{} the DataLoader's past-the-end iterator is not allowed", acting));
}

}  // namespace detail
}  // namespace groove::data
