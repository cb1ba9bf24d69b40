// What an operator costs besides its arithmetic: eager ops on 8x8 tensors, and in a compiled loop
// the matching of one op and the entry into a segment. Nanoseconds, medians of several blocks.
#include <groove/groove.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace {

using groove::Tensor;

constexpr int kBlocks = 15;

double nanoseconds_a_call(const std::function<void()>& call, int calls) {
  using Clock = std::chrono::steady_clock;
  for (int i = 0; i < calls; ++i) call();
  std::vector<double> blocks;
  for (int block = 0; block < kBlocks; ++block) {
    const auto start = Clock::now();
    for (int i = 0; i < calls; ++i) call();
    const std::chrono::duration<double, std::nano> time = Clock::now() - start;
    blocks.push_back(time.count() / calls);
  }
  std::nth_element(blocks.begin(), blocks.begin() + kBlocks / 2, blocks.end());
  return blocks[kBlocks / 2];
}

void row(const char* what, double nanoseconds, const char* goal) {
  std::printf("| %s | %.0f | %s |\n", what, nanoseconds, goal);
}

// A loop body of 16 ops with a call site each, ended by a host read. Sites are told apart by line
// and column, so the statements are spelled out.
// clang-format off
float short_body(const Tensor& x, const Tensor& y) {
  Tensor z = x + y; z = z * y; z = z + x; z = z * y;
  z = z + y; z = z * x; z = z + x; z = z * y;
  z = z + y; z = z * y; z = z + x; z = z * y;
  z = z + y; z = z * x; z = z + x; z = z * y;
  return z.item<float>();
}

// The same with 64 ops.
float long_body(const Tensor& x, const Tensor& y) {
  Tensor z = x + y; z = z * y; z = z + x; z = z * y;
  z = z + y; z = z * x; z = z + x; z = z * y;
  z = z + y; z = z * y; z = z + x; z = z * y;
  z = z + y; z = z * x; z = z + x; z = z * y;
  z = z + y; z = z * y; z = z + x; z = z * y;
  z = z + y; z = z * x; z = z + x; z = z * y;
  z = z + y; z = z * y; z = z + x; z = z * y;
  z = z + y; z = z * x; z = z + x; z = z * y;
  z = z + y; z = z * y; z = z + x; z = z * y;
  z = z + y; z = z * x; z = z + x; z = z * y;
  z = z + y; z = z * y; z = z + x; z = z * y;
  z = z + y; z = z * x; z = z + x; z = z * y;
  z = z + y; z = z * y; z = z + x; z = z * y;
  z = z + y; z = z * x; z = z + x; z = z * y;
  z = z + y; z = z * y; z = z + x; z = z * y;
  z = z + y; z = z * x; z = z + x; z = z * y;
  return z.item<float>();
}
// clang-format on

void eager() {
  groove::jit::set_mode(groove::jit::Mode::kEager);
  const Tensor x = groove::randn({8, 8}), y = groove::randn({8, 8});
  {
    groove::NoGradGuard no_grad;
    row("eager `x + y`, no gradient", nanoseconds_a_call([&] { x + y; }, 20000), "≤ 250");
    row("eager `x.view({64})`", nanoseconds_a_call([&] { x.view({64}); }, 20000), "");
    row("eager `empty({8, 8})`", nanoseconds_a_call([&] { groove::empty({8, 8}); }, 20000), "");
  }
  const Tensor w = groove::randn({8, 8}).requires_grad_();
  row("eager `x + y`, with gradient", nanoseconds_a_call([&] { w + y; }, 20000), "");
}

// Two lengths of the same body give the cost of one more op (the slope), and what an iteration
// costs without any: entering the segment, running it, and the host read.
void compiled() {
  groove::jit::set_mode(groove::jit::Mode::kAuto);
  groove::NoGradGuard no_grad;
  const Tensor x = groove::full({1}, 0.5), y = groove::full({1}, 0.25);
  const double of_16 = nanoseconds_a_call([&] { short_body(x, y); }, 20000);
  const double of_64 = nanoseconds_a_call([&] { long_body(x, y); }, 20000);
  const double matched = (of_64 - of_16) / 48;
  row("compiled: one matched op", matched, "≤ 40");
  row("compiled: segment entry and host read", of_16 - 16 * matched, "");
}

}  // namespace

int main() {
  std::printf("| cost of | ns | goal |\n|---|---|---|\n");
  eager();
  compiled();
}
