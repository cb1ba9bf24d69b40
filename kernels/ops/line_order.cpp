// Keys span fewer bits than 64 as a rule: what they have above the least, cut where the position
// needs the room. Words are sorted by their leading bits as far as these tell most of them apart,
// by radix; then runs that are equal so far on their own. Keys that were cut are looked at again
// where what was left of them is equal. Each step is exact, so how it is done never shows.
#include "kernels/ops/line_order.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "src/core/allocator.h"

namespace groove {
namespace {

constexpr std::size_t kFewToCompare = 256;  // up to here comparing beats counting
constexpr std::size_t kFewToCount = 4096;   // up to here small digits, whose counts are few
constexpr int kLeadingBits = 32;            // sorted at once
constexpr int kDigitBits = 11, kSmallDigitBits = 8;
constexpr std::size_t kDigits = std::size_t{1} << kDigitBits;

// The keys of a line.
template <typename T>
struct LineKeys {
  const T* first;
  std::int64_t stride;
  std::uint64_t turn;
  std::uint64_t operator()(std::size_t i) const {
    return key_of(first[static_cast<std::int64_t>(i) * stride]) ^ turn;
  }
};
struct ListedKeys {
  const std::uint64_t* keys;
  std::uint64_t operator()(std::size_t i) const { return keys[i]; }
};

// What a word holds: `place_bits` of the position, above it `bits` of the key, which had `dropped`
// more.
struct Layout {
  int place_bits, bits, dropped;
  std::size_t place(std::uint64_t word) const {
    return static_cast<std::size_t>(word & ((std::uint64_t{1} << place_bits) - 1));
  }
  bool same_key(std::uint64_t a, std::uint64_t b) const { return ((a ^ b) >> place_bits) == 0; }
};

template <typename Keys>
Layout pack(const Keys& keys, std::size_t count, std::uint64_t* words) {
  std::uint64_t least = ~std::uint64_t{0}, most = 0;
  for (std::size_t i = 0; i < count; ++i) {
    words[i] = keys(i);
    least = std::min(least, words[i]);
    most = std::max(most, words[i]);
  }
  const int range = count > 0 ? std::bit_width(most - least) : 0;
  const int place_bits = count > 0 ? std::bit_width(count - 1) : 0;
  const int dropped = std::max(0, range + place_bits - 64);
  for (std::size_t i = 0; i < count; ++i)
    words[i] = (words[i] - least) >> dropped << place_bits | i;
  return {place_bits, range - dropped, dropped};
}

// One pass of a stable radix sort; false when all words share the digit.
bool move_by_digit(const std::uint64_t* words, std::uint64_t* to, std::size_t count, int shift,
                   int width) {
  std::size_t next[kDigits];
  const std::uint64_t mask = (std::uint64_t{1} << width) - 1;
  std::fill_n(next, mask + 1, 0);
  for (std::size_t i = 0; i < count; ++i) ++next[words[i] >> shift & mask];
  if (next[words[0] >> shift & mask] == count) return false;
  std::size_t start = 0;
  for (std::size_t digit = 0; digit <= mask; ++digit) start += std::exchange(next[digit], start);
  for (std::size_t i = 0; i < count; ++i) to[next[words[i] >> shift & mask]++] = words[i];
  return true;
}

// Sorts words that ascend in the bits below `low` by these and the `bits` above. The two arrays may
// have changed places after it.
void sort_words(std::uint64_t*& words, std::uint64_t*& spare, std::size_t count, int low,
                int bits) {
  if (bits == 0) return;
  if (count <= kFewToCompare) {
    std::sort(words, words + count);
    return;
  }
  const int leading = std::min(bits, kLeadingBits);
  const int digit = count <= kFewToCount ? kSmallDigitBits : kDigitBits;
  const int passes = (leading + digit - 1) / digit;
  const int rest = bits - leading;
  for (int pass = 0; pass < passes; ++pass) {
    const int from = leading * pass / passes, to = leading * (pass + 1) / passes;
    if (move_by_digit(words, spare, count, low + rest + from, to - from)) std::swap(words, spare);
  }
  if (rest == 0) return;
  const int above = low + rest;
  for (std::size_t begin = 0, end = 1; begin < count; begin = end++) {
    while (end < count && words[end] >> above == words[begin] >> above) ++end;
    if (end - begin == 1) continue;
    std::uint64_t *run = words + begin, *run_spare = spare + begin;
    sort_words(run, run_spare, end - begin, low, rest);
    if (run != words + begin) std::memcpy(run_spare, run, (end - begin) * sizeof *run);
  }
}

// Positions, which ascend, by their keys.
template <typename Keys>
void sort_places(const Keys& keys, std::uint64_t* places, std::size_t count);

// The positions of all keys in order, in one of the rooms of `count` words.
template <typename Keys>
const std::uint64_t* order(const Keys& keys, std::size_t count, std::uint64_t* words,
                           std::uint64_t* spare) {
  const Layout layout = pack(keys, count, words);
  sort_words(words, spare, count, layout.place_bits, layout.bits);
  for (std::size_t begin = 0, end = 1; begin < count; begin = end++) {
    if (layout.dropped > 0) {
      while (end < count && layout.same_key(words[begin], words[end])) ++end;
    }
    for (std::size_t i = begin; i < end; ++i) words[i] = layout.place(words[i]);
    if (end - begin > 1) sort_places(keys, words + begin, end - begin);
  }
  return words;
}

template <typename Keys>
void sort_places(const Keys& keys, std::uint64_t* places, std::size_t count) {
  if (count <= kFewToCompare) {
    std::sort(places, places + count, [&](std::uint64_t a, std::uint64_t b) {
      const std::uint64_t first = keys(a), second = keys(b);
      return first != second ? first < second : a < b;
    });
    return;
  }
  std::vector<std::uint64_t> room(3 * count);
  std::uint64_t* const listed = room.data();
  for (std::size_t i = 0; i < count; ++i) listed[i] = keys(places[i]);
  const std::uint64_t* in_order =
      order(ListedKeys{listed}, count, listed + count, listed + 2 * count);
  for (std::size_t i = 0; i < count; ++i) listed[i] = places[in_order[i]];
  std::copy_n(listed, count, places);
}

// Keeps, in no order, the words that share the leading digit of the one at `place`, which becomes
// the place among them.
std::size_t keep_near(std::uint64_t* words, std::size_t count, int shift, std::size_t& place) {
  std::size_t counts[kDigits] = {};
  for (std::size_t i = 0; i < count; ++i) ++counts[words[i] >> shift];
  std::uint64_t digit = 0;
  while (place >= counts[digit]) place -= counts[digit++];
  std::size_t kept = 0;
  for (std::size_t i = 0; i < count; ++i) {
    words[kept] = words[i];
    kept += words[i] >> shift == digit;
  }
  return kept;
}

template <typename Keys>
std::size_t find_place(const Keys& keys, std::size_t count, std::size_t place,
                       std::uint64_t* words) {
  const Layout layout = pack(keys, count, words);
  if (count > kFewToCompare) {
    const int width = layout.place_bits + layout.bits;
    count = keep_near(words, count, std::max(0, width - kDigitBits), place);
  }
  std::nth_element(words, words + place, words + count);
  const std::uint64_t found = words[place];
  if (layout.dropped == 0) return layout.place(found);
  // Among those of the same cut key, by all of it.
  std::size_t before = 0;
  std::vector<Ranked> equal;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = layout.place(words[i]);
    if (layout.same_key(words[i], found))
      equal.push_back({keys(at), static_cast<std::int64_t>(at)});
    else
      before += words[i] < found;
  }
  const auto there = equal.begin() + static_cast<std::ptrdiff_t>(place - before);
  std::nth_element(equal.begin(), there, equal.end());
  return static_cast<std::size_t>(there->position);
}

}  // namespace

