// fit-costs: measures what the compiler's decisions weigh against each other (instructions, near
// and far memory, launches) on generated kernels, and prints the table that jit/costs.h holds:
//
//   build/tools/fit-costs > costs.h && mv costs.h jit/costs.h
//
// Costs are slopes between a kernel and a longer one, the least of many turns, on one thread.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <vector>

#include "kernels/backend.h"
#include "kernels/expr.h"
#include "kernels/pool.h"

namespace {

using namespace groove;
using namespace groove::kernels;

constexpr int kTurns = 1000;

struct Shape {
  int loads = 1, stores = 1, instructions = 0;
};

// Sums of the loads, a chain of instructions, the result stored, over `count` elements.
class Body {
 public:
  Body(const Shape& shape, std::int64_t count, std::int64_t rows = 1)
      : times_(count > 100'000 ? 1 : 64) {
    Builder builder;
    Expr value = builder.load(kFloat, StrideClass::kContiguous);
    for (int i = 1; i < shape.loads; ++i) {
      value = value + builder.load(kFloat, StrideClass::kContiguous);
    }
    for (int i = 0; i < shape.instructions; ++i) value = i % 2 ? value * 0.875 : value + 0.25;
    for (int i = 0; i < shape.stores; ++i) {
      builder.store(kFloat, StrideClass::kContiguous, value);
    }
    const Kernel kernel = builder.finish();
    callable_ = compile_cached(current_backend(), kernel);
    // Rows of different operands begin in different sets of the caches.
    const std::int64_t row = count / rows + (rows > 1 ? 16 : 0), apart = row * rows + 16 * 17;
    const std::size_t accesses = kernel.accesses.size();
    memory_.assign(static_cast<std::size_t>(apart) * accesses + 16, 0.5f);
    strides_.assign(accesses * kMaxAxes, 0);
    for (std::size_t a = 0; a < accesses; ++a) {
      pointers_.push_back(memory_.data() + static_cast<std::int64_t>(a) * apart);
      strides_[a * kMaxAxes] = 1;
      strides_[a * kMaxAxes + 1] = row;
    }
    launch_.rank = rows > 1 ? 2 : 1;
    launch_.count[0] = count / rows;
    launch_.count[1] = rows;
    launch_.pointers = pointers_.data();
    launch_.strides = reinterpret_cast<const std::int64_t(*)[kMaxAxes]>(strides_.data());
  }

  /// One turn; the least counts.
  void measure() {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < times_; ++i) callable_->run(launch_);
    const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - start;
    least_ = std::min(least_, taken.count() / times_);
  }
  double nanoseconds() const { return least_; }

 private:
  std::shared_ptr<const Callable> callable_;
  std::vector<float> memory_;
  std::vector<void*> pointers_;
  std::vector<std::int64_t> strides_;
  Launch launch_;
  int times_;
  double least_ = 1e300;
};

double run(const Shape& shape, std::int64_t count, int turns) {
  Body body(shape, count);
  for (int turn = 0; turn < turns; ++turn) body.measure();
  return body.nanoseconds();
}

// Of one of the `by` that the second shape has more, and of one element. The two take turns.
double slope(const Shape& few, const Shape& more, int by, std::int64_t count) {
  Body short_body(few, count), long_body(more, count);
  for (int turn = 0; turn < kTurns; ++turn) {
    short_body.measure();
    long_body.measure();
  }
  const double longer = long_body.nanoseconds() - short_body.nanoseconds();
  return std::max(0.0, longer / (by * static_cast<double>(count)));
}

// The end of a row and the beginning of the next, where rows consist of whole vectors.
double row_end() {
  constexpr std::int64_t kCount = 2048, kRows = 128;
  Body one_row({2, 1, 8}, kCount), rows({2, 1, 8}, kCount, kRows);
  for (int turn = 0; turn < kTurns; ++turn) {
    one_row.measure();
    rows.measure();
  }
  return std::max(0.0, (rows.nanoseconds() - one_row.nanoseconds()) / (kRows - 1));
}

volatile double results[2 * 8];  // of the work below; a line for each thread

// What a level of a parallel region on two threads takes beside the work of the slower one.
double barrier() {
  constexpr int kLevels = 100;
  const auto work = [](void*, int, int part, int) {
    double value = 1;
    for (int i = 0; i < 1000; ++i) value = value * 0.999 + 0.001;
    results[8 * part] = value;
  };
  const auto least_of = [&](int levels, int parts) {
    double least = 1e300;
    for (int turn = 0; turn < kTurns; ++turn) {
      const auto start = std::chrono::steady_clock::now();
      parallel_levels(levels, parts, work, nullptr);
      const std::chrono::duration<double, std::nano> taken =
          std::chrono::steady_clock::now() - start;
      least = std::min(least, taken.count() / levels);
    }
    return least;
  };
  return std::max(0.0, least_of(kLevels, 2) - least_of(kLevels, 1));
}

}  // namespace

int main() {
  constexpr std::int64_t kNear = 768, kFar = 16 << 20;  // elements of a row; all rows fit or none
  set_kernel_threads(1);
  const double instruction = slope({1, 1, 8}, {1, 1, 40}, 32, kNear);
  // An instruction may take its operand from memory: what is left is what that adds.
  const double load = std::max(0.0, slope({2, 1, 8}, {6, 1, 8}, 4, kNear) - instruction);
  const double store = slope({1, 1, 8}, {1, 4, 8}, 3, kNear);
  const double far = run({2, 1, 0}, kFar, 20) / (3.0 * sizeof(float) * static_cast<double>(kFar));
  const double row = row_end();
  const double launch = run({1, 1, 0}, 16, kTurns);
  set_kernel_threads(2);
  set_never_serial(true);
  const double wait = barrier();
  const long told = sysconf(_SC_LEVEL2_CACHE_SIZE), cache = told > 0 ? told : 1 << 20;
  std::printf(
      "// What work costs on one thread, in nanoseconds. Fitted by build/tools/fit-costs, which "
      "prints\n"
      "// this file; nothing but speed depends on it.\n"
      "#pragma once\n\n"
      "#include <cstdint>\n\n"
      "namespace groove::jit::costs {\n\n"
      "inline constexpr double kInstruction = %.4f;  // of a vectorised body, and element\n"
      "inline constexpr double kNearLoad = %.4f;     // from the first-level cache, and element\n"
      "inline constexpr double kNearStore = %.4f;    // to it\n"
      "inline constexpr double kFarByte = %.4f;      // read from or written to memory\n"
      "inline constexpr double kRow = %.2f;            // of a row's end\n"
      "inline constexpr double kLaunch = %.1f;         // of a kernel\n"
      "inline constexpr double kBarrier = %.1f;        // between two levels on two threads\n"
      "// A quarter of a core's second-level cache: such a value is there when the "
      "next one reads it.\n"
      "inline constexpr std::int64_t kNearBytes = %ld << 10;\n\n"
      "}  // namespace groove::jit::costs\n",
      instruction, load, store, far, row, launch, wait, cache / 4 >> 10);
}
