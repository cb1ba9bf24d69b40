#include "tools/random_loops/measure.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

namespace groove::random_loops {
namespace {

// A process that spins on each core, while it lives.
class Spinners {
 public:
  explicit Spinners(bool is_wanted) {
    for (unsigned core = 0; is_wanted && core < std::thread::hardware_concurrency(); ++core) {
      const pid_t child = ::fork();
      if (child == 0)
        for (std::atomic<std::uint64_t> n = 0;;) n.fetch_add(1, std::memory_order_relaxed);
      all_.push_back(child);
    }
  }
  ~Spinners() {
    for (const pid_t child : all_) {
      ::kill(child, SIGKILL);
      ::waitpid(child, nullptr, 0);
    }
  }
  Spinners(const Spinners&) = delete;
  Spinners& operator=(const Spinners&) = delete;

 private:
  std::vector<pid_t> all_;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct Row {
  std::uint64_t seed;
  double share, steady, time, thread_time, process_time, exits, segments, compile, spread;
  std::string reason, text;
};

Row measured(const Program& program, const std::vector<Outcome>& eager,
             const std::vector<Outcome>& automatic) {
  // The fastest of each: what disturbs a run only makes it longer.
  const auto ratio = [&](double Counters::*field) {
    const auto least = [field](const std::vector<Outcome>& runs) {
      double time = 1e300;
      for (const Outcome& run : runs) time = std::min(time, run.counters.*field);
      return time;
    };
    return least(automatic) / std::max(1e-9, least(eager));
  };
  const auto share = [](std::uint64_t compiled, std::uint64_t alone) {
    return static_cast<double>(compiled) /
           std::max(1.0, static_cast<double>(compiled) + static_cast<double>(alone));
  };
  std::vector<double> shares, steady;
  for (const Outcome& run : automatic) {
    const Counters& c = run.counters;
    shares.push_back(share(c.ops_compiled, c.ops_eager));
    steady.push_back(
        share(c.ops_compiled - c.ops_compiled_at_half, c.ops_eager - c.ops_eager_at_half));
  }
  const Counters& last = automatic.back().counters;
  const auto [least, most] = std::minmax_element(shares.begin(), shares.end());
  return {program.seed,
          median(shares),
          median(steady),
          ratio(&Counters::seconds),
          ratio(&Counters::thread_seconds),
          ratio(&Counters::process_seconds),
          static_cast<double>(last.leaves),
          static_cast<double>(last.segments),
          last.compile_milliseconds,
          *most - *least,
          last.reason,
          print(program)};
}

void print_percentiles(const char* name, std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto at = [&](double part) {
    return values[static_cast<std::size_t>(part * static_cast<double>(values.size() - 1))];
  };
  fmt::print("  {:34} 5 %: {:8.3f}   median: {:8.3f}   95 %: {:8.3f}   most: {:8.3f}\n", name,
             at(0.05), at(0.5), at(0.95), values.back());
}

void print_summary(int steps, std::vector<Row> rows) {
  fmt::print("{} steps, {} programs\n", steps, rows.size());
  const auto each = [&](double Row::*field) {
    std::vector<double> values;
    for (const Row& row : rows) values.push_back(row.*field);
    return values;
  };
  print_percentiles("compiled share", each(&Row::share));
  print_percentiles("… in the second half", each(&Row::steady));
  print_percentiles("… between runs, most less least", each(&Row::spread));
  print_percentiles("time, eager mode = 1", each(&Row::time));
  print_percentiles("… of the program's thread's core", each(&Row::thread_time));
  print_percentiles("… of all threads' cores", each(&Row::process_time));
  print_percentiles("exits", each(&Row::exits));
  print_percentiles("segments", each(&Row::segments));
  print_percentiles("milliseconds of compiling", each(&Row::compile));
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.time > b.time; });
  constexpr std::size_t kWorst = 12;
  fmt::print("  the slowest against eager mode\n");
  for (std::size_t at = 0; at < std::min(kWorst, rows.size()); ++at)
    fmt::print("    seed {}: time {:.2f}, {:.0f} % compiled in the second half; {}\n",
               rows[at].seed, rows[at].time, 100 * rows[at].steady, rows[at].reason);
  std::sort(rows.begin(), rows.end(),
            [](const Row& a, const Row& b) { return a.steady < b.steady; });
  fmt::print("  the least compiled\n");
  for (std::size_t at = 0; at < std::min(kWorst, rows.size()); ++at)
    fmt::print("    seed {}: {:.0f} % compiled in the second half, time {:.2f}; {}\n",
               rows[at].seed, 100 * rows[at].steady, rows[at].time, rows[at].reason);
  std::fflush(stdout);
}

}  // namespace

int measure(std::uint64_t first, std::uint64_t count,
            const std::function<Program(std::uint64_t)>& program_of,
            const MeasureOptions& options) {
  const Spinners spinners(options.is_busy);
  const Way &eager_mode = all_ways()[0], &automatic_mode = all_ways()[2];
  std::ofstream out;
  if (!options.out.empty()) out.open(options.out);
  std::map<int, std::vector<Row>> rows;
  int differing = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    Program program = program_of(seed);
    for (const int steps : options.steps) {
      program.length = steps;
      std::vector<Outcome> eager, automatic;
      std::string problem;
      for (int pair = 0; pair < options.pairs && problem.empty(); ++pair) {
        for (const bool is_eager : {pair % 2 == 0, pair % 2 != 0}) {
          auto& runs = is_eager ? eager : automatic;
          runs.push_back(
              run_in_child(program, is_eager ? eager_mode : automatic_mode, options.limit));
        }
        const Difference difference = compare(eager.back(), automatic.back());
        problem = eager.back().end.empty() ? difference.kind : "eager: " + eager.back().end;
        if (!problem.empty())
          fmt::print("seed {}, {} steps: {}: {}\n{}\n", seed, steps, problem, difference.detail,
                     print(program));
      }
      if (!problem.empty()) {
        ++differing;
        break;
      }
      const Row row = measured(program, eager, automatic);
      fmt::print(
          "seed {} {:5} steps: {:5.1f} % compiled, {:5.1f} in the second half, time {:5.2f} "
          "(thread {:.2f}, all {:.2f}), {:.0f} exits, {:.0f} segments, {:.1f} ms compiling; {}\n",
          seed, steps, 100 * row.share, 100 * row.steady, row.time, row.thread_time,
          row.process_time, row.exits, row.segments, row.compile, row.text);
      std::fflush(stdout);
      if (out) {
        const nlohmann::json line = {{"seed", seed},
                                     {"steps", steps},
                                     {"share", row.share},
                                     {"steady_share", row.steady},
                                     {"time", row.time},
                                     {"thread_time", row.thread_time},
                                     {"process_time", row.process_time},
                                     {"exits", row.exits},
                                     {"segments", row.segments},
                                     {"compile_milliseconds", row.compile},
                                     {"reason", row.reason},
                                     {"program", row.text}};
        out << line.dump() << std::endl;
      }
      rows[steps].push_back(row);
    }
  }
  for (const auto& [steps, all] : rows) print_summary(steps, all);
  fmt::print("{} programs, {} with other bits or another end\n", count, differing);
  return differing;
}

}  // namespace groove::random_loops
