// Which launches of a program wait for all threads: those that read what another thread wrote, and
// no others.
#include <gtest/gtest.h>

#include "jit/partition.h"
#include "jit/pipeline.h"
#include "kernels/expr.h"
#include "kernels/pool.h"
#include "tests/passes/run_graph.h"

namespace groove::jit {
namespace {

std::size_t turns_of(const char* text, bool fills = false) {
  Graph graph = parse_graph(text);
  EXPECT_EQ(verify(graph), "");
  run_pipeline(graph);
  ProgramOptions options{false, fills};
  options.is_never_serial = true;
  return Program(std::move(graph), options).turn_count();
}

constexpr const char* kChain = R"(graph(x: f32[300, 500], y: f32[300, 500]) {
  a = mul(x, y)
  b = exp(a)
  c = sub(b, x)
  return c
})";

class Barriers : public ::testing::Test {
 protected:
  void SetUp() override { kernels::set_kernel_threads(2); }
  void TearDown() override { kernels::set_kernel_threads(0); }
};

TEST_F(Barriers, NoneWithinAChainOfOneLoop) { EXPECT_EQ(turns_of(kChain), 1u); }

TEST_F(Barriers, OneWhereAnotherThreadsElementsAreRead) {
  EXPECT_EQ(turns_of(R"(graph(x: f32[500, 400], y: f32[500, 400]) {
    a = mul(x, y)
    t = permute(a) {dims: [1, 0]}
    b = exp(t)
    return b
  })"),
            2u);
}

TEST_F(Barriers, OneBetweenLoopsThatAreCutOtherwise) {
  EXPECT_EQ(turns_of(R"(graph(x: f32[300, 500]) {
    a = exp(x)
    s = sum(a) {dims: [1], keepdim: false}
    n = neg(s)
    return n
  })"),
            3u);
}

TEST_F(Barriers, FreedMemoryIsFilledAfterEachLevel) { EXPECT_EQ(turns_of(kChain, true), 3u); }

// Memory that a launch got from one before it counts as that one's.
TEST_F(Barriers, MemoryUsedAgainIsSharedMemory) {
  LaunchPlan earlier, later;
  Operand from, to;
  from.buffer = 0;
  to.buffer = 1;
  to.is_store = true;
  const auto kernel = [] {
    kernels::Builder b;
    b.store(kFloat, kernels::StrideClass::kContiguous,
            b.load(kFloat, kernels::StrideClass::kContiguous) * 2.0);
    return std::make_shared<const kernels::Kernel>(b.finish());
  }();
  for (LaunchPlan* plan : {&earlier, &later}) {
    plan->kernel = kernel;
    plan->box.count[0] = 4096;
    plan->box.strides = {{1}, {1}};
    plan->operands = {from, to};
  }
  later.operands[0].buffer = 1;
  later.operands[1].buffer = 2;
  std::vector<Buffer> buffers(3);
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    buffers[i].bytes = 4 * 4096;
    buffers[i].offset = static_cast<std::int64_t>(i) * 4 * 4096;
  }
  EXPECT_TRUE(keeps_partition(buffers, earlier, later));
  buffers[2].offset = 64;  // over what the earlier one reads, elsewhere
  EXPECT_FALSE(keeps_partition(buffers, earlier, later));
  buffers[2].offset = 0;  // exactly there: each element by the thread that read it
  EXPECT_TRUE(keeps_partition(buffers, earlier, later));
  later.box.count[0] = 2048;
  EXPECT_FALSE(keeps_partition(buffers, earlier, later));
}

}  // namespace
}  // namespace groove::jit
