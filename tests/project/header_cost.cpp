// Fails when <groove/groove.h> costs a user's compilation more than 0.35 s above a file with the
// standard headers it cannot do without. `header_cost <compiler> <include folder>`.
//
// The two files are compiled in turns; what counts is the processor time of the compiler, which a
// busy machine disturbs less than the clock. Of several rounds of medians the best decides: noise
// only ever adds.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace {

constexpr double kLimit = 0.35;  // seconds
constexpr int kRounds = 4;
constexpr int kTurns = 5;

constexpr const char* kStandard =
    "#include <string>\n#include <vector>\n#include <memory>\n#include <functional>\n"
    "#include <optional>\n#include <ostream>\n";

double compile_seconds(const std::string& compiler, const std::string& include,
                       const std::string& source) {
  const pid_t child = fork();
  if (child == 0) {
    setenv("CCACHE_DISABLE", "1", 1);
    execlp(compiler.c_str(), compiler.c_str(), "-std=c++20", "-O2", "-I", include.c_str(), "-c",
           source.c_str(), "-o", (source + ".o").c_str(), nullptr);
    _exit(127);
  }
  int status = 0;
  rusage usage{};
  if (child < 0 || wait4(child, &status, 0, &usage) != child || status != 0) {
    std::fprintf(stderr, "header_cost: %s does not compile\n", source.c_str());
    std::exit(1);
  }
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double median(std::array<double, kTurns> values) {
  std::nth_element(values.begin(), values.begin() + kTurns / 2, values.end());
  return values[kTurns / 2];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: header_cost <compiler> <include folder>\n");
    return 2;
  }
  char pattern[] = "/tmp/groove_header_XXXXXX";
  if (mkdtemp(pattern) == nullptr) return 1;
  const std::string folder = pattern;
  const std::string standard = folder + "/standard.cpp", groove = folder + "/groove.cpp";
  std::ofstream(standard) << kStandard;
  std::ofstream(groove) << "#include <groove/groove.h>\n";

  double best = 1e9;
  for (int round = 0; round < kRounds && best > kLimit; ++round) {
    std::array<double, kTurns> without{}, with{};
    for (int turn = 0; turn < kTurns; ++turn) {
      without[turn] = compile_seconds(argv[1], argv[2], standard);
      with[turn] = compile_seconds(argv[1], argv[2], groove);
    }
    std::printf("standard headers %.3f s, groove/groove.h %.3f s, above: %.3f s\n", median(without),
                median(with), median(with) - median(without));
    std::fflush(stdout);
    best = std::min(best, median(with) - median(without));
  }
  std::filesystem::remove_all(folder);
  std::printf("groove/groove.h costs %.3f s; at most %.2f s are allowed\n", best, kLimit);
  return best <= kLimit ? 0 : 1;
}
