// How many mappings do very many kernels take, and does their code memory come back? Distinct small
// kernels of both tiers are made and kept, a sample of them runs, then all are freed and made
// again.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "kernels/asmjit/code_memory.h"
#include "kernels/backend.h"
#include "kernels/expr.h"
#include "tests/backend/run_once.h"

namespace {

using namespace groove;
using namespace groove::kernels;

int failures = 0;

struct Mappings {
  long all = 0, writable_code = 0;
};

Mappings mappings() {
  Mappings now;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    ++now.all;
    const std::size_t rights = line.find(' ') + 1;
    now.writable_code += line[rights + 1] == 'w' && line[rights + 2] == 'x' ? 1 : 0;
  }
  return now;
}

Kernel kernel(long number) {
  Builder b;
  b.store(kFloat, StrideClass::kContiguous,
          b.load(kFloat, StrideClass::kContiguous) * static_cast<double>(number + 1));
  return b.finish();
}

bool is_right(const Callable& callable, long number) {
  return testing::run_once(callable, 0.5f) == 0.5f * static_cast<float>(number + 1);
}

void expect(bool is_so, const char* what) {
  if (is_so) return;
  std::printf("  FAILED: %s\n", what);
  ++failures;
}

void make(const char* tier, long count) {
  Backend* const backend = find_backend(tier);
  if (backend == nullptr || !backend->unavailable().empty()) {
    std::printf("%-8s is not there\n", tier);
    return;
  }
  const Mappings before = mappings();
  const std::size_t bytes = assembly::code_bytes();
  std::size_t first = 0;
  for (int turn = 0; turn < 2; ++turn) {
    std::vector<std::shared_ptr<const Callable>> kept;
    for (long i = 0; i < count; ++i) {
      kept.push_back(backend->compile(kernel(i)));
      if (i % 997 == 0) expect(is_right(*kept.back(), i), "a kernel is wrong");
    }
    const Mappings after = mappings();
    const std::size_t taken = assembly::code_bytes() - bytes;
    std::printf("%-8s %7ld kernels: %6.1f MB of code, %+ld mappings\n", tier, count,
                1e-6 * static_cast<double>(taken), after.all - before.all);
    std::fflush(stdout);
    expect(after.all < 1000, "1,000 mappings or more");
    expect(after.writable_code == 0, "memory that is writable and executable");
    if (turn == 0) first = taken;
    expect(turn == 0 || taken <= first + first / 8,
           "the memory of freed kernels is not used again");
  }
}

}  // namespace

int main(int count, char** words) {
  if (count != 3) {
    std::puts("usage: many_kernels <of tier 1> <of tier 2>");
    return 2;
  }
  make("asmjit", std::atol(words[1]));
  make("llvm", std::atol(words[2]));
  return failures == 0 ? 0 : 1;
}
