// What a test says must not depend on where it runs. So the machine is asked in one place, from
// which kernels/machine.h hands it down as a record, and tests do not look at clocks.
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "rules.h"

namespace project {
namespace {

using Strings = std::vector<std::string>;

// Lines of files below one of the folders that match, but for those of `allowed`.
Strings places_of(const std::string& pattern, const Strings& folders, const Strings& allowed) {
  const std::regex wanted(pattern);
  Strings places;
  for (const std::string& file : source_files()) {
    const auto is_below = [&](const std::string& folder) { return file.starts_with(folder); };
    if (std::none_of(folders.begin(), folders.end(), is_below)) continue;
    if (std::any_of(allowed.begin(), allowed.end(), is_below)) continue;
    const Strings lines = lines_of(file);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (std::regex_search(lines[i], wanted))
        places.push_back(file + ":" + std::to_string(i + 1) + ": " + lines[i]);
    }
  }
  return places;
}

const Strings kLibrary = {"src/", "kernels/", "eager/", "tracer/", "autodiff/", "jit/"};

TEST(Machine, IsAskedInOnePlace) {
  const std::string asks = "hardware_concurrency|sched_getaffinity|cpu_supports|/sys/devices";
  const Strings may = {"kernels/machine.cpp", "kernels/asmjit/isa.cpp", "kernels/pool.cpp"};
  EXPECT_EQ(places_of(asks, kLibrary, may), Strings{});
  EXPECT_FALSE(places_of(asks, kLibrary, {}).empty());
}

// What runs code, or generates it just before, asks for this machine's.
TEST(Machine, LoweringKnowsItsInstructionSetFromTheRecord) {
  EXPECT_EQ(places_of(R"(\bisa\(\))", {"jit/"}, {"jit/backends/", "jit/program_run.cpp"}),
            Strings{});
}

// Times belong into bench/. What a program spends is printed, not judged, in tests/programs.
TEST(Machine, TestsDoNotLookAtClocks) {
  const std::string clocks = "steady_clock|system_clock|high_resolution_clock|clock_gettime|rdtsc";
  EXPECT_EQ(places_of(clocks, {"tests/"}, {"tests/programs/child.cpp", "tests/project/"}),
            Strings{});
}

}  // namespace
}  // namespace project
