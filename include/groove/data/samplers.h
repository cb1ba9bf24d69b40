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

/// A new permutation each epoch, from the global generator (manual_seed).
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

}  // namespace groove::data::samplers
