#include "groove/data/chunk.h"

#include <condition_variable>
#include <mutex>
#include <thread>

#include "groove/detail/untraced.h"
#include "src/core/check.h"
#include "src/core/trace.h"

namespace groove::data::datasets {

ChunkDatasetOptions::ChunkDatasetOptions(std::size_t preloader_count, std::size_t batch_size,
                                         std::size_t cache_size,
                                         std::size_t cross_chunk_shuffle_count)
    : preloader_count_(preloader_count),
      batch_size_(batch_size),
      cache_size_(cache_size),
      cross_chunk_shuffle_count_(cross_chunk_shuffle_count) {
  GROOVE_CHECK(preloader_count > 0,
               "Preloader count is 0. At least one preloader needs to be specified.");
  GROOVE_CHECK(batch_size > 0, "Batch size is 0. A positive batch size needs to be specified.");
  GROOVE_CHECK(cache_size > 0, "Cache size is 0. A positive cache size needs to be specified.");
  GROOVE_CHECK(cache_size >= batch_size,
               "Cache size is less than batch size. Cache needs to be large enough to hold at "
               "least one batch.");
  GROOVE_CHECK(cross_chunk_shuffle_count > 0,
               "cross_chunk_shuffle_count needs to be greater than 0.");
}

namespace detail {

struct ChunkThreads::State {
  mutable std::mutex mutex;
  std::condition_variable has_room, has_batch;
  std::size_t batch_size, capacity;
  std::size_t examples = 0;
  std::size_t running = 0;
  bool is_ending = false;
  std::vector<std::thread> threads;
};

ChunkThreads::ChunkThreads(std::size_t batch_size, std::size_t capacity)
    : state_(std::make_unique<State>()) {
  state_->batch_size = batch_size;
  state_->capacity = capacity;
}

ChunkThreads::~ChunkThreads() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->is_ending = true;
  }
  state_->has_room.notify_all();
  for (std::thread& thread : state_->threads) thread.join();
}

void ChunkThreads::start(std::size_t threads, std::function<bool()> read_next) {
  state_->running = threads;
  for (std::size_t i = 0; i < threads; ++i)
    state_->threads.emplace_back([state = state_.get(), read_next] {
      name_thread("groove loader");
      const groove::detail::UntracedScope untraced;
      const auto is_ending = [state] {
        const std::lock_guard lock(state->mutex);
        return state->is_ending;
      };
      while (!is_ending() && read_next()) {
      }
      {
        const std::lock_guard lock(state->mutex);
        --state->running;
      }
      state->has_batch.notify_all();
    });
}

void ChunkThreads::locked(const std::function<void()>& function) const {
  const std::lock_guard lock(state_->mutex);
  function();
}

void ChunkThreads::add(const std::function<std::size_t()>& insert) {
  State& state = *state_;
  {
    std::unique_lock lock(state.mutex);
    state.has_room.wait(lock, [&] { return state.is_ending || state.examples < state.capacity; });
    if (state.is_ending) return;
    state.examples += insert();
  }
  state.has_batch.notify_all();
}

void ChunkThreads::take(const std::function<std::size_t()>& take) {
  State& state = *state_;
  {
    std::unique_lock lock(state.mutex);
    state.has_batch.wait(lock,
                         [&] { return state.running == 0 || state.examples >= state.batch_size; });
    state.examples -= take();
  }
  state.has_room.notify_all();
}

void check_chunk_batch(bool is_reset, std::size_t requested, std::size_t made_for) {
  GROOVE_CHECK(is_reset, "ChunkDataset: needs a call of reset() before get_batch()");
  GROOVE_CHECK(requested == made_for,
               "The requested batch size does not match with the initialized batch size.\n The "
               "requested batch size is {}, while the dataset is created with batch size equal to "
               "{}",
               requested, made_for);
}

}  // namespace detail
}  // namespace groove::data::datasets
