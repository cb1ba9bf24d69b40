// Child processes: crashes and endless loops are findings like any other.
#include "tools/random_loops/child.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <nlohmann/json.hpp>

#include "kernels/pool.h"
#include "src/core/allocator.h"
#include "tools/random_loops/machine.h"
#include "tracer/tell/coverage.h"
#include "tracer/tell/report.h"
#include "tracer/tell/testing.h"

namespace groove::random_loops {
namespace {

std::string text_of(std::FILE* file) {
  std::string text;
  std::fseek(file, 0, SEEK_SET);
  char block[4096];
  for (std::size_t got; (got = std::fread(block, 1, sizeof block, file)) > 0;)
    text.append(block, got);
  return text;
}

void use(const Way& way) {
  for (const auto& [name, value] : way.environment) ::setenv(name, value, 1);
  if (way.has_guard_pages) set_guard_pages(true);
  tracer::testing::set_pauses(way.pauses);
  if (way.is_shared_out) kernels::set_never_serial(true);
}

double seconds_of(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// As the counters were when half of the iterations were done.
Counters half;
std::atomic<double> other_threads{0};  // seconds of the program's threads that are gone

Counters run(const Task& task, std::FILE* log) {
  const double begin = seconds_of(CLOCK_MONOTONIC);
  const double begin_of_thread = seconds_of(CLOCK_THREAD_CPUTIME_ID);
  Counters counters;
  counters.errors = task(log);
  counters.seconds = seconds_of(CLOCK_MONOTONIC) - begin;
  const double end_of_thread = seconds_of(CLOCK_THREAD_CPUTIME_ID);
  counters.program_seconds = end_of_thread - begin_of_thread + other_threads;
  counters.steady_seconds = end_of_thread - half.steady_seconds;
  const jit::Summary summary = jit::summary();
  counters.compile_milliseconds = summary.compile_milliseconds;
  counters.segments = summary.segments;
  counters.hits = summary.hits;
  counters.leaves = summary.leaves;
  counters.ops_compiled = summary.ops_compiled;
  counters.ops_eager = summary.ops_eager;
  counters.steady_compiled = summary.ops_compiled - half.ops_compiled;
  counters.steady_eager = summary.ops_eager - half.ops_eager;
  counters.steady_leaves = summary.leaves - half.leaves;
  return counters;
}

// The library's own report, and under "eager_calls" where operators ran eagerly after note_half().
void write_report(std::FILE* to) {
  auto report = nlohmann::json::parse(tracer::explain_json());
  auto& places = report["eager_calls"] = nlohmann::json::array();
  for (const tracer::EagerCalls& each : tracer::eager_calls()) {
    places.push_back({{"source", each.source}, {"count", each.count}});
    if (places.size() == 12) break;
  }
  std::fputs(report.dump().c_str(), to);
  std::fflush(to);
}
bool counts_places = false;

}  // namespace

double Counters::share() const {
  return static_cast<double>(ops_compiled) /
         std::max(1.0, static_cast<double>(ops_compiled + ops_eager));
}
double Counters::steady_share() const {
  return static_cast<double>(steady_compiled) /
         std::max(1.0, static_cast<double>(steady_compiled + steady_eager));
}

void note_half() {
  const jit::Summary summary = jit::summary();
  half.ops_compiled = summary.ops_compiled;
  half.ops_eager = summary.ops_eager;
  half.leaves = summary.leaves;
  if (counts_places) tracer::count_details(true);
  half.steady_seconds = seconds_of(CLOCK_THREAD_CPUTIME_ID);
}
void note_thread_end() { other_threads += seconds_of(CLOCK_THREAD_CPUTIME_ID); }

Task task_of(Program program) {
  return [program = std::move(program)](std::FILE* log) {
    std::int64_t errors = 0;
    for (int again = 0; again < program.repeats; ++again) {
      if (again > 0) tracer::testing::forget_everything();
      Machine machine(program, log);
      machine.run();
      errors += machine.errors;
    }
    return errors;
  };
}

const std::vector<Way>& all_ways() {
  static const std::vector<Way> ways = {
      {"eager", {{"GROOVE_MODE", "eager"}, {"GROOVE_NUM_THREADS", "1"}}},
      {"hot", {{"GROOVE_HOT", "1"}, {"GROOVE_COMPILE", "sync"}, {"GROOVE_NUM_THREADS", "1"}}},
      {"auto", {}},
      {"sync", {{"GROOVE_COMPILE", "sync"}, {"GROOVE_NUM_THREADS", "1"}}},
      {"interpreter",
       {{"GROOVE_TIER", "interpreter"}, {"GROOVE_HOT", "1"}, {"GROOVE_COMPILE", "sync"}}},
      {"llvm", {{"GROOVE_TIER", "llvm"}, {"GROOVE_HOT", "1"}, {"GROOVE_COMPILE", "sync"}}},
      {"one-byte-cache",
       {{"GROOVE_CACHE_BYTES", "1"}, {"GROOVE_HOT", "1"}, {"GROOVE_COMPILE", "sync"}}},
      {"two-threads",
       {{"GROOVE_NUM_THREADS", "2"}, {"GROOVE_HOT", "1"}, {"GROOVE_COMPILE", "sync"}},
       false,
       true},
      {"guard-pages",
       {{"GROOVE_HOT", "1"}, {"GROOVE_COMPILE", "sync"}, {"GROOVE_NUM_THREADS", "1"}},
       true},
      {"auto-guard-pages", {}, true},
      {"check",
       {{"GROOVE_CHECK", "1"},
        {"GROOVE_HOT", "1"},
        {"GROOVE_COMPILE", "sync"},
        {"GROOVE_NUM_THREADS", "1"}},
       false,
       false,
       0,
       10},  // every iteration runs twice, and what it may write is copied and compared
      {"asmjit", {{"GROOVE_TIER", "asmjit"}, {"GROOVE_HOT", "1"}, {"GROOVE_COMPILE", "sync"}}},
      {"pauses",
       {{"GROOVE_HOT", "1"}, {"GROOVE_COMPILE", "sync"}, {"GROOVE_NUM_THREADS", "1"}},
       false,
       false,
       4},
  };
  return ways;
}

Counters run_here(const Program& program, const Way& way) {
  return run_here(task_of(program), way);
}
Counters run_here(const Task& task, const Way& way) {
  use(way);
  return run(task, stdout);
}

Outcome run_in_child(const Program& program, const Way& way, int seconds, Report report) {
  return run_in_child(task_of(program), way, seconds, report);
}
Outcome run_in_child(const Task& task, const Way& way, int seconds, Report report) {
  seconds *= way.slowness;
  Outcome outcome;
  std::FILE* const log = std::tmpfile();
  std::FILE* const said = std::tmpfile();
  std::FILE* const told = report == Report::kYes ? std::tmpfile() : nullptr;
  auto* const shared = static_cast<Counters*>(
      ::mmap(nullptr, sizeof(Counters), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  if (!log || !said || shared == MAP_FAILED) {
    outcome.end = "no file for the log";
    return outcome;
  }
  *shared = {};
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(::fileno(said), 2);
    const rlimit core{0, 0};
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they map terabytes
    const rlimit memory{std::size_t{8} << 30, std::size_t{8} << 30};
    ::setrlimit(RLIMIT_AS, &memory);
#endif
    ::setrlimit(RLIMIT_CORE, &core);
    // Of the processor's time; other work on the machine is no hang. A program that waits for ever
    // uses none.
    const auto most = static_cast<rlim_t>(seconds);
    const rlimit time{most, most};
    ::setrlimit(RLIMIT_CPU, &time);
    ::alarm(static_cast<unsigned>(10 * seconds));
    use(way);
    counts_places = told;
    try {
      *shared = run(task, log);
    } catch (const std::exception& error) {
      std::fprintf(log, "ended by: %s\n", error.what());
    }
    std::fflush(log);
    if (told) write_report(told);
    std::exit(0);
  }
  int status = 0;
  rusage used{};
  ::wait4(child, &status, 0, &used);
  const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  if (signal == SIGALRM)
    outcome.end = "waits for ever";
  else if (signal == SIGXCPU || signal == SIGKILL)
    outcome.end = "hang";
  else if (signal != 0)
    outcome.end = fmt::format("signal {}", signal);
  else if (WEXITSTATUS(status) != 0)
    outcome.end = fmt::format("exit status {}", WEXITSTATUS(status));
  outcome.log = text_of(log);
  outcome.said = text_of(said);
  outcome.counters = *shared;
  const auto in_seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  outcome.counters.process_seconds = in_seconds(used.ru_utime) + in_seconds(used.ru_stime);
  if (told) {
    outcome.report = text_of(told);
    std::fclose(told);
  }
  ::munmap(shared, sizeof(Counters));
  std::fclose(log);
  std::fclose(said);
  return outcome;
}

Difference compare(const Outcome& expected, const Outcome& got) {
  if (!got.end.empty())
    return {got.end, fmt::format("{} (its log has {} of {} bytes)", got.said.substr(0, 600),
                                 got.log.size(), expected.log.size())};
  if (!got.said.empty() && got.said != expected.said) return {"said", got.said.substr(0, 600)};
  if (expected.log == got.log) return {};
  // The first line that differs.
  std::size_t at = 0, lines = 1;
  for (std::size_t n = 0; n < expected.log.size() && n < got.log.size(); ++n) {
    if (expected.log[n] != got.log[n]) break;
    if (expected.log[n] == '\n') at = n + 1, ++lines;
  }
  const auto line = [&](const std::string& text) {
    return at < text.size() ? text.substr(at, std::min<std::size_t>(text.find('\n', at) - at, 160))
                            : std::string("nothing");
  };
  const bool is_ours = line(got.log).find("internal check") != std::string::npos ||
                       line(got.log).find("GROOVE_CHECK") != std::string::npos;
  return {is_ours ? "internal error" : "differs",
          fmt::format("line {}: expected `{}`, got `{}`", lines, line(expected.log),
                      is_ours ? got.log.substr(at, 400) : line(got.log))};
}

}  // namespace groove::random_loops
