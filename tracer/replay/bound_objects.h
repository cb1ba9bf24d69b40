// Which objects the live-ins of a run are, where two must not be one: a gradient that arrives at
// one tensor by two names is a sum, at two tensors it is none. A set that a new run finds empty.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace groove::tracer {

class BoundObjects {
 public:
  /// Makes room for so many of a run.
  void expect(std::size_t count) {
    entries_.assign(std::bit_ceil(2 * count + 1), Entry{});
    shift_ = 64 - std::countr_zero(entries_.size());
  }
  /// False when another slot is the object in this run.
  bool claim(const void* object, std::int32_t slot, std::uint64_t run) {
    const std::uint64_t hash = reinterpret_cast<std::uintptr_t>(object) * 0x9e3779b97f4a7c15u;
    for (std::size_t at = hash >> shift_;; ++at) {
      Entry& entry = entries_[at & (entries_.size() - 1)];
      if (entry.run != run) {
        entry = {object, run, slot};
        return true;
      }
      if (entry.object == object) return entry.slot == slot;
    }
  }

 private:
  struct Entry {
    const void* object = nullptr;
    std::uint64_t run = 0;
    std::int32_t slot = -1;
  };
  std::vector<Entry> entries_ = std::vector<Entry>(2);
  int shift_ = 63;
};

}  // namespace groove::tracer
