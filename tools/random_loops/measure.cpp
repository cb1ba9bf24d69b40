// Each program in pairs of runs, an eager and an automatic one, each in a process of its own.
// Processor time counts rather than the clock on the wall: other work on the machine slows a clock,
// but adds little to what a process uses.
#include "tools/random_loops/measure.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "bench/median.h"

namespace groove::random_loops {
namespace {

using ::median;  // of numbers, as opposed to groove::median
using nlohmann::json;

// One kernel thread in both, so that what is not the program's own is the compile thread's.
const Way kEager{"eager", {{"GROOVE_MODE", "eager"}, {"GROOVE_NUM_THREADS", "1"}}};
const Way kAutomatic{"auto", {{"GROOVE_NUM_THREADS", "1"}}};

// A process on each core that does nothing but use it.
class Spinning {
 public:
  explicit Spinning(bool is_on) {
    if (!is_on) return;
    std::fflush(nullptr);
    for (unsigned core = 0; core < std::max(1u, std::thread::hardware_concurrency()); ++core) {
      const pid_t child = ::fork();
      if (child == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (volatile unsigned turn = 0;;) turn = turn + 1;
      }
      children_.push_back(child);
    }
  }
  ~Spinning() {
    for (const pid_t child : children_) {
      ::kill(child, SIGKILL);
      ::waitpid(child, nullptr, 0);
    }
  }
  Spinning(const Spinning&) = delete;
  Spinning& operator=(const Spinning&) = delete;

 private:
  std::vector<pid_t> children_;
};

// The medians of all pairs of one program at one length; times are those of the automatic mode in
// parts of eager mode's.
struct Reason {
  std::string text;  // "place: name, how often, what was expected and what came"
  std::string name;
  double lost = 0;  // milliseconds
};
struct Row {
  std::uint64_t seed = 0;
  int steps = 0;
  double share = 0, steady_share = 0;
  double process = 0, program = 0, steady = 0, wall = 0;
  double exits = 0, steady_exits = 0, segments = 0;
  double compile = 0;  // milliseconds
  double beside = 0;   // of other threads than the program's, more than in eager mode
  double eager_seconds = 0;
  std::string failure;          // or difference
  std::vector<Reason> reasons;  // the worst first
};

std::vector<Reason> reasons_of(const std::string& report_text) {
  std::vector<Reason> reasons;
  const json report = json::parse(report_text, nullptr, false);
  if (report.is_discarded()) return {{"no report", "no report"}};
  const auto text = [](const json& row, const char* field) {
    const std::string value = row.value(field, std::string());
    const std::size_t slash = value.rfind('/');
    return value.substr(slash == std::string::npos ? 0 : slash + 1);
  };
  const auto number = [](const json& row, const char* field) {
    return row.contains(field) ? row[field].get<double>() : 0.0;
  };
  for (const json& loss : report.value("where_time_is_lost", json::array())) {
    Reason reason{"", loss.value("reason", std::string("?")), number(loss, "lost_milliseconds")};
    reason.text = fmt::format("{} {} {} times, {:.1f} ms lost", text(loss, "source"), reason.name,
                              number(loss, "count"), reason.lost);
    if (loss.contains("eager_iterations"))
      reason.text += fmt::format(", {} eager", number(loss, "eager_iterations"));
    if (loss.contains("came"))
      reason.text +=
          fmt::format(" ({} expected, {} came)", text(loss, "expected"), text(loss, "came"));
    reasons.push_back(std::move(reason));
    if (reasons.size() == 3) break;
  }
  std::string eagerly;
  std::size_t places = 0;
  for (const json& place : report.value("eager_calls", json::array())) {
    if (places++ == 5) break;
    eagerly += fmt::format("{}{} {}", eagerly.empty() ? "eagerly in the last half: " : ", ",
                           number(place, "count"), text(place, "source"));
  }
  if (!eagerly.empty()) reasons.push_back({std::move(eagerly), ""});
  return reasons;
}

struct Measure {
  const Measuring& options;
  std::ofstream out;
  std::vector<Row> rows;
  std::map<std::string, std::vector<std::uint64_t>> failed;
  std::map<std::uint64_t, std::string> texts;
  int left_out = 0;

