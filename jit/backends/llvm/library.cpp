#include "jit/backends/llvm/library.h"

#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "jit/backends/llvm/interface.h"
#include "jit/backends/llvm/places.h"
#include "kernels/asmjit/code_memory.h"
#include "kernels/machine.h"
#include "src/core/check.h"
#include "src/core/environment.h"
#include "src/core/fork.h"

namespace groove::llvm_tier {
namespace {

constexpr const char* kName = GROOVE_LLVM_FILE;

struct Library {
  std::mutex mutex;  // held while LLVM works
  bool is_tried = false;
  bool is_ending = false;  // the process runs its exit handlers
  std::string problem, path;
  const GrooveLlvmInterface* interface = nullptr;
  std::array<GrooveLlvmCompiler*, 2> compilers{};
};

// Never destroyed: other threads may compile while the process ends.
Library& library() {
  static Library& instance = *new Library;
  return instance;
}

void* open_library(Library& l) {
  for (const std::string& path : places_of(kName)) {
    const bool is_path = path.find('/') != std::string::npos;
    if (is_path && access(path.c_str(), F_OK) != 0) continue;
    l.path = path;
    if (void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
    if (is_path) {
      l.problem = dlerror();
      return nullptr;
    }
  }
  l.problem = std::string(kName) +
              " was not found beside the program or among Groove's libraries; install llvm-22-dev "
              "and libzstd-dev and build Groove again";
  return nullptr;
}

void open_once(Library& l) {
  if (l.is_tried) return;
  l.is_tried = true;
  void* const handle = open_library(l);
  if (handle == nullptr) return;
  const auto entry = reinterpret_cast<GrooveLlvmEntry>(dlsym(handle, GROOVE_LLVM_ENTRY));
  if (entry == nullptr || entry()->version != GROOVE_LLVM_INTERFACE) {
    l.problem = l.path + " is of another version of Groove; build or install both together";
    return;
  }
  l.interface = entry();
  // Registered after the library's own destructors, so it runs before them: LLVM must not work
  // while its tables go.
  std::atexit([] {
    Library& ending = library();
    const std::lock_guard lock(ending.mutex);
    ending.is_ending = true;
  });
}

// A child begins between two compilations.
[[maybe_unused]] const bool is_fork_handled =
    hold_over_fork(ForkRank::kCompilers, []() -> auto& { return library().mutex; });

std::string take_text(const Library& l, char* text) {
  if (text == nullptr) return "LLVM gave no reason";
  std::string result = text;
  l.interface->free_text(text);
  return result;
}

GrooveLlvmCompiler* compiler_for(Library& l, kernels::Isa isa) {
  open_once(l);
  GROOVE_CHECK(l.interface != nullptr, "llvm: {}", l.problem);
  GROOVE_CHECK(!l.is_ending, "llvm: the process is ending");
  GrooveLlvmCompiler*& compiler = l.compilers[static_cast<std::size_t>(isa)];
  if (compiler == nullptr) {
    const auto start = std::chrono::steady_clock::now();
    const char* const name = isa == kernels::Isa::kAvx512 ? "avx512" : "avx2";
    char* error = nullptr;
    compiler = l.interface->create(
        name, static_cast<std::size_t>(kernels::this_machine().first_cache), &error);
    if (compiler == nullptr) throw_error("llvm: " + take_text(l, error));
    if (environment().logs("kernels")) {
      const std::chrono::duration<double, std::milli> taken =
          std::chrono::steady_clock::now() - start;
      std::fprintf(stderr, "groove: tier 2 ready for %s in %.2f ms\n", name, taken.count());
    }
  }
  return compiler;
}

}  // namespace

std::string unavailable() {
  Library& l = library();
  const std::lock_guard lock(l.mutex);
  open_once(l);
  if (l.interface != nullptr && !l.is_ending) {
    try {
      compiler_for(l, kernels::isa());
    } catch (const Error& error) {
      return error.what();
    }
  }
  return l.problem;
}

std::string loaded() {
  Library& l = library();
  const std::lock_guard lock(l.mutex);
  if (l.interface == nullptr) return {};
  return std::string(l.interface->llvm_version) + " from " + l.path;
}

// The memory is reserved in between: a lock within this one would be a third that fork() takes.
Code compile(const std::string& kernel, kernels::Isa isa) {
  Library& l = library();
  char* error = nullptr;
  std::size_t bytes = 0;
  GrooveLlvmCode* compiled = nullptr;
  {
    const std::lock_guard lock(l.mutex);
    GrooveLlvmCompiler* const compiler = compiler_for(l, isa);
    compiled = l.interface->compile(compiler, kernel.c_str(), &bytes, &error);
    if (compiled == nullptr) throw_error("llvm: " + take_text(l, error));
  }
  const kernels::assembly::CodeMemory memory = kernels::assembly::reserve_code(bytes);
  const std::lock_guard lock(l.mutex);
  void* const function =
      l.is_ending ? nullptr : l.interface->place(compiled, memory.code, memory.writable, &error);
  if (function == nullptr) {
    kernels::assembly::release_code(memory.code);
    throw_error("llvm: " + take_text(l, error));
  }
  return {reinterpret_cast<kernels::NestFunction>(function), memory.code};
}

std::string listing(const std::string& kernel, kernels::Isa isa) {
  Library& l = library();
  const std::lock_guard lock(l.mutex);
  char* error = nullptr;
  char* const text = l.interface->listing(compiler_for(l, isa), kernel.c_str(), &error);
  if (text == nullptr) throw_error("llvm: " + take_text(l, error));
  return take_text(l, text);
}

}  // namespace groove::llvm_tier
