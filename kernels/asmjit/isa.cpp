// Which instruction set new code uses: what the CPU has, within the limit that was set.
#include "kernels/asmjit/isa.h"

#include <cpuid.h>

#include <algorithm>
#include <atomic>

#include "src/core/environment.h"

namespace groove::kernels {
namespace {

std::atomic<Isa> limit{Isa::kAvx512};

[[maybe_unused]] const bool is_registered = [] {
  when_environment_is_read([](const Environment& environment) {
    if (environment.isa == "avx2") set_isa_limit(Isa::kAvx2);
  });
  return true;
}();

// Clang learned this name for __builtin_cpu_supports() late.
bool has_f16c() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}

}  // namespace

bool has_isa(Isa isa) {
  // The compiler's check asks the operating system about register state, too.
  static const bool has_avx2 =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c();
  static const bool has_avx512 =
      has_avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return isa == Isa::kAvx2 ? has_avx2 : has_avx512;
}

const char* name(Isa isa) { return isa == Isa::kAvx512 ? "avx512" : "avx2"; }

Isa isa() {
  static const Isa best = has_isa(Isa::kAvx512) ? Isa::kAvx512 : Isa::kAvx2;
  return std::min(best, limit.load(std::memory_order_relaxed));
}

void set_isa_limit(Isa new_limit) { limit.store(new_limit, std::memory_order_relaxed); }

}  // namespace groove::kernels
