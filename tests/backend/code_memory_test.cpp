// Executable memory: never writable and executable at one address, pooled, given back by kernels
// that are gone; and the cache makes a kernel once, whatever thread asks.
#include "kernels/asmjit/code_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <thread>

#include "harness.h"
#include "run_once.h"

namespace groove::kernels::testing {
namespace {

using assembly::code_bytes;

Kernel scaled_by(double factor, Order order = Order::kMap) {
  Builder b(order);
  Expr x = b.load(kFloat, StrideClass::kContiguous) * factor;
  if (order == Order::kRow) {
    x = b.reduce(Prim::kReduceSum, x);
    b.next_phase();
  }
  b.store(kFloat, order == Order::kRow ? StrideClass::kBroadcast : StrideClass::kContiguous, x);
  return b.finish();
}

TEST(CodeMemory, IsNeverWritableAndExecutable) {
  std::vector<std::shared_ptr<const Callable>> kept;
  for (Backend* backend : code_generators()) {
    for (int i = 0; i < 20; ++i) {
      kept.push_back(backend->compile(scaled_by(i + 0.5, i % 2 ? Order::kRow : Order::kMap)));
      EXPECT_EQ(run_once(*kept.back(), 2.0f), static_cast<float>(2 * i + 1)) << backend->name();
    }
  }
  int executable = 0;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const std::size_t rights = line.find(' ') + 1;
    const bool is_executable = line[rights + 2] == 'x';
    executable += is_executable ? 1 : 0;
    EXPECT_FALSE(is_executable && line[rights + 1] == 'w') << line;
  }
  EXPECT_GT(executable, 0);
}

TEST(CodeMemory, ComesBackFromKernelsThatAreGone) {
  for (Backend* backend : code_generators()) {
    backend->compile(scaled_by(1.0));  // and its part of tier 1
    const std::size_t before = code_bytes();
    {
      std::vector<std::shared_ptr<const Callable>> kept;
      for (int i = 0; i < 10; ++i) kept.push_back(backend->compile(scaled_by(1.0)));
      EXPECT_GT(code_bytes(), before) << backend->name();
    }
    EXPECT_EQ(code_bytes(), before) << backend->name();
  }
}

// As a loop whose sizes change for ever would ask.
TEST(CodeMemory, TheCacheForgetsWhatNobodyHolds) {
  Backend& backend = *find_backend("asmjit");
  const auto held = compile_cached(backend, scaled_by(-0.75));
  std::size_t most = 0;
  for (int i = 0; i < 12'000; ++i) {
    compile_cached(backend, scaled_by(i + 0.25));
    if (i <= 4000) most = std::max(most, code_bytes());
  }
  EXPECT_LE(code_bytes(), 2 * most);
  EXPECT_EQ(compile_cached(backend, scaled_by(-0.75)), held);
  EXPECT_EQ(run_once(*held, 4.0f), -3.0f);
}

TEST(CodeMemory, EqualKernelsAreOneForAllThreads) {
  for (Backend* backend : code_generators()) {
    std::vector<std::shared_ptr<const Callable>> found(8);
    std::vector<std::thread> threads;
    for (auto& mine : found) {
      threads.emplace_back([&mine, backend] { mine = compile_cached(*backend, scaled_by(123.5)); });
    }
    for (std::thread& thread : threads) thread.join();
    const std::size_t bytes = code_bytes();
    for (const auto& mine : found) EXPECT_EQ(mine, found[0]) << backend->name();
    EXPECT_EQ(compile_cached(*backend, scaled_by(123.5)), found[0]);
    EXPECT_EQ(code_bytes(), bytes);
  }
}

}  // namespace
}  // namespace groove::kernels::testing
