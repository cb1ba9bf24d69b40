// The Chrome trace of a run: https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
// ("Trace Event Format"; complete events, and names of threads as metadata).
#include "src/core/trace.h"

#include <fmt/format.h>
#include <pthread.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <nlohmann/json.hpp>
#include <ostream>
#include <unordered_set>
#include <vector>

#include "src/core/clock.h"
#include "src/core/environment.h"
#include "src/core/fork.h"

namespace groove {
namespace {

struct Event {
  const char *kind, *name;
  Site site;
  std::uint64_t segment;
  std::int64_t start, end;  // nanoseconds
  int thread;
};
constexpr std::size_t kMostEvents = 1'000'000;

struct Trace {
  std::mutex mutex;
  std::vector<Event> events;
  std::size_t dropped = 0;
  std::vector<std::string> threads;
  std::unordered_set<std::string> names;
};

// Never destroyed: other threads may run until the process ends.
Trace& trace() {
  static Trace& instance = *new Trace;
  return instance;
}

[[maybe_unused]] const bool is_fork_handled = hold_over_fork(
    ForkRank::kMemory, []() -> auto& { return trace().mutex; });

// With the trace's lock.
int thread_number() {
  thread_local int number = -1;
  if (number < 0) {
    char name[16] = {};
    pthread_getname_np(pthread_self(), name, sizeof name);
    number = static_cast<int>(trace().threads.size());
    trace().threads.emplace_back(name);
  }
  return number;
}

std::string as_json(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void write_at_exit() {
  tracing::is_on.store(false);
  write_asked_file("GROOVE_TRACE", environment().trace, tracing::write);
  const std::lock_guard lock(trace().mutex);
  if (trace().dropped > 0)
    fmt::print(stderr, "groove: GROOVE_TRACE holds the first {} events; {} more are not in it\n",
               trace().events.size(), trace().dropped);
}

const bool is_registered = [] {
  when_environment_is_read([](const Environment& settings) {
    if (settings.trace.empty()) return;
    tracing::is_on.store(true);
    std::atexit(write_at_exit);
  });
  return true;
}();

}  // namespace

void tracing::write(std::ostream& out) {
  Trace& all = trace();
  const std::lock_guard lock(all.mutex);
  const char* comma = "\n";
  out << "{\"traceEvents\":[";
  for (std::size_t i = 0; i < all.threads.size(); ++i) {
    out << comma
        << fmt::format(R"({{"name":"thread_name","ph":"M","pid":0,"tid":{},"args":{{"name":{}}}}})",
                       i, as_json(all.threads[i]));
    comma = ",\n";
  }
  for (const Event& event : all.events) {
    std::string about;
    if (event.segment != 0) about = fmt::format(R"("segment":{})", event.segment);
    if (event.site.line() != 0)
      about = fmt::format(R"("at":{})",
                          as_json(fmt::format("{}:{}", event.site.file_name(), event.site.line())));
    out << comma
        << fmt::format(R"({{"name":{},"cat":"{}","ph":"X","pid":0,"tid":{},"ts":{:.3f},"dur":{:.3f},)"
                       R"("args":{{{}}}}})",
                       as_json(event.name), event.kind, event.thread,
                       static_cast<double>(event.start) * 1e-3,
                       static_cast<double>(event.end - event.start) * 1e-3, about);
    comma = ",\n";
  }
  out << "\n]}\n";
}

const char* tracing::keep(const std::string& name) {
  Trace& all = trace();
  const std::lock_guard lock(all.mutex);
  return all.names.insert(name).first->c_str();
}

void TraceSpan::begin(const char* kind, const char* name, const Site& site,
                      std::uint64_t segment) {
  kind_ = kind;
  name_ = name;
  site_ = site;
  segment_ = segment;
  start_ = nanoseconds_now();
}

void TraceSpan::end() {
  const std::int64_t end = nanoseconds_now();
  Trace& all = trace();
  const std::lock_guard lock(all.mutex);
  if (all.events.size() == kMostEvents) {
    ++all.dropped;
    return;
  }
  all.events.push_back({kind_, name_, site_, segment_, start_, end, thread_number()});
}

void name_thread(const char* name) { pthread_setname_np(pthread_self(), name); }

}  // namespace groove
