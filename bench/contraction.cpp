// Times contractions against the fma peak of the machine, measured in the same run: machines drift
// and are shared, so every sample of a contraction stands next to one of the peak, and the best of
// each are compared.
//
//   contraction_bench [avx2]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "kernels/asmjit/isa.h"
#include "kernels/contraction/generator.h"
#include "kernels/expr.h"
#include "kernels/pool.h"

namespace groove::kernels {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Twelve independent chains of fma; what is in the registers does not matter unless it is
// denormal, so they are cleared first.
#define TWELVE(make) \
  make(0) make(1) make(2) make(3) make(4) make(5) make(6) make(7) make(8) make(9) make(10) make(11)
#define CLEAR(i) "vxorps %%xmm" #i ", %%xmm" #i ", %%xmm" #i "\n"
#define FMA_YMM(i) "vfmadd231ps %%ymm15, %%ymm15, %%ymm" #i "\n"
#define FMA_ZMM(i) "vfmadd231ps %%zmm15, %%zmm15, %%zmm" #i "\n"
#define PEAK(fma)                                                                            \
  asm volatile(TWELVE(CLEAR) CLEAR(15) "1:\n" TWELVE(fma) "sub $1, %0\njnz 1b\nvzeroupper\n" \
               : "+r"(rounds)::"cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", \
                 "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm15")

double peak(Isa isa) {
  constexpr double kChains = 12, kRounds = 4000;
  std::int64_t rounds = kRounds;
  const auto start = Clock::now();
  if (isa == Isa::kAvx512) {
    PEAK(FMA_ZMM);
  } else {
    PEAK(FMA_YMM);
  }
  return 2.0 * (isa == Isa::kAvx512 ? 16 : 8) * kChains * kRounds / seconds_since(start);
}

struct Case {
  std::int64_t m, n, k;
  bool a_by_column, b_by_column;
  bool has_epilogue = false;  // bias and relu
};

float* allocate(std::size_t count) {
  auto* data = static_cast<float*>(std::aligned_alloc(64, (count * 4 + 127) / 64 * 64));
  for (std::size_t i = 0; i < count; ++i) data[i] = float(i % 17) * 0.125f - 1.0f;
  return data;
}

Kernel bias_relu() {
  Builder builder;
  const Expr sum = builder.load(kFloat, StrideClass::kContiguous);
  const Expr x = sum + builder.load(kFloat, StrideClass::kContiguous);
  builder.store(kFloat, StrideClass::kContiguous,
                select(le(x, 0.0), builder.constant(kFloat, 0), x));
  return builder.finish();
}

void measure(const Case& c, Isa isa, int threads, double& best_peak) {
  Contraction contraction;
  contraction.a = c.a_by_column ? Layout::kColumnMajor : Layout::kRowMajor;
  contraction.b = c.b_by_column ? Layout::kColumnMajor : Layout::kRowMajor;
  contraction.order = order_class(c.m, c.n, c.k);
  contraction.epilogue = c.has_epilogue ? bias_relu() : plain_epilogue(kFloat);
  contraction.is_exact = true;
  ContractionShape& s = contraction.shape;
  s.m = c.m;
  s.n = c.n;
  s.k = c.k;
  s.a_row = c.a_by_column ? 1 : c.k;
  s.a_col = c.a_by_column ? c.m : 1;
  s.b_row = c.b_by_column ? 1 : c.n;
  s.b_col = c.b_by_column ? c.k : 1;
  const auto callable = make_asmjit_contraction(contraction, isa);

  float* a = allocate(std::size_t(c.m * c.k));
  float* b = allocate(std::size_t(c.k * c.n));
  float* out = allocate(std::size_t(c.m * c.n));
  float* bias = allocate(std::size_t(c.n));
  void* plain_pointers[] = {out};
  void* fused_pointers[] = {bias, out};
  const std::int64_t plain_strides[1][kMaxAxes] = {{1, c.n}};
  const std::int64_t fused_strides[2][kMaxAxes] = {{1, 0}, {1, c.n}};
  void** pointers = c.has_epilogue ? fused_pointers : plain_pointers;
  const auto* strides = c.has_epilogue ? fused_strides : plain_strides;
  ContractionLaunch launch{s, a, b, pointers, strides, nullptr};
  const std::size_t bytes = (callable->scratch_bytes(launch, threads) / 64 + 1) * 64;
  std::vector<char*> scratch;
  for (int t = 0; t < threads; ++t) {
    scratch.push_back(static_cast<char*>(std::aligned_alloc(64, bytes)));
    std::memset(scratch.back(), 0, bytes);
  }
  auto once = [&] {
    if (threads == 1) return callable->run(launch, 0, 1, scratch[0]);
    parallel(threads,
             [&](int part, int parts) { callable->run(launch, part, parts, scratch[part]); });
  };
  const double flops = 2.0 * double(c.m) * double(c.n) * double(c.k);
  const int repeat = std::max(1, int(2e7 / flops));
  double best = 1e9;
  for (int sample = 0; sample < 60; ++sample) {
    best_peak = std::max(best_peak, peak(isa));
    const auto start = Clock::now();
    for (int i = 0; i < repeat; ++i) once();
    best = std::min(best, seconds_since(start) / repeat);
  }
  std::printf("%5ld %5ld %5ld  A %s  B %s  %s  threads %d  %9.2f us  %7.1f GFLOP/s  %5.1f %%\n",
              long(c.m), long(c.n), long(c.k), c.a_by_column ? "col" : "row",
              c.b_by_column ? "col" : "row", c.has_epilogue ? "bias relu" : "plain    ", threads,
              best * 1e6, flops / best * 1e-9, 100 * flops / best / (best_peak * threads));
  std::fflush(stdout);
  for (char* p : scratch) std::free(p);
  std::free(a);
  std::free(b);
  std::free(out);
  std::free(bias);
}

}  // namespace
}  // namespace groove::kernels

