// Keys of elements, and sorting them: a radix sort by byte that skips bytes which all keys share.
#include "kernels/ops/ranking.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "groove/half.h"
#include "kernels/ops/indexed_write.h"

namespace groove {
namespace {

constexpr std::size_t kFewToCompare = 256;  // up to here comparing beats counting

template <typename T>
std::uint64_t key_of(T value) {
  constexpr std::uint64_t sign = std::uint64_t{1} << 63;
  if constexpr (std::is_same_v<T, std::uint8_t>) {
    return value;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(value)) ^ sign;
  } else {
    const double wide = static_cast<float>(value);
    if (wide != wide) return ~std::uint64_t{0};
    const auto bits = std::bit_cast<std::uint64_t>(wide + 0.0);  // -0.0 becomes 0.0
    return bits & sign ? ~bits : bits | sign;
  }
}
template <>
std::uint64_t key_of(double value) {
  constexpr std::uint64_t sign = std::uint64_t{1} << 63;
  if (value != value) return ~std::uint64_t{0};
  const auto bits = std::bit_cast<std::uint64_t>(value + 0.0);
  return bits & sign ? ~bits : bits | sign;
}

template <typename T>
void rank(const void* data, std::int64_t offset, const Lines& lines, std::uint64_t turn,
          std::vector<Ranked>& ranked) {
  const T* element = static_cast<const T*>(data) + offset;
  for (std::int64_t i = 0; i < lines.length; ++i, element += lines.stride)
    ranked[static_cast<std::size_t>(i)] = {key_of(*element) ^ turn, i};
}

}  // namespace

Lines::Lines(const Shape& sizes, std::int64_t dim) : count(1), length(1), stride(1) {
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (static_cast<std::int64_t>(i) == dim) {
      length = sizes[i];
      continue;
    }
    count *= sizes[i];
    if (static_cast<std::int64_t>(i) > dim) stride *= sizes[i];
  }
}

void rank_line(ScalarType dtype, const void* data, std::int64_t offset, const Lines& lines,
               bool descending, std::vector<Ranked>& ranked) {
  ranked.resize(static_cast<std::size_t>(lines.length));
  const std::uint64_t turn = descending ? ~std::uint64_t{0} : 0;
  switch (dtype) {
    case kFloat:
      return rank<float>(data, offset, lines, turn, ranked);
    case kDouble:
      return rank<double>(data, offset, lines, turn, ranked);
    case kHalf:
      return rank<Half>(data, offset, lines, turn, ranked);
    case kBFloat16:
      return rank<BFloat16>(data, offset, lines, turn, ranked);
    case kLong:
      return rank<std::int64_t>(data, offset, lines, turn, ranked);
    case kInt:
      return rank<std::int32_t>(data, offset, lines, turn, ranked);
    case kShort:
      return rank<std::int16_t>(data, offset, lines, turn, ranked);
    case kChar:
      return rank<std::int8_t>(data, offset, lines, turn, ranked);
    default:
      return rank<std::uint8_t>(data, offset, lines, turn, ranked);
  }
}

void sort_ranked(std::vector<Ranked>& ranked, std::vector<Ranked>& room) {
  if (ranked.size() <= kFewToCompare) {
    std::sort(ranked.begin(), ranked.end());
    return;
  }
  room.resize(ranked.size());
  std::vector<std::size_t> places(8 * 256, 0);
  for (const Ranked& one : ranked) {
    for (std::size_t byte = 0; byte < 8; ++byte) ++places[byte * 256 + (one.key >> 8 * byte & 255)];
  }
  for (std::size_t byte = 0; byte < 8; ++byte) {
    std::size_t* const place = places.data() + byte * 256;
    if (place[ranked[0].key >> 8 * byte & 255] == ranked.size()) continue;
    std::size_t next = 0;
    for (std::size_t digit = 0; digit < 256; ++digit) next += std::exchange(place[digit], next);
    for (const Ranked& one : ranked) room[place[one.key >> 8 * byte & 255]++] = one;
    ranked.swap(room);
  }
}

void move_element(std::size_t size, void* target, std::int64_t to, const void* source,
                  std::int64_t from) {
  std::memcpy(static_cast<char*>(target) + to * static_cast<std::int64_t>(size),
              static_cast<const char*>(source) + from * static_cast<std::int64_t>(size), size);
}

std::tuple<Tensor, Tensor> call_ranked(const Op& op, Arg self, const Attrs& attrs) {
  Tensor outputs[2];
  dispatch(Call{&op, ArrayRef<Tensor>(*self.tensor), &attrs, {}, self.site}, outputs);
  return {outputs[0], outputs[1]};
}

std::int64_t ranked_axis(const char* op, const Tensor& self, std::int64_t dim) {
  return normal_dim(op, dim, checked(op, self).geometry.sizes.size());
}

Tensors picked_gradient(const Grad& g) {
  if (!g.cotangent().defined()) return Tensors(1);
  if (g.input_types[0].sizes.empty()) return {g.cotangent()};
  return {scatter_sum(g.output(1), g.cotangent(), g.attr().integer(0), g.input_types[0].sizes)};
}

}  // namespace groove
