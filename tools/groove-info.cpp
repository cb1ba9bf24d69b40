// groove-info: what this machine and this build of Groove offer, and why not more.
#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>
#include <fstream>
#include <string>
#include <thread>

#include "jit/backends/llvm/library.h"
#include "kernels/asmjit/isa.h"
#include "kernels/backend.h"
#include "kernels/pool.h"
#include "src/core/environment.h"

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

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Prints what this machine and this build of Groove offer.");
  CLI11_PARSE(app, argc, argv);
  try {
    print_info();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "groove-info: %s\n", error.what());
    return 1;
  }
  return 0;
}
