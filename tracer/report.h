// What the tracer tells: explain(), the report written at exit, and the Chrome trace of the run.
#pragma once

#include <cstdint>
#include <string>

#include "tracer/segment.h"

namespace groove::tracer {

const char* state_name(State state);  // of a segment

std::string explain_text();
std::string explain_json();
std::string explain_html();
/// Keeps a line about a segment that is dropped because its model is gone.
void note_gone(const Segment& segment);

// A stretch of time for GROOVE_TRACE; costs one load when no trace is asked for.
class TraceSpan {
 public:
  /// `name` must live for ever.
  TraceSpan(const char* name, std::uint64_t segment);
  ~TraceSpan();
  TraceSpan(const TraceSpan&) = delete;
  TraceSpan& operator=(const TraceSpan&) = delete;

 private:
  const char* name_;
  std::uint64_t segment_;
  std::int64_t start_;  // nanoseconds; -1 when nothing is traced
};

}  // namespace groove::tracer
