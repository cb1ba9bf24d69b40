// Process-wide settings of the tracer, and the thread that is being traced.
#pragma once

#include <cstdint>

namespace groove::tracer {

class Context;

int hot_repeats();
bool is_compilation_synchronous();
bool is_strict();
std::int64_t forced_exit();
void yield_thread();
/// This thread's context when it is the traced one and tracing is on; otherwise null.
Context* active_context();

}  // namespace groove::tracer
