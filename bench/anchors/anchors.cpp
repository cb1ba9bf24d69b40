// Compares Groove's training steps with those of other libraries: each runs the same models in a
// process of its own, kept alive, and they take turns (A B C A B C …), so that a drift of the
// machine hits all. Prints Markdown tables; times are medians over the rounds, ratios medians of
// the rounds' ratios. Python's libraries join in when bench/peers/run starts this program.
#include <signal.h>

#include <algorithm>
#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "../median.h"
#include "contestant.h"

namespace {

namespace fs = std::filesystem;

struct Goal {
  const char* anchor;
  const char* what;
  double ratio;  // to LibTorch; 0: none is set
};
constexpr Goal kGoals[] = {{"A1", "MLP 4-32-32-4, batch 32, Adam", 15},
                           {"A2", "MLP 784-128-128-10, batch 64, Adam", 2},
                           {"A3", "MLP 784-512-512-10, batch 128, Adam", 1.2},
                           {"A4", "LeNet-5, batch 64, Adam", 1},
                           {"A5", "ResNet-18 on 32×32, batch 32, SGD", 0},
                           {"A6", "LSTM 64, batch 8, 64 steps, nn::LSTM", 0},
                           {"A6b", "the same as a loop over an LSTMCell", 3},
                           {"A7", "char-GPT, 4 layers of 128, AdamW", 1},
                           {"A7s", "the same, fused attention", 0},
                           {"A9", "`gelu(a*2+b)*b`, 4,194,304 floats", 2},
                           {"A11", "`x + y` on 8×8, one element read", 0},
                           {"A11g", "the same with gradient", 0},
                           {"A12", "Adam, 10 M parameters in 100 tensors", 0},
                           {"A13s", "softmax 4096×1024", 0},
                           {"A13sb", "the same with backward", 0},
                           {"A13l", "layer norm 4096×1024", 0},
                           {"A13lb", "the same with backward", 0},
                           {"A14", "LSTMCell loop, 5 to 20 steps, Adam", 4},
                           {"A15", "cart and pole, REINFORCE, an episode", 4},
                           {"A16", "adaptive Runge-Kutta 3(2), a trial", 4},
                           {"A17s", "attention, 64 heads of 64×32", 0},
                           {"A17sb", "the same with backward", 0},
                           {"A17m", "attention, 16 heads of 256×64", 0},
                           {"A17mb", "the same with backward", 0},
                           {"A17l", "attention, 8 heads of 1024×64", 0},
                           {"A17lb", "the same with backward", 0}};
// A10 times A2 from the start of the process; it has a table of its own.
constexpr const char* kStart = "A10";
constexpr const char* kStarted = "A2";

struct Settings {
  std::vector<std::string> anchors, libraries;
  std::string python;
  int rounds = 9;
  int starts = 3;
  double block_seconds = 0.3;

