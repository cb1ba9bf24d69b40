// Where row buffers lie: a softmax keeps its exponentials in one.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "jit/launch_plan.h"
#include "jit/pipeline.h"
#include "jit/plan_memory.h"
#include "jit/row_buffers.h"
#include "jit/schedule.h"

namespace groove::jit {
namespace {

constexpr std::int64_t kPage = 4096;

// Bytes from the beginning of the arena's last page before it; -1: there is none.
std::int64_t place_of_row_buffer(std::int64_t columns, std::int64_t begin) {
  Graph graph = parse_graph(
      fmt::format("graph(x: f32[64, {}]) {{ y = softmax(x) {{dim: 1}} return y }}", columns));
  run_pipeline(graph);
  Lowered lowered = lower_groups(graph, fuse(graph));
  const Schedule order = schedule(graph, lowered);
  plan_memory(lowered, order, begin);
  shift_row_buffers(lowered);
  EXPECT_EQ(check_memory(lowered, order), "");
  for (const LaunchPlan& launch : lowered.launches) {
    for (const Operand& operand : launch.operands) {
      if (!operand.is_row_buffer) continue;
      const Buffer& buffer = lowered.buffers[static_cast<std::size_t>(operand.buffer)];
      const std::int64_t from = operand.offset * 4;
      EXPECT_LE(from + launch.scratch_bytes * lowered.machine.threads, buffer.bytes);
      return (buffer.offset + from) % kPage;
    }
  }
  return -1;
}

TEST(RowBuffers, LieHalfAPageFromWherePagesBegin) {
  for (const std::int64_t begin : {0, 64, 2048, 4032, 8192}) {
    EXPECT_EQ(place_of_row_buffer(1024, begin), kPage / 2);
    EXPECT_EQ(place_of_row_buffer(300, begin), kPage / 2);
  }
}

// A short row is over before a page could matter.
TEST(RowBuffers, OfShortRowsStayWhereTheyAre) { EXPECT_EQ(place_of_row_buffer(32, 64), 64); }

}  // namespace
}  // namespace groove::jit
