// compile-time: how long graphs take to become programs, phase by phase, and their kernels to
// become code of either tier. Graphs come from files or from the anchors of build/bench, run with
// GROOVE_DUMP. Times are of the processor, so that they hold on a busy machine; each graph has a
// process of its own, in which nothing is compiled yet.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "bench/median.h"
#include "jit/pipeline.h"
#include "jit/plan_memory.h"
#include "jit/program.h"

namespace {

using namespace groove;
namespace fs = std::filesystem;

struct Settings {
  std::vector<std::string> paths, anchors;
  int rounds = 11;
  bool lists_kernels = false;
};

// Of the thread, in milliseconds.
double processor_time() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

struct Phase {
  std::string name;
  std::vector<double> milliseconds;  // per round
};

class Stopwatch {
 public:
  void start() { start_ = processor_time(); }
  void stop(const std::string& phase) {
    const double taken = processor_time() - start_;
    auto found = std::find_if(phases_.begin(), phases_.end(),
                              [&](const Phase& known) { return known.name == phase; });
    if (found == phases_.end()) found = phases_.insert(found, Phase{phase, {}});
    found->milliseconds.push_back(taken);
  }
  const std::vector<Phase>& phases() const { return phases_; }

 private:
  double start_ = 0;
  std::vector<Phase> phases_;
};

Graph read(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw Error("cannot read " + path);
  return parse_graph(std::string(std::istreambuf_iterator<char>(file), {}));
}

void compile(Graph graph, Stopwatch& watch) {
  const Graph recorded = graph;
  for (const jit::Pass& pass : jit::passes()) {
    watch.start();
    pass.run(graph);
    watch.stop(pass.name);
  }
  watch.start();
  const jit::Fusion fusion = jit::fuse(graph);
  watch.stop("fuse");
  watch.start();
  jit::Lowered lowered = jit::lower_groups(graph, fusion);
  watch.stop("lower");
  watch.start();
  const jit::Schedule order = jit::schedule(graph, lowered);
  watch.stop("schedule");
  watch.start();
  jit::plan_memory(lowered, order, 0);
  watch.stop("plan memory");
  Graph again = recorded;
  watch.start();
  jit::run_pipeline(again);
  const jit::Program program(std::move(again));
  watch.stop("all, once more");
}

void print(const std::string& path, const Graph& graph, const Stopwatch& watch) {
  std::printf("%s: %zu nodes\n%-20s %10s %10s\n", path.c_str(), graph.nodes.size(), "ms", "first",
              "later");
  double first = 0, later = 0;
  for (const Phase& phase : watch.phases()) {
    std::vector<double> rest = phase.milliseconds;
    if (rest.size() > 1) rest.erase(rest.begin());
    const double middle = median(rest);
    std::printf("%-20s %10.3f %10.3f\n", phase.name.c_str(), phase.milliseconds[0], middle);
    if (&phase == &watch.phases().back()) break;
    first += phase.milliseconds[0];
    later += middle;
  }
  std::printf("%-20s %10.3f %10.3f\n", "sum of the phases", first, later);
}

struct KernelTime {
  std::string name;
  std::size_t instructions = 0;
  double milliseconds = 0;
};

// What a child tells its parent; the largest of each tier.
struct Totals {
  int kernels = 0;
  double most_milliseconds = 0;
};

// Every distinct kernel of the graph that the tier would be given, without its cache.
void time_kernels(Graph graph, const Settings& settings, const char* tier, Totals& totals) {
  kernels::Backend* const backend = kernels::find_backend(tier);
  if (backend == nullptr || !backend->unavailable().empty()) {
    std::printf("%-8s is not there\n", tier);
    return;
  }
  jit::run_pipeline(graph);
  const jit::Lowered lowered = jit::lower_groups(graph, jit::fuse(graph));
  const bool is_tier_2 = std::string(tier) == "llvm";
  std::set<std::string> seen;
  std::vector<KernelTime> times;
  std::size_t too_long = 0;
  for (const jit::LaunchPlan& plan : lowered.launches) {
    if (plan.kind != jit::LaunchPlan::Kind::kKernel || !plan.kernel) continue;
    const std::string text = print(*plan.kernel);
    if (!seen.insert(text).second) continue;
    if (is_tier_2 && jit::tier_2_milliseconds(*plan.kernel, kernels::isa()) >
                         jit::tier_policy().most_milliseconds) {
      ++too_long;
      continue;
    }
    std::vector<double> rounds;
    for (int round = 0; round < std::min(settings.rounds, 5); ++round) {
      const double start = processor_time();
      backend->compile(*plan.kernel);
      rounds.push_back(processor_time() - start);
    }
    std::string name = text.substr(0, text.find('\n'));
    for (const std::int32_t node : plan.nodes) {
      name += std::string(" ") + graph.nodes[static_cast<std::size_t>(node)].op->name;
    }
    times.push_back({name, plan.kernel->code.size(), median(rounds)});
  }
  if (times.empty()) return;
  std::vector<double> all;
  for (const KernelTime& time : times) all.push_back(time.milliseconds);
  const double most = *std::max_element(all.begin(), all.end());
  std::printf("%-8s %zu kernels: median %.3f ms, most %.3f ms", tier, all.size(), median(all),
              most);
  std::printf(too_long > 0 ? "; %zu longer by estimate and left to tier 1\n" : "\n", too_long);
  std::sort(times.begin(), times.end(), [](const KernelTime& a, const KernelTime& b) {
    return a.milliseconds > b.milliseconds;
  });
  for (const KernelTime& time : times) {
    if (!settings.lists_kernels) break;
    std::printf("  %8.3f ms %5zu instructions  %s\n", time.milliseconds, time.instructions,
                time.name.c_str());
  }
  totals.kernels += static_cast<int>(all.size());
  totals.most_milliseconds = std::max(totals.most_milliseconds, most);
}

void print_program(Graph graph) {
  jit::run_pipeline(graph);
  const jit::Program program(std::move(graph));
  std::printf("%zu launches in %zu turns, a barrier of the threads between two\n",
              program.launch_count(), program.turn_count());
}

void tell(const std::string& path, const Settings& settings, Totals& totals) {
  const Graph graph = read(path);
  Stopwatch watch;
  for (int round = 0; round < settings.rounds; ++round) compile(graph, watch);
  print(path, graph, watch);
  print_program(graph);
  Totals tier_1;
  time_kernels(graph, settings, "asmjit", tier_1);
  time_kernels(graph, settings, "llvm", totals);
  std::puts("");
  std::fflush(stdout);
}

// The largest graph that the anchor's loop records: its training step.
std::string graph_of(const std::string& anchor, const fs::path& folder) {
  fs::create_directories(folder);
  const fs::path program = fs::read_symlink("/proc/self/exe").parent_path() / "../bench";
  const std::string command = "echo 40 | GROOVE_COMPILE=sync GROOVE_TIER=asmjit GROOVE_DUMP='" +
                              folder.string() + "' '" + (program / "anchors_groove").string() +
                              "' " + anchor + " 0 > /dev/null";
  if (std::system(command.c_str()) != 0) throw Error("build/bench/anchors_groove has failed");
  fs::path largest;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.path().string().find("_0_recorded.graph") == std::string::npos) continue;
    if (largest.empty() || fs::file_size(largest) < entry.file_size()) largest = entry.path();
  }
  if (largest.empty()) throw Error(anchor + " recorded no graph");
  const fs::path named = folder.parent_path() / (anchor + ".graph");
  fs::rename(largest, named);
  return named.string();
}

