// groove-opt: reads a graph in text form, runs one pass or the whole pipeline and prints what
// comes out. The golden tests of the passes are its input and output.
#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include "jit/pipeline.h"
#include "jit/program.h"

namespace {

std::string read_all(const std::string& path) {
  if (path == "-") {
    return std::string(std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>());
  }
  std::ifstream file(path);
  if (!file) throw groove::Error("cannot read " + path);
  return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

void run_pass(groove::Graph& graph, const std::string& name) {
  if (name == "pipeline") return groove::jit::run_pipeline(graph);
  for (const auto* passes : {&groove::jit::passes(), &groove::jit::fast_passes()}) {
    for (const groove::jit::Pass& pass : *passes) {
      if (name == pass.name) return static_cast<void>(pass.run(graph));
    }
  }
  throw groove::Error("there is no pass `" + name + "`; --list names them");
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Runs graph passes on a graph in text form.");
  std::string path = "-", pass = "pipeline";
  bool wants_dot = false, wants_program = false, wants_list = false;
  app.add_option("file", path, "graph text; - reads standard input");
  app.add_option("--pass", pass, "one pass by name, or pipeline");
  app.add_flag("--dot", wants_dot, "print Graphviz instead of text");
  app.add_flag("--program", wants_program, "compile and print the launches instead");
  app.add_flag("--list", wants_list, "print the names of the passes in order");
  CLI11_PARSE(app, argc, argv);
  try {
    if (wants_list) {
      for (const groove::jit::Pass& each : groove::jit::passes()) std::puts(each.name);
      std::puts("under fast numerics, before them:");
      for (const groove::jit::Pass& each : groove::jit::fast_passes()) std::puts(each.name);
      return 0;
    }
    groove::Graph graph = groove::parse_graph(read_all(path));
    run_pass(graph, pass);
    const std::string problem = verify(graph);
    if (!problem.empty()) throw groove::Error("after " + pass + ": " + problem);
    if (wants_program) {
      std::fputs(groove::jit::Program(std::move(graph)).describe().c_str(), stdout);
    } else {
      std::fputs((wants_dot ? dot(graph) : print(graph)).c_str(), stdout);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "groove-opt: %s\n", error.what());
    return 1;
  }
  return 0;
}
