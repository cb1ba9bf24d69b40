#include "groove/data/samplers.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "src/core/check.h"
#include "src/core/generator.h"

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

}  // namespace

RandomSampler::RandomSampler(std::int64_t size) {
  GROOVE_CHECK(size >= 0, "RandomSampler: size {} must not be negative", size);
  indices_.resize(static_cast<std::size_t>(size));
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

}  // namespace groove::data::samplers
