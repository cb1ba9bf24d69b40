// What the system says of its processor. All of it is found out once, without static variables
// that are initialised: a child forked while another thread did so would wait for ever.
#include "kernels/machine.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <thread>

#include "kernels/pool.h"

namespace groove::kernels {
namespace {

constexpr auto relaxed = std::memory_order_relaxed;
constexpr int kLeastThreads = 4;
constexpr std::int64_t kUsualLastCache = std::int64_t{32} << 20;

// As the system sees it: what the processor says of itself may be all that its package has.
// 0 where it tells nothing.
std::int64_t cache_bytes(const char* size_file) {
  long kilobytes = 0;
  if (std::FILE* file = std::fopen(size_file, "r")) {
    if (std::fscanf(file, "%ldK", &kilobytes) != 1) kilobytes = 0;
    std::fclose(file);
  }
  return std::int64_t{kilobytes} << 10;
}

std::int64_t find_cores() { return std::max(1u, std::thread::hardware_concurrency()); }
std::int64_t find_threads();
std::int64_t find_first_cache() {
  return cache_bytes("/sys/devices/system/cpu/cpu0/cache/index0/size");
}
std::int64_t find_last_cache() {
  const std::int64_t bytes = cache_bytes("/sys/devices/system/cpu/cpu0/cache/index3/size");
  return bytes > 0 ? bytes : kUsualLastCache;
}

// A number that is found out when it is first asked for.
class Known {
 public:
  constexpr explicit Known(std::int64_t (*find)()) : find_(find) {}
  std::int64_t get() {
    std::int64_t value = value_.load(relaxed);
    if (value >= 0) return value;
    const std::int64_t found = find_();
    return value_.compare_exchange_strong(value, found, relaxed) ? found : value;
  }
  void set(std::int64_t value) { value_.store(value, relaxed); }

 private:
  std::atomic<std::int64_t> value_{-1};
  std::int64_t (*find_)();
};

constinit Known cores{find_cores}, threads{find_threads}, first_cache{find_first_cache},
    last_cache{find_last_cache};

std::int64_t find_threads() {
  return std::max({std::int64_t{kLeastThreads}, std::int64_t{num_threads()}, cores.get()});
}

}  // namespace

Machine this_machine() {
  return {isa(), static_cast<int>(cores.get()), static_cast<int>(threads.get()), first_cache.get(),
          last_cache.get()};
}

void set_machine(const Machine& machine) {
  cores.set(machine.cores);
  threads.set(machine.threads);
  first_cache.set(machine.first_cache);
  last_cache.set(machine.last_cache);
}

}  // namespace groove::kernels
