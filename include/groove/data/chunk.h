// ChunkDataset: data that is read a chunk at a time (a file, say), by threads of its own.
#pragma once

#include <algorithm>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "groove/arg.h"
#include "groove/data/datasets.h"
#include "groove/data/prefetcher.h"
#include "groove/data/samplers.h"
#include "groove/detail/owned.h"

namespace groove::data::datasets {

/// Reads chunks; copies are not made, so read_chunk must bear several threads where there are
/// several preloaders.
template <typename Example, typename Chunk = std::vector<Example>>
class ChunkDataReader {
 public:
  using ChunkType = Chunk;
  using ExampleType = Example;
  using BatchType = Chunk;
  virtual ~ChunkDataReader() = default;
  virtual ChunkType read_chunk(std::size_t chunk_index) = 0;
  virtual std::size_t chunk_count() = 0;
  /// At the beginning of an epoch.
  virtual void reset() = 0;
};

struct ChunkDatasetOptions {
  /// Throws groove::Error for numbers that cannot be.
  ChunkDatasetOptions(std::size_t preloader_count, std::size_t batch_size,
                      std::size_t cache_size = 2048, std::size_t cross_chunk_shuffle_count = 1);
  /// Threads that read chunks.
  GROOVE_ARG(std::size_t, preloader_count);
  GROOVE_ARG(std::size_t, batch_size);
  /// Examples that are read ahead, about.
  GROOVE_ARG(std::size_t, cache_size);
  /// Chunks whose examples are shuffled together.
  GROOVE_ARG(std::size_t, cross_chunk_shuffle_count);
};

namespace detail {

// Threads that read chunks, and the lock and waiting of what they fill. Without the threads'
// headers.
class ChunkThreads {
 public:
  ChunkThreads(std::size_t batch_size, std::size_t capacity);
  /// Ends the threads.
  ~ChunkThreads();
  /// Each thread calls `read_next` until it gives false.
  void start(std::size_t threads, std::function<bool()> read_next);
  /// Runs the function with the lock held.
  void locked(const std::function<void()>& function) const;
  /// Waits for room, and adds as many examples as `insert`, run with the lock held, gives.
  void add(const std::function<std::size_t()>& insert);
  /// Waits for a batch or the end, and takes off as many examples as `take` gives.
  void take(const std::function<std::size_t()>& take);

