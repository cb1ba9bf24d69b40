#include "tracer/watch/varieties.h"

#include <bit>
#include <cstddef>
#include <vector>

#include "src/core/thread_end.h"

namespace groove::tracer {
namespace {

// The attributes that a line has shown, a bit of 64 for each. A loop that comes at a few sizes is
// a loop of its own at each of them; where there is no end of sizes, they do not tell loops apart.
struct Variety {
  std::uint64_t without, shown;
};
// Grows with the program, up to as many lines as a large model has, each as often as its layers
// call it: a page that a short program touches takes as long as a hundred of its calls are watched.
class Varieties {
 public:
  Variety& of(std::uint64_t without) {
    constexpr std::size_t kMost = 8192;
    if (Variety* const known = find(without)) return *known;
    if (all_.size() < kMost) {
      std::vector<Variety> before(2 * all_.size());
      before.swap(all_);
      for (const Variety& each : before)
        if (Variety* const place = each.without != 0 ? find(each.without) : nullptr) *place = each;
      return of(without);
    }
    // Two calls of a loop must not take turns in driving out each other.
    return at(without + lost_++ % kProbes);
  }

 private:
  static constexpr std::size_t kProbes = 8;

  Variety& at(std::uint64_t place) { return all_[place & (all_.size() - 1)]; }
  // Its own place, or a free one.
  Variety* find(std::uint64_t without) {
    for (std::size_t i = 0; i < kProbes; ++i) {
      Variety& each = at(without + i);
      if (each.without == without || each.without == 0) return &each;
    }
    return nullptr;
  }

  std::vector<Variety> all_{256};  // a power of two
  std::size_t lost_ = 0;
};
// Of the thread, but not among its variables, which are to be few (cmake/library.cmake).
constinit thread_local Varieties* varieties = nullptr;

Varieties& make_varieties() {
  at_thread_end(ThreadEndRank::kVarieties, [] {
    delete varieties;
    varieties = nullptr;
  });
  return *(varieties = new Varieties);
}

}  // namespace

SizesOfLine note_sizes(std::uint64_t without, std::uint64_t shown) {
  constexpr int kFew = 3;  // bits
  Variety& known = (varieties ? *varieties : make_varieties()).of(without);
  if (known.without != without) known = {without, 0};
  const int before = std::popcount(known.shown);
  known.shown |= std::uint64_t{1} << (shown >> 58);
  const int now = std::popcount(known.shown);
  return {now > kFew, 0 < before && before < now && before <= kFew};
}

}  // namespace groove::tracer
