// DataLoader: batches of a dataset in a sampler's order, for one epoch per begin().
#pragma once

#include <memory>
#include <string>

#include "groove/arg.h"
#include "groove/data/datasets.h"
#include "groove/data/iterator.h"
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
  /// In milliseconds.
  const std::optional<std::int64_t>& timeout() const { return timeout_; }

 private:
  std::optional<std::int64_t> timeout_;
};

/// The options with those that are derived from others.
struct FullDataLoaderOptions {
  explicit FullDataLoaderOptions(const DataLoaderOptions& options)
      : batch_size(options.batch_size()),
        workers(options.workers()),
        max_jobs(options.max_jobs().value_or(2 * workers)),
        timeout(options.timeout()),
        enforce_ordering(options.enforce_ordering()),
        drop_last(options.drop_last()) {}
  std::size_t batch_size, workers, max_jobs;
  std::optional<std::int64_t> timeout;  // milliseconds
  bool enforce_ordering, drop_last;
};

/// Batches of a dataset in a sampler's order. What a worker throws comes to the consumer as a
/// WorkerException in place of its batch.
template <typename Dataset, typename Sampler>
class StatelessDataLoader {
 public:
  using BatchType = typename Dataset::BatchType;

  using Iterator = data::Iterator<BatchType>;

  StatelessDataLoader(Dataset dataset, Sampler sampler, DataLoaderOptions options)
      : dataset_(std::move(dataset)),
        sampler_(std::move(sampler)),
        options_(std::move(options)),
        full_options_(options_) {
    if (options_.batch_size() == 0) throw_error("DataLoader: batch_size is 0; it must be positive");
    if (!std::is_copy_constructible_v<Dataset> && options_.workers() > 0)
      throw_error("DataLoader: the dataset cannot be copied, so there can be no workers");
    position_.batch_size = options_.batch_size();
  }
  StatelessDataLoader(const StatelessDataLoader&) = delete;
  StatelessDataLoader& operator=(const StatelessDataLoader&) = delete;

  /// Starts an epoch, or goes on with the one that load() brought back. Throws groove::Error while
  /// workers have batches of an unfinished pass; join() drops those.
  Iterator begin() {
    if (prefetcher_ && prefetcher_->pending() > 0) detail::throw_in_flight();
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
    return Iterator([this] { return next_batch(); });
  }
  Iterator end() { return Iterator(); }
  /// Ends the worker threads; begin() makes new ones.
  void join() { prefetcher_.reset(); }
  const FullDataLoaderOptions& options() const noexcept { return full_options_; }
  const Dataset& dataset() const noexcept { return dataset_; }

  /// The sampler's order and how many of its batches the consumer has been given: a loader that
  /// load()s this goes on with the next one. Throws groove::Error when batches may come in any
  /// order, or the sampler cannot be saved.
  void save(serialize::OutputArchive& archive) const {
    if (options_.workers() > 0 && !options_.enforce_ordering())
      throw_error("DataLoader: without enforce_ordering there is no position to save");
    position_.save(archive);
    if (!position_.is_in_epoch) return;
    if constexpr (kKeepsSampler) {
      detail::save_sampler(archive,
                           [&](serialize::OutputArchive& nested) { epoch_start_->save(nested); });
    } else {
      throw_error("DataLoader: a sampler that cannot be copied cannot be saved");
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
        throw_error("DataLoader: a sampler that cannot be copied cannot be loaded");
      }
    }
    join();
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
      if (copies_.empty()) {
        copies_.reserve(options_.workers());
        while (copies_.size() < options_.workers()) copies_.emplace_back(dataset_);
      }
      if (!prefetcher_)
        prefetcher_ = std::make_unique<detail::Prefetcher>(
            options_.workers(), options_.enforce_ordering(), options_.timeout());
      const std::size_t ahead = full_options_.max_jobs;
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

  // Nothing at the end of the epoch.
  std::shared_ptr<BatchType> next_batch() {
    std::shared_ptr<BatchType> batch;
    if (options_.workers() > 0) {
      if (prefetcher_ && prefetcher_->pending() > 0) {
        ++position_.delivered;
        push_job();
        batch = std::static_pointer_cast<BatchType>(prefetcher_->pop());
      }
    } else if (std::optional<Request> request = next_request()) {
      ++position_.delivered;
      const detail::FetchScope scope(position_.key, requested_ - 1);
      batch = std::make_shared<BatchType>(dataset_.get_batch(*request));
    }
    if (!batch) position_.is_in_epoch = false;
    return batch;
  }

