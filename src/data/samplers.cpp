#include "groove/data/samplers.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "groove/serialize.h"
#include "src/core/check.h"
#include "src/core/generator.h"
#include "src/core/tensor_impl.h"

namespace groove::data::samplers {
namespace {

// splitmix64: enough for a permutation, and the same everywhere.
class Mixer {
 public:
  explicit Mixer(Draw draw) : state_(draw.seed * 0x9E3779B97F4A7C15u + draw.number) { next(); }
  // Uniform below `bound`; the few values that would favour small results are drawn again.
  std::uint64_t below(std::uint64_t bound) {
    const std::uint64_t limit = ~std::uint64_t{0} - ~std::uint64_t{0} % bound;
    std::uint64_t value = next();
    while (value >= limit) value = next();
    return value % bound;
  }

 private:
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  std::uint64_t state_;
};

std::optional<std::pair<std::size_t, std::size_t>> take(std::size_t& index, std::size_t size,
                                                        std::size_t batch_size) {
  if (index >= size) return std::nullopt;
  const std::size_t first = index;
  index = std::min(size, index + batch_size);
  return std::pair(first, index);
}

std::size_t read_index(serialize::InputArchive& archive, const char* name, std::size_t size) {
  IValue index;
  archive.read("index", index);
  GROOVE_CHECK(index.toInt() >= 0 && static_cast<std::size_t>(index.toInt()) <= size,
               "{}: the index in the archive is {}, but there are {} elements", name, index.toInt(),
               size);
  return static_cast<std::size_t>(index.toInt());
}

std::size_t read_epoch(serialize::InputArchive& archive) {
  IValue epoch;
  archive.read("epoch", epoch);
  GROOVE_CHECK(epoch.toInt() >= 0, "DistributedSampler: the epoch in the archive is {}",
               epoch.toInt());
  return static_cast<std::size_t>(epoch.toInt());
}

}  // namespace

void detail::throw_rank(std::size_t rank, std::size_t num_replicas) {
  throw_error(
      fmt::format("DistributedSampler: rank {} is none of {} replicas", rank, num_replicas));
}

void detail::throw_not_saved(const char* action) {
  throw_error(
      fmt::format("Sampler: {}() is not defined by this sampler; override save and load "
                  "to resume in the midst of an epoch",
                  action));
}

RandomSampler::RandomSampler(std::int64_t size) {
  GROOVE_CHECK(size >= 0, "RandomSampler: size {} must not be negative", size);
  indices_.resize(static_cast<std::size_t>(size));
  std::iota(indices_.begin(), indices_.end(), std::size_t{0});
}

void RandomSampler::reset(std::optional<std::size_t> new_size) {
  if (new_size) indices_.resize(*new_size);
  std::iota(indices_.begin(), indices_.end(), std::size_t{0});
  Mixer mixer(draw_next());
  for (std::size_t i = indices_.size(); i > 1; --i)
    std::swap(indices_[i - 1], indices_[static_cast<std::size_t>(mixer.below(i))]);
  index_ = 0;
}

std::optional<std::vector<std::size_t>> RandomSampler::next(std::size_t batch_size) {
  const auto range = take(index_, indices_.size(), batch_size);
  if (!range) return std::nullopt;
  return std::vector<std::size_t>(indices_.begin() + static_cast<std::ptrdiff_t>(range->first),
                                  indices_.begin() + static_cast<std::ptrdiff_t>(range->second));
}

void RandomSampler::save(serialize::OutputArchive& archive) const {
  const Tensor indices = make_empty(Shape{static_cast<std::int64_t>(indices_.size())}, kLong);
  std::copy(indices_.begin(), indices_.end(), static_cast<std::int64_t*>(indices.impl()->data()));
  archive.write("indices", indices, true);
  archive.write("index", IValue(index_));
}

void RandomSampler::load(serialize::InputArchive& archive) {
  Tensor stored;
  archive.read("indices", stored, true);
  GROOVE_CHECK(stored.scalar_type() == kLong && stored.dim() == 1 &&
                   static_cast<std::size_t>(stored.numel()) == indices_.size(),
               "RandomSampler: the archive holds {} indices of dtype {}, but the sampler was made "
               "for {}",
               stored.numel(), name(stored.scalar_type()), indices_.size());
  const std::int64_t* const data = stored.const_data_ptr<std::int64_t>();
  std::vector<std::size_t> indices(data, data + indices_.size());
  std::vector<bool> is_seen(indices.size());
  for (std::size_t i = 0; i < indices.size(); ++i) {
    GROOVE_CHECK(indices[i] < indices.size() && !is_seen[indices[i]],
                 "RandomSampler: index {} in the archive is {}; they must be a permutation", i,
                 data[i]);
    is_seen[indices[i]] = true;
  }
  index_ = read_index(archive, "RandomSampler", indices.size());
  indices_ = std::move(indices);
}

void SequentialSampler::save(serialize::OutputArchive& archive) const {
  archive.write("index", IValue(index_));
}
void SequentialSampler::load(serialize::InputArchive& archive) {
  // One that was made for fewer elements is at its end.
  index_ = read_index(archive, "SequentialSampler", ~std::size_t{0});
}

void SequentialSampler::reset(std::optional<std::size_t> new_size) {
  size_ = new_size.value_or(size_);
  index_ = 0;
}

std::optional<std::vector<std::size_t>> SequentialSampler::next(std::size_t batch_size) {
  const auto range = take(index_, size_, batch_size);
  if (!range) return std::nullopt;
  std::vector<std::size_t> indices(range->second - range->first);
  std::iota(indices.begin(), indices.end(), range->first);
  return indices;
}

void StreamSampler::reset(std::optional<std::size_t> new_size) {
  epoch_size_ = new_size.value_or(epoch_size_);
  index_ = 0;
}

std::optional<BatchSize> StreamSampler::next(std::size_t batch_size) {
  const auto range = take(index_, epoch_size_, batch_size);
  if (!range) return std::nullopt;
  return BatchSize(range->second - range->first);
}

void StreamSampler::save(serialize::OutputArchive& archive) const {
  archive.write("index", IValue(index_));
}
void StreamSampler::load(serialize::InputArchive& archive) {
  index_ = read_index(archive, "StreamSampler", epoch_size_);
}

DistributedRandomSampler::DistributedRandomSampler(std::size_t size, std::size_t num_replicas,
                                                   std::size_t rank, bool allow_duplicates)
    : DistributedSampler(size, num_replicas, rank, allow_duplicates) {
  reset();
}

void DistributedRandomSampler::reset(std::optional<std::size_t> new_size) {
  size_ = new_size.value_or(size_);
  const std::size_t local = local_sample_count();
  indices_.resize(num_replicas_ == 1 ? size_ : local * num_replicas_);
  for (std::size_t i = 0; i < indices_.size(); ++i) indices_[i] = i % size_;
  Mixer mixer(Draw{epoch_, 0});
  for (std::size_t i = indices_.size(); i > 1; --i)
    std::swap(indices_[i - 1], indices_[static_cast<std::size_t>(mixer.below(i))]);
  index_ = rank_ * local;
  end_ = index_ + local;
}

std::optional<std::vector<std::size_t>> DistributedRandomSampler::next(std::size_t batch_size) {
  const auto range = take(index_, end_, batch_size);
  if (!range) return std::nullopt;
  return std::vector<std::size_t>(indices_.begin() + static_cast<std::ptrdiff_t>(range->first),
                                  indices_.begin() + static_cast<std::ptrdiff_t>(range->second));
}

void DistributedRandomSampler::save(serialize::OutputArchive& archive) const {
  archive.write("index", IValue(index_));
  archive.write("epoch", IValue(epoch_));
}
void DistributedRandomSampler::load(serialize::InputArchive& archive) {
  const std::size_t index = read_index(archive, "DistributedRandomSampler", end_);
  set_epoch(read_epoch(archive));
  reset();
  index_ = index;
}

DistributedSequentialSampler::DistributedSequentialSampler(std::size_t size,
                                                           std::size_t num_replicas,
                                                           std::size_t rank, bool allow_duplicates)
    : DistributedSampler(size, num_replicas, rank, allow_duplicates) {
  reset();
}

void DistributedSequentialSampler::reset(std::optional<std::size_t> new_size) {
  size_ = new_size.value_or(size_);
  const std::size_t local = local_sample_count();
  index_ = rank_ * local;
  end_ = index_ + local;
}

std::optional<std::vector<std::size_t>> DistributedSequentialSampler::next(std::size_t batch_size) {
  const auto range = take(index_, end_, batch_size);
  if (!range) return std::nullopt;
  std::vector<std::size_t> indices(range->second - range->first);
  for (std::size_t i = 0; i < indices.size(); ++i) indices[i] = (range->first + i) % size_;
  return indices;
}

void DistributedSequentialSampler::save(serialize::OutputArchive& archive) const {
  archive.write("index", IValue(index_));
  archive.write("epoch", IValue(epoch_));
}
void DistributedSequentialSampler::load(serialize::InputArchive& archive) {
  index_ = read_index(archive, "DistributedSequentialSampler", end_);
  set_epoch(read_epoch(archive));
}

}  // namespace groove::data::samplers
