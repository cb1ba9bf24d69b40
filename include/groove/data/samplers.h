// The order in which a loader takes examples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace groove::serialize {
class InputArchive;  // groove/serialize.h
class OutputArchive;
}  // namespace groove::serialize

namespace groove::data::samplers {
namespace detail {
[[noreturn]] void throw_not_saved(const char* action);
[[noreturn]] void throw_rank(std::size_t rank, std::size_t num_replicas);
}

template <typename BatchRequest = std::vector<std::size_t>>
class Sampler {
 public:
  using BatchRequestType = BatchRequest;
  virtual ~Sampler() = default;
  /// Starts an epoch, perhaps of another size.
  virtual void reset(std::optional<std::size_t> new_size) = 0;
  /// At most batch_size indices; nothing at the end of the epoch.
  virtual std::optional<BatchRequest> next(std::size_t batch_size) = 0;
  /// The order and the position in it. Throw groove::Error where a sampler does not define them.
  virtual void save(serialize::OutputArchive&) const { detail::throw_not_saved("save"); }
  virtual void load(serialize::InputArchive&) { detail::throw_not_saved("load"); }
};

template <typename BatchRequest>
serialize::OutputArchive& operator<<(serialize::OutputArchive& archive,
                                     const Sampler<BatchRequest>& sampler) {
  sampler.save(archive);
  return archive;
}
template <typename BatchRequest>
serialize::InputArchive& operator>>(serialize::InputArchive& archive,
                                    Sampler<BatchRequest>& sampler) {
  sampler.load(archive);
  return archive;
}

/// The base of requests that are no list of indices.
struct CustomBatchRequest {
  CustomBatchRequest() = default;
  CustomBatchRequest(const CustomBatchRequest&) = default;
  CustomBatchRequest& operator=(const CustomBatchRequest&) = default;
  virtual ~CustomBatchRequest() = default;
  /// Examples.
  virtual std::size_t size() const = 0;
};
/// So many examples, whichever.
class BatchSize : public CustomBatchRequest {
 public:
  explicit BatchSize(std::size_t size) : size_(size) {}
  std::size_t size() const noexcept override { return size_; }
  operator std::size_t() const noexcept { return size_; }

 private:
  std::size_t size_;
};

/// A new permutation each epoch, from the global generator (manual_seed). Until the first reset(),
/// which loaders call, the indices are in order.
class RandomSampler : public Sampler<> {
 public:
  explicit RandomSampler(std::int64_t size);
  void reset(std::optional<std::size_t> new_size = std::nullopt) override;
  std::optional<std::vector<std::size_t>> next(std::size_t batch_size) override;
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;
  std::size_t index() const noexcept { return index_; }

 private:
  std::vector<std::size_t> indices_;
  std::size_t index_ = 0;
};

class SequentialSampler : public Sampler<> {
 public:
  explicit SequentialSampler(std::size_t size) : size_(size) {}
  void reset(std::optional<std::size_t> new_size = std::nullopt) override;
  std::optional<std::vector<std::size_t>> next(std::size_t batch_size) override;
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;
  std::size_t index() const noexcept { return index_; }

 private:
  std::size_t size_;
  std::size_t index_ = 0;
};

/// Batch sizes, until an epoch has had epoch_size examples.
class StreamSampler : public Sampler<BatchSize> {
 public:
  explicit StreamSampler(std::size_t epoch_size) : epoch_size_(epoch_size) {}
  void reset(std::optional<std::size_t> new_size = std::nullopt) override;
  std::optional<BatchSize> next(std::size_t batch_size) override;
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;

 private:
  std::size_t epoch_size_;
  std::size_t index_ = 0;
};

/// The part of one of num_replicas processes. Each takes as many examples: some of them twice over
/// with allow_duplicates, otherwise the last ones are left out.
template <typename BatchRequest = std::vector<std::size_t>>
class DistributedSampler : public Sampler<BatchRequest> {
 public:
  DistributedSampler(std::size_t size, std::size_t num_replicas = 1, std::size_t rank = 0,
                     bool allow_duplicates = true)
      : size_(size), num_replicas_(num_replicas), rank_(rank), allow_duplicates_(allow_duplicates) {
    if (rank >= num_replicas) detail::throw_rank(rank, num_replicas);
  }
  /// Give every process the same number before each epoch's reset().
  void set_epoch(std::size_t epoch) { epoch_ = epoch; }
  std::size_t epoch() const { return epoch_; }

 protected:
  std::size_t local_sample_count() const {
    return (size_ + (allow_duplicates_ ? num_replicas_ - 1 : 0)) / num_replicas_;
  }
  std::size_t size_, num_replicas_, rank_;
  std::size_t epoch_ = 0;
  bool allow_duplicates_;
};

/// A permutation that depends on the epoch alone.
class DistributedRandomSampler : public DistributedSampler<> {
 public:
  DistributedRandomSampler(std::size_t size, std::size_t num_replicas = 1, std::size_t rank = 0,
                           bool allow_duplicates = true);
  void reset(std::optional<std::size_t> new_size = std::nullopt) override;
  std::optional<std::vector<std::size_t>> next(std::size_t batch_size) override;
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;
  std::size_t index() const noexcept { return index_; }

 private:
  std::vector<std::size_t> indices_;  // of all processes
  std::size_t index_ = 0, end_ = 0;
};

class DistributedSequentialSampler : public DistributedSampler<> {
 public:
  DistributedSequentialSampler(std::size_t size, std::size_t num_replicas = 1, std::size_t rank = 0,
                               bool allow_duplicates = true);
  void reset(std::optional<std::size_t> new_size = std::nullopt) override;
  std::optional<std::vector<std::size_t>> next(std::size_t batch_size) override;
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;
  std::size_t index() const noexcept { return index_; }

 private:
  std::size_t index_ = 0, end_ = 0;
};

}  // namespace groove::data::samplers
