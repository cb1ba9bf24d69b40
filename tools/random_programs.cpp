// random-programs: makes random programs, runs each eagerly by the interpreter (the oracle) and in
// other ways (generated code, traced, with forced exits, threads, instruction sets), compares all
// that can be observed bit for bit, and makes a failing program small. Programs run in child
// processes, so that crashes and hangs are findings like any other.
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <cstdio>
#include <cstdlib>

#include "kernels/machine.h"
#include "src/core/allocator.h"
#include "tools/random_programs/compare.h"

namespace {

using namespace groove::random_programs;

constexpr int kSame = 0, kDiffers = 1, kCrashed = 2;
constexpr std::uint64_t kSeedsPerChild = 500;

struct Options {
  std::uint64_t seed = 1, count = 100;
  bool is_loop = false, plants_fault = false, only_prints = false, is_verbose = false;
  bool keeps_whole = false, has_guard_pages = false, has_every_exit = false, is_drawn = false;
  bool shows_progress = false;
  int threads = 7, failures = 5;
};

struct Shared {  // what a child tells its parent
  std::uint64_t seed = 0;
  Totals totals;
  std::uint64_t programs = 0, runs = 0, instructions = 0;
  Way way;
  char text[4096] = {};
};

std::uint64_t scramble(std::uint64_t z) {
  z = (z + 0x9E3779B97F4A7C15u) * 0xBF58476D1CE4E5B9u;
  return (z ^ z >> 29) * 0x94D049BB133111EBu >> 16;
}

// With one drawn way a program, every other one is a loop.
bool is_loop(std::uint64_t seed, const Options& options) {
  return options.is_drawn ? seed % 2 == 0 : options.is_loop;
}

// One configuration drawn from the seed: everything that must not change a bit, at once.
Way drawn_way(const Program& program, const Options& options) {
  std::uint64_t state = program.seed * 1931 + 17;
  const auto below = [&](std::size_t n) {
    state = scramble(state);
    return static_cast<int>(state % n);
  };
  static constexpr int threads[] = {1, 2, 3, 7};
  Way way;
  way.threads = std::min(threads[below(4)], options.threads);
  way.is_avx2 = below(2) == 0;
  way.is_traced = below(8) != 0;
  const int tier = below(32);  // LLVM takes milliseconds for a kernel
  if (tier < 4) way.tier = Tier::kInterpreter;
  if (tier == 4 && llvm_problem().empty())
    way.tier = way.is_traced && below(2) == 0 ? Tier::kPromoted : Tier::kLlvm;
  way.is_fused = below(4) != 0;
  way.is_never_serial = below(3) == 0;
  way.fills_freed_memory = below(4) == 0;
  way.is_synchronous = below(8) != 0;
  way.hot = 1 + (below(4) == 0);
  way.passes = static_cast<PassChoice>(below(8) < 4 ? 2 : below(3) == 0);
  way.pass_seed = program.seed;
  way.plants_fault = options.plants_fault;
  const auto words = program.body.size() + program.body.size() / 2 + 2;
  if (below(4) == 0) way.exit = below(words);
  if (below(8) == 0) way.is_checked = !options.plants_fault;
  return way;
}

// The ways in which a program is run after the oracle, drawn from its seed. LLVM takes milliseconds
// for a kernel, so one program in eight gets it.
std::vector<Way> ways(const Program& program, const Options& options) {
  if (options.is_drawn) return {drawn_way(program, options)};
  std::uint64_t state = program.seed * 977 + 5;
  const auto below = [&](std::size_t n) {
    state = scramble(state);
    return static_cast<int>(state % n);
  };
  std::vector<Way> all;
  const auto draw = [&](bool is_traced) {
    static constexpr int threads[] = {1, 2, 3, 7};
    Way way;
    way.is_traced = is_traced;
    way.threads = std::min(threads[below(4)], options.threads);
    way.is_avx2 = below(2) == 0;
    way.hot = 1 + (below(4) == 0);
    way.is_fused = below(5) != 0;
    way.is_never_serial = below(3) == 0;
    way.fills_freed_memory = below(4) == 0;
    way.plants_fault = options.plants_fault;
    all.push_back(way);
  };
  draw(false);
  draw(true);
  if (below(4) == 0) {
    draw(true);
    all.back().is_synchronous = false;
  }
  if (below(4) == 0) {
    draw(true);
    all.back().tier = Tier::kInterpreter;
  }
  const bool has_llvm = llvm_problem().empty();
  if (has_llvm && below(8) == 0) {
    draw(below(3) != 0);
    all.back().tier = all.back().is_traced && below(2) == 0 ? Tier::kPromoted : Tier::kLlvm;
    all.back().hot = 1;
  }
  for (int n = 0; n < 2; ++n) {
    draw(true);
    all.back().exit = below(program.body.size() + program.body.size() / 2 + 2);
  }
  draw(true);
  all.back().is_checked = !options.plants_fault;
  if (!options.has_every_exit) return all;
  // A word may touch two new tensors; the live-ins among them are those whose check can fail.
  const auto words = static_cast<int>(program.body.size() + program.body.size() / 2 + 2);
  for (int word = 0; word < words; ++word) {
    draw(true);
    all.back().exit = word;
  }
  for (int slot = 0; slot < 2 * words; ++slot) {
    draw(true);
    all.back().failing_live_in = slot;
  }
  return all;
}

Way oracle() {
  Way way;
  way.tier = Tier::kInterpreter;
  return way;
}

// In a child: programs first … last - 1, until one fails.
int check_programs(std::uint64_t first, std::uint64_t last, const Options& options,
                   Shared& shared) {
  for (std::uint64_t seed = first; seed < last; ++seed) {
    shared.seed = seed;
    shared.way = oracle();
    alarm(240);
    const Program program = generate(seed, is_loop(seed, options));
    const Log expected = run(program, oracle());
    ++shared.programs;
    shared.instructions += program.body.size();
    for (const Way& way : ways(program, options)) {
      shared.way = way;
      alarm(240);
      ++shared.runs;
      const std::string text = difference(expected, run(program, way));
      if (text.empty()) continue;
      std::snprintf(shared.text, sizeof(shared.text), "%s", text.c_str());
      return kDiffers;
    }
  }
  return kSame;
}

// Runs `work` in a child of its own; its result, or kCrashed.
template <typename Work>
int in_child(Work work, bool is_quiet) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    if (is_quiet && !std::freopen("/dev/null", "w", stderr)) _exit(kCrashed);
    int result = kCrashed;
    try {
      result = work();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
    }
    std::fflush(nullptr);
    _exit(result);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  if (!is_quiet) std::printf("(signal %d)\n", WTERMSIG(status));
  return kCrashed;
}

