#include "src/core/thread_end.h"

#include <array>
#include <utility>

namespace groove {
namespace {

constexpr auto kRanks = static_cast<std::size_t>(ThreadEndRank::kCount);

// Without a destructor of its own, so that it is there as long as the thread.
struct Ends {
  std::array<void (*)(), kRanks> functions;
  std::size_t passed;
};
constinit thread_local Ends ends{};

struct Runner {
  ~Runner() {
    while (ends.passed < kRanks)
      if (auto* const end = std::exchange(ends.functions[ends.passed++], nullptr)) end();
  }
};

}  // namespace

bool at_thread_end(ThreadEndRank rank, void (*end)()) {
  static thread_local const Runner runner;
  (void)runner;
  const auto at = static_cast<std::size_t>(rank);
  if (at < ends.passed) return false;
  ends.functions[at] = end;
  return true;
}

}  // namespace groove
