// Process-wide settings of the tracer, and what is in force on this thread.
#pragma once

#include <cstdint>

namespace groove::tracer {

class Context;

int hot_repeats();
bool is_compilation_synchronous();
bool is_strict();
std::int64_t forced_exit();
std::int64_t failing_live_in();
/// This thread's context when tracing is on; otherwise null.
Context* active_context();

}  // namespace groove::tracer
