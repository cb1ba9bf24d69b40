// The table of variables and its reader.
#include "src/core/environment.h"

#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <limits>
#include <mutex>
#include <string_view>
#include <vector>

#include "src/core/check.h"

namespace groove {
namespace detail {
std::atomic<bool> is_environment_read{false};
}
namespace {

// One row a variable. `choices` empty: `accept` alone judges the value.
struct Variable {
  const char* name;
  const char* values;  // shown in errors and in the documentation, the default first
  const char* meaning;
  std::vector<std::string_view> choices;
  bool (*accept)(Environment& environment, const std::string& value);
};

template <std::string Environment::*kField>
bool store_text(Environment& environment, const std::string& value) {
  environment.*kField = value;
  return true;
}

template <auto kField, std::int64_t kLowest>
bool store_number(Environment& environment, const std::string& value) {
  using Field = std::remove_reference_t<decltype(environment.*kField)>;
  constexpr std::int64_t kHighest = std::numeric_limits<Field>::max() / 2;
  std::int64_t number = 0;
  const char* const end = value.data() + value.size();
  const auto parsed = std::from_chars(value.data(), end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end || number < kLowest || number > kHighest)
    return false;
  environment.*kField = static_cast<Field>(number);
  return true;
}

constexpr std::string_view kChannels[] = {"segments", "guards",  "fusion",
                                          "memory",   "kernels", "code"};

bool store_log(Environment& environment, const std::string& value) {
  std::size_t start = 0;
  while (start <= value.size()) {
    const std::size_t comma = std::min(value.find(',', start), value.size());
    const std::string_view word = std::string_view(value).substr(start, comma - start);
    bool is_known = false;
    for (std::string_view channel : kChannels) is_known = is_known || word == channel;
    if (!is_known) return false;
    start = comma + 1;
  }
  environment.log = value;
  return true;
}

bool store_report(Environment& environment, const std::string& value) {
  const auto ends_with = [&](std::string_view end) {
    return value.size() > end.size() && std::string_view(value).ends_with(end);
  };
  if (!ends_with(".txt") && !ends_with(".json") && !ends_with(".html")) return false;
  environment.report = value;
  return true;
}

const std::vector<Variable>& variables() {
  using E = Environment;
  static const std::vector<Variable>& table = *new std::vector<Variable>{
      {"GROOVE_MODE",
       "auto, eager, strict",
       "the mode of the tracer",
       {"auto", "eager", "strict"},
       store_text<&E::mode>},
      {"GROOVE_TIER",
       "llvm, asmjit, interpreter",
       "the highest tier used",
       {"llvm", "asmjit", "interpreter"},
       store_text<&E::tier>},
      {"GROOVE_COMPILE",
       "background, sync",
       "where compilation runs",
       {"background", "sync"},
       store_text<&E::compile>},
      {"GROOVE_HOT",
       "2, or another number from 1",
       "repeats before a stretch is recorded (1 for tests)",
       {},
       store_number<&E::hot, 1>},
      {"GROOVE_NUM_THREADS",
       "all cores, or a number from 1",
       "threads of a kernel",
       {},
       store_number<&E::num_threads, 1>},
      {"GROOVE_ISA",
       "best, avx512, avx2",
       "the highest instruction set used",
       {"best", "avx512", "avx2"},
       store_text<&E::isa>},
      {"GROOVE_DEVICE",
       "auto, cpu, cuda",
       "what \"auto\" samples run on; cuda without one is an error",
       {"auto", "cpu", "cuda"},
       store_text<&E::device>},
      {"GROOVE_LOG",
       "none, or a list of segments,guards,fusion,memory,kernels,code",
       "what is logged, to standard error",
       {},
       store_log},
      {"GROOVE_REPORT",
       "none, or a path ending in .txt, .json or .html",
       "where the explanation is written at exit",
       {},
       store_report},
      {"GROOVE_DUMP",
       "none, or a folder",
       "graphs before and after each pass, kernels, assembly",
       {},
       store_text<&E::dump>},
      {"GROOVE_TRACE",
       "none, or a path",
       "Chrome trace of the run: eager operators with their lines, kernels, compiling, by thread",
       {},
       store_text<&E::trace>},
      {"GROOVE_CHECK",
       "0, or a number N",
       "every Nth replay also runs eagerly and is compared bit for bit",
       {},
       store_number<&E::check, 0>},
      {"GROOVE_CACHE_BYTES",
       "536870912, or a number from 1",
       "what compiled loops may take, code and memory; those that pay least are dropped",
       {},
       store_number<&E::cache_bytes, 1>},
  };
  return table;
}

bool is_allowed(const Variable& variable, const std::string& value) {
  if (variable.choices.empty()) return true;
  for (std::string_view choice : variable.choices)
    if (value == choice) return true;
  return false;
}

}  // namespace

bool Environment::logs(const std::string& channel) const {
  if (log.empty()) return false;
  return ("," + log + ",").find("," + channel + ",") != std::string::npos;
}

Environment parse_environment(const char* const* entries, std::string& unknown) {
  Environment result;
  for (; *entries; ++entries) {
    const std::string_view entry = *entries;
    if (!entry.starts_with("GROOVE_")) continue;
    const std::size_t equals = entry.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = entry.substr(0, equals);
    const std::string value(entry.substr(equals + 1));
    bool is_known = false;
    for (const Variable& variable : variables()) {
      if (name != variable.name) continue;
      is_known = true;
      if (value.empty()) break;  // set to nothing is the same as not set
      GROOVE_CHECK(is_allowed(variable, value) && variable.accept(result, value),
                   "{}: unknown value \"{}\"; use {}", variable.name, value, variable.values);
    }
    if (!is_known) unknown += (unknown.empty() ? "" : ", ") + std::string(name);
  }
  return result;
}

namespace {

struct Reader {
  std::mutex mutex;
  Environment environment;
  std::vector<void (*)(const Environment&)> users;
  bool is_warned = false;
};
Reader& reader() {
  static Reader& instance = *new Reader;
  return instance;
}

}  // namespace

void write_asked_file(const char* name, const std::string& path,
                      const std::function<void(std::ostream&)>& write) {
  std::ofstream file(path, std::ios::binary);
  write(file);
  file.close();
  if (!file) std::fprintf(stderr, "groove: %s could not be written to %s\n", name, path.c_str());
}

void when_environment_is_read(void (*use)(const Environment&)) {
  Reader& r = reader();
  std::lock_guard lock(r.mutex);
  r.users.push_back(use);
  if (detail::is_environment_read.load(std::memory_order_relaxed)) use(r.environment);
}

const Environment& environment() {
  Reader& r = reader();
  if (detail::is_environment_read.load(std::memory_order_acquire)) return r.environment;
  std::lock_guard lock(r.mutex);
  if (detail::is_environment_read.load(std::memory_order_relaxed)) return r.environment;
  std::string unknown;
  const Environment parsed = parse_environment(environ, unknown);
  GROOVE_CHECK(parsed.device != "cuda",
               "GROOVE_DEVICE: \"cuda\" was asked for, but this version of Groove has no GPU "
               "backend (tried: registered device backends, found cpu); use cpu or auto");
  if (!unknown.empty() && !r.is_warned) {
    r.is_warned = true;
    std::fprintf(stderr, "groove: ignoring unknown environment variable %s\n", unknown.c_str());
  }
  r.environment = parsed;
  for (auto use : r.users) use(r.environment);
  detail::is_environment_read.store(true, std::memory_order_release);
  return r.environment;
}

std::string describe_environment() {
  std::string text;
  for (const Variable& variable : variables())
    text +=
        fmt::format("{:<20} {}\n{:<20} {}\n", variable.name, variable.meaning, "", variable.values);
  return text;
}

}  // namespace groove