  Dataset dataset_;
  Sampler sampler_;
  DataLoaderOptions options_;
  FullDataLoaderOptions full_options_;
  std::optional<Sampler> epoch_start_;
  detail::Position position_;
  bool is_resumed_ = false;
  bool is_exhausted_ = false;
  std::size_t requested_ = 0;
  std::vector<Dataset> copies_;                     // one a worker
  // Its threads use the above, so it ends first.
  groove::detail::Owned<detail::Prefetcher> prefetcher_;
};

/// Batches as a stateful dataset gives them, until it gives none. Workers share the dataset, which
/// must bear several threads.
template <typename Dataset>
class StatefulDataLoader {
 public:
  using BatchType = typename Dataset::BatchType::value_type;
  using Iterator = data::Iterator<BatchType>;

  StatefulDataLoader(Dataset dataset, DataLoaderOptions options)
      : dataset_(std::move(dataset)), options_(options) {
    if (options_.batch_size == 0) throw Error("DataLoader: batch_size is 0; it must be positive");
  }
  StatefulDataLoader(const StatefulDataLoader&) = delete;
  StatefulDataLoader& operator=(const StatefulDataLoader&) = delete;

  /// Resets the dataset. Throws groove::Error while workers have batches of an unfinished pass;
  /// join() drops those.
  Iterator begin() {
    if (prefetcher_ && prefetcher_->pending() > 0) detail::throw_in_flight();
    dataset_.reset();
    key_ = detail::draw_epoch_key();
    requested_ = 0;
    if (options_.workers > 0) {
      if (!prefetcher_)
        prefetcher_ = std::make_unique<detail::Prefetcher>(
            options_.workers, options_.enforce_ordering, options_.timeout);
      for (std::size_t i = 0; i < (options_.max_jobs ? options_.max_jobs : 1); ++i) push_job();
    }
    return Iterator([this] { return next_batch(); });
  }
  Iterator end() { return Iterator(); }
  /// Ends the worker threads; begin() makes new ones.
  void join() { prefetcher_.reset(); }
  const FullDataLoaderOptions& options() const noexcept { return options_; }
  const Dataset& dataset() const noexcept { return dataset_; }

 private:
  std::shared_ptr<BatchType> fetch(std::size_t number) {
    const detail::FetchScope scope(key_, number);
    auto batch = dataset_.get_batch(options_.batch_size);
    return batch ? std::make_shared<BatchType>(std::move(*batch)) : nullptr;
  }
  void push_job() {
    prefetcher_->push([this, number = requested_++](std::size_t) {
      return std::static_pointer_cast<void>(fetch(number));
    });
  }
  // A worker may find the dataset at its end while others still bring batches.
  std::shared_ptr<BatchType> next_batch() {
    if (options_.workers == 0) return fetch(requested_++);
    while (prefetcher_ && prefetcher_->pending() > 0)
      if (auto batch = std::static_pointer_cast<BatchType>(prefetcher_->pop())) {
        push_job();
        return batch;
      }
    return nullptr;
  }

  Dataset dataset_;
  FullDataLoaderOptions options_;
  std::uint64_t key_ = 0;
  std::size_t requested_ = 0;
  // Its threads use the above, so it ends first.
  groove::detail::Owned<detail::Prefetcher> prefetcher_;
};

namespace detail {
template <typename T>
concept IsSampler = requires {
  typename T::BatchRequestType;
};
}  // namespace detail

template <typename Dataset, detail::IsSampler Sampler>
std::unique_ptr<StatelessDataLoader<Dataset, Sampler>> make_data_loader(
    Dataset dataset, Sampler sampler, DataLoaderOptions options = DataLoaderOptions()) {
  return std::make_unique<StatelessDataLoader<Dataset, Sampler>>(
      std::move(dataset), std::move(sampler), std::move(options));
}

/// `options` may be the batch size. Throws groove::Error where the dataset has no size.
template <detail::IsSampler Sampler = samplers::RandomSampler, typename Dataset>
requires(!Dataset::is_stateful)
    std::unique_ptr<StatelessDataLoader<Dataset, Sampler>> make_data_loader(
        Dataset dataset, DataLoaderOptions options = DataLoaderOptions()) {
  const std::optional<std::size_t> size = dataset.size();
  if (!size) detail::throw_no_size();
  return make_data_loader(std::move(dataset), Sampler(*size), std::move(options));
}

template <typename Dataset>
requires(Dataset::is_stateful) std::unique_ptr<StatefulDataLoader<Dataset>> make_data_loader(
    Dataset dataset, DataLoaderOptions options = DataLoaderOptions()) {
  return std::make_unique<StatefulDataLoader<Dataset>>(std::move(dataset), std::move(options));
}

}  // namespace groove::data