int main(int count, char** arguments) {
  using namespace groove::kernels;
  const bool is_narrow = count > 1 && std::strcmp(arguments[1], "avx2") == 0;
  const Isa chosen = is_narrow || !has_isa(Isa::kAvx512) ? Isa::kAvx2 : Isa::kAvx512;
  set_kernel_threads(2);
  double best_peak = 0;
  const Case cases[] = {{512, 512, 512, false, false},     {512, 512, 512, false, true},
                        {512, 512, 512, true, false},      {128, 512, 512, false, false},
                        {128, 512, 512, false, true},      {128, 512, 512, true, false},
                        {128, 512, 512, true, true},       {64, 128, 784, false, true},
                        {128, 784, 64, true, false},       {64, 784, 128, false, false},
                        {64, 128, 128, false, true},       {64, 10, 128, false, true},
                        {1024, 1024, 1024, false, false},  {32, 32, 32, false, false},
                        {32, 32, 32, false, true},         {32, 32, 32, true, false},
                        {32, 4, 32, false, false},         {32, 4, 32, false, true},
                        {32, 32, 4, false, false},         {32, 32, 4, false, true},
                        {4, 32, 32, true, false},          {8, 512, 512, false, false},
                        {8, 512, 512, false, true},        {1, 512, 512, false, true},
                        {512, 1, 512, false, false},       {100, 100, 100, false, false},
                        {8, 256, 64, false, true},         {8, 256, 64, false, false},
                        {8, 64, 256, false, false},        {64, 10, 784, false, true},
                        {10, 128, 64, true, false},        {64, 128, 10, false, false},
                        {768, 384, 128, false, true},      {256, 3072, 768, false, true},
                        {256, 768, 3072, false, false},    {3072, 768, 256, true, false},
                        {2, 1000, 300, false, true},       {64, 64, 32, false, true},
                        {33, 33, 33, false, true},         {32, 32, 32, false, false, true},
                        {32, 32, 4, false, false, true},   {64, 128, 784, false, true, true},
                        {64, 128, 128, false, true, true}, {128, 512, 512, false, false, true},
                        {100, 100, 100, true, true},       {16, 16, 16, false, false},
                        {33, 33, 33, false, false}};
  for (const Case& c : cases) measure(c, chosen, 1, best_peak);
  const Case shared[] = {{512, 512, 512, false, false},
                         {128, 512, 512, false, true},
                         {64, 128, 784, false, true},
                         {128, 784, 64, true, false}};
  for (const Case& c : shared) measure(c, chosen, 2, best_peak);
  std::printf("peak of one core: %.1f GFLOP/s\n", best_peak * 1e-9);
}
