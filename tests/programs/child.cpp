#include "tests/programs/child.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>

#include "groove/jit.h"
#include "src/core/allocator.h"
#include "tests/programs/program.h"
#include "tracer/tell/coverage.h"
#include "tracer/watch/speculation_feedback.h"
#include "tracer/cache/registry.h"
#include "tracer/tell/testing.h"

namespace groove::programs {
namespace {

constexpr char kEndOfOutput = '\x1e';
constexpr int kMostSeconds = 120;

tracer::Coverage coverage_at_steady;
double cpu_at_steady = -1;

double process_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

void tell_parent() {
  const tracer::Coverage end = tracer::coverage();
  const double cpu = process_seconds();
  std::int64_t stages = 0, calls = 0, armed = 0;
  std::map<std::string, std::uint64_t> exits;
  std::set<std::int64_t> live_ins;
  for (const tracer::SegmentPtr& segment : tracer::all_segments()) {
    for (int i = 0; i < static_cast<int>(tracer::Reason::kCount); ++i)
      if (const std::uint64_t count = segment->statistics.left_at_reason[i])
        exits[std::string(name(static_cast<tracer::Reason>(i))) + " at " +
              segment->source.substr(segment->source.rfind('/') + 1)] += count;
    if (segment->state.load() != tracer::State::kArmed) continue;
    ++armed;
    stages = std::max<std::int64_t>(stages, segment->stages);
    calls = std::max<std::int64_t>(calls, static_cast<std::int64_t>(segment->calls.size()));
    live_ins.insert(segment->live_ins.begin(), segment->live_ins.end());
  }
  for (const tracer::Failure& failure : tracer::all_failures())
    exits["not compiled, " + std::string(name(failure.reason)) + " at " +
          failure.source.substr(failure.source.rfind('/') + 1)] += failure.count;
  const jit::Summary summary = jit::summary();
  std::printf("%c\n", kEndOfOutput);
  std::printf("segments %lld\nstages %lld\nwords %lld\nhits %llu\nleaves %llu\n",
              static_cast<long long>(armed), static_cast<long long>(stages),
              static_cast<long long>(calls), static_cast<unsigned long long>(summary.hits),
              static_cast<unsigned long long>(summary.leaves));
  std::printf("compiled %llu\neager %llu\n",
              static_cast<unsigned long long>(end.compiled - coverage_at_steady.compiled),
              static_cast<unsigned long long>(end.eager - coverage_at_steady.eager));
  std::printf(
      "compiled_seconds %.9f\ncpu_seconds %.9f\n",
      static_cast<double>(end.compiled_nanoseconds - coverage_at_steady.compiled_nanoseconds) *
          1e-9,
      cpu - cpu_at_steady);
  for (const std::int64_t slot : live_ins)
    std::printf("live_in %lld\n", static_cast<long long>(slot));
  std::vector<std::pair<std::uint64_t, std::string>> ranked;
  for (const auto& [why, count] : exits) ranked.emplace_back(count, why);
  std::sort(ranked.rbegin(), ranked.rend());
  for (const auto& [count, why] : ranked)
    std::printf("exit %llu x %s\n", static_cast<unsigned long long>(count), why.c_str());
  for (const tracer::EagerCalls& each : tracer::eager_calls())
    std::printf("eagerly %llu x %s\n", static_cast<unsigned long long>(each.count),
                each.source.c_str());
}

void read_report(const std::string& text, Result& result) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t space = line.find(' ');
    if (space == std::string::npos) continue;
    const std::string key = line.substr(0, space), value = line.substr(space + 1);
    if (key == "exit") result.exits.push_back(value);
    if (key == "eagerly") result.eager_calls.push_back(value);
    if (key == "live_in") result.live_ins.push_back(std::stoll(value));
    if (key == "compiled_seconds") result.compiled_seconds = std::stod(value);
    if (key == "cpu_seconds") result.cpu_seconds = std::stod(value);
    const std::array<std::pair<const char*, std::int64_t*>, 7> counts{
        {{"segments", &result.segments},
         {"stages", &result.stages},
         {"calls", &result.calls},
         {"hits", &result.hits},
         {"leaves", &result.leaves},
         {"compiled", &result.compiled},
         {"eager", &result.eager}}};
    for (const auto& [name, to] : counts)
      if (key == name) *to = std::stoll(value);
  }
}

std::string read_all(int from) {
  std::string text;
  std::array<char, 65536> buffer;
  for (ssize_t count; (count = read(from, buffer.data(), buffer.size())) != 0;) {
    if (count > 0)
      text.append(buffer.data(), static_cast<std::size_t>(count));
    else if (errno != EINTR)
      break;
  }
  return text;
}

}  // namespace

void steady() {
  cpu_at_steady = process_seconds();
  coverage_at_steady = tracer::coverage();
  tracer::count_details(true);
}

int be_child(const Request& request) {
  alarm(kMostSeconds);
  const auto& programs = all();
  const auto found = std::find_if(programs.begin(), programs.end(), [&](const Program& program) {
    return program.name == request.program;
  });
  if (found == programs.end()) throw std::invalid_argument("no program " + request.program);
  tracer::testing::force_exit_at(request.exit_at);
  tracer::testing::fail_live_in_check(request.fail_live_in);
  set_guard_pages(request.has_guard_pages);
  manual_seed(7);
  found->run();
  if (cpu_at_steady < 0) throw std::logic_error(request.program + " never calls steady()");
  tell_parent();
  if (request.tells) std::fputs(jit::explain().c_str(), stderr);
  return std::fflush(stdout);
}

Result run_child(const Request& request) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  std::vector<std::string> arguments{"/proc/self/exe",
                                     "--child",
                                     request.program,
                                     "--exit-at",
                                     std::to_string(request.exit_at),
                                     "--fail-live-in",
                                     std::to_string(request.fail_live_in)};
  if (request.tells) arguments.emplace_back("--explain");
  if (request.has_guard_pages) arguments.emplace_back("--guard-pages");
  std::vector<std::string> environment = request.environment;
  for (char** entry = environ; *entry; ++entry)
    if (std::strncmp(*entry, "GROOVE_", 7) != 0) environment.emplace_back(*entry);
  std::vector<char*> argv, envp;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  for (std::string& variable : environment) envp.push_back(variable.data());
  argv.push_back(nullptr);
  envp.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  pid_t child = 0;
  const int error =
      posix_spawn(&child, "/proc/self/exe", &actions, nullptr, argv.data(), envp.data());
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (error != 0) throw std::runtime_error("no process: " + std::string(std::strerror(error)));
  const std::string text = read_all(ends[0]);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  Result result;
  const std::size_t end = text.find(kEndOfOutput);
  result.output = text.substr(0, end);
  if (WIFSIGNALED(status))
    result.failure = std::string("was ended by ") + strsignal(WTERMSIG(status));
  else if (WEXITSTATUS(status) != 0)
    result.failure = "exited with " + std::to_string(WEXITSTATUS(status));
  else if (end == std::string::npos)
    result.failure = "ended early";
  else
    read_report(text.substr(end), result);
  return result;
}

}  // namespace groove::programs
