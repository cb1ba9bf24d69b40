// Peak memory of a training step, Groove's beside LibTorch's, each counted by the library's own
// allocator in a process of its own. Prints a Markdown table; the ratio that is wanted of the
// char-GPT is at most 0.65.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

struct Answer {
  std::string library;
  double whole = 0, steady = 0, held = 0;  // MB
};

// Where the library was built, and it has that anchor.
bool ask(const fs::path& program, const std::string& anchor, int before, int steps,
         Answer& answer) {
  if (!fs::exists(program)) return false;
  const std::string command = "'" + program.string() + "' " + anchor + " " +
                              std::to_string(before) + " " + std::to_string(steps);
  std::FILE* const output = popen(command.c_str(), "r");
  if (!output) return false;
  char line[256];
  if (std::fgets(line, sizeof line, output)) answer.library = line;
  while (!answer.library.empty() && answer.library.back() == '\n') answer.library.pop_back();
  const bool is_told =
      std::fscanf(output, "%lf %lf %lf", &answer.whole, &answer.steady, &answer.held) == 3;
  for (double* bytes : {&answer.whole, &answer.steady, &answer.held}) *bytes *= 1e-6;
  return pclose(output) == 0 && is_told;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Peak memory of training steps, Groove beside LibTorch");
  std::vector<std::string> anchors = {"A2", "A4", "A6b", "A7"};
  int before = 200, steps = 10;
  app.add_option("anchors", anchors, "which of build/bench/anchors' models");
  app.add_option("--before", before, "steps until a step is steady");
  app.add_option("--steps", steps, "steady steps");
  CLI11_PARSE(app, argc, argv);
  const fs::path folder = fs::read_symlink("/proc/self/exe").parent_path();
  std::printf(
      "MB by each library's own allocator, parameters, gradients, optimizer state and data "
      "included.\n\n"
      "| anchor | library | steady step | held between steps | from the first step on | "
      "steady, of LibTorch's |\n|---|---|---|---|---|---|\n");
  for (const std::string& anchor : anchors) {
    Answer own, peer;
    if (!ask(folder / "memory_groove", anchor, before, steps, own)) return 1;
    const bool has_peer = ask(folder / "memory_torch", anchor, 3, steps, peer);
    const auto row = [&](const Answer& answer, const std::string& ratio) {
      std::printf("| %s | %s | %.2f | %.2f | %.2f | %s |\n", anchor.c_str(), answer.library.c_str(),
                  answer.steady, answer.held, answer.whole, ratio.c_str());
    };
    char ratio[32] = "";
    if (has_peer) std::snprintf(ratio, sizeof ratio, "%.2f", own.steady / peer.steady);
    row(own, ratio);
    if (has_peer) row(peer, "");
    std::fflush(stdout);
  }
}