  Row row_of(const Subject& subject, int steps) {
    Row row;
    row.seed = subject.seed;
    row.steps = steps;
    const Task task = subject.task(steps);
    std::vector<double> process, program, steady, wall, eager_seconds;
    std::vector<double> share, steady_share, exits, steady_exits, segments, compile, beside;
    const int pairs = std::clamp(options.pairs * 1000 / steps, 1, options.pairs);
    for (int pair = 0; pair < pairs; ++pair) {
      Outcome eager, automatic;
      const auto run = [&](Outcome& to, const Way& way) {
        to = run_in_child(task, way, options.limit);
      };
      if (pair % 2 == 0) run(eager, kEager);
      run(automatic, kAutomatic);
      if (pair % 2 == 1) run(eager, kEager);
      if (!eager.end.empty()) {
        row.failure = "eager: " + eager.end + " " + eager.said.substr(0, 200);
        return row;
      }
      if (const Difference difference = compare(eager, automatic); !difference.kind.empty()) {
        row.failure = difference.kind + ": " + difference.detail;
        return row;
      }
      const Counters &e = eager.counters, &a = automatic.counters;
      const auto part = [](double mine, double theirs) { return mine / std::max(1e-6, theirs); };
      process.push_back(part(a.process_seconds, e.process_seconds));
      program.push_back(part(a.program_seconds, e.program_seconds));
      steady.push_back(part(a.steady_seconds, e.steady_seconds));
      wall.push_back(part(a.seconds, e.seconds));
      eager_seconds.push_back(e.program_seconds);
      share.push_back(a.share());
      steady_share.push_back(a.steady_share());
      exits.push_back(static_cast<double>(a.leaves));
      steady_exits.push_back(static_cast<double>(a.steady_leaves));
      segments.push_back(static_cast<double>(a.segments));
      compile.push_back(a.compile_milliseconds);
      const auto others = [](const Counters& c) { return c.process_seconds - c.program_seconds; };
      beside.push_back(1e3 * (others(a) - others(e)));
    }
    row.process = median(process);
    row.program = median(program);
    row.steady = median(steady);
    row.wall = median(wall);
    row.eager_seconds = median(eager_seconds);
    row.share = median(share);
    row.steady_share = median(steady_share);
    row.exits = median(exits);
    row.steady_exits = median(steady_exits);
    row.segments = median(segments);
    row.compile = median(compile);
    row.beside = median(beside);
    if (steps <= 1000 && (steps >= 200 || options.steps.size() == 1))
      row.reasons = reasons_of(run_in_child(task, kAutomatic, options.limit, Report::kYes).report);
    return row;
  }

  void tell(const Row& row, const Subject& subject) {
    if (!row.failure.empty()) {
      fmt::print("seed {} {} steps: {}\n{}\n", row.seed, row.steps, row.failure, subject.text);
    } else {
      fmt::print(
          "seed {} {:4} steps: {:5.1f} % compiled in the last half ({:5.1f} of all); time of the "
          "process {:.2f}, program {:.2f}, last half {:.2f}, wall {:.2f}; {} exits ({}), {} "
          "segments, {:.1f} ms compiling, {:.1f} beside the program; eager {:.1f} ms\n",
          row.seed, row.steps, 100 * row.steady_share, 100 * row.share, row.process, row.program,
          row.steady, row.wall, row.exits, row.steady_exits, row.segments, row.compile, row.beside,
          1e3 * row.eager_seconds);
    }
    std::fflush(stdout);
    if (!out.is_open()) return;
    json reasons = json::array();
    for (const Reason& reason : row.reasons) reasons.push_back(reason.text);
    out << json{{"seed", row.seed},
                {"steps", row.steps},
                {"program", subject.text},
                {"failure", row.failure},
                {"share", row.share},
                {"steady_share", row.steady_share},
                {"time_process", row.process},
                {"time_program", row.program},
                {"time_steady", row.steady},
                {"time_wall", row.wall},
                {"exits", row.exits},
                {"steady_exits", row.steady_exits},
                {"segments", row.segments},
                {"compile_milliseconds", row.compile},
                {"beside_milliseconds", row.beside},
                {"eager_milliseconds", 1e3 * row.eager_seconds},
                {"reasons", reasons}}
               .dump(-1, ' ', false, json::error_handler_t::replace)
        << std::endl;
  }

  void add(const Subject& subject) {
    texts[subject.seed] = subject.text;
    double a_step = 0;  // in eager mode
    for (const int steps : options.steps) {
      if (a_step * steps > options.longest) {
        ++left_out;
        continue;
      }
      Row row = row_of(subject, steps);
      a_step = row.eager_seconds / steps;
      tell(row, subject);
      if (!row.failure.empty()) {
        failed[row.failure.substr(0, row.failure.find(':'))].push_back(subject.seed);
        return;
      }
      rows.push_back(std::move(row));
    }
  }

  void percentiles(const char* name, int steps, double scale, double Row::*field) const {
    std::vector<double> values;
    for (const Row& row : rows)
      if (row.steps == steps) values.push_back(scale * (row.*field));
    if (values.empty()) return;
    std::sort(values.begin(), values.end());
    const auto at = [&](double part) {
      return values[static_cast<std::size_t>(part * static_cast<double>(values.size() - 1) + 0.5)];
    };
    fmt::print("  {:38} median {:8.2f}  5 % {:8.2f}  95 % {:8.2f}  least {:8.2f}  most {:8.2f}\n",
               name, at(0.5), at(0.05), at(0.95), values.front(), values.back());
  }

