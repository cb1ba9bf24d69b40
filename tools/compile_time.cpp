// compile-time: how long graphs take to become programs, phase by phase. GROOVE_DUMP writes the
// graphs of a run (graph*_0_recorded.graph). The first round also generates code; later ones find
// every kernel in the cache, as a segment does that is like an earlier one.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "jit/pipeline.h"
#include "jit/plan_memory.h"
#include "jit/program.h"

namespace {

using namespace groove;

struct Phase {
  std::string name;
  std::vector<double> milliseconds;  // per round
};

class Stopwatch {
 public:
  void start() { start_ = Clock::now(); }
  void stop(const std::string& phase) {
    const std::chrono::duration<double, std::milli> taken = Clock::now() - start_;
    auto found = std::find_if(phases_.begin(), phases_.end(),
                              [&](const Phase& known) { return known.name == phase; });
    if (found == phases_.end()) found = phases_.insert(found, Phase{phase, {}});
    found->milliseconds.push_back(taken.count());
  }
  const std::vector<Phase>& phases() const { return phases_; }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_;
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
    std::nth_element(rest.begin(), rest.begin() + static_cast<long>(rest.size() / 2), rest.end());
    const double median = rest[rest.size() / 2];
    std::printf("%-20s %10.3f %10.3f\n", phase.name.c_str(), phase.milliseconds[0], median);
    if (&phase == &watch.phases().back()) break;
    first += phase.milliseconds[0];
    later += median;
  }
  std::printf("%-20s %10.3f %10.3f\n", "sum of the phases", first, later);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Times the compilation of graphs in text form, in tier 1.");
  std::vector<std::string> paths;
  int rounds = 11;
  app.add_option("files", paths, "graph texts")->required();
  app.add_option("--rounds", rounds, "how often each is compiled")->check(CLI::Range(1, 10'000));
  CLI11_PARSE(app, argc, argv);
  try {
    for (const std::string& path : paths) {
      const Graph graph = read(path);
      Stopwatch watch;
      for (int round = 0; round < rounds; ++round) compile(graph, watch);
      print(path, graph, watch);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "compile-time: %s\n", error.what());
    return 1;
  }
}
