// One run of one program in a process of its own: the environment decides how it runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace groove::programs {

using Environment = std::vector<std::string>;  // "NAME=value"

struct Request {
  std::string program;
  Environment environment;
  std::int64_t exit_at = -1;       // every replay leaves before this call
  std::int64_t fail_live_in = -1;  // the check of this slot fails, see tracer/tell/testing.h
  bool tells = false;              // explains itself on standard error
  bool has_guard_pages = false;    // every storage ends at a page that may not be touched
};

struct Result {
  std::string output;   // what the program printed
  std::string failure;  // how it ended, when not well
  // What the tracer did, from the line after the program's output.
  std::int64_t segments = 0, stages = 0, calls = 0, hits = 0, leaves = 0;
  std::int64_t compiled = 0, eager = 0;          // operators in the steady part
  double compiled_seconds = 0, cpu_seconds = 0;  // of the steady part, on the threads' clocks
  std::vector<std::int64_t> live_ins;            // slots of all armed segments
  std::vector<std::string> exits, eager_calls;  // the most frequent first
  double share() const {
    const std::int64_t all = compiled + eager;
    return all == 0 ? 100.0 : 100.0 * static_cast<double>(compiled) / static_cast<double>(all);
  }
};

/// Starts this executable again and waits.
Result run_child(const Request& request);

/// What the started executable does: runs the program, then tells the parent about it.
int be_child(const Request& request);

}  // namespace groove::programs
