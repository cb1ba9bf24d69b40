// Compares Groove's training steps with LibTorch's: each library runs the same source in a process
// of its own, kept alive, and they take turns (A B A B …), so that a drift of the machine hits
// both. Prints a Markdown table of microseconds a step; times are the median over the rounds.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Goal {
  const char* anchor;
  const char* what;
  double ratio;
};
constexpr Goal kGoals[] = {{"A1", "MLP 4-32-32-4, batch 32, Adam", 15},
                           {"A2", "MLP 784-128-128-10, batch 64, Adam", 2},
                           {"A3", "MLP 784-512-512-10, batch 128, Adam", 1.2}};

// glibc's malloc returns large blocks to the kernel and costs LibTorch up to 4x in page faults; the
// comparison is only fair with that tuned away.
constexpr const char* kTunedMalloc[] = {
    "MALLOC_MMAP_THRESHOLD_=4294967296", "MALLOC_TRIM_THRESHOLD_=8589934592",
    "MALLOC_TOP_PAD_=268435456", "GLIBC_TUNABLES=glibc.malloc.hugetlb=1"};

[[noreturn]] void fail(const std::string& message) { throw std::runtime_error(message); }

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 ? values[middle] : 0.5 * (values[middle - 1] + values[middle]);
}

// A library's process for one anchor and number of threads.
class Contestant {
 public:
  Contestant(const std::filesystem::path& program, const std::string& anchor, int threads,
             bool tunes_malloc)
      : threads_(threads) {
    int to_child[2], from_child[2];
    if (pipe(to_child) != 0 || pipe(from_child) != 0) fail("pipe failed");
    child_ = fork();
    if (child_ < 0) fail("fork failed");
    if (child_ == 0) {
      dup2(to_child[0], STDIN_FILENO);
      dup2(from_child[1], STDOUT_FILENO);
      // Every pipe end but its own, or no contestant would ever see the end of its input.
      for (int fd = 3; fd < 256; ++fd) close(fd);
      if (tunes_malloc) {
        for (const char* setting : kTunedMalloc) putenv(const_cast<char*>(setting));
      }
      const std::string count = std::to_string(threads);
      execl(program.c_str(), program.c_str(), anchor.c_str(), count.c_str(), nullptr);
      _exit(127);
    }
    close(to_child[0]);
    close(from_child[1]);
    input_ = fdopen(to_child[1], "w");
    output_ = fdopen(from_child[0], "r");
    library_ = read_line(program);
  }
  Contestant(const Contestant&) = delete;
  Contestant& operator=(const Contestant&) = delete;
  ~Contestant() {
    fclose(input_);
    fclose(output_);
    waitpid(child_, nullptr, 0);
  }

  /// Microseconds a step over a block of that many.
  double run(long long steps) {
    fprintf(input_, "%lld\n", steps);
    fflush(input_);
    double seconds = 0, loss = 0;
    if (sscanf(read_line(library_).c_str(), "%lf %lf", &seconds, &loss) != 2) {
      fail(library_ + " gave no time");
    }
    return 1e6 * seconds / static_cast<double>(steps);
  }

  const std::string& library() const { return library_; }
  int threads() const { return threads_; }
  std::vector<double> times;

 private:
  std::string read_line(const std::string& who) {
    char line[256];
    if (!fgets(line, sizeof line, output_)) fail(who + " ended early");
    std::string text = line;
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
  }

  int threads_;
  pid_t child_ = -1;
  FILE* input_ = nullptr;
  FILE* output_ = nullptr;
  std::string library_;
};

struct Settings {
  std::vector<std::string> anchors;
  int rounds = 9;
  double block_seconds = 0.3;
};

// A block long enough to time, found by doubling; warms up (and lets compile) on the way.
long long block_of(Contestant& contestant, double seconds) {
  long long steps = 50;
  double microseconds = contestant.run(steps);
  for (int i = 0; i < 3; ++i) {
    steps =
        std::clamp<long long>(static_cast<long long>(1e6 * seconds / microseconds), 10, 1000000);
    microseconds = contestant.run(steps);
  }
  return steps;
}

std::string cell(const Contestant& contestant) {
  const auto [low, high] = std::minmax_element(contestant.times.begin(), contestant.times.end());
  char text[128];
  std::snprintf(text, sizeof text, "%.1f (%.1f–%.1f)", median(contestant.times), *low, *high);
  return text;
}

void compare(const Goal& goal, const std::filesystem::path& folder, const Settings& settings) {
  std::vector<std::unique_ptr<Contestant>> contestants;
  contestants.push_back(
      std::make_unique<Contestant>(folder / "anchors_groove", goal.anchor, 0, false));
  const auto peer = folder / "anchors_torch";
  if (std::filesystem::exists(peer)) {
    const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    for (int threads = 1; threads <= std::min(cores, 2); ++threads) {
      contestants.push_back(std::make_unique<Contestant>(peer, goal.anchor, threads, true));
    }
  }
  std::vector<long long> blocks;
  for (auto& contestant : contestants) {
    blocks.push_back(block_of(*contestant, settings.block_seconds));
  }
  for (int round = 0; round < settings.rounds; ++round) {
    for (size_t i = 0; i < contestants.size(); ++i) {
      // The other library's idle threads spin for a while; let them go to sleep first.
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      contestants[i]->times.push_back(contestants[i]->run(blocks[i]));
    }
  }
  const Contestant& groove = *contestants[0];
  std::printf("| %s %s | %s |", goal.anchor, goal.what, cell(groove).c_str());
  if (contestants.size() == 1) {
    std::printf(" not built | | ≥ %gx |\n", goal.ratio);
  } else {
    const auto& best = **std::min_element(
        contestants.begin() + 1, contestants.end(),
        [](const auto& a, const auto& b) { return median(a->times) < median(b->times); });
    std::vector<double> ratios;
    for (size_t i = 0; i < best.times.size(); ++i)
      ratios.push_back(best.times[i] / groove.times[i]);
    std::printf(" %s, %d thread%s | %.2fx | ≥ %gx |\n", cell(best).c_str(), best.threads(),
                best.threads() == 1 ? "" : "s", median(ratios), goal.ratio);
  }
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  CLI::App app{
      "Times the anchors' training steps in Groove and, where it was built "
      "(-DGROOVE_PEER_TORCH=…), in LibTorch."};
  app.option_defaults()->always_capture_default();
  app.add_option("anchors", settings.anchors, "which; all when none is named")
      ->check(CLI::IsMember({"A1", "A2", "A3"}));
  app.add_option("--rounds", settings.rounds, "turns of each library")->check(CLI::PositiveNumber);
  app.add_option("--block", settings.block_seconds, "seconds in a turn")
      ->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  signal(SIGPIPE, SIG_IGN);
  try {
    const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    std::printf(
        "| training step, fp32 | Groove, µs (min–max) | LibTorch eager, µs (min–max) | "
        "ratio | goal |\n|---|---|---|---|---|\n");
    for (const Goal& goal : kGoals) {
      const auto& wanted = settings.anchors;
      if (wanted.empty() || std::find(wanted.begin(), wanted.end(), goal.anchor) != wanted.end()) {
        compare(goal, folder, settings);
      }
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "anchors: %s\n", error.what());
    return 1;
  }
}
