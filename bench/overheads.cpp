// What an operator costs besides its arithmetic: eager ops on 8x8 tensors, what it costs to watch
// them, and in a compiled loop the matching of one op and the entry into a segment. Nanoseconds;
// each is the lower tenth of many short blocks, which is what an undisturbed machine needs.
#include <groove/groove.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "tracer/tell/testing.h"

namespace {

using groove::Tensor;

constexpr int kBlocks = 400;

double nanoseconds_a_call(const std::function<void()>& call, int calls) {
  using Clock = std::chrono::steady_clock;
  for (int i = 0; i < calls; ++i) call();
  groove::jit::synchronize();
  std::vector<double> blocks;
  const int calls_of_block = std::max(1, calls / 100);
  for (int block = 0; block < kBlocks; ++block) {
    const auto start = Clock::now();
    for (int i = 0; i < calls_of_block; ++i) call();
    const std::chrono::duration<double, std::nano> time = Clock::now() - start;
    blocks.push_back(time.count() / calls_of_block);
  }
  std::nth_element(blocks.begin(), blocks.begin() + kBlocks / 10, blocks.end());
  return blocks[kBlocks / 10];
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
  row("compiled: one matched op", matched, "≤ 25");
  row("compiled: segment entry and host read", of_16 - 16 * matched, "");
}

// Ops of which no stretch ever repeats, with and without the tracer looking on; in turns, because
// the difference is small.
void watched() {
  groove::NoGradGuard no_grad;
  const Tensor x = groove::randn({8, 8}), y = groove::randn({8, 8});
  std::uint32_t random = 1;
  const auto body = [&] {
    for (int i = 0; i < 16; ++i) {
      random = random * 1664525u + 1013904223u;
      // clang-format off
      switch (random >> 29) {
        case 0: x + y; break;
        case 1: x - y; break;
        case 2: x * y; break;
        case 3: x / y; break;
        case 4: y + x; break;
        case 5: y - x; break;
        case 6: y * x; break;
        default: y / x;
      }
      // clang-format on
    }
  };
  std::vector<double> differences;
  for (int turn = 0; turn < 15; ++turn) {
    groove::jit::set_mode(groove::jit::Mode::kEager);
    const double eager = nanoseconds_a_call(body, 1000) / 16;
    groove::jit::set_mode(groove::jit::Mode::kAuto);
    differences.push_back(nanoseconds_a_call(body, 1000) / 16 - eager);
  }
  std::nth_element(differences.begin(), differences.begin() + 7, differences.end());
  row("watching: an eager op in a loop that never repeats, more than in eager mode", differences[7],
      "≤ 15");
}

// A run that is left in the middle: what had matched runs eagerly, and the rest is watched.
void left() {
  groove::NoGradGuard no_grad;
  const Tensor x = groove::full({1}, 0.5), y = groove::full({1}, 0.25);
  const auto body = [&] { short_body(x, y); };
  groove::jit::set_mode(groove::jit::Mode::kEager);
  const double eager = nanoseconds_a_call(body, 5000);
  groove::jit::set_mode(groove::jit::Mode::kAuto);
  nanoseconds_a_call(body, 5000);
  groove::tracer::testing::force_exit_at(8);
  row("an exit after 8 of 16 calls, more than all of them in eager mode",
      nanoseconds_a_call(body, 5000) - eager, "");
  groove::tracer::testing::force_exit_at(-1);
}

// A chain of as many ops on 100 tensors and on one: what 99 more live-ins cost.
void entered() {
  groove::jit::set_mode(groove::jit::Mode::kAuto);
  groove::NoGradGuard no_grad;
  std::vector<Tensor> many;
  for (int i = 0; i < 100; ++i) many.push_back(groove::full({1}, 0.01 * i));
  const std::vector<Tensor> one(100, many[0]);
  const double of_1 = nanoseconds_a_call(
      [&] {
        Tensor sum = one[0];
        for (const Tensor& tensor : one) sum = sum + tensor;
        sum.item<float>();
      },
      20000);
  const double of_100 = nanoseconds_a_call(
      [&] {
        Tensor sum = many[0];
        for (const Tensor& tensor : many) sum = sum + tensor;
        sum.item<float>();
      },
      20000);
  row("compiled: entry with 100 live-ins, more than with 1", of_100 - of_1, "≤ 1000");
}

}  // namespace

int main() {
  std::printf("| cost of | ns | goal |\n|---|---|---|\n");
  eager();
  watched();
  compiled();
  entered();
  left();
}
