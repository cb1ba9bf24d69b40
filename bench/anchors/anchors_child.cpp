// One library's side of the comparison: `anchors_… <anchor> <threads>` (0: the library's default)
// reads a number of steps from each line of standard input, runs them, and answers
// `<seconds> <last loss>`, Groove also `<steps that ran compiled> <seconds spent compiling>`. The
// first line is the library's name. bench/peers/anchors.py speaks the same.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "anchors_models.h"

#ifdef ANCHORS_TELL_COMPILED
#include <groove/jit.h>

static void tell_compiled() {
  const auto summary = groove::jit::summary();
  std::printf(" %llu %.6f", static_cast<unsigned long long>(summary.hits),
              1e-3 * summary.compile_milliseconds);
}
#else
static void tell_compiled() {}
#endif

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s <anchor> <threads>; build/bench/anchors starts it\n", argv[0]);
    return 2;
  }
  try {
    if (const int threads = std::atoi(argv[2])) use_threads(threads);
    const auto anchor = make_anchor(argv[1]);
    const char* const mode = std::getenv("GROOVE_MODE");
    std::printf("%s%s%s\n", ANCHORS_LIBRARY, mode ? " " : "", mode ? mode : "");
    std::fflush(stdout);
    long long steps = 0;
    while (std::scanf("%lld", &steps) == 1) {
      using Clock = std::chrono::steady_clock;
      const auto start = Clock::now();
      const double loss = anchor->run(steps);
      const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
      std::printf("%.9f %.6f", seconds, loss);
      tell_compiled();
      std::printf("\n");
      std::fflush(stdout);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 1;
  }
}
