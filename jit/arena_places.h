// The places taken in an arena, each for some levels: which offset is free for how long.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace groove::jit {

class ArenaPlaces {
 public:
  explicit ArenaPlaces(std::int64_t begin) : begin_(begin) {}
  /// Takes the lowest `size` bytes that are free in all levels from `first` to `last`; gives their
  /// offset.
  std::int64_t take(std::int64_t size, std::int32_t first, std::int32_t last);

 private:
  struct Place {
    std::int64_t begin, end;
    std::int32_t first, last;
  };
  struct Block;
  void insert(const Place& place);

  std::int64_t begin_;
  std::vector<std::shared_ptr<Block>> blocks_;  // places by offset
};

}  // namespace groove::jit
