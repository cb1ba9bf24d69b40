#include "tracer/cache/shared_locks.h"

namespace groove::tracer {

// Never destroyed, as the registry is not.
SharedLocks& symbolic_locks() {
  static SharedLocks& all = *new SharedLocks;
  return all;
}
SharedLocks& history_locks() {
  static SharedLocks& all = *new SharedLocks;
  return all;
}
SharedLocks& profile_locks() {
  static SharedLocks& all = *new SharedLocks;
  return all;
}

}  // namespace groove::tracer
