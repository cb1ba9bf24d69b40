// write-walk: writes docs/one-training-step.md, which follows one training step from its lines to
// machine code, and the pictures beside it. All of it is what Groove itself tells about the loop in
// tools/write_walk/step.cpp. With --check it compares what does not depend on the machine.
#include "jit/log.h"  // before the public header, whose class Graph hides the one it speaks of

#include <CLI/CLI.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "groove/groove.h"
#include "groove/jit/graph.h"
#include "kernels/machine.h"
#include "write_walk/step.h"

namespace {

namespace fs = std::filesystem;
namespace jit = groove::jit;

std::string text_of(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw groove::Error("cannot read " + path.string());
  return std::string(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
}

void write(const fs::path& path, const std::string& text) {
  std::ofstream stream(path, std::ios::binary);
  stream << text;
  if (!stream.flush()) throw groove::Error("cannot write " + path.string());
}

const fs::path& source() {
  static const fs::path path = fs::path(GROOVE_SOURCE_DIR) / "tools/write_walk/step.cpp";
  return path;
}

std::string source_line(std::uint32_t line) {
  std::ifstream stream(source());
  std::string text;
  for (std::uint32_t i = 0; i < line; ++i) std::getline(stream, text);
  return text.substr(std::min(text.find_first_not_of(' '), text.size()));
}

// The lines of the loop that stand between the marks.
std::string user_lines() {
  std::istringstream stream(text_of(source()));
  std::string line, text;
  bool is_inside = false;
  while (std::getline(stream, line)) {
    if (line.find("// the step ]") != std::string::npos) is_inside = false;
    if (is_inside) text += line.substr(std::min<std::size_t>(4, line.size())) + "\n";
    if (line.find("// [ the step") != std::string::npos) is_inside = true;
  }
  return text;
}

std::string block(const std::string& text, const char* language = "text") {
  return fmt::format("```{}\n{}{}```\n", language, text,
                     text.empty() || text.back() == '\n' ? "" : "\n");
}

std::string first_lines(const std::string& text, int most) {
  std::size_t end = 0;
  int lines = 0;
  while (end < text.size() && lines < most) {
    end = std::min(text.find('\n', end), text.size() - 1) + 1;
    ++lines;
  }
  const auto rest = std::count(text.begin() + static_cast<std::ptrdiff_t>(end), text.end(), '\n');
  return text.substr(0, end) + (rest > 0 ? fmt::format("… {} more lines\n", rest) : "");
}

// The page, and where the pictures go. What lies between kMachine and kEnd differs between
// machines.
constexpr const char* kMachine = "<!-- figures: build/tools/write-walk -->\n";
constexpr const char* kEnd = "<!-- end of figures -->\n";

struct Page {
  std::string text;
  std::vector<std::pair<std::string, std::string>> pictures;  // name and Graphviz text
  void add(const std::string& more) { text += more; }
  void picture(const std::string& name, const std::string& what, const std::string& graph) {
    pictures.emplace_back(name, jit::Graph::parse(graph).dot());
    add(fmt::format("![{}](pictures/{}.svg)\n\n", what, name));
  }
};

void add_words(Page& page, const jit::SegmentView& segment) {
  page.add(
      "## The calls they make\n\nGroove saw these calls come twice in the same way and recorded "
      "the "
      "third time. Results are named after the\ncall that makes them; `#0` is a number that may "
      "change from step to step. Under a call of the library stand the\noperators that it is made "
      "of: a compiled step does not walk through them any more.\n\n");
  std::uint32_t line = 0;
  std::string text;
  for (const jit::CallView& word : segment.calls) {
    if (word.line != line) text += source_line(word.line) + "\n";
    line = word.line;
    text += "    " + word.call + "\n";
    if (!word.expands_to.empty()) text += "        = " + word.expands_to + "\n";
    if (word.ends_stage) text += "    -- a value is looked at: the work up to here runs now --\n";
  }
  page.add(block(text));
}

void add_passes(Page& page, const jit::SegmentView& segment) {
  page.add(
      "\n## What the passes make of it\n\nOperators after each pass; a dash where the graph stays "
      "as it is.\n\n| pass | operators | what it does |\n|---|---|---|\n");
  const std::string* before = &segment.graph;
  for (const jit::PassView& pass : segment.passes) {
    page.add(fmt::format("| `{}` | {} | {} |\n", pass.name,
                         pass.graph == *before ? "–" : fmt::format("{}", pass.operators),
                         pass.about));
    before = &pass.graph;
  }
  page.add(
      "\nThe graph that is compiled. Every operator still knows the line that it comes from.\n\n");
  page.add(block(*before));
  page.add("\n");
  page.picture("one-training-step-compiled", "the graph that is compiled", *before);
}

void add_kernels(Page& page, const jit::SegmentView& segment) {
  page.add(fmt::format(
      "## Kernels\n\nOperators that read the same elements become one kernel, whose values between "
      "them stay in registers: {} groups,\neach with its kind, the sizes of its loop and how many "
      "results it stores.\n\n",
      std::count(segment.groups.begin(), segment.groups.end(), '\n')));
  page.add(block(segment.groups));
  page.add(
      "\nProducts and a kernel of rows that hand rows to each other (attention: scores, softmax, "
      "product with the values) are\nlaunched as one, a relay: each block of rows goes through all "
      "of them while it is in a near cache, and what nothing\nelse reads never reaches memory. "
      "Every "
      "sum keeps its order, so the bits are those of three launches. It is done where\nthat saves "
      "more than reading the right matrices again for every block costs.\n");
  page.add("\nWhat lies between them has a place in one block of memory that the loop keeps.\n\n");
  page.add(block(segment.memory));
  page.add(fmt::format("\nA step is {} launches. Those of one level may run at once.\n\n",
                       segment.launches.size()));
  page.add(kMachine + block(segment.program) + kEnd);
  page.add(
      "\nA kernel is a loop nest over scalar expressions, in a language of its own that the "
      "interpreter, the assembler and\nLLVM all take. After a matrix product it says what becomes "
      "of each sum, which is load 0. Three of them:\n");
  const jit::LaunchView* shown[3] = {};
  for (const jit::LaunchView& launch : segment.launches) {
    const bool is_update = launch.operators.find("sgd_step") != std::string::npos;
    const bool is_product = launch.operators.find("relu") != std::string::npos &&
                            launch.operators.find("linear") != std::string::npos;
    const bool is_row = launch.kernel.find("reduce") != std::string::npos ||
                        launch.operators.find("exp") != std::string::npos;
    if (is_product && !shown[0]) shown[0] = &launch;
    if (is_row && !shown[1]) shown[1] = &launch;
    if (is_update && !shown[2]) shown[2] = &launch;
  }
  const jit::LaunchView* listed = nullptr;
  for (const jit::LaunchView* launch : shown) {
    if (!launch) continue;
    page.add(fmt::format("\n`{}`, {}:\n\n", launch->operators, launch->shape));
    page.add(block(first_lines(launch->kernel, 30)));
    if (!launch->assembly.empty()) listed = launch;
  }
  if (!listed) return;
  page.add(
      fmt::format("\n## Machine code\n\nOf `{}`, as the first tier writes it with AVX2; "
                  "no compiler or assembler is called.\n\n",
                  listed->operators));
  page.add(kMachine + block(first_lines(listed->assembly, 60), "asm") + kEnd);
}

// The lines of a page without what differs between machines.
std::string steady(const std::string& page) {
  std::string text;
  std::size_t at = 0;
  for (;;) {
    const std::size_t begin = page.find(kMachine, at);
    text += page.substr(at, begin - at);
    if (begin == std::string::npos) return text;
    at = page.find(kEnd, begin);
    if (at == std::string::npos) return text;
  }
}

Page make_page() {
  constexpr std::int64_t kSteps = 2000;
  jit::set_mode(jit::Mode::kEager);
  const double eager = walk::train(kSteps);
  jit::set_mode(jit::Mode::kAuto);
  const double compiled = walk::train(kSteps);
  const std::vector<jit::SegmentView> segments = jit::inspect();
  const auto found = std::max_element(
      segments.begin(), segments.end(),
      [](const auto& a, const auto& b) { return a.calls.size() < b.calls.size(); });
  if (found == segments.end()) throw groove::Error("the loop was not compiled");
  const jit::SegmentView& segment = *found;
  Page page;
  page.add(
      "# One training step, from its lines to machine code\n\nWritten by `build/tools/write-walk`: "
      "everything below is what `groove::jit::inspect()` tells about this loop.\nThe machine code "
      "is that of AVX2 and one thread, so that other machines write the same.\n\n## Your "
      "lines\n\nA network of two layers, 4 → 16 → 3, on 32 rows. Nothing asks to be compiled.\n\n");
  page.add(block(user_lines(), "cpp"));
  page.add("\n");
  add_words(page, segment);
  page.add(
      "\n## What is compared before compiled code runs\n\nWhile your lines run again, each call is "
      "compared with the one that is expected next, and what comes from outside\nwith this. If "
      "anything differs, the step goes on operator by operator and nothing is lost.\n\n");
  page.add(block(first_lines(segment.guards, 12)));
  page.add(
      "\n## The graph as recorded\n\nForward, backward and update of one step. What is returned is "
      "what your program still holds or may look at;\n`a -> b` overwrites b with a.\n\n");
  page.add(block(segment.graph));
  page.add("\n");
  page.picture("one-training-step-recorded", "the graph as recorded", segment.graph);
  add_passes(page, segment);
  add_kernels(page, segment);
  page.add("\n## What it gives\n\n");
  page.add(kMachine);
  page.add(fmt::format(
      "| | µs |\n|---|---|\n| a step in eager mode, median of {} | {:.1f} |\n| a compiled step | "
      "{:.1f} |\n| compiling it once, on another thread as a rule | {:.0f} |\n",
      kSteps / 2, eager, compiled, segment.compile_milliseconds * 1000));
  page.add(kEnd);
  page.add(
      "\nThe losses are the same, bit for bit. `build/samples/look_inside --all` shows a loop like "
      "this one with every kernel,\n`GROOVE_DUMP=<folder>` writes graphs, pictures, kernels and "
      "machine code of any program.\n");
  return page;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Writes the page that walks through one training step.");
  std::string path = "docs/one-training-step.md";
  bool is_check = false;
  app.add_option("page", path, "the page; pictures go into the folder pictures beside it");
  app.add_flag("--check", is_check, "write nothing; say whether the page is up to date");
  CLI11_PARSE(app, argc, argv);
  for (const auto& [name, value] : {std::pair{"GROOVE_ISA", "avx2"},
                                    {"GROOVE_NUM_THREADS", "1"},
                                    {"GROOVE_TIER", "asmjit"},
                                    {"GROOVE_COMPILE", "sync"}})
    setenv(name, value, 1);
  groove::kernels::set_machine({});
  try {
    const Page page = make_page();
    if (is_check) {
      if (steady(page.text) == steady(text_of(path))) return 0;
      std::fprintf(stderr,
                   "write-walk: %s is not what Groove makes of the step now; run write-walk\n",
                   path.c_str());
      return 1;
    }
    write(path, page.text);
    const fs::path folder = fs::path(path).parent_path() / "pictures";
    fs::create_directories(folder);
    for (const auto& [name, dot] : page.pictures) {
      const fs::path from = folder / (name + ".dot"), to = folder / (name + ".svg");
      write(from, dot);
      if (!jit::draw_picture(from.string(), to.string()))
        std::fprintf(stderr, "write-walk: Graphviz (dot) is not installed: no pictures\n");
      fs::remove(from);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "write-walk: %s\n", error.what());
    return 1;
  }
  return 0;
}
