// ArenaPlaces against looking at every place that was taken before.
#include "jit/arena_places.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace groove::jit {
namespace {

struct Taken {
  std::int64_t begin, end;
  std::int32_t first, last;
};

// The lowest offset that is the beginning or an end of some place and free.
std::int64_t lowest(const std::vector<Taken>& places, std::int64_t begin, const Taken& wanted) {
  const std::int64_t size = wanted.end - wanted.begin;
  std::vector<std::int64_t> offsets{begin};
  for (const Taken& place : places) offsets.push_back(place.end);
  std::sort(offsets.begin(), offsets.end());
  for (const std::int64_t at : offsets) {
    const bool is_free = std::none_of(places.begin(), places.end(), [&](const Taken& place) {
      return place.first <= wanted.last && wanted.first <= place.last && place.begin < at + size &&
             at < place.end;
    });
    if (is_free) return at;
  }
  return -1;
}

TEST(ArenaPlaces, TakesTheLowestFreePlace) {
  std::mt19937 random(7);
  const auto below = [&](int bound) { return static_cast<int>(random() % unsigned(bound)); };
  for (int round = 0; round < 40; ++round) {
    const std::int64_t begin = 64 * below(3);
    ArenaPlaces arena(begin);
    std::vector<Taken> places;
    const int kind = round % 4;
    for (int i = 0; i < 400; ++i) {
      Taken next{0, 64 * (1 + below(kind == 0 ? 1 : 5)), 0, 0};
      next.first = kind == 1 ? i : below(300);          // one after the other
      next.last = kind == 1   ? 800 - i                 // nested
                  : kind == 2 ? next.first + below(10)  // short
                              : next.first + below(600);
      const std::int64_t wanted = lowest(places, begin, next);
      ASSERT_EQ(arena.take(next.end, next.first, next.last), wanted) << round << " " << i;
      places.push_back({wanted, wanted + next.end, next.first, next.last});
    }
  }
}

}  // namespace
}  // namespace groove::jit
