// groove-info: what this machine and this build of Groove offer, and why not more.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "jit/backends/llvm/library.h"
#include "kernels/asmjit/isa.h"
#include "kernels/backend.h"
#include "kernels/pool.h"
#include "src/core/environment.h"
#include "src/core/op_kind.h"

namespace {

std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

std::string isa_text() {
  using namespace groove::kernels;
  if (!has_isa(Isa::kAvx2)) return "none that generated code needs";
  const std::string used = isa() == Isa::kAvx512 ? "avx512" : "avx2";
  return has_isa(Isa::kAvx512) && used == "avx2" ? "avx2 (limited; the CPU has avx512)" : used;
}

void print_tier(const char* name, const char* what) {
  groove::kernels::Backend* const backend = groove::kernels::find_backend(name);
  const std::string problem = backend ? backend->unavailable() : "not part of this build";
  std::string text = problem.empty() ? "yes" : "no: " + problem;
  if (problem.empty() && std::string(name) == "llvm") {
    text = "yes, LLVM " + groove::llvm_tier::loaded();
  }
  std::printf("  %-12s %-28s %s\n", name, what, text.c_str());
}

void print_info() {
  const groove::Environment& environment = groove::environment();
  std::printf("Groove %s\n", GROOVE_VERSION);
  std::printf("CPU           %s\n", cpu_name().c_str());
  std::printf("instructions  %s\n", isa_text().c_str());
  std::printf("threads       %d of %u\n", groove::kernels::num_threads(),
              std::thread::hardware_concurrency());
  std::printf("devices       cpu\n");
  std::printf("tiers, highest allowed: %s\n", environment.tier.c_str());
  print_tier("interpreter", "the oracle");
  print_tier("asmjit", "tier 1, eager and compiled");
  print_tier("llvm", "tier 2, hot compiled kernels");
  std::printf("environment\n%s", groove::describe_environment().c_str());
}

std::string attributes_and_numbers(const groove::Op& op) {
  std::vector<const char*> names;
  for (const groove::AttrField& field : op.attributes) names.push_back(field.name);
  names.insert(names.end(), op.number_names.begin(), op.number_names.end());
  return fmt::format("{}", fmt::join(names, ", "));
}

// The dtypes that the registry's test calls it with.
std::string dtypes_of(const groove::Op& op) {
  std::vector<const char*> names;
  for (const groove::ScalarType dtype : op.dtypes) names.push_back(groove::short_name(dtype));
  return fmt::format("{}", fmt::join(names, " "));
}

void print_operators() {
  std::vector<const groove::Op*> ops(groove::all_ops().begin(), groove::all_ops().end());
  std::sort(ops.begin(), ops.end(),
            [](const groove::Op* a, const groove::Op* b) { return a->name < b->name; });
  std::printf(
      "| operator | kind | inputs | attributes, numbers | gradient | in place | tested with |\n"
      "|---|---|---|---|---|---|---|\n");
  for (const groove::Op* const op : ops) {
    const bool is_tape = op->kind == groove::OpKind::kBig;
    const std::string inputs = op->inputs < 0 ? "any" : std::to_string(op->inputs);
    std::printf("| `%s` | %s | %s | %s | %s | %s | %s |\n", op->name.c_str(),
                is_tape ? "of the tape" : groove::name(op->kind), inputs.c_str(),
                attributes_and_numbers(*op).c_str(), op->gradient ? "yes" : "",
                op->has_inplace ? "yes" : "", dtypes_of(*op).c_str());
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Prints what this machine and this build of Groove offer.");
  bool shows_operators = false;
  app.add_flag("--operators", shows_operators,
               "print the table of operators, docs/operators.md, instead");
  CLI11_PARSE(app, argc, argv);
  try {
    if (shows_operators)
      print_operators();
    else
      print_info();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "groove-info: %s\n", error.what());
    return 1;
  }
  return 0;
}
