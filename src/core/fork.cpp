#include "src/core/fork.h"

#include <pthread.h>

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

#include <algorithm>
#include <new>
#include <shared_mutex>
#include <vector>

namespace groove {
namespace {

struct Handler {
  ForkRank rank;
  void (*prepare)();
  void (*parent)();
  void (*child)();
};

// In the order of taking. Never destroyed: threads may fork while statics are torn down.
std::vector<Handler>& handlers() {
  static std::vector<Handler>& all = *new std::vector<Handler>;
  return all;
}

template <void (*Handler::*kDo)()>
void in_reverse() {
  for (auto handler = handlers().rbegin(); handler != handlers().rend(); ++handler)
    (*handler.*kDo)();
}

std::shared_mutex& gate() {
  static std::shared_mutex& instance = *new std::shared_mutex;
  return instance;
}
constinit thread_local int gates_held = 0;

[[maybe_unused]] const bool is_gate_handled = at_fork(
    ForkRank::kGate, [] { gate().lock(); }, [] { gate().unlock(); },
    [] { unlock_in_child(gate()); });

}  // namespace

bool at_fork(ForkRank rank, void (*prepare)(), void (*parent)(), void (*child)()) {
  std::vector<Handler>& all = handlers();
  if (all.empty()) {
    pthread_atfork(
        [] {
          for (const Handler& handler : handlers()) handler.prepare();
        },
        in_reverse<&Handler::parent>, in_reverse<&Handler::child>);
  }
  const auto place = std::find_if(all.begin(), all.end(),
                                  [&](const Handler& other) { return other.rank >= rank; });
  all.insert(place, {rank, prepare, parent, child});
  return true;
}

void unlock_in_child(std::shared_mutex& mutex) {
#if defined(__SANITIZE_THREAD__)
  __tsan_mutex_pre_unlock(&mutex, 0);
#endif
  new (&mutex) std::shared_mutex;
#if defined(__SANITIZE_THREAD__)
  __tsan_mutex_post_unlock(&mutex, 0);
#endif
}

ForkGate::ForkGate() {
  if (gates_held++ == 0) gate().lock_shared();
}
ForkGate::~ForkGate() {
  if (--gates_held == 0) gate().unlock_shared();
}

}  // namespace groove