int run(Settings& settings) {
  if (settings.paths.empty() && settings.anchors.empty()) {
    settings.anchors = {"A2", "A7", "A4", "A6b", "A13sb", "A13lb"};
  }
  std::string folder = (fs::temp_directory_path() / "compile-time-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) throw Error("cannot make the folder " + folder);
  for (const std::string& anchor : settings.anchors) {
    settings.paths.push_back(graph_of(anchor, fs::path(folder) / (anchor + ".dump")));
  }
  void* const shared =
      mmap(nullptr, sizeof(Totals), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) throw Error("no memory");
  Totals& totals = *new (shared) Totals;
  bool has_failed = false;
  for (const std::string& path : settings.paths) {
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
      try {
        tell(path, settings, totals);
        std::fflush(nullptr);
        _exit(0);
      } catch (const std::exception& error) {
        std::fprintf(stderr, "compile-time: %s\n", error.what());
        _exit(1);
      }
    }
    int status = 1;
    waitpid(child, &status, 0);
    has_failed |= status != 0;
  }
  fs::remove_all(folder);
  std::printf("tier 2: %d kernels, most %.3f ms\n", totals.kernels, totals.most_milliseconds);
  return has_failed ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "Times the compilation of graphs: its phases in tier 1, and each kernel in both tiers. "
      "Without arguments those of an MLP, char-GPT, LeNet, an LSTM loop, softmax and layer norm.");
  Settings settings;
  app.add_option("files", settings.paths, "graph texts");
  app.add_option("--anchor", settings.anchors, "training steps of bench/anchors, such as A2");
  app.add_option("--rounds", settings.rounds, "how often each is compiled")
      ->check(CLI::Range(1, 10'000));
  app.add_flag("--kernels", settings.lists_kernels, "lists each kernel");
  CLI11_PARSE(app, argc, argv);
  try {
    return run(settings);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "compile-time: %s\n", error.what());
    return 1;
  }
}
