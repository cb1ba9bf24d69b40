// What the tracer tells: explain() and the report written at exit.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tracer/calls/segment.h"

namespace groove::tracer {

const char* state_name(State state);  // of a segment
/// "model.cpp:31", from a path of any length.
std::string short_source(const std::string& source);
std::string short_source(const char* file, std::uint32_t line);
/// "relu at model.cpp:31"
std::string describe(const RecordedCall& call);

/// All that there is to tell: "overall", "where_time_is_lost" (the worst first), "segments" and
/// "not_compiled".
nlohmann::json report();
// The same for people and programs (explain.cpp).
std::string explain_text();
std::string explain_json();
std::string explain_html();
/// Keeps a line about a segment that is dropped because its model is gone.
void note_gone(const Segment& segment);
void forget_gone();

}  // namespace groove::tracer