Words::~Words() {
  if (words_ != nullptr) deallocate(words_, count_ * sizeof *words_);
}

std::uint64_t* Words::reserve(std::size_t count) {
  if (count > count_) {
    if (words_ != nullptr) deallocate(std::exchange(words_, nullptr), count_ * sizeof *words_);
    count_ = 0;
    words_ = static_cast<std::uint64_t*>(allocate(count * sizeof *words_));
    count_ = count;
  }
  return words_;
}

const std::uint64_t* order_line(ScalarType dtype, const void* data, std::int64_t offset,
                                const Lines& lines, bool descending, OrderRoom& room) {
  const auto count = static_cast<std::size_t>(lines.length);
  std::uint64_t *words = room.words.reserve(count), *spare = room.spare.reserve(count);
  return with_element(dtype, [&](auto kind) {
    using T = decltype(kind);
    const LineKeys<T> keys{static_cast<const T*>(data) + offset, lines.stride,
                           descending ? ~std::uint64_t{0} : 0};
    return order(keys, count, words, spare);
  });
}

std::int64_t place_in_line(ScalarType dtype, const void* data, std::int64_t offset,
                           const Lines& lines, std::int64_t place, OrderRoom& room) {
  const auto count = static_cast<std::size_t>(lines.length);
  return with_element(dtype, [&](auto kind) {
    using T = decltype(kind);
    const LineKeys<T> keys{static_cast<const T*>(data) + offset, lines.stride, 0};
    return static_cast<std::int64_t>(
        find_place(keys, count, static_cast<std::size_t>(place), room.words.reserve(count)));
  });
}

}  // namespace groove
