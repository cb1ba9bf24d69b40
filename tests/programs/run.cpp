// Runs every program in eager mode and in all other ways, compares what it prints byte for byte,
// and prints how much of its steady state runs compiled.
#include <algorithm>
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <iostream>
#include <set>
#include <string>
#include <vector>

#include "tests/programs/child.h"
#include "tests/programs/program.h"

namespace groove::programs {
namespace {

struct Way {
  std::string name;
  Environment environment;
  bool has_guard_pages = false;
};

const Environment kEager{"GROOVE_MODE=eager", "GROOVE_NUM_THREADS=1"};
const Environment kMeasured{"GROOVE_TIER=asmjit", "GROOVE_COMPILE=sync", "GROOVE_NUM_THREADS=1"};

// Everything that must not change a bit, in all combinations.
std::vector<Way> all_ways() {
  std::vector<Way> ways{{"", {}}};
  const auto times = [&ways](const std::vector<Way>& choices) {
    std::vector<Way> product;
    for (const Way& way : ways)
      for (const Way& choice : choices) {
        Way both = way;
        both.name += (both.name.empty() ? "" : "-") + choice.name;
        both.environment.insert(both.environment.end(), choice.environment.begin(),
                                choice.environment.end());
        product.push_back(both);
      }
    ways = product;
  };
  times({{"asmjit", {"GROOVE_TIER=asmjit"}}, {"llvm", {"GROOVE_TIER=llvm"}}});
  times({{"sync", {"GROOVE_COMPILE=sync"}}, {"background", {"GROOVE_COMPILE=background"}}});
  times({{"hot2", {"GROOVE_HOT=2"}}, {"hot1", {"GROOVE_HOT=1"}}});
  times({{"cache", {}}, {"onecache", {"GROOVE_CACHE_BYTES=1"}}});
  times({{"1thread", {"GROOVE_NUM_THREADS=1"}}, {"2threads", {"GROOVE_NUM_THREADS=2"}}});
  ways.push_back({"guarded-asmjit", {"GROOVE_TIER=asmjit", "GROOVE_COMPILE=sync"}, true});
  ways.push_back({"guarded-llvm", {"GROOVE_TIER=llvm", "GROOVE_COMPILE=sync"}, true});
  ways.push_back({"checked", {"GROOVE_CHECK=1", "GROOVE_TIER=asmjit", "GROOVE_COMPILE=sync"}});
  ways.push_back({"eager-2threads", {"GROOVE_MODE=eager", "GROOVE_NUM_THREADS=2"}});
  return ways;
}

struct Options {
  std::string only, way;
  bool is_full = false, lists = false, has_reasons = false;
  int shard = 0, shards = 1;
};

class Check {
 public:
  Check(const Program& program, const Options& options, std::size_t number)
      : program_(program), options_(options), number_(number) {}

  /// False when anything differs.
  bool run() {
    expected_ = run_child({program_.name, kEager});
    if (!expected_.failure.empty()) {
      complain("eager", expected_.failure);
      return false;
    }
    Request measured{program_.name, kMeasured};
    measured.tells = options_.has_reasons;
    const Result result = run_child(measured);
    compare("asmjit-sync", result);
    print_row(result);
    if (result.failure.empty() && result.share() < program_.least_share)
      complain("asmjit-sync", "less than " + std::to_string(program_.least_share) +
                                  " % of its steady work runs compiled");
    run_ways();
    force(result);
    return is_good_;
  }

 private:
  void complain(const std::string& way, const std::string& what) {
    is_good_ = false;
    std::printf("FAILED %s, %s: %s\n", program_.name.c_str(), way.c_str(), what.c_str());
    std::fflush(stdout);
  }

  void compare(const std::string& way, const Result& actual) {
    if (!actual.failure.empty()) complain(way, actual.failure);
    if (actual.output == expected_.output) return;
    const std::string &a = actual.output, &b = expected_.output;
    const auto at = static_cast<std::size_t>(
        std::mismatch(a.begin(),
                      a.begin() + static_cast<std::ptrdiff_t>(std::min(a.size(), b.size())),
                      b.begin())
            .first -
        a.begin());
    const std::size_t begin = at == 0 ? 0 : b.rfind('\n', at - 1) + 1;
    const auto line = [begin](const std::string& text) {
      return begin < text.size() ? text.substr(begin, text.find('\n', begin) - begin) : "(end)";
    };
    complain(way,
             "line " +
                 std::to_string(
                     std::count(b.begin(), b.begin() + static_cast<std::ptrdiff_t>(at), '\n') + 1) +
                 " should be\n  " + line(b) + "\nbut is\n  " + line(a));
  }

