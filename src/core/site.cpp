// The places in the source of programs whose compiler makes no constants of them (Clang 14).
#include "groove/detail/site.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <map>
#include <mutex>
#include <tuple>

#include "src/core/fork.h"

namespace groove::detail {
namespace {

// As libstdc++ lays out what a std::source_location points to; groove/detail/site.h has it again.
struct Record {
  const char *file, *function;
  std::uint_least32_t line, column;
};

struct Records {
  std::mutex mutex;
  std::map<std::tuple<const char*, std::uint_least32_t, std::uint_least32_t>, Record> all;
  // What was asked for last of each hash: read without the lock.
  std::array<std::atomic<const Record*>, 4096> recent{};
};

// Never destroyed: destructors of programs call operators too.
Records& records() {
  static Records& instance = *new Records;
  return instance;
}

}  // namespace

const void* kept_place(const char* file, std::uint_least32_t line, std::uint_least32_t column) {
  Records& known = records();
  const std::size_t hash = reinterpret_cast<std::uintptr_t>(file) + 61u * line + column;
  std::atomic<const Record*>& recent = known.recent[hash % known.recent.size()];
  const Record* found = recent.load(std::memory_order_acquire);
  if (found != nullptr && found->line == line && found->column == column && found->file == file)
    return found;
  const ForkGate gate;
  const std::lock_guard lock(known.mutex);
  const auto [entry, is_new] =
      known.all.try_emplace({file, line, column}, Record{file, "", line, column});
  recent.store(&entry->second, std::memory_order_release);
  return &entry->second;
}

}  // namespace groove::detail
