// What the one include at the top of a program costs: the compiler's user time for a file with
// <torch/torch.h> alone against that for a file with the standard headers that it asks for, in
// pairs, one after the other. `build/bench/headers [--torch <folder of the Python package>]`.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>

#include "bench/median.h"
#include "headers/preprocessed.h"

namespace {

void measure(const std::string& compiler, const headers::Library& library, int pairs,
             const char* goal) {
  const headers::Preprocessed lines = headers::preprocess(compiler, library);
  std::string standard;
  for (const std::string& file : lines.asked) standard += "#include <" + file + ">\n";
  const std::string without = headers::source_file("standard.cpp", standard);
  const std::string with =
      headers::source_file("library.cpp", "#include <" + library.header + ">\n");
  std::vector<double> below, above, ratios;
  for (int pair = 0; pair < pairs; ++pair) {
    below.push_back(headers::compile_seconds(compiler, library, without));
    above.push_back(headers::compile_seconds(compiler, library, with));
    ratios.push_back(above.back() / below.back());
  }
  const auto [least, most] = std::minmax_element(ratios.begin(), ratios.end());
  std::printf("| %s | %zu | %zu | %zu | %.2f | %.2f | **%.2fx** (%.2f–%.2f) | %s |\n",
              library.header.c_str(), lines.own_lines, lines.other_lines, lines.asked.size(),
              median(below), median(above), median(ratios), *least, *most, goal);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Times the headers against the standard headers that they ask for.");
  std::string compiler = GROOVE_COMPILER, torch = GROOVE_PEER;
  int pairs = 9;
  app.add_option("--compiler", compiler, "the C++ compiler");
  app.add_option("--torch", torch, "folder of an installed Python package torch, to compare with");
  app.add_option("--pairs", pairs, "measurements of each")->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  try {
    const std::string include = GROOVE_INCLUDE;
    std::printf(
        "| header, user seconds: medians | own lines | other lines | standard headers asked for | "
        "they alone | header | ratio: median (min–max) | goal "
        "|\n|---|---|---|---|---|---|---|---|\n");
    measure(compiler, {"groove/groove.h", {include}}, pairs, "");
    measure(compiler, {"torch/torch.h", {include + "/groove/compat", include}}, pairs, "≤ 1.6x");
    if (!torch.empty()) {
      const std::string peer = std::filesystem::canonical(torch).string() + "/include";
      measure(compiler, {"torch/torch.h", {peer + "/torch/csrc/api/include", peer}},
              std::min(pairs, 3), "LibTorch");
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "headers: %s\n", error.what());
    return 1;
  }
  return 0;
}
