// Datasets: get(index) and size(), or whole batches; map() puts transforms behind them.
#pragma once

#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

#include "groove/data/example.h"

namespace groove::serialize {
class InputArchive;  // groove/serialize.h
class OutputArchive;
}  // namespace groove::serialize

namespace groove::data::datasets {

template <typename SourceDataset, typename AppliedTransform>
class MapDataset;

namespace detail {
template <typename T>
constexpr bool is_optional = false;
template <typename T>
constexpr bool is_optional<std::optional<T>> = true;
}  // namespace detail

template <typename Self, typename Batch = std::vector<Example<>>,
          typename BatchRequest = ArrayRef<std::size_t>>
class BatchDataset {
 public:
  using SelfType = Self;
  using BatchType = Batch;
  using BatchRequestType = BatchRequest;
  /// A dataset whose batches are optional decides itself what comes next and where it ends.
  static constexpr bool is_stateful = detail::is_optional<Batch>;
  virtual ~BatchDataset() = default;

  virtual Batch get_batch(BatchRequest request) = 0;
  virtual std::optional<std::size_t> size() const = 0;

  template <typename TransformType>
  MapDataset<Self, TransformType> map(TransformType transform) & {
    return MapDataset<Self, TransformType>(static_cast<Self&>(*this), std::move(transform));
  }
  template <typename TransformType>
  MapDataset<Self, TransformType> map(TransformType transform) && {
    return MapDataset<Self, TransformType>(std::move(static_cast<Self&>(*this)),
                                           std::move(transform));
  }
};

template <typename Self, typename SingleExample = Example<>>
class Dataset : public BatchDataset<Self, std::vector<SingleExample>> {
 public:
  using ExampleType = SingleExample;
  virtual ExampleType get(std::size_t index) = 0;
  std::vector<ExampleType> get_batch(ArrayRef<std::size_t> indices) override {
    std::vector<ExampleType> batch;
    batch.reserve(indices.size());
    for (std::size_t index : indices) batch.push_back(get(index));
    return batch;
  }
};

/// A dataset that is asked for a number of examples, not for certain ones.
template <typename Self, typename Batch = std::vector<Example<>>>
using StreamDataset = BatchDataset<Self, Batch, std::size_t>;

/// A dataset that gives batches in an order of its own, and std::nullopt at its end.
template <typename Self, typename Batch = std::vector<Example<>>,
          typename BatchRequest = std::size_t>
class StatefulDataset : public BatchDataset<Self, std::optional<Batch>, BatchRequest> {
 public:
  /// Begins an epoch.
  virtual void reset() = 0;
  virtual void save(serialize::OutputArchive& archive) const = 0;
  virtual void load(serialize::InputArchive& archive) = 0;
};
template <typename... Args>
serialize::OutputArchive& operator<<(serialize::OutputArchive& archive,
                                     const StatefulDataset<Args...>& dataset) {
  dataset.save(archive);
  return archive;
}
template <typename... Args>
serialize::InputArchive& operator>>(serialize::InputArchive& archive,
                                    StatefulDataset<Args...>& dataset) {
  dataset.load(archive);
  return archive;
}

/// One dataset that all copies, and so all workers of a loader, use.
template <typename UnderlyingDataset>
class SharedBatchDataset : public BatchDataset<SharedBatchDataset<UnderlyingDataset>,
                                               typename UnderlyingDataset::BatchType,
                                               typename UnderlyingDataset::BatchRequestType> {
 public:
  using BatchType = typename UnderlyingDataset::BatchType;
  using BatchRequestType = typename UnderlyingDataset::BatchRequestType;

  SharedBatchDataset(std::shared_ptr<UnderlyingDataset> dataset) : dataset_(std::move(dataset)) {}
  BatchType get_batch(BatchRequestType request) override {
    return dataset_->get_batch(std::move(request));
  }
  std::optional<std::size_t> size() const override { return dataset_->size(); }
  UnderlyingDataset& operator*() { return *dataset_; }
  const UnderlyingDataset& operator*() const { return *dataset_; }
  UnderlyingDataset* operator->() { return dataset_.get(); }
  const UnderlyingDataset* operator->() const { return dataset_.get(); }
  void reset() { dataset_->reset(); }

 private:
  std::shared_ptr<UnderlyingDataset> dataset_;
};
template <typename UnderlyingDataset, typename... Args>
SharedBatchDataset<UnderlyingDataset> make_shared_dataset(Args&&... args) {
  return std::make_shared<UnderlyingDataset>(std::forward<Args>(args)...);
}

namespace detail {
template <typename SourceDataset, typename AppliedTransform>
using MappedBatch = std::conditional_t<SourceDataset::is_stateful,
                                       std::optional<typename AppliedTransform::OutputBatchType>,
                                       typename AppliedTransform::OutputBatchType>;
}  // namespace detail

template <typename SourceDataset, typename AppliedTransform>
class MapDataset : public BatchDataset<MapDataset<SourceDataset, AppliedTransform>,
                                       detail::MappedBatch<SourceDataset, AppliedTransform>,
                                       typename SourceDataset::BatchRequestType> {
 public:
  using DatasetType = SourceDataset;
  using TransformType = AppliedTransform;
  using BatchRequestType = typename SourceDataset::BatchRequestType;
  using OutputBatchType = detail::MappedBatch<SourceDataset, AppliedTransform>;

  MapDataset(DatasetType dataset, TransformType transform)
      : dataset_(std::move(dataset)), transform_(std::move(transform)) {}
  OutputBatchType get_batch(BatchRequestType indices) override {
    if constexpr (SourceDataset::is_stateful) {
      auto batch = dataset_.get_batch(std::move(indices));
      if (!batch) return std::nullopt;
      return transform_.apply_batch(std::move(*batch));
    } else {
      return transform_.apply_batch(dataset_.get_batch(std::move(indices)));
    }
  }
  void reset() { dataset_.reset(); }
  std::optional<std::size_t> size() const override { return dataset_.size(); }
  const SourceDataset& dataset() const { return dataset_; }
  const AppliedTransform& transform() const { return transform_; }

 private:
  SourceDataset dataset_;
  AppliedTransform transform_;
};

/// The rows of a tensor.
class TensorDataset : public Dataset<TensorDataset, TensorExample> {
 public:
  explicit TensorDataset(Tensor rows);
  /// The tensors, which are stacked.
  explicit TensorDataset(const std::vector<Tensor>& tensors);
  TensorExample get(std::size_t index) override;
  std::optional<std::size_t> size() const override;
  Tensor tensor;
};

/// Handwritten digits from IDX files, plain or with the ending .gz, under their usual names
/// (train-images-idx3-ubyte …) in `root`. Images f32 [1, 28, 28] in [0, 1], targets i64 [].
/// Throws groove::Error naming the file when one is missing or damaged.
class MNIST : public Dataset<MNIST> {
 public:
  enum class Mode { kTrain, kTest };
  explicit MNIST(const std::string& root, Mode mode = Mode::kTrain);
  Example<> get(std::size_t index) override;
  std::optional<std::size_t> size() const override;
  bool is_train() const noexcept { return is_train_; }
  const Tensor& images() const { return images_; }
  const Tensor& targets() const { return targets_; }

 private:
  Tensor images_, targets_;
  bool is_train_;
};

}  // namespace groove::data::datasets
