// Times convolutions against the fma peak of the machine, measured in the same run next to every
// sample: machines drift and are shared. The best of each are compared.
//
//   convolution_bench [avx2]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

#include "kernels/asmjit/isa.h"
#include "kernels/convolution/convolution.h"
#include "kernels/pool.h"

namespace groove::kernels {
namespace {

// On one thread its own time counts, so that a busy machine disturbs little.
double now(int threads) {
  timespec time{};
  clock_gettime(threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

// Twelve independent chains of fma; registers are cleared because denormals would slow them.
#define TWELVE(make) \
  make(0) make(1) make(2) make(3) make(4) make(5) make(6) make(7) make(8) make(9) make(10) make(11)
#define CLEAR(i) "vxorps %%xmm" #i ", %%xmm" #i ", %%xmm" #i "\n"
#define FMA_YMM(i) "vfmadd231ps %%ymm15, %%ymm15, %%ymm" #i "\n"
#define FMA_ZMM(i) "vfmadd231ps %%zmm15, %%zmm15, %%zmm" #i "\n"
#define PEAK(fma)                                                                            \
  asm volatile(TWELVE(CLEAR) CLEAR(15) "1:\n" TWELVE(fma) "sub $1, %0\njnz 1b\nvzeroupper\n" \
               : "+r"(rounds)::"cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", \
                 "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm15")

double peak(Isa isa, int threads) {
  constexpr double kChains = 12, kRounds = 4000;
  std::int64_t rounds = kRounds;
  const double start = now(threads);
  if (isa == Isa::kAvx512) {
    PEAK(FMA_ZMM);
  } else {
    PEAK(FMA_YMM);
  }
  return 2.0 * (isa == Isa::kAvx512 ? 16 : 8) * kChains * kRounds / (now(threads) - start);
}

struct Layer {
  const char* name;
  std::int64_t images, in, out, size, kernel, stride, padding;
};

float* allocate(std::int64_t count) {
  auto* data = static_cast<float*>(std::aligned_alloc(64, std::size_t(count * 4 + 127) / 64 * 64));
  for (std::int64_t i = 0; i < count; ++i) data[i] = float(i % 17) * 0.125f - 1.0f;
  return data;
}

// Multiply-adds of taps that exist.
double useful(const ConvolutionShape& s) {
  const auto axis = [](const ConvolutionAxis& a) {
    double taps = 0;
    for (std::int64_t o = 0; o < a.out; ++o)
      for (std::int64_t tap = 0; tap < a.kernel; ++tap) taps += a.source(o, tap) >= 0;
    return taps;
  };
  return axis(s.height) * axis(s.width) * double(s.images * s.in_channels * s.out_channels);
}

void measure(const Layer& layer, Isa isa, int threads) {
  const std::int64_t out = (layer.size + 2 * layer.padding - layer.kernel) / layer.stride + 1;
  const ConvolutionAxis axis{layer.size, out, layer.kernel, layer.stride, layer.padding, 1};
  const ConvolutionShape s{layer.images, 1, layer.in, layer.out, axis, axis};
  float* x = allocate(s.images * s.in_channels * s.in_plane());
  float* y = allocate(s.images * s.out_channels * s.out_plane());
  float* w = allocate(s.out_channels * s.in_channels * s.taps());
  const ConvolutionCall calls[] = {{ConvolutionForm::kForward, kFloat, s, x, w, y},
                                   {ConvolutionForm::kBackwardData, kFloat, s, y, w, x},
                                   {ConvolutionForm::kBackwardWeight, kFloat, s, y, x, w}};
  const double nominal = 2.0 * double(s.images * s.out_channels * s.out_plane()) *
                         double(s.in_channels * s.taps());
  std::printf("%-28s threads %d  %5.0f %% of taps exist ", layer.name, threads,
              200 * useful(s) / nominal);
  for (const ConvolutionCall& call : calls) {
    const int repeat = std::max(1, int(2e7 / nominal));
    double best = 1e9, best_peak = 0;
    for (int sample = 0; sample < 12; ++sample) {
      best_peak = std::max(best_peak, peak(isa, threads));
      const double start = now(threads);
      for (int i = 0; i < repeat; ++i) {
        parallel(threads, [&](int part, int of) { run_convolution_tiled(call, isa, part, of); });
      }
      best = std::min(best, (now(threads) - start) / repeat);
    }
    std::printf(" | %8.1f us %6.1f GFLOP/s %5.1f %%", best * 1e6, nominal / best * 1e-9,
                100 * nominal / best / (best_peak * threads));
  }
  std::printf("\n");
  std::fflush(stdout);
  for (float* p : {x, y, w}) std::free(p);
}

}  // namespace
}  // namespace groove::kernels

int main(int count, char** arguments) {
  using namespace groove::kernels;
  const bool is_narrow = count > 1 && std::strcmp(arguments[1], "avx2") == 0;
  const Isa isa = is_narrow || !has_isa(Isa::kAvx512) ? Isa::kAvx2 : Isa::kAvx512;
  std::printf("columns: forward, backward-data, backward-weight; nominal GFLOP/s and share of the "
              "fma peak\n");
  const Layer layers[] = {{"LeNet 1 -> 6, 5x5", 64, 1, 6, 28, 5, 1, 0},
                          {"LeNet 6 -> 16, 5x5", 64, 6, 16, 12, 5, 1, 0},
                          {"LeNet 1 -> 6, 5x5, padded", 64, 1, 6, 28, 5, 1, 2},
                          {"ResNet stem 3 -> 64, 3x3", 32, 3, 64, 32, 3, 1, 1},
                          {"ResNet 64 -> 64, 3x3", 32, 64, 64, 32, 3, 1, 1},
                          {"ResNet 64 -> 128, 3x3 / 2", 32, 64, 128, 32, 3, 2, 1},
                          {"ResNet 128 -> 128, 3x3", 32, 128, 128, 16, 3, 1, 1},
                          {"ResNet 256 -> 256, 3x3", 32, 256, 256, 8, 3, 1, 1},
                          {"ResNet 512 -> 512, 3x3", 32, 512, 512, 4, 3, 1, 1},
                          {"ResNet 64 -> 128, 1x1 / 2", 32, 64, 128, 32, 1, 2, 0},
                          {"one image 64 -> 64, 3x3", 1, 64, 64, 32, 3, 1, 1}};
  for (const Layer& layer : layers) measure(layer, isa, 1);
  set_kernel_threads(2);
  for (int i : {0, 1, 4, 7, 8}) measure(layers[i], isa, 2);
}
