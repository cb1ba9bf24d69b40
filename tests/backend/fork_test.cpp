// Code that a first run generates, while another thread forks: a child finds it whole or not begun.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <thread>

#include "harness.h"
#include "kernels/contraction/contraction.h"

namespace groove::kernels::testing {
namespace {

constexpr int kProducts = 600;

// Each compiled, but without tiles until somebody runs it. All results are exp(0).
struct Products {
  std::vector<std::shared_ptr<const ContractionCallable>> all;

  explicit Products(Backend& backend) {
    for (int i = 0; i < kProducts; ++i) {
      Builder epilogue(Order::kMap);
      epilogue.store(kFloat, StrideClass::kContiguous,
                     exp(epilogue.load(kFloat, StrideClass::kContiguous) * double(i)));
      Contraction product;
      product.epilogue = epilogue.finish();
      all.push_back(backend.compile(product, isa()));
    }
  }

  bool are_right(int product) const {
    const ContractionCallable& callable = *all[static_cast<std::size_t>(product)];
    constexpr std::int64_t kMost = 32;
    const std::array<float, kMost * kMost> zeros{};
    alignas(64) std::array<char, 1 << 16> scratch;
    bool are_right = true;
    for (const std::int64_t n : {4, 16, 23, 32}) {
      for (std::int64_t m = 1; m < 7; ++m) {
        std::array<float, kMost * kMost> c{};
        const ContractionShape shape{1, m, n, 4, m * 4, 4, 1, n * 4, n, 1};
        const std::int64_t strides[1][kMaxAxes] = {{1, n, m * n}};
        void* const result = c.data();
        const ContractionLaunch launch{shape, zeros.data(), zeros.data(), &result, strides, nullptr};
        if (callable.scratch_bytes(launch, 1) > scratch.size()) return false;
        callable.run(launch, 0, 1, scratch.data());
        are_right &= c[0] == 1.0f && c[static_cast<std::size_t>(m * n - 1)] == 1.0f;
      }
    }
    return are_right;
  }
};

bool is_fine(pid_t child) {
  int status = 0;
  for (int turn = 0; turn < 200'000; ++turn) {
    if (waitpid(child, &status, WNOHANG) == child)
      return WIFEXITED(status) && WEXITSTATUS(status) == 0;
    usleep(500);
  }
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  return false;
}

TEST(Fork, AChildRunsWhatAnotherThreadWasGenerating) {
  Backend* const backend = find_backend("asmjit");
  if (!backend->unavailable().empty()) GTEST_SKIP() << backend->unavailable();
  int children = 0;
  bool goes_on = true;
  for (int round = 0; round < 15 && goes_on; ++round) {
    const Products products(*backend);
    std::atomic<int> present{0};
    std::atomic<bool> are_right{true};
    std::thread other([&] {
      for (; present < kProducts; ++present)
        if (!products.are_right(present)) are_right = false;
    });
    for (; goes_on && present < kProducts; ++children) {
      const pid_t child = fork();
      if (child == 0) _exit(products.are_right(std::min<int>(present, kProducts - 1)) ? 0 : 1);
      goes_on = is_fine(child);
      EXPECT_TRUE(goes_on) << "child " << children;
    }
    other.join();
    EXPECT_TRUE(are_right);
  }
  EXPECT_GE(children, 15);
}

}  // namespace
}  // namespace groove::kernels::testing
