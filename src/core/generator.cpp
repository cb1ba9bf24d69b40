// The random state behind a lock: draws of several threads get different numbers.
#include "src/core/generator.h"

#include <mutex>

#include "src/core/faults.h"
#include "src/core/fork.h"

namespace groove {
namespace {

struct Generator {
  std::mutex mutex;
  RandomState state{67280421310721u, 0};  // LibTorch's seed when none is set
};
Generator& generator() {
  static Generator& instance = *new Generator;
  return instance;
}

[[maybe_unused]] const bool is_fork_handled =
    hold_over_fork(ForkRank::kMemory, []() -> auto& { return generator().mutex; });

constinit thread_local RandomState* scope_state = nullptr;

}  // namespace

DrawScope::DrawScope(std::uint64_t key, std::uint64_t first)
    : state_{key, first}, previous_(scope_state) {
  scope_state = &state_;
}
DrawScope::~DrawScope() { scope_state = previous_; }

Draw draw_next() { return draw_many(1); }

Draw draw_many(std::uint64_t count) {
  if (scope_state) {
    const Draw first{scope_state->seed, scope_state->draws};
    scope_state->draws += count;
    return first;
  }
  Generator& g = generator();
  std::lock_guard lock(g.mutex);
  const Draw first{g.state.seed, g.state.draws};
  g.state.draws += has_fault(Fault::kDrawsOverlap) ? 1 : count;
  return first;
}

void manual_seed(std::uint64_t seed) { set_random_state({seed, 0}); }
std::uint64_t initial_seed() { return get_random_state().seed; }

RandomState get_random_state() {
  Generator& g = generator();
  std::lock_guard lock(g.mutex);
  return g.state;
}

void set_random_state(const RandomState& state) {
  Generator& g = generator();
  std::lock_guard lock(g.mutex);
  g.state = state;
}

}  // namespace groove