 private:
  struct State;
  groove::detail::Owned<State> state_;
};
void check_chunk_batch(bool is_reset, std::size_t requested, std::size_t made_for);

}  // namespace detail

/// Chunks in chunk_sampler's order, the examples of each in that of example_sampler, cut into
/// batches; with several preloaders in the order in which chunks are ready. What reading throws
/// comes in place of a batch, as a WorkerException.
template <typename ChunkReader, typename ChunkSampler = samplers::RandomSampler,
          typename ExampleSampler = samplers::RandomSampler>
class ChunkDataset final
    : public StatefulDataset<ChunkDataset<ChunkReader, ChunkSampler, ExampleSampler>,
                             typename ChunkReader::BatchType, std::size_t> {
 public:
  using UnwrappedBatchType = typename ChunkReader::BatchType;
  using BatchType = std::optional<UnwrappedBatchType>;
  using BatchRequestType = std::size_t;
  using ChunkSamplerType = ChunkSampler;
  using ExampleSamplerType = ExampleSampler;
  using PreprocessingPolicy = std::function<void(UnwrappedBatchType&)>;

  /// The policy sees the examples that are shuffled together before they are.
  ChunkDataset(ChunkReader chunk_reader, ChunkSampler chunk_sampler, ExampleSampler example_sampler,
               ChunkDatasetOptions options, PreprocessingPolicy preprocessing_policy = {})
      : chunk_reader_(std::move(chunk_reader)),
        chunk_sampler_(std::move(chunk_sampler)),
        example_sampler_(std::move(example_sampler)),
        options_(std::move(options)),
        preprocessing_policy_(std::move(preprocessing_policy)) {}

  /// Throws groove::Error before reset(), and for another batch size than that of the options.
  BatchType get_batch(std::size_t batch_size) override {
    detail::check_chunk_batch(static_cast<bool>(threads_), batch_size, options_.batch_size());
    Batch batch;
    bool is_end = false;
    threads_->take([&]() -> std::size_t {
      is_end = batches_.empty();
      if (is_end) return 0;
      batch = std::move(batches_.front());
      batches_.pop_front();
      return batch.examples.size();
    });
    if (is_end) return std::nullopt;
    if (batch.error) throw WorkerException(batch.error);
    return std::move(batch.examples);
  }
  BatchType get_batch() { return get_batch(options_.batch_size()); }

  void reset() override {
    threads_.reset();
    batches_.clear();
    if (!is_loaded_) {
      chunk_reader_.reset();
      chunk_sampler_.reset(chunk_reader_.chunk_count());
    }
    is_loaded_ = false;
    threads_ = std::make_unique<detail::ChunkThreads>(options_.batch_size(), options_.cache_size());
    // Not by way of the handle, which is empty before its threads have ended.
    threads_->start(options_.preloader_count(),
                    [this, threads = threads_.get()] { return read_next(*threads); });
  }

  std::optional<std::size_t> size() const override { return std::nullopt; }
  ChunkSamplerType& chunk_sampler() { return chunk_sampler_; }

  /// The position in the chunks. Examples that were read ahead count as given.
  void save(serialize::OutputArchive& archive) const override {
    if (!threads_) return chunk_sampler_.save(archive);
    threads_->locked([&] { chunk_sampler_.save(archive); });
  }
  /// The next reset() goes on from there.
  void load(serialize::InputArchive& archive) override {
    threads_.reset();
    chunk_sampler_.load(archive);
    is_loaded_ = true;
  }

 private:
  struct Batch {
    UnwrappedBatchType examples;
    std::exception_ptr error;
  };

  bool read_next(detail::ChunkThreads& threads) {
    try {
      std::optional<std::vector<std::size_t>> chunks;
      threads.locked([&] { chunks = chunk_sampler_.next(options_.cross_chunk_shuffle_count()); });
      if (!chunks) return false;
      UnwrappedBatchType data;
      for (const std::size_t chunk : *chunks)
        for (auto& example : chunk_reader_.read_chunk(chunk)) data.push_back(std::move(example));
      if (preprocessing_policy_) preprocessing_policy_(data);
      if (!data.empty()) threads.add([&] { return add_examples(data); });
    } catch (...) {
      threads.add([&]() -> std::size_t {
        batches_.push_back({{}, std::current_exception()});
        return 0;
      });
    }
    return true;
  }

  std::size_t add_examples(UnwrappedBatchType& data) {
    example_sampler_.reset(data.size());
    for (std::size_t left = data.size(); left > 0;) {
      if (batches_.empty() || batches_.back().error ||
          batches_.back().examples.size() >= options_.batch_size())
        batches_.emplace_back();
      UnwrappedBatchType& batch = batches_.back().examples;
      const auto indices = example_sampler_.next(
          std::min(left, static_cast<std::size_t>(options_.batch_size() - batch.size())));
      if (!indices || indices->empty()) break;
      for (const std::size_t i : *indices) batch.push_back(std::move(data.at(i)));
      left -= indices->size();
    }
    return data.size();
  }

  ChunkReader chunk_reader_;
  ChunkSamplerType chunk_sampler_;
  ExampleSamplerType example_sampler_;
  ChunkDatasetOptions options_;
  PreprocessingPolicy preprocessing_policy_;
  bool is_loaded_ = false;
  std::deque<Batch> batches_;
  groove::detail::Owned<detail::ChunkThreads> threads_;  // they use the above, so they end first
};

}  // namespace groove::data::datasets
