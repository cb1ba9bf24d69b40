// The environment variables of Groove: one table, from which they are read, checked and described.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>

namespace groove {

struct Environment {
  std::string mode = "auto";           // auto, eager, strict
  std::string tier = "llvm";           // llvm, asmjit, interpreter
  std::string compile = "background";  // background, sync
  int hot = 2;                         // repeats before a stretch is recorded
  int num_threads = 0;                 // 0: all cores
  std::string isa = "best";            // best, avx512, avx2
  std::string device = "auto";         // auto, cpu, cuda
  std::string log;                     // comma-separated names of log channels
  std::string report, dump, trace;     // paths; empty for none
  std::int64_t check = 0;              // every Nth replay is compared with eager
  std::int64_t cache_bytes = 512 << 20;  // that compiled loops may take
  bool logs(const std::string& channel) const;
};

/// Read and checked at the first call; throws groove::Error on a bad value, then and at each later
/// call. Unknown GROOVE_ names give a warning on standard error, once.
const Environment& environment();

/// Registers what a higher layer does with the values; called once they are read and known to be
/// good, at once when they already are.
void when_environment_is_read(void (*use)(const Environment&));

/// Writes the file at `path`, for which the variable `name` asks; where that cannot be done, says
/// so on standard error.
void write_asked_file(const char* name, const std::string& path,
                      const std::function<void(std::ostream&)>& write);

/// The documentation of all variables, as text.
std::string describe_environment();

/// Reads a set of "NAME=value" entries: what environment() does with the process's own. Unknown
/// names are appended to `unknown`.
Environment parse_environment(const char* const* entries, std::string& unknown);

namespace detail {
extern std::atomic<bool> is_environment_read;
}
/// One load once the environment is known to be good: for the entries of the library.
inline void ensure_environment() {
  if (!detail::is_environment_read.load(std::memory_order_acquire)) [[unlikely]]
    environment();
}

}  // namespace groove
