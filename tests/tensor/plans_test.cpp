// Plans of eager mode: what a program does again is not planned again.
#include "eager/plan.h"

#include <groove/groove.h>
#include <groove/jit.h>
#include <gtest/gtest.h>

#include <thread>

namespace groove {
namespace {

// Signatures that one place of a table would hold by turns, sooner or later, among so many. A
// thread of its own has a table that no other test has filled.
void many_signatures_in_turn() {
  const jit::EagerGuard eager;
  const auto run_all = [] {
    double sum = 0;
    for (std::int64_t size = 1; size <= 300; ++size)
      sum += ones({size}).add(1).sum().item<double>();
    return sum;
  };
  const double first = run_all();
  const std::int64_t planned = eager::planning_time();
  EXPECT_EQ(run_all(), first);
  EXPECT_EQ(eager::planning_time(), planned);
}
TEST(Plans, ManySignaturesInTurnArePlannedOnce) { std::thread(many_signatures_in_turn).join(); }

// More than are kept: the oldest go, the results are what they were.
TEST(Plans, MoreSignaturesThanAreKept) {
  const jit::EagerGuard eager;
  for (int round = 0; round < 2; ++round)
    for (std::int64_t rows = 1; rows <= 100; ++rows)
      for (std::int64_t columns = 1; columns <= 100; ++columns)
        ASSERT_EQ(full({rows, columns}, 2.0).mul(3).max().item<double>(), 6.0);
}

}  // namespace
}  // namespace groove
