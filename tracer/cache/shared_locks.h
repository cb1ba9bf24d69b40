// The locks of objects of which there are many. They share a few, so that fork() can hold them all:
// held, nobody is in the middle of a change that a child would never see the end of.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace groove::tracer {

class SharedLocks {
 public:
  /// While it is held, that of no other object of this kind may be asked for.
  std::mutex& of(const void* object) {
    const auto address = reinterpret_cast<std::uintptr_t>(object);
    return locks_[(address * 0x9e3779b97f4a7c15u >> 32) % locks_.size()];
  }
  void lock() {
    for (std::mutex& each : locks_) each.lock();
  }
  void unlock() {
    for (std::mutex& each : locks_) each.unlock();
  }

 private:
  std::array<std::mutex, 16> locks_;
};

// In the order in which one thread may hold them, all after the registry's.
SharedLocks& symbolic_locks();  // of symbolic_segment.h
SharedLocks& history_locks();   // of what is made for a HistoryPlan
SharedLocks& profile_locks();

}  // namespace groove::tracer
