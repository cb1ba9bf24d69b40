// A library's process in the comparison. It is kept alive and runs a block of steps when it is its
// turn; the protocol is that of anchors_child.cpp.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

// How the process of a library is started.
struct Library {
  std::string key;                   // what the command line calls it
  std::vector<std::string> command;  // anchor and number of threads are appended
  bool is_peer = true;               // Groove needs neither the choice of threads nor of malloc
  bool compiles_first = false;       // its first step compiles
};

// What a block of steps answers.
struct Answer {
  double seconds = 0;
  double loss = 0;
  long long compiled_steps = 0;   // so far; where the library tells
  double compile_seconds = -1;    // so far; where the library tells
  double since_start = 0;         // seconds from the start of the process until now
};

class Contestant {
 public:
  /// 0 threads: the library's default. Throws std::runtime_error when the process cannot start.
  Contestant(const Library& library, const std::string& anchor, int threads);
  ~Contestant();
  Contestant(const Contestant&) = delete;
  Contestant& operator=(const Contestant&) = delete;

  Answer run(long long steps);

  /// Empty, or why this library has no such anchor; then nothing can be run.
  const std::string& missing() const { return missing_; }
  const Library& library() const { return library_; }
  const std::string& name() const { return name_; }
  int threads() const { return threads_; }

  std::vector<double> times;  // microseconds a step, by round
  long long block = 0;        // steps in a turn
  double compile_seconds = -1;

 private:
  std::string read_line();
  void end();

  Library library_;
  int threads_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  pid_t child_ = -1;
  std::FILE* input_ = nullptr;
  std::FILE* output_ = nullptr;
  std::string name_, missing_;
};