int outcome(const Program& program, const Way& way, std::string* text) {
  const int repeats = way.is_traced && !way.is_synchronous ? 4 : 1;
  const Log expected = run(program, oracle());
  for (int n = 0; n < repeats; ++n) {
    const std::string found = difference(expected, run(program, way));
    if (text) *text = found;
    if (!found.empty()) return kDiffers;
  }
  return kSame;
}

int outcome_in_child(const Program& program, const Way& way) {
  return in_child(
      [&] {
        alarm(20);
        return outcome(program, way, nullptr);
      },
      true);
}

// In a child, because making a program runs it.
int shrink_and_print(const Shared& shared, const Options& options, int kind) {
  const Program whole = generate(shared.seed, is_loop(shared.seed, options));
  Way way = shared.way;
  Program small = whole;
  if (outcome_in_child(whole, way) == kind) {
    if (!options.keeps_whole)
      small = shrink(whole, [&](const Program& candidate) {
        return outcome_in_child(candidate, way) == kind;
      });
  } else {
    std::printf("(does not fail again by itself)\n");
  }
  std::printf("%s", print(small).c_str());
  in_child(
      [&] {
        alarm(20);
        std::string text;
        outcome(small, way, &text);
        std::printf("%s", text.c_str());
        return 0;
      },
      false);
  if (way.is_traced) {
    in_child(
        [&] {
          alarm(20);
          std::printf("  what is compiled, for groove-opt:\n");
          way.prints_graphs = true;
          run(small, way);
          return 0;
        },
        true);
    way.is_node_by_node = true;
    const int by_node = outcome_in_child(small, way);
    std::printf("  with the recorded graph run node by node: %s\n",
                by_node == kSame ? "no failure (so the compiler)" : "fails, too (so the tracer)");
  }
  return 0;
}

