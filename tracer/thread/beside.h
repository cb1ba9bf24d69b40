// The thread beside the program's: it looks for what repeats, compiles and promotes, one task at a
// time, and never traces.
#pragma once

#include <cstdint>
#include <functional>

namespace groove::tracer {

enum class Task : std::uint8_t { kCompile, kSearch, kPromote, kCount };  // the most urgent first

/// Runs a task when nothing more urgent is to be done, and those of a kind in their order. The
/// child of a fork() has no such thread: there `give_up` is called, also for the task under way.
void run_beside(Task kind, std::function<void()> task, std::function<void()> give_up);
/// How many tasks of a kind have not ended.
int tasks_beside(Task kind);
/// Until nothing is compiled and nothing promoted.
void wait_for_compiler();

}  // namespace groove::tracer
