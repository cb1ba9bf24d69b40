// What threads keep ends in the order of the layers, whichever was used first.
#include "src/core/thread_end.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

namespace groove {
namespace {

std::string ended;

TEST(ThreadEnd, RunsInTheOrderOfRanks) {
  ended.clear();
  std::thread([] {
    at_thread_end(ThreadEndRank::kInterpreter, [] { ended += "interpreter "; });
    EXPECT_TRUE(at_thread_end(ThreadEndRank::kTracer, [] {
      ended += "tracer ";
      // What the tracer still runs may use a layer for the first time …
      EXPECT_TRUE(at_thread_end(ThreadEndRank::kEagerTables, [] { ended += "eager "; }));
    }));
    at_thread_end(ThreadEndRank::kInterpreter, [] {
      ended += "interpreter";
      // … but not one whose turn has passed.
      EXPECT_FALSE(at_thread_end(ThreadEndRank::kEagerTables, [] { ended += "late"; }));
    });
  }).join();
  EXPECT_EQ(ended, "tracer eager interpreter");
}

}  // namespace
}  // namespace groove
