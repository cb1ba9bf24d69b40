// DataLoader: batches of a dataset in a sampler's order, for one epoch per begin().
#pragma once

#include <memory>
#include <string>

#include "groove/arg.h"
#include "groove/data/datasets.h"
#include "groove/data/prefetcher.h"
#include "groove/data/samplers.h"

namespace groove::data {

struct DataLoaderOptions {
  DataLoaderOptions(std::size_t batch_size = 1) : batch_size_(batch_size) {}
  GROOVE_ARG(std::size_t, batch_size);
  /// Threads that fetch batches ahead, each from a copy of the dataset (so what the copies share
  /// must bear several threads); 0: each batch is fetched when it is asked for. The batches have
  /// the same bits for every number of workers, also where the dataset draws random numbers.
  GROOVE_ARG(std::size_t, workers) = 0;
  /// Batches that are fetched ahead; twice the workers unless given.
  GROOVE_ARG(std::optional<std::size_t>, max_jobs) = std::nullopt;
  /// With false batches come as they are ready, in any order.
  GROOVE_ARG(bool, enforce_ordering) = true;
  GROOVE_ARG(bool, drop_last) = false;

 public:
  /// How long to wait for a batch of a worker (a duration of <chrono>); for ever unless given.
  template <typename Duration>
  DataLoaderOptions& timeout(const Duration& duration) {
    using Period = typename Duration::period;
    timeout_ = static_cast<std::int64_t>(duration.count() * 1000 * Period::num / Period::den);
    return *this;
  }
  const std::optional<std::int64_t>& timeout_milliseconds() const { return timeout_; }

 private:
  std::optional<std::int64_t> timeout_;
};

/// Batches of a dataset in a sampler's order. What a worker throws is thrown to the consumer in
/// place of its batch.
template <typename Dataset, typename Sampler>
class StatelessDataLoader {
 public:
  using BatchType = typename Dataset::BatchType;

  // One pass; copies share it.
  class Iterator {
   public:
    using difference_type = std::ptrdiff_t;
    using value_type = BatchType;
    using pointer = BatchType*;
    using reference = BatchType&;
    using iterator_category = std::input_iterator_tag;

    Iterator() = default;
    explicit Iterator(StatelessDataLoader* loader) : loader_(loader) { advance(); }
    Iterator& operator++() {
      advance();
      return *this;
    }
    BatchType& operator*() { return *loader_->batch_; }
    BatchType* operator->() { return loader_->batch_.get(); }
    bool operator==(const Iterator& other) const { return loader_ == other.loader_; }

   private:
    void advance() {
      if (!loader_->advance()) loader_ = nullptr;
    }
    StatelessDataLoader* loader_ = nullptr;  // null at the end
  };

  StatelessDataLoader(Dataset dataset, Sampler sampler, DataLoaderOptions options)
      : dataset_(std::move(dataset)), sampler_(std::move(sampler)), options_(std::move(options)) {
    if (options_.batch_size() == 0) throw Error("DataLoader: batch_size is 0; it must be positive");
    if (!std::is_copy_constructible_v<Dataset> && options_.workers() > 0)
      throw Error("DataLoader: the dataset cannot be copied, so there can be no workers");
    position_.batch_size = options_.batch_size();
  }
  StatelessDataLoader(const StatelessDataLoader&) = delete;
  StatelessDataLoader& operator=(const StatelessDataLoader&) = delete;

  /// Starts an epoch, or goes on with the one that load() brought back. Batches of an unfinished
  /// pass are dropped.
  Iterator begin() {
    if (prefetcher_) prefetcher_->clear();
    if (!is_resumed_) {
      position_.key = detail::draw_epoch_key();
      position_.delivered = 0;
      sampler_.reset(std::nullopt);
      if constexpr (kKeepsSampler) epoch_start_.emplace(sampler_);
    }
    is_resumed_ = false;
    position_.is_in_epoch = true;
    requested_ = position_.delivered;
    is_exhausted_ = false;
    if (options_.workers() > 0) start_workers();
    return Iterator(this);
  }
  Iterator end() { return Iterator(); }
  /// Ends the worker threads; begin() makes new ones.
  void join() { prefetcher_.reset(); }
  const DataLoaderOptions& options() const noexcept { return options_; }
  const Dataset& dataset() const noexcept { return dataset_; }

