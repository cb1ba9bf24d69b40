#include "tracer/shared_locks.h"

namespace groove::tracer {

// Never destroyed, as the registry is not.
SharedLocks& family_locks() {
  static SharedLocks& all = *new SharedLocks;
  return all;
}
SharedLocks& history_locks() {
  static SharedLocks& all = *new SharedLocks;
  return all;
}
SharedLocks& ledger_locks() {
  static SharedLocks& all = *new SharedLocks;
  return all;
}

}  // namespace groove::tracer
