// DataLoader: batches of a dataset in a sampler's order, for one epoch per begin().
#pragma once

#include <memory>
#include <string>

#include "groove/arg.h"
#include "groove/data/datasets.h"
#include "groove/data/samplers.h"
#include "groove/detail/untraced.h"

namespace groove::data {

struct DataLoaderOptions {
  DataLoaderOptions(std::size_t batch_size = 1) : batch_size_(batch_size) {}
  GROOVE_ARG(std::size_t, batch_size);
  /// Batches are fetched on the calling thread whatever the number; results are the same.
  GROOVE_ARG(std::size_t, workers) = 0;
  GROOVE_ARG(std::optional<std::size_t>, max_jobs) = std::nullopt;
  GROOVE_ARG(bool, enforce_ordering) = true;
  GROOVE_ARG(bool, drop_last) = false;
};

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
    BatchType* operator->() { return &*loader_->batch_; }
    bool operator==(const Iterator& other) const { return loader_ == other.loader_; }

   private:
    void advance() {
      if (!loader_->fetch()) loader_ = nullptr;
    }
    StatelessDataLoader* loader_ = nullptr;  // null at the end
  };

  StatelessDataLoader(Dataset dataset, Sampler sampler, DataLoaderOptions options)
      : dataset_(std::move(dataset)), sampler_(std::move(sampler)), options_(std::move(options)) {
    if (options_.batch_size() == 0) throw Error("DataLoader: batch_size is 0; it must be positive");
  }

  /// Starts an epoch.
  Iterator begin() {
    sampler_.reset(std::nullopt);
    return Iterator(this);
  }
  Iterator end() { return Iterator(); }
  void join() {}
  const DataLoaderOptions& options() const noexcept { return options_; }
  const Dataset& dataset() const noexcept { return dataset_; }

 private:
  bool fetch() {
    const groove::detail::UntracedScope untraced;
    batch_.reset();
    auto request = sampler_.next(options_.batch_size());
    if (!request || (options_.drop_last() && request->size() < options_.batch_size())) return false;
    batch_.emplace(dataset_.get_batch(*request));
    return true;
  }

  Dataset dataset_;
  Sampler sampler_;
  DataLoaderOptions options_;
  std::optional<BatchType> batch_;
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
