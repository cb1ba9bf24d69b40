// Warnings, each text once for a line of the program.
#include "groove/warning.h"

#include <atomic>
#include <cstdio>
#include <mutex>
#include <set>
#include <tuple>
#include <utility>

#include "src/core/dispatch.h"
#include "src/core/fork.h"

namespace groove {
namespace {

// Never destroyed: programs warn from destructors of statics too.
struct Warnings {
  std::mutex mutex;
  WarningHandler handler;
  std::set<std::tuple<std::string, unsigned, std::string>> given;
};
std::atomic<bool> is_always_given{false};

Warnings& warnings() {
  static Warnings& instance = *new Warnings;
  return instance;
}

void give(const std::string& text, const Site& site, bool is_each) {
  const Site place = user_site(site);
  WarningHandler handler;
  {
    const ForkGate gate;
    const std::lock_guard lock(warnings().mutex);
    if (!is_each && !warnings().given.emplace(place.file_name(), place.line(), text).second) return;
    handler = warnings().handler;
  }
  // Called without the lock: it may warn, or change the handler.
  if (handler) return handler(text, place);
  if (place.line() == 0) {
    std::fprintf(stderr, "warning: %s\n", text.c_str());
    return;
  }
  std::fprintf(stderr, "%s:%u: warning: %s\n", place.file_name(),
               static_cast<unsigned>(place.line()), text.c_str());
}

}  // namespace

WarningHandler set_warning_handler(WarningHandler handler) {
  const ForkGate gate;
  const std::lock_guard lock(warnings().mutex);
  return std::exchange(warnings().handler, std::move(handler));
}

void warn(const std::string& text, const Site& site) { give(text, site, warns_always()); }
void warn_each_time(const std::string& text, const Site& site) { give(text, site, true); }

bool set_warn_always(bool is_always) { return is_always_given.exchange(is_always); }
bool warns_always() { return is_always_given.load(std::memory_order_relaxed); }

}  // namespace groove