int check_all(const Options& options) {
  void* memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw groove::Error("random-programs: no shared memory");
  Shared& shared = *new (memory) Shared;
  const std::uint64_t end = options.seed + options.count;
  int failures = 0;
  for (std::uint64_t next = options.seed; next < end && failures < options.failures;) {
    const std::uint64_t last = std::min(end, next + kSeedsPerChild);
    const int result = in_child(
        [&] {
          const int found = check_programs(next, last, options, shared);
          shared.totals.hits += totals().hits;
          shared.totals.leaves += totals().leaves;
          shared.totals.segments += totals().segments;
          return found;
        },
        !options.is_verbose);
    if (result == kSame) {
      next = last;
      if (options.shows_progress) {
        std::printf("%llu programs so far, %d failed\n",
                    static_cast<unsigned long long>(shared.programs), failures);
        std::fflush(stdout);
      }
      continue;
    }
    ++failures;
    std::printf("seed %llu %s: %s\n%s", static_cast<unsigned long long>(shared.seed),
                result == kDiffers ? "differs" : "crashed or hung", print(shared.way).c_str(),
                result == kDiffers ? shared.text : "");
    in_child([&] { return shrink_and_print(shared, options, result); }, false);
    std::printf("\n");
    next = shared.seed + 1;
  }
  std::printf(
      "%llu programs, %llu instructions, %llu runs compared; %llu segments, %llu hits, %llu "
      "leaves; %d failed%s\n",
      static_cast<unsigned long long>(shared.programs),
      static_cast<unsigned long long>(shared.instructions),
      static_cast<unsigned long long>(shared.runs),
      static_cast<unsigned long long>(shared.totals.segments),
      static_cast<unsigned long long>(shared.totals.hits),
      static_cast<unsigned long long>(shared.totals.leaves), failures,
      llvm_problem().empty() ? "" : (" (no LLVM: " + llvm_problem() + ")").c_str());
  return failures ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Compares random programs, run in all ways, bit for bit.");
  Options options;
  app.add_option("--seed", options.seed, "of the first program; the others follow");
  app.add_option("--count", options.count, "number of programs");
  app.add_option("--threads", options.threads, "most threads of a kernel");
  app.add_option("--failures", options.failures, "stop after that many");
  app.add_flag("--loops", options.is_loop, "training loops instead of straight programs");
  app.add_flag("--drawn", options.is_drawn,
               "one drawn configuration a program: passes off, on or reordered, fusion, tier, "
               "threads, instruction set; straight programs and loops in turn");
  app.add_flag("--progress", options.shows_progress, "say after every 500 programs how far it is");
  app.add_flag("--print", options.only_prints, "print the programs instead of running them");
  app.add_flag("--whole", options.keeps_whole, "do not shrink failing programs");
  app.add_flag("--verbose", options.is_verbose, "let programs write to standard error");
  app.add_flag("--guard-pages", options.has_guard_pages,
               "let every storage end at a page that may not be touched");
  app.add_flag("--every-exit", options.has_every_exit,
               "leave compiled runs at every word, and at every check of a live-in");
  app.add_flag("--plant-fault", options.plants_fault,
               "flip a bit in what compiled loops write, to see that it is found");
  CLI11_PARSE(app, argc, argv);
  try {
    groove::set_guard_pages(options.has_guard_pages);
    groove::set_num_threads(options.threads);
    groove::kernels::this_machine();  // what compiled programs have room for is decided once
    if (!options.only_prints) return check_all(options);
    for (std::uint64_t n = 0; n < options.count; ++n)
      std::printf("%s\n", print(generate(options.seed + n, is_loop(options.seed + n, options))).c_str());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
