// random-loops: draws whole training programs in the public API, runs each in eager mode and in
// other ways, compares everything that a program can see bit for bit, and makes one that fails
// small. random-programs does the same at the level of the dispatcher.
#include <fmt/format.h>

#include <algorithm>
#include <CLI/CLI.hpp>
#include <map>

#include "tools/random_loops/child.h"
#include "tools/random_loops/measure.h"
#include "tools/random_loops/recipe.h"

namespace {

using namespace groove::random_loops;

struct Options {
  std::uint64_t seed = 1, count = 100;
  std::vector<std::string> ways, themes;
  bool only_prints = false, draws_recipes = false, measures = false, keeps_whole = false;
  bool has_threads = false, is_long = false;
  std::string here;
  Measuring measuring;
  std::vector<int> kept;  // numbers of statements
  int first_themes = kThemes;
  int length = 0, repeats = 1, failures = 20, limit = 20, budget = 40;
};

Program program_of(std::uint64_t seed, const Options& options) {
  const bool has_threads = options.has_threads || seed % 8 == 3;
  Program program = draw(
      seed, {has_threads, options.is_long, options.length, options.themes, options.first_themes});
  program.repeats = options.repeats;
  if (options.kept.empty()) return program;
  for (auto* const part : {&program.before, &program.body})
    std::erase_if(*part, [&](const Statement& statement) {
      return std::find(options.kept.begin(), options.kept.end(), statement.number) ==
             options.kept.end();
    });
  return program;
}

// Hot and automatic always, one more drawn from the seed.
std::vector<Way> ways_of(std::uint64_t seed, const Options& options) {
  std::vector<Way> chosen;
  const auto& all = all_ways();
  if (options.ways.empty()) {
    chosen = {all[1], all[2]};
    static constexpr int others[] = {3, 8, 4, 9, 6, 7, 10, 11, 12};
    constexpr int llvm = 5;  // compiles for seconds
    chosen.push_back(all[static_cast<std::size_t>(seed % 61 == 17 ? llvm : others[seed / 3 % 9])]);
    return chosen;
  }
  for (std::size_t at = 1; at < all.size(); ++at)
    for (const std::string& name : options.ways)
      if (name == "all" || name == all[at].name) chosen.push_back(all[at]);
  return chosen;
}

Subject subject_of(std::uint64_t seed, const Options& options) {
  if (options.draws_recipes) {
    const Recipe recipe = draw_recipe(seed);
    return {seed, print(recipe), [recipe](int steps) -> Task {
              return [recipe, steps](std::FILE* log) { return run(recipe, steps, log); };
            }};
  }
  return {seed, print(program_of(seed, options)), [seed, drawn = options](int steps) mutable {
            drawn.length = steps;
            return task_of(program_of(seed, drawn));
          }};
}

int search(const Options& options) {
  std::map<std::string, std::vector<std::uint64_t>> failed;
  std::uint64_t programs = 0, runs = 0;
  int failures = 0;
  for (std::uint64_t seed = options.seed; seed < options.seed + options.count; ++seed) {
    const Program program = program_of(seed, options);
    const Subject subject = subject_of(seed, options);
    const Task task = subject.task(program.length);
    const Outcome eager = run_in_child(task, all_ways().front(), options.limit);
    // Of a search that is ended before, the last such line tells how far it came.
    if (++programs % 100 == 0)
      fmt::print(stderr, "up to seed {}: {} programs, {} runs, {} failures\n", seed - 1,
                 programs - 1, runs, failures);
    if (!eager.end.empty()) {
      fmt::print("seed {}, eager: {} {}\n{}\n", seed, eager.end, eager.said.substr(0, 400),
                 subject.text);
      failed["eager " + eager.end].push_back(seed);
      ++failures;
      continue;
    }
    for (const Way& way : ways_of(seed, options)) {
      const Outcome got = run_in_child(task, way, options.limit);
      ++runs;
      const Difference difference = compare(eager, got);
      if (difference.kind.empty()) continue;
      ++failures;
      failed[std::string(way.name) + " " + difference.kind].push_back(seed);
      fmt::print("seed {}, {}: {}: {}\n", seed, way.name, difference.kind, difference.detail);
      std::fflush(stdout);
      Program shown = program;
      if (options.draws_recipes) {
        fmt::print("{} steps of {}\n", program.length, subject.text);
        break;
      }
      if (!options.keeps_whole) {
        const int limit = std::clamp(static_cast<int>(eager.counters.seconds * 30) + 2, 2, 20);
        shown = shrink(program, way, difference.kind, limit, options.budget);
        const Outcome expected = run_in_child(shown, all_ways().front(), options.limit);
        const Difference smaller = compare(expected, run_in_child(shown, way, options.limit));
        if (smaller.kind.empty())
          fmt::print("  made small; does not fail every time\n");
        else
          fmt::print("  made small: {}: {}\n", smaller.kind, smaller.detail);
      }
      fmt::print("{}\n", print(shown));
      std::fflush(stdout);
      break;  // one finding a program
    }
    if (failures >= options.failures) break;
  }
  fmt::print("{} programs, {} runs, {} failures\n", programs, runs, failures);
  for (const auto& [kind, seeds] : failed) {
    fmt::print("  {}: {}:", kind, seeds.size());
    for (const std::uint64_t seed : seeds) fmt::print(" {}", seed);
    fmt::print("\n");
  }
  return failures > 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Draws training programs and compares all ways of running them, bit for bit.");
  app.add_option("--seed", options.seed, "the first program");
  app.add_option("--count", options.count, "how many programs");
  app.add_option(
      "--ways", options.ways,
      "all, or some of: hot auto sync interpreter asmjit llvm one-byte-cache two-threads "
      "guard-pages auto-guard-pages check pauses");
  app.add_option("--themes", options.themes,
                 fmt::format("of {}, otherwise drawn",
                             fmt::join(std::begin(kThemeNames) + 1, std::end(kThemeNames), " ")));
  app.add_option("--first-themes", options.first_themes,
                 "draw from the first so many: 9 for what was found before there were more")
      ->check(CLI::Range(2, kThemes));
  app.add_option("--length", options.length, "iterations, otherwise drawn");
  app.add_option(
      "--repeat", options.repeats,
      "run each so often in one process, the tracer afresh each time: for what depends on "
      "when a compilation is done");
  app.add_option("--failures", options.failures, "stop after so many");
  app.add_option("--limit", options.limit, "seconds for one run");
  app.add_option("--budget", options.budget, "seconds for making a program small");
  app.add_option("--keep", options.kept, "leave out all statements but those of these numbers");
  app.add_flag("--threads", options.has_threads,
               "only programs of two threads that hand over; otherwise one in eight");
  app.add_flag("--long", options.is_long, "programs of 1,500 iterations and more");
  app.add_flag("--print", options.only_prints, "only print the programs");
  app.add_flag("--whole", options.keeps_whole, "do not make failing programs small");
  app.add_flag("--recipes", options.draws_recipes,
               "training programs as people write them instead of lists of statements");
  app.add_flag("--measure", options.measures, "what was compiled, and the time");
  app.add_option("--steps", options.measuring.steps, "lengths that are measured")->delimiter(',');
  app.add_option("--pairs", options.measuring.pairs, "eager and automatic runs; fewer long ones");
  app.add_option("--longest", options.measuring.longest, "seconds an eager run may take");
  app.add_option("--worst", options.measuring.worst, "how many programs are listed at the end");
  app.add_option("--least-share", options.measuring.least_share,
                 "fail if the median percentage compiled in the last half is lower");
  app.add_flag("--busy", options.measuring.is_busy, "measure with a process spinning on each core");
  app.add_option("--out", options.measuring.out, "measured numbers as JSON lines, appended");
  app.add_option("--here", options.here, "run the first in this process, in this way");
  CLI11_PARSE(app, argc, argv);
  const auto seeds = options.seed + options.count;
  if (!options.here.empty()) {
    for (const Way& way : all_ways())
      if (options.here == way.name)
        run_here(
            subject_of(options.seed, options)
                .task(options.length ? options.length : program_of(options.seed, options).length),
            way);
    return 0;
  }
  if (options.measures) {
    options.measuring.limit = std::max(options.limit, 60);
    return measure(
               options.seed, options.count,
               [&](std::uint64_t seed) { return subject_of(seed, options); },
               options.measuring) > 0;
  }
  if (!options.only_prints) return search(options);
  for (std::uint64_t seed = options.seed; seed < seeds; ++seed)
    fmt::print("{}\n", subject_of(seed, options).text);
}
