// Child processes: crashes and endless loops are findings like any other.
#include "tools/random_loops/child.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>

#include "src/core/allocator.h"
#include "tools/random_loops/machine.h"
#include "tracer/testing.h"

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
}

Counters run(const Program& program, std::FILE* log) {
  const auto begin = std::chrono::steady_clock::now();
  Counters counters;
  for (int again = 0; again < program.repeats; ++again) {
    if (again > 0) tracer::testing::forget_everything();
    Machine machine(program, log);
    machine.run();
    counters.errors += machine.errors;
  }
  counters.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const jit::Summary summary = jit::summary();
  counters.compile_milliseconds = summary.compile_milliseconds;
  counters.segments = summary.segments;
  counters.hits = summary.hits;
  counters.leaves = summary.leaves;
  counters.ops_compiled = summary.ops_compiled;
  counters.ops_eager = summary.ops_eager;
  return counters;
}

}  // namespace

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
       {{"GROOVE_NUM_THREADS", "2"}, {"GROOVE_HOT", "1"}, {"GROOVE_COMPILE", "sync"}}},
      {"guard-pages",
       {{"GROOVE_HOT", "1"}, {"GROOVE_COMPILE", "sync"}, {"GROOVE_NUM_THREADS", "1"}},
       true},
      {"auto-guard-pages", {}, true},
      {"check",
       {{"GROOVE_CHECK", "1"},
        {"GROOVE_HOT", "1"},
        {"GROOVE_COMPILE", "sync"},
        {"GROOVE_NUM_THREADS", "1"}}},
  };
  return ways;
}

Counters run_here(const Program& program, const Way& way) {
  use(way);
  return run(program, stdout);
}

Outcome run_in_child(const Program& program, const Way& way, int seconds) {
  Outcome outcome;
  std::FILE* const log = std::tmpfile();
  std::FILE* const said = std::tmpfile();
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
    const rlimit memory{std::size_t{8} << 30, std::size_t{8} << 30}, core{0, 0};
#ifndef __SANITIZE_ADDRESS__
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
    try {
      *shared = run(program, log);
    } catch (const std::exception& error) {
      std::fprintf(log, "ended by: %s\n", error.what());
    }
    std::fflush(log);
    std::exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
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