  void run_ways() {
    const std::vector<Way> ways = all_ways();
    for (std::size_t i = 0; i < ways.size(); ++i) {
      const bool is_chosen =
          options_.way.empty() ? options_.is_full || (i * 5 + number_) % ways.size() < kSampledWays
                               : ways[i].name == options_.way;
      if (!is_chosen) continue;
      Request request{program_.name, ways[i].environment};
      request.has_guard_pages = ways[i].has_guard_pages;
      compare(ways[i].name, run_child(request));
    }
  }

  // Leaves before every call, and at every check of a live-in.
  void force(const Result& measured) {
    for (std::int64_t call = 0; call < measured.calls; ++call) {
      if (!is_sampled(call, measured.calls)) continue;
      Request request{program_.name, kMeasured};
      request.exit_at = call;
      compare("exit before call " + std::to_string(call), run_child(request));
    }
    const auto live_ins = static_cast<std::int64_t>(measured.live_ins.size());
    for (std::int64_t i = 0; i < live_ins; ++i) {
      if (!is_sampled(i, live_ins)) continue;
      Request request{program_.name, kMeasured};
      request.fail_live_in = measured.live_ins[static_cast<std::size_t>(i)];
      compare("live-in check " + std::to_string(request.fail_live_in), run_child(request));
    }
  }

  // One of each kind in the short check, another one for each program.
  bool is_sampled(std::int64_t i, std::int64_t count) const {
    return options_.is_full || i == static_cast<std::int64_t>(number_ * 5 + 1) % count;
  }

  void print_row(const Result& result) {
    const double cpu =
        result.cpu_seconds > 0 ? 100 * result.compiled_seconds / result.cpu_seconds : 0;
    std::printf("%-26s %8lld %6lld %6lld %7lld %6lld %8.1f %6.1f  %s\n", program_.name.c_str(),
                static_cast<long long>(result.segments), static_cast<long long>(result.stages),
                static_cast<long long>(result.calls), static_cast<long long>(result.hits),
                static_cast<long long>(result.leaves), result.share(), cpu, program_.why.c_str());
    const bool is_short = result.share() < 90;
    for (std::size_t i = 0; i < result.exits.size() && (is_short || options_.has_reasons); ++i)
      if (i < kShownReasons) std::printf("    exits: %s\n", result.exits[i].c_str());
    for (std::size_t i = 0; i < result.eager_calls.size() && (is_short || options_.has_reasons);
         ++i)
      if (i < kShownReasons) std::printf("    eager: %s\n", result.eager_calls[i].c_str());
    std::fflush(stdout);
  }

  static constexpr std::size_t kSampledWays = 6, kShownReasons = 6;
  const Program& program_;
  const Options& options_;
  std::size_t number_;
  Result expected_;
  bool is_good_ = true;
};

int check_all(const Options& options) {
  if (options.lists) {
    for (const Program& program : all()) std::printf("%s\n", program.name.c_str());
    for (const Way& way : all_ways()) std::printf("  way %s\n", way.name.c_str());
    return 0;
  }
  std::printf("%-26s %8s %6s %6s %7s %6s %8s %6s\n", "program", "segments", "stages", "calls",
              "hits", "left", "share %", "cpu %");
  int bad = 0, count = 0;
  for (std::size_t i = 0; i < all().size(); ++i) {
    const Program& program = all()[i];
    if (!options.only.empty() && program.name.find(options.only) == std::string::npos) continue;
    if (static_cast<int>(i) % options.shards != options.shard) continue;
    ++count;
    bad += Check(program, options, i).run() ? 0 : 1;
  }
  std::printf("%d programs, %d of them failed\n", count, bad);
  return bad == 0 && count > 0 ? 0 : 1;
}

}  // namespace
}  // namespace groove::programs

int main(int argc, char** argv) {
  using namespace groove::programs;
  CLI::App app("Whole programs: the same bytes in every mode, and how much of them runs compiled.");
  Options options;
  Request child;
  app.add_flag("--list", options.lists, "print names and ways, run nothing");
  app.add_option("--only", options.only, "programs with this in their name");
  app.add_option("--config", options.way, "this way alone beside the measured one");
  app.add_flag("--full", options.is_full, "every way, every exit, every live-in check");
  app.add_flag("--reasons", options.has_reasons, "print what the tracer tells of each program");
  app.add_option("--shard", options.shard, "which part of the programs, from 0");
  app.add_option("--shards", options.shards, "how many parts");
  app.add_option("--child", child.program, "run this program in this process");
  app.add_option("--exit-at", child.exit_at, "leave every replay before this call");
  app.add_option("--fail-live-in", child.fail_live_in, "fail the check of this slot");
  app.add_flag("--guard-pages", child.has_guard_pages, "let storages end at forbidden pages");
  app.add_flag("--explain", child.tells, "explain to standard error at the end");
  CLI11_PARSE(app, argc, argv);
  try {
    return child.program.empty() ? check_all(options) : be_child(child);
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
