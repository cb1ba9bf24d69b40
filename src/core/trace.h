// GROOVE_TRACE: what each thread did when, written as a Chrome trace when the process ends.
#pragma once

#include <atomic>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <type_traits>

#include "groove/detail/site.h"

namespace groove {

namespace tracing {
inline constinit std::atomic<bool> is_on{false};
/// What has been traced so far, in Chrome's format.
void write(std::ostream& out);
/// A name that lives for ever.
const char* keep(const std::string& name);
}  // namespace tracing

inline bool is_traced() { return tracing::is_on.load(std::memory_order_relaxed); }

// A stretch of time; costs one load when no trace is asked for. Names must live for ever.
class TraceSpan {
 public:
  /// Something of a segment.
  TraceSpan(const char* name, std::uint64_t segment) {
    if (is_traced()) [[unlikely]]
      begin("segment", name, Site::none(), segment);
  }
  /// An operator that runs eagerly.
  TraceSpan(const char* name, const Site& site) {
    if (is_traced()) [[unlikely]]
      begin("operator", name, site, 0);
  }
  /// A launch of compiled code; `name` is only asked when there is a trace.
  template <typename Name>
    requires std::is_invocable_r_v<std::string, Name>
  explicit TraceSpan(const Name& name) {
    if (is_traced()) [[unlikely]]
      begin("kernel", tracing::keep(name()), Site::none(), 0);
  }
  ~TraceSpan() {
    if (name_) [[unlikely]]
      end();
  }
  TraceSpan(const TraceSpan&) = delete;
  TraceSpan& operator=(const TraceSpan&) = delete;

 private:
  void begin(const char* kind, const char* name, const Site& site, std::uint64_t segment);
  void end();

  const char* name_ = nullptr;  // null: nothing is traced
  const char* kind_ = nullptr;
  Site site_ = Site::none();
  std::uint64_t segment_ = 0;
  std::int64_t start_ = 0;  // nanoseconds
};

/// Names this thread, as debuggers and the trace show it; at most 15 characters.
void name_thread(const char* name);

}  // namespace groove
