// Shows what becomes of a small training loop: the calls that were noticed, what is checked before
// compiled code runs, the graph before and after the passes, the kernels and their machine code.
#include <groove/groove.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <string>

#include "sample_options.h"

namespace jit = groove::jit;
namespace nn = groove::nn;

// The loop. Nothing in it asks to be compiled.
static float train(std::int64_t steps, std::int64_t batch) {
  auto x = groove::randn({batch, 3});
  auto y = groove::relu(x.sum(1, /*keepdim=*/true)) + 0.5;
  nn::Linear hidden(3, 16), out(16, 1);
  auto parameters = hidden->parameters();
  for (const auto& parameter : out->parameters()) parameters.push_back(parameter);
  groove::optim::SGD optimizer(parameters, 0.05);

  float last = 0;
  for (std::int64_t step = 0; step < steps; ++step) {
    optimizer.zero_grad();
    auto guess = out(groove::relu(hidden(x)));
    auto loss = groove::mse_loss(guess, y);
    loss.backward();
    optimizer.step();
    last = loss.item<float>();
    // Only so that even these few steps see the end of the compilation.
    if (step == 9) jit::synchronize();
  }
  return last;
}

static void heading(const char* title, const std::string& about) {
  std::printf("\n== %s ==\n%s\n\n", title, about.c_str());
}

// The first lines of a long text, unless all of it is wanted.
static void show(const std::string& text, bool all, int most = 40) {
  int lines = 0;
  std::size_t end = 0;
  while (end < text.size() && (all || lines < most)) {
    const std::size_t next = text.find('\n', end);
    end = next == std::string::npos ? text.size() : next + 1;
    ++lines;
  }
  std::printf("%s", text.substr(0, end).c_str());
  const auto rest = std::count(text.begin() + static_cast<std::ptrdiff_t>(end), text.end(), '\n');
  if (rest > 0) std::printf("… %lld more lines; --all shows them\n", static_cast<long long>(rest));
}

// A line of a source file, without its indentation; empty when the file is not there.
static std::string source_line(const std::string& file, std::uint32_t line) {
  std::ifstream stream(file);
  std::string text;
  for (std::uint32_t i = 0; i < line; ++i) {
    if (!std::getline(stream, text)) return {};
  }
  return text.substr(std::min(text.find_first_not_of(' '), text.size()));
}

static void show_calls(const jit::SegmentView& segment) {
  heading("Your lines, and the calls they make",
          "Groove saw these calls repeat and recorded them once. Results are named after the call\n"
          "that makes them; what existed before is a parameter, an input or state. #0, #1 … are\n"
          "numbers that may change from step to step. Below a call of the library: the operators\n"
          "it stands for, which a compiled step does not walk through any more.");
  std::uint32_t line = 0;
  for (const auto& call : segment.calls) {
    if (call.line != line) {
      line = call.line;
      std::printf("%4u  %s\n", line, source_line(call.file, line).c_str());
    }
    std::printf("        %s\n", call.call.c_str());
    if (!call.expands_to.empty()) std::printf("          = %s\n", call.expands_to.c_str());
    if (call.ends_stage) std::printf("        -- the program looks at a value: work runs now --\n");
  }
}

static void show_passes(const jit::SegmentView& segment, bool all) {
  heading("What the passes did", "Operators in the graph after each; a dash where it is the same.");
  const std::string* before = &segment.graph;
  for (const auto& pass : segment.passes) {
    const bool is_same = pass.graph == *before;
    std::printf("  %-18s %4s  %s\n", pass.name.c_str(),
                is_same ? "-" : std::to_string(pass.operators).c_str(), pass.about.c_str());
    before = &pass.graph;
  }
  for (const auto& pass : segment.passes) {
    if (all && &pass != &segment.passes.back()) {
      std::printf("\nafter %s\n%s", pass.name.c_str(), pass.graph.c_str());
    }
  }
  heading("The graph that is compiled", "After all passes. Every operator still knows your line.");
  show(*before, all, 80);
}

static void show_launches(const jit::SegmentView& segment, bool all) {
  heading("Kernels",
          "What each launch computes for one element, vectorised and split over threads later.\n"
          "After a matrix product (its sizes are batch x m x n x k) this is what happens to each\n"
          "finished sum, which is load 0. Equal kernels are shown once.");
  std::map<std::string, std::size_t> shown;
  for (std::size_t i = 0; i < segment.launches.size(); ++i) {
    const auto& launch = segment.launches[i];
    std::printf("launch %zu, %s: %s\n", i, launch.shape.c_str(), launch.operators.c_str());
    const auto [earlier, is_new] = shown.emplace(launch.kernel, i);
    if (is_new) {
      show(launch.kernel, all);
    } else {
      std::printf("as launch %zu\n", earlier->second);
    }
    std::printf("\n");
  }
  heading("Machine code", std::string("Made in memory, without a compiler or assembler. ") +
                              (all ? "" : "Of the first launch; --all shows every one."));
  bool has_any = false;
  for (std::size_t i = 0; i < segment.launches.size(); ++i) {
    const auto& launch = segment.launches[i];
    if (launch.assembly.empty()) continue;
    has_any = true;
    std::printf("launch %zu: %s\n", i, launch.operators.c_str());
    show(launch.assembly, all, 60);
    if (!all) break;
  }
  if (!has_any) std::printf("None: the kernels are interpreted.\n");
}

int main(int argc, char** argv) {
  bool all = false;
  SampleOptions defaults;
  defaults.steps = 2000;
  defaults.batch = 32;
  const char* const about = "Shows what Groove makes of a small training loop.";
  const auto options =
      parse_options(argc, argv, about, defaults, false, false, {{"--all", "whole texts", &all}});
  try {
    groove::manual_seed(options.seed);
    const float loss = train(options.steps, options.batch);
    const auto summary = jit::summary();
    std::printf("%lld steps, last loss %.4f; %llu of them ran compiled.\n",
                static_cast<long long>(options.steps), loss,
                static_cast<unsigned long long>(summary.hits));
    for (const auto& segment : jit::inspect()) {
      std::printf("\nSegment %llu at %s: %s, compiled in %.1f ms\n",
                  static_cast<unsigned long long>(segment.id), segment.source.c_str(),
                  segment.state.c_str(), segment.compile_milliseconds);
      show_calls(segment);
      heading("Guards",
              "Compared at each step while your lines run. If anything differs, the step goes on\n"
              "uncompiled and nothing is lost.");
      show(segment.guards, all);
      heading("The graph as recorded",
              "All of the step: forward, backward and update. Returned is what your program\n"
              "still holds or may look at; `a -> b` overwrites b with a.");
      show(segment.graph, all, 80);
      show_passes(segment, all);
      heading("Fusion",
              "Groups of operators that become one kernel: its kind, the sizes of its loop, and\n"
              "how many results it stores. The others stay in registers.");
      show(segment.groups, all);
      heading("Memory",
              "One block for all intermediate results, planned beforehand: a place is used again\n"
              "when its content has been read. Levels are those of the program below.");
      show(segment.memory, all);
      heading("The program",
              "The launches by level: those of one level may run at once. Kind, sizes, how many\n"
              "instances over other memory, estimated time on one thread.");
      show(segment.program, all);
      show_launches(segment, all);
    }
    heading("In your own program",
            "groove::jit::inspect() gives these texts, groove::jit::explain() a summary;\n"
            "GROOVE_DUMP=<folder> writes them to files, GROOVE_LOG to standard error.");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "look_inside: %s\n", error.what());
    return 1;
  }
}
