// Warnings, each text once for a line of the program.
#include "groove/warning.h"

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
Warnings& warnings() {
  static Warnings& instance = *new Warnings;
  return instance;
}

}  // namespace

WarningHandler set_warning_handler(WarningHandler handler) {
  const ForkGate gate;
  const std::lock_guard lock(warnings().mutex);
  return std::exchange(warnings().handler, std::move(handler));
}

void warn(const std::string& text, const Site& site) {
  const Site place = user_site(site);
  WarningHandler handler;
  {
    const ForkGate gate;
    const std::lock_guard lock(warnings().mutex);
    if (!warnings().given.emplace(place.file_name(), place.line(), text).second) return;
    handler = warnings().handler;
  }
  // Called without the lock: it may warn, or change the handler.
  if (handler) return handler(text, place);
  std::fprintf(stderr, "%s:%u: warning: %s\n", place.file_name(),
               static_cast<unsigned>(place.line()), text.c_str());
}

}  // namespace groove
