// fork() while other threads hold locks: a child would wait for threads that it does not have. What
// is registered here is held over each fork(), so that a child finds it free and what it guards
// whole.
#pragma once

#include <cstdint>
#include <shared_mutex>

namespace groove {

/// In which order fork() takes locks: that in which threads do that hold several. Of one rank, what
/// was registered last is taken first.
enum class ForkRank : std::uint8_t {
  kTracer,
  kTracerTables,
  kGate,       // ForkGate
  kCompilers,  // theirs
  kCode,       // of the memory that code lies in
  kMemory,
};

/// `prepare` runs before fork(), in the order of ranks; after it `parent` or `child`, in reverse.
/// For initialisers of static storage. Returns true.
bool at_fork(ForkRank rank, void (*prepare)(), void (*parent)(), void (*child)());

/// `mutex_of`: a lambda without captures that gives a mutex.
template <typename MutexOf>
bool hold_over_fork(ForkRank rank, [[maybe_unused]] MutexOf mutex_of) {
  constexpr auto unlock = [] { MutexOf()().unlock(); };
  return at_fork(
      rank, [] { MutexOf()().lock(); }, unlock, unlock);
}

/// In a child, what fork() held of a lock that readers share: only the thread that locked it may
/// unlock it, and a child's is another.
void unlock_in_child(std::shared_mutex& mutex);

/// While one lives, fork() waits: for what is half done meanwhile and that a child could want, such
/// as entries of a table, and code that a first use generates. To be made before the table's own
/// lock is taken, which then needs no handler; a thread may have several. Not for what waits for
/// locks of an earlier rank.
class ForkGate {
 public:
  ForkGate();
  ~ForkGate();
  ForkGate(const ForkGate&) = delete;
  ForkGate& operator=(const ForkGate&) = delete;
};

}  // namespace groove
