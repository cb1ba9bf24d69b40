// What linking Groove and running one operator adds to the start of a process: an empty program and
// one_op take turns, from fork to exit. Milliseconds, medians.
#include <spawn.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <vector>

#include "bench/median.h"

extern char** environ;

namespace {

constexpr int kRounds = 101;

double milliseconds_of(const std::filesystem::path& program) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  pid_t child = 0;
  char* arguments[] = {const_cast<char*>(program.c_str()), nullptr};
  if (posix_spawn(&child, program.c_str(), nullptr, nullptr, arguments, environ) != 0) {
    throw std::runtime_error("cannot start " + program.string());
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child || status != 0) {
    throw std::runtime_error(program.string() + " failed");
  }
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

}  // namespace

int main() {
  try {
    const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    std::vector<double> empty, one_op;
    for (int round = 0; round < kRounds; ++round) {
      empty.push_back(milliseconds_of(folder / "start_empty"));
      one_op.push_back(milliseconds_of(folder / "start_one_op"));
    }
    std::printf("| process, start to exit | ms | goal |\n|---|---|---|\n");
    std::printf("| an empty program | %.2f | |\n", median(empty));
    std::printf("| one operator of Groove | %.2f | |\n", median(one_op));
    std::printf("| difference | %.2f | ≤ 5 |\n", median(one_op) - median(empty));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "start: %s\n", error.what());
    return 1;
  }
}