  /// The sampler's order and how many of its batches the consumer has been given: a loader that
  /// load()s this goes on with the next one. Throws groove::Error when batches may come in any
  /// order, or the sampler cannot be saved.
  void save(serialize::OutputArchive& archive) const {
    if (options_.workers() > 0 && !options_.enforce_ordering())
      throw Error("DataLoader: without enforce_ordering there is no position to save");
    position_.save(archive);
    if (!position_.is_in_epoch) return;
    if constexpr (kKeepsSampler) {
      detail::save_sampler(archive,
                           [&](serialize::OutputArchive& nested) { epoch_start_->save(nested); });
    } else {
      throw Error("DataLoader: a sampler that cannot be copied cannot be saved");
    }
  }
  void load(serialize::InputArchive& archive) {
    detail::Position position = position_;
    position.load(archive);
    if (position.is_in_epoch) {
      if constexpr (kKeepsSampler) {
        Sampler sampler(sampler_);
        detail::load_sampler(archive,
                             [&](serialize::InputArchive& nested) { sampler.load(nested); });
        Sampler start(sampler);
        for (std::size_t i = 0; i < position.delivered; ++i)
          if (!sampler.next(options_.batch_size())) detail::throw_past_the_end(position.delivered);
        sampler_ = std::move(sampler);
        epoch_start_.emplace(std::move(start));
      } else {
        throw Error("DataLoader: a sampler that cannot be copied cannot be loaded");
      }
    }
    position_ = position;
    is_resumed_ = position.is_in_epoch;
  }

 private:
  static constexpr bool kKeepsSampler =
      std::is_copy_constructible_v<Sampler> && std::is_copy_assignable_v<Sampler>;
  using Request = typename Sampler::BatchRequestType;

  // The next batch's examples; nothing at the end of the epoch.
  std::optional<Request> next_request() {
    if (is_exhausted_) return std::nullopt;
    std::optional<Request> request = sampler_.next(options_.batch_size());
    is_exhausted_ = !request || (options_.drop_last() && request->size() < options_.batch_size());
    if (is_exhausted_) return std::nullopt;
    ++requested_;
    return request;
  }

  void start_workers() {
    if constexpr (std::is_copy_constructible_v<Dataset>) {
      if (copies_.empty()) copies_.assign(options_.workers(), dataset_);
      if (!prefetcher_)
        prefetcher_ = std::make_unique<detail::Prefetcher>(
            options_.workers(), options_.enforce_ordering(), options_.timeout_milliseconds());
      const std::size_t ahead = options_.max_jobs().value_or(2 * options_.workers());
      while (prefetcher_->pending() < (ahead ? ahead : 1) && push_job()) {
      }
    }
  }

  bool push_job() {
    std::optional<Request> request = next_request();
    if (!request) return false;
    prefetcher_->push([this, key = position_.key, number = requested_ - 1,
                       request = std::move(*request)](std::size_t worker) {
      const detail::FetchScope scope(key, number);
      return std::shared_ptr<void>(std::make_shared<BatchType>(copies_[worker].get_batch(request)));
    });
    return true;
  }

  bool advance() {
    batch_.reset();
    if (options_.workers() > 0) {
      if (prefetcher_ && prefetcher_->pending() > 0) {
        ++position_.delivered;
        push_job();
        batch_ = std::static_pointer_cast<BatchType>(prefetcher_->pop());
      }
    } else if (std::optional<Request> request = next_request()) {
      ++position_.delivered;
      const detail::FetchScope scope(position_.key, requested_ - 1);
      batch_ = std::make_shared<BatchType>(dataset_.get_batch(*request));
    }
    if (!batch_) position_.is_in_epoch = false;
    return batch_ != nullptr;
  }

  Dataset dataset_;
  Sampler sampler_;
  DataLoaderOptions options_;
  std::optional<Sampler> epoch_start_;
  detail::Position position_;
  bool is_resumed_ = false;
  bool is_exhausted_ = false;
  std::size_t requested_ = 0;
  std::shared_ptr<BatchType> batch_;
  std::vector<Dataset> copies_;                     // one a worker
  std::unique_ptr<detail::Prefetcher> prefetcher_;  // its threads use the above, so it ends first
};

template <typename Dataset, typename Sampler>
std::unique_ptr<StatelessDataLoader<Dataset, Sampler>> make_data_loader(
    Dataset dataset, Sampler sampler, DataLoaderOptions options = DataLoaderOptions()) {
  return std::make_unique<StatelessDataLoader<Dataset, Sampler>>(
      std::move(dataset), std::move(sampler), std::move(options));
}

template <typename Sampler = samplers::RandomSampler, typename Dataset>
std::unique_ptr<StatelessDataLoader<Dataset, Sampler>> make_data_loader(
    Dataset dataset, DataLoaderOptions options = DataLoaderOptions()) {
  const std::optional<std::size_t> size = dataset.size();
  if (!size) throw Error("make_data_loader: the dataset has no size; pass a sampler");
  return make_data_loader(std::move(dataset), Sampler(*size), std::move(options));
}

}  // namespace groove::data