  bool wants(const std::string& anchor) const {
    return anchors.empty() || std::count(anchors.begin(), anchors.end(), anchor) > 0;
  }
};

using Contestants = std::vector<std::unique_ptr<Contestant>>;

std::string format(const char* how, double value) {
  char text[64];
  std::snprintf(text, sizeof text, how, value);
  return text;
}

// Those that are there: Groove, LibTorch where it was built, Python's with an interpreter for them.
std::vector<Library> find_libraries(const Settings& settings) {
  const fs::path folder = fs::read_symlink("/proc/self/exe").parent_path();
  std::vector<Library> all = {{"groove", {folder / "anchors_groove"}, false}};
  // Takes part only when it is named.
  if (std::count(settings.libraries.begin(), settings.libraries.end(), "groove-eager")) {
    all.push_back(
        {"groove-eager", {"/usr/bin/env", "GROOVE_MODE=eager", folder / "anchors_groove"}});
  }
  if (fs::exists(folder / "anchors_torch")) all.push_back({"libtorch", {folder / "anchors_torch"}});
  if (!settings.python.empty()) {
    for (const std::string key : {"torch", "torch.compile", "jax"}) {
      all.push_back({key,
                     {settings.python, "-B", ANCHORS_PEERS "/anchors.py", "--serve", key},
                     true,
                     key != "torch"});
    }
  }
  std::vector<Library> wanted;
  for (const Library& library : all) {
    const auto& keys = settings.libraries;
    if (keys.empty() || !library.is_peer || std::count(keys.begin(), keys.end(), library.key)) {
      wanted.push_back(library);
    }
  }
  return wanted;
}

// A peer may be better off with one thread or with all.
std::vector<int> threads_of(const Library& library) {
  if (!library.is_peer) return {0};
  const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  return cores == 1 ? std::vector<int>{1} : std::vector<int>{1, cores};
}

// Finds a block long enough to time; compiles and warms up on the way.
void warm_up(Contestant& contestant, double seconds) {
  Answer answer = contestant.run(1);
  if (contestant.library().compiles_first) contestant.compile_seconds = answer.seconds;
  contestant.block = 5;
  for (int i = 0; i < 5; ++i) {
    answer = contestant.run(contestant.block);
    const double steps = seconds / answer.seconds * static_cast<double>(contestant.block);
    contestant.block = std::clamp<long long>(std::llround(steps), 3, 1'000'000);
  }
  if (answer.compile_seconds >= 0) contestant.compile_seconds = answer.compile_seconds;
}

Contestants run_rounds(const std::vector<Library>& libraries, const Goal& goal,
                       const Settings& settings) {
  Contestants contestants;
  for (const Library& library : libraries) {
    for (const int threads : threads_of(library)) {
      try {
        auto contestant = std::make_unique<Contestant>(library, goal.anchor, threads);
        if (!contestant->missing().empty()) break;
        warm_up(*contestant, settings.block_seconds);
        contestants.push_back(std::move(contestant));
      } catch (const std::exception& error) {
        std::fprintf(stderr, "anchors: %s: left out\n", error.what());
        break;
      }
    }
  }
  for (int round = 0; round < settings.rounds; ++round) {
    for (auto& contestant : contestants) {
      // The other libraries' idle threads spin for a while; let them go to sleep first.
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      const double seconds = contestant->run(contestant->block).seconds;
      contestant->times.push_back(1e6 * seconds / static_cast<double>(contestant->block));
    }
  }
  return contestants;
}

// The library's better number of threads; null when it does not take part.
const Contestant* best_of(const Contestants& contestants, const std::string& key) {
  const Contestant* best = nullptr;
  for (const auto& each : contestants) {
    if (each->library().key != key) continue;
    if (!best || median(each->times) < median(best->times)) best = each.get();
  }
  return best;
}

std::string cell(const Contestant& contestant, const Contestant& groove) {
  const auto [low, high] = std::minmax_element(contestant.times.begin(), contestant.times.end());
  std::string text =
      format("%.1f", median(contestant.times)) + format(" (%.1f–", *low) + format("%.1f)", *high);
  if (!contestant.library().is_peer) return text;
  std::vector<double> ratios;
  for (size_t i = 0; i < contestant.times.size(); ++i) {
    ratios.push_back(contestant.times[i] / groove.times[i]);
  }
  text += ", " + std::to_string(contestant.threads());
  text += contestant.threads() == 1 ? " thread" : " threads";
  return text + format(", **%.2fx**", median(ratios));
}

// The names come with the first process of each library, so the head of a table is printed late.
std::string head(const char* what, const std::vector<Library>& libraries,
                 const std::vector<std::string>& names, const char* last) {
  std::string line = std::string("| ") + what + " |", rule = "|---|";
  for (size_t i = 0; i < libraries.size(); ++i) {
    line += " " + (names[i].empty() ? libraries[i].key : names[i]) + " |";
    rule += "---|";
  }
  if (last) {
    line += std::string(" ") + last + " |";
    rule += "---|";
  }
  return line + "\n" + rule + "\n";
}

void compare_steps(const std::vector<Library>& libraries, const Settings& settings) {
  std::vector<std::string> names(libraries.size());
  std::string compile_rows;
  bool has_head = false;
  for (const Goal& goal : kGoals) {
    if (!settings.wants(goal.anchor)) continue;
    const Contestants contestants = run_rounds(libraries, goal, settings);
    std::string row, compile_row;
    const Contestant* const groove = best_of(contestants, "groove");
    if (!groove) {
      std::printf("%s: Groove has no such anchor\n", goal.anchor);
      continue;
    }
    for (size_t i = 0; i < libraries.size(); ++i) {
      const Contestant* const best = best_of(contestants, libraries[i].key);
      if (best) names[i] = best->name();
      row += best ? " " + cell(*best, *groove) + " |" : " – |";
      const bool compiles = best && best->compile_seconds >= 0;
      compile_row += compiles ? format(" %.3g |", best->compile_seconds) : " – |";
    }
    if (!has_head) {
      const char* const what = "step, fp32, µs: median (min–max)";
      std::printf("%s", head(what, libraries, names, "goal").c_str());
      has_head = true;
    }
    const std::string wanted = goal.ratio > 0 ? format("≥ %gx LibTorch", goal.ratio) : "";
    std::printf("| %s %s |%s %s |\n", goal.anchor, goal.what, row.c_str(), wanted.c_str());
    std::fflush(stdout);
    compile_rows += std::string("| ") + goal.anchor + " |" + compile_row + "\n";
  }
  if (!has_head) return;
  std::printf(
      "\n%s%s\nGroove's is the compile thread's time, while the loop goes on; the others' is the "
      "first step.\n",
      head("compilation, nothing cached, s", libraries, names, nullptr).c_str(),
      compile_rows.c_str());
}

void compare_starts(const std::vector<Library>& libraries, const Settings& settings) {
  std::vector<std::string> names(libraries.size());
  std::vector<std::vector<double>> first(libraries.size()), compiled(libraries.size());
  for (int start = 0; start < settings.starts; ++start) {
    for (size_t i = 0; i < libraries.size(); ++i) {
      Contestant contestant(libraries[i], kStarted, 0);
      if (!contestant.missing().empty()) continue;
      names[i] = contestant.name();
      Answer answer = contestant.run(1);
      first[i].push_back(answer.since_start);
      if (libraries[i].compiles_first) compiled[i].push_back(answer.since_start);
      if (libraries[i].is_peer) continue;
      while (answer.compiled_steps == 0 && answer.since_start < 60) answer = contestant.run(5);
      if (answer.compiled_steps > 0) compiled[i].push_back(answer.since_start);
    }
  }
  const auto row = [](const char* what, const std::vector<std::vector<double>>& seconds) {
    std::string line = std::string("| ") + what + " |";
    for (const auto& each : seconds) {
      line += each.empty() ? " – |" : format(" %.3f |", median(each));
    }
    return line + "\n";
  };
  const char* const what = "A10: A2 from the start of the process, s";
  std::printf("\n%s%s%s", head(what, libraries, names, nullptr).c_str(),
              row("to the end of the first step", first).c_str(),
              row("to the end of the first compiled step", compiled).c_str());
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  std::vector<std::string> names;
  for (const Goal& goal : kGoals) names.push_back(goal.anchor);
  names.push_back(kStart);
  CLI::App app{
      "Times the anchors' training steps in Groove, in LibTorch where it was built "
      "(-DGROOVE_PEER_TORCH=…) and in Python's libraries (--python)."};
  app.option_defaults()->always_capture_default();
  app.add_option("anchors", settings.anchors, "which; all when none is named")
      ->check(CLI::IsMember(names));
  app.add_option("--libraries", settings.libraries, "peers that take part; all when none is named")
      ->delimiter(',')
      ->check(CLI::IsMember({"groove-eager", "libtorch", "torch", "torch.compile", "jax", "none"}));
  app.add_option("--python", settings.python,
                 "interpreter that has bench/peers/requirements.txt; bench/peers/run makes one")
      ->check(CLI::ExistingFile);
  app.add_option("--rounds", settings.rounds, "turns of each library")->check(CLI::PositiveNumber);
  app.add_option("--starts", settings.starts, "process starts of each library, A10")
      ->check(CLI::PositiveNumber);
  app.add_option("--block", settings.block_seconds, "seconds in a turn")
      ->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  signal(SIGPIPE, SIG_IGN);
  try {
    const std::vector<Library> libraries = find_libraries(settings);
    compare_steps(libraries, settings);
    if (settings.wants(kStart)) compare_starts(libraries, settings);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "anchors: %s\n", error.what());
    return 1;
  }
}
