// Thousands of places are asked about thousands of times, so they lie in blocks: one in which no
// place is alive, or all are and leave no room, is passed over as a whole.
#include "jit/arena_places.h"

#include <algorithm>

namespace groove::jit {
namespace {

constexpr std::size_t kBlock = 32;

template <typename T>
void insert_at(T* values, std::size_t count, std::size_t at, T value) {
  std::copy_backward(values + at, values + count, values + count + 1);
  values[at] = value;
}

}  // namespace

struct ArenaPlaces::Block {
  std::size_t count = 0;
  std::int64_t begins[kBlock], ends[kBlock];
  std::int32_t firsts[kBlock], lasts[kBlock];
  // Of all places: when the first and the last one begins and ends to live, the room between them
  // while all live, and where the highest one ends.
  std::int32_t least_first, most_first, least_last, most_last;
  std::int64_t largest_gap, end;

  bool is_dead(std::int32_t first, std::int32_t last) const {
    return least_first > last || first > most_last;
  }
  bool is_full(std::int64_t size, std::int32_t first, std::int32_t last) const {
    return most_first <= last && first <= least_last && largest_gap < size;
  }
  std::size_t find_alive(std::int32_t from, std::int32_t to, std::uint8_t* alive) const {
    std::size_t found = 0;
    for (std::size_t i = 0; i < count; ++i) {
      alive[found] = static_cast<std::uint8_t>(i);
      found += static_cast<std::size_t>((firsts[i] <= to) & (from <= lasts[i]));
    }
    return found;
  }
  void insert(const Place& place) {
    const auto at =
        static_cast<std::size_t>(std::upper_bound(begins, begins + count, place.begin) - begins);
    insert_at(begins, count, at, place.begin);
    insert_at(ends, count, at, place.end);
    insert_at(firsts, count, at, place.first);
    insert_at(lasts, count, at, place.last);
    ++count;
    sum_up();
  }
  void sum_up() {
    least_first = *std::min_element(firsts, firsts + count);
    most_first = *std::max_element(firsts, firsts + count);
    least_last = *std::min_element(lasts, lasts + count);
    most_last = *std::max_element(lasts, lasts + count);
    largest_gap = 0;
    end = ends[0];
    for (std::size_t i = 1; i < count; ++i) {
      largest_gap = std::max(largest_gap, begins[i] - end);
      end = std::max(end, ends[i]);
    }
  }
  // Keeps the first half.
  std::shared_ptr<Block> split() {
    auto rest = std::make_shared<Block>();
    const std::size_t half = count / 2;
    rest->count = count - half;
    std::copy(begins + half, begins + count, rest->begins);
    std::copy(ends + half, ends + count, rest->ends);
    std::copy(firsts + half, firsts + count, rest->firsts);
    std::copy(lasts + half, lasts + count, rest->lasts);
    count = half;
    sum_up();
    rest->sum_up();
    return rest;
  }
};

std::int64_t ArenaPlaces::take(std::int64_t size, std::int32_t first, std::int32_t last) {
  std::int64_t at = begin_;
  std::uint8_t alive[kBlock];
  for (const auto& block : blocks_) {
    if (block->begins[0] >= at + size) break;
    if (block->is_dead(first, last)) continue;
    if (block->is_full(size, first, last)) {
      at = std::max(at, block->end);
      continue;
    }
    const std::size_t found = block->find_alive(first, last, alive);
    for (std::size_t i = 0; i < found && block->begins[alive[i]] < at + size; ++i)
      at = std::max(at, block->ends[alive[i]]);
  }
  insert({at, at + size, first, last});
  return at;
}

void ArenaPlaces::insert(const Place& place) {
  if (blocks_.empty()) blocks_.push_back(std::make_shared<Block>());
  std::size_t home = blocks_.size() - 1;
  while (home > 0 && blocks_[home]->begins[0] > place.begin) --home;
  if (blocks_[home]->count == kBlock) {
    blocks_.insert(blocks_.begin() + static_cast<std::ptrdiff_t>(home) + 1, blocks_[home]->split());
    home += blocks_[home + 1]->begins[0] <= place.begin;
  }
  blocks_[home]->insert(place);
}

}  // namespace groove::jit