  void list_worst(const char* what, int steps, double Row::*field, double sign) const {
    std::vector<const Row*> worst;
    for (const Row& row : rows)
      if (row.steps == steps) worst.push_back(&row);
    std::sort(worst.begin(), worst.end(),
              [&](const Row* a, const Row* b) { return sign * a->*field > sign * b->*field; });
    if (worst.size() > static_cast<std::size_t>(options.worst))
      worst.resize(static_cast<std::size_t>(options.worst));
    if (worst.empty()) return;
    fmt::print("\nThe worst by {} at {} steps:\n", what, steps);
    for (const Row* row : worst) {
      fmt::print(
          "seed {}: {:.1f} % compiled in the last half; process {:.2f}, program {:.2f}, "
          "last half {:.2f}; {} exits, {} segments, {:.1f} ms compiling\n",
          row->seed, 100 * row->steady_share, row->process, row->program, row->steady, row->exits,
          row->segments, row->compile);
      const std::string& text = texts.at(row->seed);
      if (text.find('\n') == std::string::npos) fmt::print("    {}\n", text);
      for (const Row& other : rows)
        if (other.seed == row->seed)
          for (const Reason& reason : other.reasons) fmt::print("    {}\n", reason.text);
    }
  }

  // What most time was lost by, over all programs.
  void list_reasons() const {
    struct Total {
      int programs = 0;
      double lost = 0;
    };
    std::map<std::string, Total> totals;
    for (const Row& row : rows) {
      std::map<std::string, double> mine;
      for (const Reason& reason : row.reasons)
        if (!reason.name.empty()) mine[reason.name] += reason.lost;
      for (const auto& [name, lost] : mine) {
        ++totals[name].programs;
        totals[name].lost += lost;
      }
    }
    if (totals.empty()) return;
    std::vector<std::pair<std::string, Total>> sorted(totals.begin(), totals.end());
    std::sort(sorted.begin(), sorted.end(),
              [](const auto& a, const auto& b) { return a.second.lost > b.second.lost; });
    fmt::print("\nReasons, among the three of each program that lost most\n");
    for (const auto& [name, total] : sorted)
      fmt::print("  {:20} {:4} programs, {:8.1f} ms\n", name, total.programs, total.lost);
  }

  void summarise() const {
    for (const int steps : options.steps) {
      const auto programs = std::count_if(rows.begin(), rows.end(),
                                          [&](const Row& row) { return row.steps == steps; });
      fmt::print("\n{} steps, {} programs; times are parts of eager mode's\n", steps, programs);
      percentiles("% compiled in the last half", steps, 100, &Row::steady_share);
      percentiles("% compiled", steps, 100, &Row::share);
      percentiles("processor time of the process", steps, 1, &Row::process);
      percentiles("processor time of the program's threads", steps, 1, &Row::program);
      percentiles("the same in the last half", steps, 1, &Row::steady);
      percentiles("time on the wall", steps, 1, &Row::wall);
      percentiles("exits", steps, 1, &Row::exits);
      percentiles("exits in the last half", steps, 1, &Row::steady_exits);
      percentiles("segments", steps, 1, &Row::segments);
      percentiles("ms of compiling", steps, 1, &Row::compile);
      percentiles("ms beside the program", steps, 1, &Row::beside);
      percentiles("ms in eager mode", steps, 1e3, &Row::eager_seconds);
    }
    list_reasons();
    for (const int steps : options.steps) {
      if (steps >= 200) list_worst("share", steps, &Row::steady_share, -1);
      list_worst("time of the process", steps, &Row::process, 1);
    }
    if (left_out > 0) fmt::print("\n{} runs left out: too long\n", left_out);
    for (const auto& [kind, seeds] : failed) {
      fmt::print("{}: {}:", kind, seeds.size());
      for (const std::uint64_t seed : seeds) fmt::print(" {}", seed);
      fmt::print("\n");
    }
    std::fflush(stdout);
  }
};

}  // namespace

int measure(std::uint64_t seed, std::uint64_t count,
            const std::function<Subject(std::uint64_t seed)>& draw, const Measuring& options) {
  Measure all{options, {}, {}, {}, {}};
  if (!options.out.empty()) all.out.open(options.out, std::ios::app);
  const Spinning spinning(options.is_busy);
  for (std::uint64_t at = seed; at < seed + count; ++at) all.add(draw(at));
  all.summarise();
  int failures = 0;
  for (const auto& [kind, seeds] : all.failed) failures += static_cast<int>(seeds.size());
  std::vector<double> shares;
  for (const Row& row : all.rows)
    if (row.steps == options.steps.back()) shares.push_back(100 * row.steady_share);
  if (median(shares) < options.least_share) {
    fmt::print("{:.1f} % are less than {} %\n", median(shares), options.least_share);
    ++failures;
  }
  return failures;
}

}  // namespace groove::random_loops
